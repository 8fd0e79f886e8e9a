"""Lines of C, indented by what they stand in."""

from collections.abc import Generator
from contextlib import contextmanager

WIDTH = 96
"""Columns that a comment may take."""


class Writer:
    """The text of a file or function under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0

    @property
    def text(self) -> str:
        """All lines so far."""
        return "\n".join(self.lines)

    def line(self, text: str = "") -> None:
        """Add a line, or several."""
        indent = "  " * self._depth
        self.lines += (f"{indent}{each}" if each else "" for each in text.split("\n"))

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
