"""Identifiers: what values and functions are called in C, without clashes."""

import re
from collections.abc import Iterable

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
asm typeof nullptr constexpr alignas alignof static_assert thread_local
"""

KEYWORDS = frozenset(_KEYWORDS.split())
"""Of any version of C, so that sources compile as all of them."""

_LIBRARY = """
main memcpy memset memmove memcmp memchr strlen strcpy strncpy strcat strncat strcmp strncmp strcoll strchr strcspn
strpbrk strrchr strspn strstr strtok strxfrm strerror abs labs exit malloc free index rindex
acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p
log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint
round lround llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma isnan isinf
isfinite isnormal signbit fpclassify isgreater isgreaterequal isless islessequal islessgreater isunordered
j0 j1 jn y0 y1 yn gamma drem significand scalb pow10
"""

LIBRARY = frozenset(
    name + suffix for name in _LIBRARY.split() for suffix in ("", "f", "l")
)
"""What functions must not be called beside the headers that sources include."""

SUPPORT = re.compile(r"half_\w+|\w+_(?:bool|[ifu](?:8|16|32|64))", re.ASCII)
"""What support functions are called."""


def identifier(hint: str, fallback: str) -> str:
    """Make a name that C accepts from a hint."""
    text = re.sub(r"\W+", "_", hint, flags=re.ASCII).strip("_")
    if not text:
        return fallback
    if text[0].isdigit():
        text = f"{fallback}_{text}"
    if text in KEYWORDS or text in LIBRARY or text.isupper() or SUPPORT.fullmatch(text):
        text += "_"
    return text


class Names:
    """Gives each thing of a scope a name of its own."""

    def __init__(self, taken: Iterable[str] = ()):
        self._taken = set(taken)

    def inner(self) -> "Names":
        """Return the names of a scope inside, which hides none of these."""
        return Names(self._taken)

    def unique(self, hint: str | None, fallback: str) -> str:
        """Return a name like a hint that nothing else has."""
        stem = identifier(hint or "", fallback)
        name, number = stem, 1
        while name in self._taken:
            name = f"{stem}_{number}" if stem[-1] != "_" else f"{stem}{number}"
            number += 1
        self._taken.add(name)
        return name


def comment(text: str) -> str:
    """Make any text safe inside a comment, on one line."""
    printable = "".join(each if each.isprintable() else " " for each in text)
    return printable.replace("*/", "* /").replace("/*", "/ *").rstrip("\\")
