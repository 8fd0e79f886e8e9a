"""Operators that relay does not model: put into the model as they are."""

from partita.analysis.onnx_scopes import nested
from partita.dialects.relay import OnnxGraphOp, OnnxNodeOp
from partita.targets.onnxruntime.graph import Graph, Value
from partita.targets.onnxruntime.rules.rule import Rules, type_of


def _onnx_node(graph: Graph, op: OnnxNodeOp, *operands: Value) -> tuple[Value, ...]:
    domain = op.domain.data
    graph.require(op.op_type.data, domain, op.version.value.data)
    results = tuple(
        Value(graph.name(graph.origin or op.op_type.data), *type_of(each))
        for each in op.results
    )
    names = [each.name for each in operands], [each.name for each in results]
    graph.append(op.node(*names))
    return results


def _onnx_graph(graph: Graph, op: OnnxGraphOp, *operands: Value) -> tuple[Value, ...]:
    model = op.model()
    opsets = {each.domain: each.version for each in model.opset_import}
    given = (each.name for each in model.graph.input)
    names = {name: each.name for name, each in zip(given, operands, strict=True)}
    for node in model.graph.node:
        for each in nested(node):
            graph.require(each.op_type, each.domain, opsets[each.domain])
        graph.embed(node, names, once=op.instance is not None)
    return tuple(
        Value(names[info.name], *type_of(result))
        for info, result in zip(model.graph.output, op.results, strict=True)
    )


OPAQUE: Rules = {OnnxNodeOp: _onnx_node, OnnxGraphOp: _onnx_graph}
