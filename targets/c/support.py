"""Functions that generated C needs where the language has no operator: each written once, and only if it is called.

Integers wrap around, through unsigned arithmetic; no division traps; minima and maxima
are NaN where an operand is; floats outside the range of an integer become the nearest one.
"""

from collections.abc import Callable, Mapping

from partita.targets.c.types import CType

Template = Callable[[CType], str]


def _wide(type: CType) -> str:
    """Return the unsigned type to compute in: C would make narrower ones a signed `int`."""
    return "uint64_t" if type.bits == 64 else "uint32_t"


def unsigned(type: CType) -> str:
    """Return the unsigned type of as many bits."""
    return f"u{type.name}"


def _binary(body: str) -> Template:
    """Make a function of two operands; `T`, `U` and `W` are the type, its unsigned and its wide one."""
    return lambda type: _function("T NAME(T a, T b)", body, type)


def _unary(body: str) -> Template:
    return lambda type: _function("T NAME(T a)", body, type)


def _function(signature: str, body: str, type: CType) -> str:
    text = f"static inline {signature} {{\n  {body}\n}}"
    for old, new in (
        ("BITS", str(type.bits)),
        ("SUFFIX", type.suffix),
        ("T", type.name),
        ("U", unsigned(type)),
        ("W", _wide(type)),
    ):
        text = _replaced(text, old, new)
    return text


def _replaced(text: str, word: str, by: str) -> str:
    """Replace a word in capitals where it stands alone."""
    parts = text.split(word)
    result = parts[0]
    for part in parts[1:]:
        alone = not (result[-1:].isalnum() or part[:1].isalnum()) and not (
            result[-1:] == "_" or part[:1] == "_"
        )
        result += (by if alone else word) + part
    return result


_TEMPLATES: Mapping[str, Template] = {
    "add": _binary("return (T)((W)a + (W)b);"),
    "sub": _binary("return (T)((W)a - (W)b);"),
    "mul": _binary("return (T)((W)a * (W)b);"),
    "div": _binary(
        "if (b == 0) { return 0; }\n  return b == -1 ? (T)(0 - (W)a) : (T)(a / b);"
    ),
    "rem": _binary("return b == 0 || b == -1 ? 0 : (T)(a % b);"),
    "udiv": _binary("return b == 0 ? 0 : (T)((U)a / (U)b);"),
    "urem": _binary("return b == 0 ? 0 : (T)((U)a % (U)b);"),
    "floor_div": _binary(
        "if (b == 0) { return 0; }\n"
        "  if (b == -1) { return (T)(0 - (W)a); }\n"
        "  return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));"
    ),
    "floor_mod": _binary(
        "const T rest = b == 0 || b == -1 ? 0 : (T)(a % b);\n"
        "  return rest != 0 && (rest < 0) != (b < 0) ? (T)(rest + b) : rest;"
    ),
    "ceil_div": _binary(
        "if (b == 0) { return 0; }\n"
        "  if (b == -1) { return (T)(0 - (W)a); }\n"
        "  return (T)(a / b + (a % b != 0 && (a < 0) == (b < 0)));"
    ),
    "uceil_div": _binary(
        "if (b == 0) { return 0; }\n  return (T)((U)a / (U)b + ((U)a % (U)b != 0));"
    ),
    "min": _binary("return a < b ? a : b;"),
    "max": _binary("return a > b ? a : b;"),
    "umin": _binary("return (U)a < (U)b ? a : b;"),
    "umax": _binary("return (U)a > (U)b ? a : b;"),
    "fmin": _binary("return a < b || a != a ? a : b;"),
    "fmax": _binary("return a > b || a != a ? a : b;"),
    "at_least": _binary("return b > a ? b : a;"),
    "at_most": _binary("return b < a ? b : a;"),
    "shl": _binary("return (U)b < BITS ? (T)((W)a << b) : 0;"),
    "ushr": _binary("return (U)b < BITS ? (T)((U)a >> b) : 0;"),
    "shr": _binary(
        "const int by = (U)b < BITS ? (int)b : BITS - 1;\n"
        "  return (T)(a < 0 ? ~(~a >> by) : a >> by);"
    ),
    "abs": _unary("return a < 0 ? (T)(0 - (W)a) : a;"),
    "pow": _binary(
        "if (b < 0) { return a == 1 ? 1 : a != -1 ? 0 : b % 2 ? -1 : 1; }\n"
        "  W result = 1, square = (W)a;\n"
        "  for (; b; b /= 2) {\n"
        "    if (b % 2) { result *= square; }\n"
        "    square *= square;\n"
        "  }\n"
        "  return (T)result;"
    ),
    "leading_zeros": _unary(
        "int count = 0;\n"
        "  while (count < BITS && !((U)a >> (BITS - 1 - count) & 1)) { count++; }\n"
        "  return (T)count;"
    ),
    "trailing_zeros": _unary(
        "int count = 0;\n"
        "  while (count < BITS && !((U)a >> count & 1)) { count++; }\n"
        "  return (T)count;"
    ),
    "ones": _unary(
        "int count = 0;\n"
        "  for (int bit = 0; bit < BITS; bit++) { count += (int)((U)a >> bit & 1); }\n"
        "  return (T)count;"
    ),
}
"""By name; the type's suffix is added to it.

`at_least` and `at_most` are a maximum and a minimum with a constant `b`: NaN if `a` is.
"""

_HALF: Mapping[str, str] = {
    "half_value": """static inline float half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = ldexpf((float)(exponent ? fraction + 1024 : fraction), exponent ? exponent - 25 : -24);
  if (exponent == 31) { value = fraction ? NAN : INFINITY; }
  return bits >> 15 ? -value : value;
}""",
    "half_bits": """static inline uint16_t half_bits(double value) {
  const uint16_t sign = signbit(value) ? 0x8000 : 0;
  const double size = fabs(value);
  if (isnan(value)) { return sign | 0x7e00; }
  if (size >= 65520.0) { return sign | 0x7c00; }
  int exponent;
  frexp(size, &exponent);
  const int unit = size < 0x1p-14 ? -24 : exponent - 11;
  const int units = (int)rint(ldexp(size, -unit));
  return (uint16_t)(sign | (unit == -24 ? units : (unit + 25) * 1024 + units - 1024));
}""",
    "half_rounded": """static inline float half_rounded(double value) {
  return half_value(half_bits(value));
}""",
}
"""Half precision: read, written, and rounded to, without a type for it."""


class Support:
    """The functions that a source file calls, in an order in which C accepts them."""

    def __init__(self) -> None:
        self._functions: dict[str, str] = {}

    @property
    def text(self) -> str:
        """All of them."""
        return "\n\n".join(self._functions.values())

    def function(self, stem: str, type: CType) -> str:
        """Return the name of a function for a type."""
        name = f"{stem}_{type.suffix}"
        if name not in self._functions:
            text = _replaced(_TEMPLATES[stem](type), "NAME", name)
            self._functions[name] = text
        return name

    def half(self, name: str) -> str:
        """Return the name of a function of half precision."""
        if name == "half_rounded":
            self.half("half_value")
            self.half("half_bits")
        self._functions.setdefault(name, _HALF[name])
        return name

    def saturating(self, source: CType, target: CType, signed: bool) -> str:
        """Return the function that truncates a float toward zero, into the range of an integer; NaN is 0."""
        kind = "i" if signed else "u"
        name = f"{source.suffix}_to_{kind}{target.bits}"
        if name not in self._functions:
            end = f"{float(1 << (target.bits - signed))!r}"
            if source.name == "float":
                end += "f"
            low = f"INT{target.bits}_MIN" if signed else "0"
            high = f"INT{target.bits}_MAX" if signed else "-1"
            start = f"-{end}" if signed else "0"
            inner = "a" if signed else f"({unsigned(target)})a"
            self._functions[name] = (
                f"static inline {target.name} {name}({source.name} a) {{\n"
                "  if (isnan(a)) { return 0; }\n"
                f"  if (a < {start}) {{ return {low}; }}\n"
                f"  return a >= {end} ? {high} : ({target.name}){inner};\n"
                "}"
            )
        return name

    def bits(self, source: CType, target: CType) -> str:
        """Return the function that takes the bits of a value as one of another type."""
        name = f"{source.suffix}_as_{target.suffix}"
        self._functions.setdefault(
            name,
            f"static inline {target.name} {name}({source.name} a) {{\n"
            f"  {target.name} result;\n"
            "  memcpy(&result, &a, sizeof result);\n"
            "  return result;\n"
            "}",
        )
        return name
