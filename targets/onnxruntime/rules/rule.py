"""What a rule is: an op and the values of its operands, to the values of its results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from partita.dialects.relay import RelayOp
from partita.shapes import Shape, dtype_of, element_of, shape_of
from partita.targets.onnxruntime.graph import Graph, Value
from partita.targets.onnxruntime.kernels import DType

Rule = Callable[..., Value | tuple[Value, ...]]
"""Appends nodes to a graph for an op, given the values of its operands, and returns those of its results."""

Rules = Mapping[type[RelayOp], Rule]


def type_of(value: SSAValue) -> tuple[DType, Shape]:
    """Return dtype and shape of a tensor value."""
    return dtype_of(element_of(value)), shape_of(value)


@dataclass(frozen=True)
class Operator:
    """A rule that is one operator, on the operands as they are."""

    op_type: str

    def __call__(self, graph: Graph, op: RelayOp, *operands: Value) -> Value:
        dtype, shape = type_of(op.results[0])
        return graph.node(self.op_type, *operands, dtype=dtype, shape=shape)
