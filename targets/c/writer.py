"""Lines of C, indented by what they stand in."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager

WIDTH = 96
"""Columns that comments and declarations may take."""


def declaration(name: str, parameters: Sequence[str], static: bool = False) -> str:
    """Declare a function without a result, on one line if it fits; without a semicolon."""
    start = f"{'static ' if static else ''}void {name}("
    line = f"{start}{', '.join(parameters) or 'void'})"
    if len(line) <= WIDTH:
        return line
    return start + "\n    " + ",\n    ".join(parameters) + ")"


class Writer:
    """The text of a file or function under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0
        self._defined: list[tuple[str, int]] = []

    @property
    def text(self) -> str:
        """All lines so far."""
        return "\n".join(self.lines)

    def line(self, text: str = "") -> None:
        """Add a line, or several."""
        indent = "  " * self._depth
        self.lines += (f"{indent}{each}" if each else "" for each in text.split("\n"))

    def define(self, name: str, text: str) -> None:
        """Add a line that gives a value a name."""
        self._defined.append((name, len(self.lines)))
        self.line(text)

    @contextmanager
    def without_unused(self) -> Generator[None]:
        """Remove, at the end, what is defined inside and named by no line after."""
        self._defined.clear()
        yield
        for name, number in reversed(self._defined):
            if not self._is_named(name, number + 1):
                del self.lines[number]

    @contextmanager
    def parameters(self, names: Sequence[str]) -> Generator[None]:
        """Say, before what is written inside, which of these names it does not use."""
        start = len(self.lines)
        yield
        for name in reversed(names):
            if not self._is_named(name, start):
                self.lines.insert(start, f"  (void){name};")

    def _is_named(self, name: str, start: int) -> bool:
        """Say whether lines from a number on use a name."""
        word = re.compile(rf"\b{name}\b", re.ASCII)
        return any(map(word.search, self.lines[start:]))

    def comment(self, text: str) -> None:
        """Add a comment, broken into lines between words."""
        limit = WIDTH - 2 * self._depth
        rows, row = list[str](), ""
        for word in text.split(" "):
            if row and len(row) + len(word) + 7 > limit:
                rows.append(row)
                row = word
            else:
                row = f"{row} {word}" if row else word
        rows.append(row)
        self.line("/* " + "\n   ".join(rows) + " */")

    @contextmanager
    def braces(self, header: str) -> Generator[None]:
        """Put what is added inside in braces, indented."""
        self.line(f"{header} {{" if header else "{")
        self._depth += 1
        yield
        self._depth -= 1
        self.line("}")
