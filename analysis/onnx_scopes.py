"""Names in nodes of ONNX that hold graphs, such as `If`: what these read from outside, and how names are replaced."""

from collections.abc import Callable, Iterator

from onnx import AttributeProto, GraphProto, NodeProto

Renaming = Callable[[str], str]
"""From a name to another."""


def graphs_of(node: NodeProto) -> Iterator[GraphProto]:
    """Yield the graphs that are attributes of a node."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            yield from attribute.graphs


def nested(node: NodeProto) -> Iterator[NodeProto]:
    """Yield a node and all that are in its graphs, at any depth."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        for graph in graphs_of(each):
            waiting.extend(graph.node)


def reads(node: NodeProto) -> list[str]:
    """Return the names of values that a node reads, each once: its inputs, then what its graphs read from outside."""
    return list(dict.fromkeys((*filter(None, node.input), *captured(node))))


def captured(node: NodeProto) -> Iterator[str]:
    """Yield the names that the graphs of a node read from outside; recurses by nesting of graphs."""
    for graph in graphs_of(node):
        own = set(_defined(graph))
        for each in graph.node:
            yield from (name for name in reads(each) if name not in own)
        yield from (each.name for each in graph.output if each.name not in own)


def renamed(node: NodeProto, outside: Renaming, fresh: Renaming) -> NodeProto:
    """Return a copy of a node, its inputs and outputs renamed by `outside`.

    What its graphs define gets names from `fresh`, which gives another each time if names are to be unique. Recurses by
    nesting of graphs.
    """
    made = NodeProto()
    made.CopyFrom(node)
    for field in (made.input, made.output):
        field[:] = [outside(name) if name else "" for name in field]
    for graph in graphs_of(made):
        _rename(graph, outside, fresh)
    return made


def _rename(graph: GraphProto, outside: Renaming, fresh: Renaming) -> None:
    own = {name: fresh(name) for name in _defined(graph)}

    def inside(name: str) -> str:
        return own[name] if name in own else outside(name)

    stated = [each for each in graph.value_info if each.name in own]
    del graph.value_info[:]
    graph.value_info.extend(stated)
    del graph.quantization_annotation[:]
    sparse = (each.values for each in graph.sparse_initializer)
    for each in (
        *(*graph.input, *graph.output, *graph.value_info),
        *(*graph.initializer, *sparse),
    ):
        each.name = inside(each.name)
    nodes = [renamed(each, inside, fresh) for each in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def _defined(graph: GraphProto) -> Iterator[str]:
    """Yield the names that a graph defines; each once or, for an input with a default, twice."""
    yield from (each.name for each in graph.input)
    yield from (each.name for each in graph.initializer)
    yield from (each.values.name for each in graph.sparse_initializer)
    for node in graph.node:
        yield from filter(None, node.output)
