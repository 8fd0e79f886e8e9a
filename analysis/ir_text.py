"""Textual IR, checked for what xDSL's parser does not survive."""

import re

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span

from partita.errors import IRError

_CLOSED = re.compile(
    r"""(?: [^"/]++ | //[^\n]*+ | /
          | "(?: [^"\\\n\v\f]++ | \\["nt\\] | \\[0-9A-Fa-f]{2} )*+" )*+""",
    re.VERBOSE,
)
"""Text in which each string literal is closed; possessive, so that matching takes linear time."""


def decode_ir(content: bytes, name: str) -> str:
    """Return the text of a file of IR; `IRError` if it is not UTF-8, and `ParseError` as `check_strings` raises it."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise IRError(
            f"expected {name} to be UTF-8 text, "
            f"got byte {content[error.start]:#04x} at {error.start}"
        ) from None
    check_strings(text, name)
    return text


def check_strings(text: str, name: str) -> None:
    """Raise `ParseError` at a string that is not closed on its line.

    xDSL's lexer takes time exponential in its length.
    """
    match = _CLOSED.match(text)
    if match is not None and match.end() < len(text):
        start = match.end()
        raise ParseError(
            Span(start, start + 1, Input(text, name)),
            "expected a string that is closed on its line",
        )
