"""A picture of a timed VTA program: what each module and the memory channel do, over time.

Few instructions are drawn one by one. Of many, a column of the picture shows what share of its time each kind takes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import OptionError
from partita.runtime.files import replacing
from partita.runtime.vta.cycles import CycleReport
from partita.runtime.vta.isa import Module
from partita.runtime.vta.trace import kinds, launch_starts, layer_spans
from partita.tools.extras import need

DATELESS: Mapping[str, Mapping[str, None]] = {
    "svg": {"Date": None},
    "png": {},
    "pdf": {"CreationDate": None},
}
"""The formats, and what keeps the time of writing out of their files."""

MANY = 1000
"""Spans that are drawn one by one at most."""

COLUMNS = 1200
"""Of a picture that shows shares."""

WIDTH, ROW = 14.0, 0.9
"""Of the picture and of a track in it, in inches."""

COLOURS: Mapping[str, str] = {
    "gemm": "#1b7837",
    "gemm reset": "#a6dba0",
    "alu": "#762a83",
    "load.inp": "#2166ac",
    "load.wgt": "#67a9cf",
    "load.acc": "#8c6bb1",
    "load.uop": "#bdbdbd",
    "store.out": "#d6604d",
    "tokens only": "#e8e8e8",
    "finish": "#000000",
}
"""By kind of instruction."""

Spans = NDArray[np.float64]
"""`float64[N, 2]`: begin and end, in cycles."""


@dataclass(frozen=True)
class Track:
    """A row of the picture: spans by kind."""

    name: str
    spans: Mapping[str, Spans]

    @property
    def number(self) -> int:
        return sum(len(each) for each in self.spans.values())


def check_timeline(output: Path) -> None:
    """Refuse before the work a file of a kind that cannot be drawn, and that there is no package to draw it with."""
    if output.suffix.lower().removeprefix(".") not in DATELESS:
        kinds = ", ".join(f".{each}" for each in DATELESS)
        raise OptionError(
            f"expected --timeline FILE to end in one of {kinds}, got {output.name}"
        )
    need("matplotlib", "--timeline")


def write_timeline(output: Path, report: CycleReport, title: str) -> None:
    """Draw a timed program in the format that the file's name ends in; `OptionError` if it cannot be written."""
    tracks = tracks_of(report)
    length = sum(report.timing.length) / report.timing.ticks
    names = [*(each.name for each in tracks), *(("layer",) if report.layers else ())]
    matplotlib: Any = import_module("matplotlib")
    figures: Any = import_module("matplotlib.figure")
    # Text stays text, and equal programs make equal files.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "partita"}):
        size = (WIDTH, 1.6 + ROW * len(names))
        figure = figures.Figure(size, layout="constrained")
        axes = figure.subplots()
        _draw(axes, tracks, length)
        _draw_layers(axes, report, len(tracks))
        for end in np.cumsum(report.timing.length)[:-1] / report.timing.ticks:
            axes.axvline(end, color="black", linewidth=0.5)
        axes.set(title=title, xlabel="cycles", xlim=(0, max(length, 1)))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_yticks([place + 0.5 for place in range(len(names))], names)
        axes.set_ylim(len(names), 0)
        _add_legend(figure, tracks)
        kind = output.suffix.lower().removeprefix(".")
        try:
            with replacing(output) as stream:
                figure.savefig(stream, format=kind, metadata=DATELESS[kind], dpi=110)
        except OSError as error:
            reason = error.strerror or error
            raise OptionError(f"cannot write {output}: {reason}") from None


def tracks_of(report: CycleReport) -> tuple[Track, ...]:
    """Return what each module does, and the memory channel, launches one after another."""
    timing, ticks = report.timing, report.timing.ticks
    offset = launch_starts(timing)
    drawn = np.array(list(map(_drawn, kinds(timing.instructions))))
    begin = offset + timing.granted
    rows = [
        (each.name.lower(), timing.module == each, offset + timing.end)
        for each in Module
    ]
    rows.append(("dram", timing.service > 0, begin + timing.service))
    tracks: list[Track] = []
    for name, chosen, end in rows:
        spans = np.stack((begin, end), axis=1)[chosen] / ticks
        tracks.append(
            Track(
                name,
                {
                    kind: spans[drawn[chosen] == kind]
                    for kind in COLOURS
                    if (drawn[chosen] == kind).any()
                },
            )
        )
    return tuple(tracks)


def shares(spans: Spans, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what part of the time between each two edges spans cover that do not overlap."""
    order = np.argsort(spans[:, 0])
    begin, end = spans[order].T
    covered = np.concatenate(([0.0], np.cumsum(end - begin)))
    whole = np.searchsorted(begin, edges, "right")  # spans that began before the edge
    over = np.where(whole > 0, end[np.maximum(whole - 1, 0)] - edges, 0)
    total = covered[whole] - np.maximum(over, 0)
    return np.diff(total) / np.diff(edges)


def _drawn(kind: str) -> str:
    """Return what a kind of instruction is drawn as."""
    if kind.endswith("tokens"):
        return "tokens only"
    if kind.startswith("alu."):
        return "alu"
    return "load.acc" if kind == "load.acc_8bit" else kind


def _draw(axes: Any, tracks: Sequence[Track], length: float) -> None:
    """Draw each track in a row of its own, from the top."""
    edges = np.linspace(0, max(length, 1), COLUMNS + 1)
    for row, track in enumerate(tracks):
        one_by_one = track.number <= MANY
        floor = np.full(COLUMNS, row + 0.9)
        for kind, spans in track.spans.items():
            colour = COLOURS[kind]
            if one_by_one:
                bars = [(begin, end - begin) for begin, end in spans.tolist()]
                axes.broken_barh(
                    bars,
                    (row + 0.1, 0.8),
                    facecolor=colour,
                    edgecolor=colour,
                    linewidth=0.3,
                )
            else:
                top = floor - 0.8 * shares(spans, edges)
                axes.fill_between(
                    np.repeat(edges, 2)[1:-1],
                    *(np.repeat(floor, 2), np.repeat(top, 2)),
                    facecolor=colour,
                    linewidth=0,
                )
                floor = top


def _draw_layers(axes: Any, report: CycleReport, row: int) -> None:
    """Draw the layer that compute is at or waits for."""
    for number, (name, begin, end) in enumerate(layer_spans(report)):
        shade = ("#dddddd", "#f4f4f4")[number % 2]
        axes.broken_barh([(begin, end - begin)], (row + 0.1, 0.8), facecolor=shade)
        axes.text(
            *((begin + end) / 2, row + 0.5, name),
            ha="center",
            va="center",
            rotation="vertical",
            fontsize=7,
            clip_on=True,
        )


def _add_legend(figure: Any, tracks: Sequence[Track]) -> None:
    """Name the kinds that were drawn."""
    patches: Any = import_module("matplotlib.patches")
    drawn = {kind for each in tracks for kind in each.spans}
    figure.legend(
        handles=[
            patches.Patch(facecolor=colour, label=kind)
            for kind, colour in COLOURS.items()
            if kind in drawn
        ],
        ncols=len(COLOURS),
        fontsize=8,
        loc="outside lower center",
        frameon=False,
    )
