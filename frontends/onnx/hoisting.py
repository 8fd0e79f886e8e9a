"""Large constants of the graphs in a node, taken out so that they are weights like all others."""

from math import prod

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from partita.analysis.onnx_scopes import graphs_of, renamed
from partita.frontends.onnx.tensors import element_of_code

MOST_ELEMENTS = 16
"""Constants above this size are weights."""


def hoisted(node: NodeProto, prefix: str) -> tuple[NodeProto, dict[str, TensorProto]]:
    """Return a node whose graphs read large constants from outside, and these, by names that begin with a prefix.

    What relay has no elements for, such as strings, stays. Recurses by nesting of graphs.
    """
    made = NodeProto()
    made.CopyFrom(node)
    found: dict[str, TensorProto] = {}
    for graph in graphs_of(made):
        _hoist(graph, prefix, found)
    return (made, found) if found else (node, found)


def _hoist(graph: GraphProto, prefix: str, found: dict[str, TensorProto]) -> None:
    # What a graph returns, or takes as an input with a default, has to be its own.
    fixed = {each.name for each in (*graph.input, *graph.output)}
    names: dict[str, str] = {}

    def moves(name: str, tensor: TensorProto) -> bool:
        if (
            name in fixed
            or prod(tensor.dims) <= MOST_ELEMENTS
            or element_of_code(tensor.data_type) is None
        ):
            return False
        names[name] = f"{prefix}{len(found)}/{name}"
        found[names[name]] = TensorProto()
        found[names[name]].CopyFrom(tensor)
        return True

    stay = [each for each in graph.initializer if not moves(each.name, each)]
    nodes = [
        each
        for each in graph.node
        if (tensor := _constant(each)) is None or not moves(each.output[0], tensor)
    ]
    kept = [renamed(each, lambda name: names.get(name, name), str) for each in nodes]
    for node in kept:
        for inner in graphs_of(node):
            _hoist(inner, prefix, found)
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(stay)
    graph.node.extend(kept)


def _constant(node: NodeProto) -> TensorProto | None:
    """Return the tensor that a node is, if it is one."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return None
    tensors = [each.t for each in node.attribute if each.type == AttributeProto.TENSOR]
    return tensors[0] if len(tensors) == 1 else None
