"""A picture of an explanation, as SVG.

`dot` is a program of its own, which no package can be relied on to find. `igraph` comes whole with its wheels, lays out
layered graphs of many thousand ops, and is all that is needed; the picture is written here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from partita.driver.explain import Explanation
from partita.tools.drawing import caption, colours_of, details, edges
from partita.tools.extras import need

WIDTH, HEIGHT = 160, 38
"""Of an op's box, in pixels."""

COLUMN, ROW = 180, 70
"""From the middle of one box to that of the next."""

MARGIN = 24

LEGEND = 40
"""Height of what is above the first row."""

LEGEND_COLUMN = 240
"""Width of a target's entry in the legend."""

LONG = 32
"""Edges across more rows than this are drawn past all boxes, so that what is laid out grows with the graph only."""

ITERATIONS = 20
"""Of reducing crossings."""

STYLE = """
text { font: 12px sans-serif; text-anchor: middle; }
.from { font-size: 10px; fill: #444; }
.legend { text-anchor: start; }
rect { stroke: #666; }
path { fill: none; stroke: #888; }
path.transfer { stroke: #000; stroke-width: 2.5; }
"""


Edge = tuple[int, int]
"""Numbers of two ops, of which the second reads the first."""


class Point(NamedTuple):
    """A place in the picture, in pixels."""

    x: float
    y: float


@dataclass(frozen=True)
class Layout:
    """Where boxes stand, and how lines go between them."""

    boxes: tuple[Point, ...]
    """Their middles."""

    bends: Mapping[Edge, tuple[Point, ...]]
    """What a line that crosses rows goes through."""

    @property
    def corner(self) -> Point:
        """The right-most and lowest places of any point."""
        points = [
            *self.boxes,
            *(each for bends in self.bends.values() for each in bends),
        ]
        return Point(
            max((each.x for each in points), default=0),
            max((each.y for each in points), default=LEGEND),
        )

    def line(self, edge: Edge) -> tuple[Point, ...]:
        """Return the points of a line, from the lower side of a box to the upper side of another."""
        start, end = (self.boxes[each] for each in edge)
        return (
            Point(start.x, start.y + HEIGHT / 2),
            *self.bends.get(edge, ()),
            Point(end.x, end.y - HEIGHT / 2),
        )


def write_svg(explanation: Explanation) -> str:
    """Return a picture: each op a box in its target's colour, and each transfer a bold line."""
    need("igraph", "--svg")
    arrows = list(edges(explanation))
    layout = lay_out(len(explanation.ops), [(a, b) for a, b, _ in arrows])
    width = max(
        layout.corner.x + WIDTH / 2 + MARGIN,
        MARGIN + LEGEND_COLUMN * len(explanation.targets),
    )
    height = layout.corner.y + HEIGHT / 2 + MARGIN
    root = Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
    )
    SubElement(root, "style").text = STYLE
    colours = colours_of(explanation)
    _add_legend(root, explanation, colours)
    for source, to, crosses in arrows:
        line = SubElement(root, "path", d=_curve(layout.line((source, to))))
        if crosses:
            line.set("class", "transfer")
    for op, place in zip(explanation.ops, layout.boxes, strict=True):
        box = SubElement(root, "g")
        SubElement(box, "title").text = "\n".join(details(op))
        _add_box(
            box, Point(place.x - WIDTH / 2, place.y - HEIGHT / 2), colours[op.target]
        )
        lines = caption(op)
        for number, text in enumerate(lines):
            y = place.y + 4 + 14 * (number - (len(lines) - 1) / 2)
            line = _add_text(box, Point(place.x, y), text)
            if number:
                line.set("class", "from")
    indent(root, space=" ")
    return tostring(root, encoding="unicode") + "\n"


def _add_legend(
    root: Element, explanation: Explanation, colours: Mapping[str, str]
) -> None:
    shares = {each.target: each for each in explanation.shares}
    for number, target in enumerate(explanation.targets):
        corner = Point(MARGIN + LEGEND_COLUMN * number, MARGIN / 2)
        _add_box(root, corner, colours[target], width=16, height=16)
        share = shares[target]
        text = f"{target}: {share.ops} ops, {share.mac_share:.0%} of MACs"
        line = _add_text(root, Point(corner.x + 22, corner.y + 12), text)
        line.set("class", "legend")


def _add_box(
    parent: Element, corner: Point, fill: str, width: int = WIDTH, height: int = HEIGHT
) -> None:
    SubElement(
        parent,
        "rect",
        x=f"{corner.x:.1f}",
        y=f"{corner.y:.1f}",
        width=str(width),
        height=str(height),
        rx="5",
        fill=fill,
    )


def _add_text(parent: Element, place: Point, text: str) -> Element:
    element = SubElement(parent, "text", x=f"{place.x:.1f}", y=f"{place.y:.1f}")
    element.text = text
    return element


def lay_out(count: int, edges: Sequence[Edge]) -> Layout:
    """Place boxes in rows below all that they read, and lead lines between the boxes of the rows that they cross.

    Every edge goes from a lower number to a higher one.
    """
    rows = [0] * count
    for source, to in sorted(edges, key=lambda edge: edge[1]):
        rows[to] = max(rows[to], rows[source] + 1)
    chains: dict[Edge, range] = {}
    pieces: list[Edge] = []
    for source, to in edges:
        crossed = range(rows[source] + 1, rows[to])
        if len(crossed) > LONG:
            continue
        chains[source, to] = range(len(rows), len(rows) + len(crossed))
        rows.extend(crossed)
        pieces.extend(pairwise((source, *chains[source, to], to)))
    columns = _columns(rows, pieces)
    points = [
        Point(MARGIN + WIDTH / 2 + COLUMN * column, LEGEND + HEIGHT / 2 + ROW * row)
        for column, row in zip(columns, rows, strict=True)
    ]
    lane = max((each.x for each in points), default=0) + COLUMN / 2
    bends = {
        edge: tuple(end for each in chain for end in _through(points[each]))
        for edge, chain in chains.items()
    }
    for source, to in set(edges) - chains.keys():
        start, end = points[source], points[to]
        bends[source, to] = (Point(lane, start.y + ROW), Point(lane, end.y - ROW))
    return Layout(tuple(points[:count]), bends)


def _through(place: Point) -> tuple[Point, Point]:
    """Return the points between which a line passes boxes of its row."""
    return Point(place.x, place.y - HEIGHT / 2), Point(place.x, place.y + HEIGHT / 2)


def _columns(rows: Sequence[int], edges: Sequence[Edge]) -> list[float]:
    """Order what is in each row so that few lines cross, and return the place of each, counted from 0."""
    if not rows:
        return []
    import igraph

    graph = igraph.Graph(n=len(rows), edges=edges, directed=True)
    places = graph.layout_sugiyama(layers=rows, maxiter=ITERATIONS).coords
    least = min(x for x, _ in places)
    return [x - least for x, _ in places]


def _curve(points: Sequence[Point]) -> str:
    """Return a line that passes each point downwards."""
    parts = [f"M{points[0].x:.1f} {points[0].y:.1f}"]
    for start, end in pairwise(points):
        if start.x == end.x:
            parts.append(f"V{end.y:.1f}")
        else:
            middle = (start.y + end.y) / 2
            parts.append(
                f"C{start.x:.1f} {middle:.1f} {end.x:.1f} {middle:.1f} {end.x:.1f} {end.y:.1f}"
            )
    return "".join(parts)
