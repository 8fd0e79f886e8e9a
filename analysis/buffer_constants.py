"""Constants of a program over buffers, as arrays and as weights."""

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from partita.dialects import relay, tir
from partita.dialects.partita import WeightAttr
from partita.weights import Array, Weight, weight


def elements_of(op: tir.ConstantOp) -> Array:
    """Return the content of a constant; raise `WeightsError` if it is a weight that is not loaded."""
    if isinstance(op.value, WeightAttr):
        return op.value.data.content()
    type = op.value.type
    assert isa(type, TensorType[Attribute])
    return relay.ConstantOp(op.value, type).array()


def weight_of(op: tir.ConstantOp) -> Weight:
    """Return a constant as a weight."""
    if isinstance(op.value, WeightAttr):
        return op.value.data
    return weight(elements_of(op))
