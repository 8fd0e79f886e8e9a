"""`partita explain`: where each op of a model runs, why not elsewhere, and what that costs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from partita.driver import explain
from partita.driver.explain import Explanation
from partita.tools.drawing import colours_of, write_dot
from partita.tools.inputs import read_model
from partita.tools.outputs import check_writable, write_text
from partita.tools.picture import write_svg
from partita.tools.progress import ProgressDisplay
from partita.tools.tables import count, size, table


@dataclass(frozen=True)
class ExplainRequest:
    """What the command line asks for; see `partita explain --help`."""

    model: Path
    targets: Sequence[str] = ()
    shapes: Sequence[str] = ()
    entry: str | None = None
    weights: Path | None = None
    json: bool = False
    dot: Path | None = None
    svg: Path | None = None


def explain_file(request: ExplainRequest) -> None:
    """Explain a model: write the drawings that are asked for, and print tables or JSON."""
    drawings = [
        (path, draw)
        for path, draw in ((request.dot, write_dot), (request.svg, write_svg))
        if path is not None
    ]
    for path, _ in drawings:
        check_writable(path)
    with ProgressDisplay("read"):
        model = read_model(
            request.model, request.shapes, request.weights, request.targets
        )
        explanation = explain(
            model.module, request.targets, shapes=model.shapes, entry=request.entry
        )
        for path, draw in drawings:
            write_text(path, draw(explanation))
    if request.json:
        print(json.dumps(asdict(explanation), indent=2))
    else:
        _print(explanation)


def _print(explanation: Explanation) -> None:
    """Print every op, then each region, then the whole."""
    console = Console(highlight=False)
    colours = colours_of(explanation)
    _show(console, _ops(explanation), colours)
    if explanation.regions:
        _show(console, _regions(explanation), colours, right=2)
    _show(console, _totals(explanation), colours, right=1)
    number = explanation.transfers
    print(
        f"{number} transfer{'' if number == 1 else 's'} of {size(explanation.transfer_bytes)}"
        " between host and regions"
    )


Rows = list[tuple[str, ...]]
"""Of a table, the head first."""


def _ops(explanation: Explanation) -> Rows:
    """Return a row for each op, with a column of reasons for each target that refused any."""
    refusing = [
        target
        for target in explanation.targets
        if any(target in each.rejections for each in explanation.ops)
    ]
    head = (
        "op",
        "from",
        "target",
        "part of",
        *(f"why not {each}" for each in refusing),
    )
    return [
        head,
        *(
            (
                each.op,
                ", ".join(each.origins),
                each.target,
                " ".join(filter(None, (each.region, each.composite))),
                *(each.rejections.get(target, "") for target in refusing),
            )
            for each in explanation.ops
        ),
    ]


def _regions(explanation: Explanation) -> Rows:
    return [
        ("region", "target", "ops", "MACs", "in", "out"),
        *(
            (
                each.name,
                each.target,
                str(each.ops),
                count(each.macs),
                size(each.bytes_in),
                size(each.bytes_out),
            )
            for each in explanation.regions
        ),
    ]


def _totals(explanation: Explanation) -> Rows:
    return [
        ("target", "ops", "of ops", "MACs", "of MACs"),
        *(
            (
                each.target,
                str(each.ops),
                f"{each.op_share:.1%}",
                count(each.macs),
                f"{each.mac_share:.1%}",
            )
            for each in explanation.shares
        ),
    ]


def _show(
    console: Console, rows: Rows, colours: Mapping[str, str], right: int | None = None
) -> None:
    """Print a table: in colours and as wide as a terminal, or plain and as wide as it takes."""
    head, *others = rows
    if not console.is_terminal:
        print(table(rows, len(head) if right is None else right))
        print()
        return
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, each in enumerate(head):
        numeric = right is not None and number >= right
        shown.add_column(each, justify="right" if numeric else "left", overflow="fold")
    target = head.index("target")
    for row in others:
        cells = [Text(each) for each in row]
        cells[target].stylize(f"black on {colours[row[target]]}")
        shown.add_row(*cells)
    console.print(shown)
    console.print()
