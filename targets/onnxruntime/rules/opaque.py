"""Operators that relay does not model: put into the model as they are."""

from partita.dialects.relay import OnnxNodeOp
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


OPAQUE: Rules = {OnnxNodeOp: _onnx_node}
