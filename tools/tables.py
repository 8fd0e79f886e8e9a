"""Plain tables, whole at any width of a terminal and in a file."""

from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]], right: int = 1) -> str:
    """Return one line for each row, the first being the head; columns from number `right` on are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column >= right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def size(count: float) -> str:
    """Write a number of bytes as people read it: `512 B`, `4.7 MiB`."""
    unit = "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if count < 1024:
            break
        count, unit = count / 1024, larger
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"


def count(number: float) -> str:
    """Write a number of things as people read it: `512`, `4.7 M`."""
    if number < 1000:
        return f"{number:.0f}"
    unit = ""
    for larger in ("k", "M", "G", "T", "P"):
        if number < 1000:
            break
        number, unit = number / 1000, larger
    return f"{number:.1f} {unit}"
