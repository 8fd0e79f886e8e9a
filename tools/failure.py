"""Tell a user what failed: one readable message, whatever was raised."""

import os
import sys
import traceback
from itertools import pairwise

from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
)

from partita.errors import InternalError, PartitaError
from partita.transforms.options import problem
from partita.transforms.pipeline import BLAME

TRACEBACK = "PARTITA_TRACEBACK"
"""Environment variable that adds the traceback to what is told."""

WIDTH = 160
"""Longest line of source or IR that is shown."""


def report(tool: str, error: BaseException) -> None:
    """Print `tool: error: …` to standard error, with the traceback if `PARTITA_TRACEBACK` is set."""
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    print(f"{tool}: error: {describe(error)}", file=sys.stderr)


def describe(error: BaseException) -> str:
    """Return what failed in one sentence, followed by the place in source or IR if one is known."""
    match error:
        case ParseError():
            return _parse_error(error)
        case InternalError():
            return f"{_blame(error)}{error}; {_please_report()}"
        case PartitaError() | DiagnosticException():
            message = _lowered(str(error))
            return "\n".join((f"{_blame(error)}{message}", *_excerpt(error)))
        case ArgSpecParseError():
            return problem(error).removesuffix(".")
        case OSError(strerror=str(strerror)) if error.filename is not None:
            return f"cannot access {error.filename}: {strerror}"
        case MemoryError():
            return "expected a smaller model, or more memory"
        case RecursionError():
            return "expected input that is nested less deeply"
        case _:
            return (
                f"internal error: {type(error).__name__}: {error}; {_please_report()}"
            )


def _please_report() -> str:
    return f"please report it, with what {TRACEBACK}=1 adds to this message"


def _blame(error: BaseException) -> str:
    """Return which pass failed, the innermost first noted."""
    for note in getattr(error, "__notes__", ()):
        if note.startswith(BLAME):
            return note.removeprefix(BLAME) + ": "
    return ""


def _parse_error(error: ParseError) -> str:
    located = f"{error.span.get_location()}: {_lowered(error.msg)}"
    _, source, carets, *_ = error.span.print_with_context().splitlines()
    return "\n".join((located, *_clip(source, carets))) if source.strip() else located


def _lowered(message: str) -> str:
    """Write a message of xDSL's as ours are: lower case, no final period."""
    message = message.strip().removesuffix(".")
    acronym = message[1:2].isupper()
    return message if acronym else message[:1].lower() + message[1:]


def _excerpt(error: BaseException) -> tuple[str, ...]:
    """Return the op that a diagnostic points at, out of the whole IR that xDSL notes.

    A whole module or function shows nothing that the message does not say.
    """
    for note in getattr(error, "__notes__", ()):
        lines = note.splitlines()
        for above, line in pairwise(lines):
            if line.strip() and not line.strip(" ^-") and "^" in line:
                if above.lstrip().startswith(('"builtin.module"', '"func.func"')):
                    return ()
                return _clip(above, line.replace("-", " ").rstrip())
    return ()


def _clip(source: str, carets: str) -> tuple[str, str]:
    """Indent a line and the carets below it; keep what is around the carets of a long one."""
    indent = len(source) - len(source.lstrip())
    start = len(carets) - len(carets.lstrip())
    first = max(indent, start - WIDTH // 2) if start > WIDTH // 2 else indent
    shown = source[first : first + WIDTH]
    lead = "…" if first > indent else ""
    tail = "…" if len(source) > first + WIDTH else ""
    marks = carets[first : first + WIDTH].rstrip()
    return f"  {lead}{shown}{tail}", f"  {' ' * len(lead)}{marks}"
