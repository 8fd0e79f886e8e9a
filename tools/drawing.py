"""What drawings of an explanation have in common, and the one in Graphviz's language."""

import colorsys
from collections.abc import Iterator, Mapping

from partita.driver.explain import Explanation, OpPlacement
from partita.tools.extras import need

HOST = "host"

HOST_COLOUR = "#d9d9d9"

LETTERS = 22
"""That fit into a box."""


def write_dot(explanation: Explanation) -> str:
    """Return the graph in Graphviz's language: each region a box around its ops, and each transfer a bold arrow."""
    need("graphviz", "--dot")
    import graphviz

    colours = colours_of(explanation)
    graph = graphviz.Digraph(
        "model",
        node_attr={"shape": "box", "style": "rounded,filled", "fontname": "Helvetica"},
    )
    regions: dict[str, graphviz.Digraph] = {}
    for each in explanation.regions:
        label = graphviz.escape(f"{each.target}: {each.name}")
        regions[each.name] = graphviz.Digraph(f"cluster_{each.name}")
        regions[each.name].attr(label=label, style="rounded", fontname="Helvetica")
    for number, each in enumerate(explanation.ops):
        (graph if each.region is None else regions[each.region]).node(
            str(number),
            "\\n".join(map(graphviz.escape, caption(each))),
            tooltip="\\n".join(map(graphviz.escape, details(each))),
            fillcolor=colours[each.target],
        )
    for region in regions.values():
        graph.subgraph(region)
    for source, to, crosses in edges(explanation):
        graph.edge(str(source), str(to), style="bold" if crosses else None)
    return graph.source


def colours_of(explanation: Explanation) -> Mapping[str, str]:
    """Return a colour for each target, light enough for dark text: grey for the host, no two alike."""
    others = [each for each in explanation.targets if each != HOST]
    colours = {HOST: HOST_COLOUR}
    for number, each in enumerate(others):
        red, green, blue = colorsys.hls_to_rgb(
            (0.57 + number / len(others)) % 1, 0.75, 0.75
        )
        colours[each] = "#" + "".join(
            f"{round(255 * part):02x}" for part in (red, green, blue)
        )
    return colours


def caption(op: OpPlacement) -> tuple[str, ...]:
    """Return what stands in an op's box, in lines: what it is, and the model's name for it."""
    name = op.op.removeprefix("relay.")
    return tuple(map(clip, (name, *op.origins[:1])))


def clip(text: str) -> str:
    """Shorten text to what fits into a box."""
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"


def details(op: OpPlacement) -> tuple[str, ...]:
    """Return everything that is known of an op, in lines."""
    where = op.target if op.region is None else f"{op.target}, in {op.region}"
    lines = [f"{op.op} on {where}"]
    if op.origins:
        lines.append(f"from {', '.join(op.origins)}")
    if op.composite is not None:
        lines.append(f"part of {op.composite}")
    lines.extend(f"not {name}: {reason}" for name, reason in op.rejections.items())
    return tuple(lines)


def edges(explanation: Explanation) -> Iterator[tuple[int, int, bool]]:
    """Yield every pair of an op and one that reads it, and whether data goes from one place to another."""
    ops = explanation.ops
    for to, each in enumerate(ops):
        for source in each.inputs:
            yield source, to, ops[source].region != each.region
