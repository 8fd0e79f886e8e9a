"""What `golden/vta/baseline.md` says the original's streams take in the cycle model, read from its tables."""

from pathlib import Path

GOLDEN = Path(__file__).parent / "golden" / "vta"

Row = dict[str, int]
"""Numbers by the heads of their columns."""


def tables() -> list[list[dict[str, str]]]:
    """Return the rows of each table, as text by column."""
    found: list[list[dict[str, str]]] = []
    head: list[str] | None = None
    for line in (GOLDEN / "baseline.md").read_text().splitlines():
        cells = [each.strip() for each in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells
            found.append([])
        elif set(line) - set("|- "):
            found[-1].append(dict(zip(head, cells, strict=True)))
    return found


def numbers(row: dict[str, str]) -> Row:
    return {name: int(text) for name, text in row.items() if text.isdigit()}


CONVOLUTIONS, STREAMS, RECORDS = tables()

LAUNCHES = [numbers(each) for each in CONVOLUTIONS if each["launch"] != "sum"]
"""The 19 convolutions of ResNet-18, in their order."""

FILES = {
    **{f"streams/{each['stream']}": numbers(each) for each in STREAMS},
    **{each["record"]: numbers(each) for each in RECORDS},
}
"""Single launches by file."""

ADDS = 6_267_299
"""Cycles of the eight residual adds on the accelerator."""

NETWORK = 14_293_659
"""Cycles of the 27 launches with these."""
