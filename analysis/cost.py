"""What a graph op costs: multiplications it makes, and bytes of the tensors it touches."""

from math import prod

from xdsl.ir import Operation, SSAValue

from partita.dialects.relay import Conv2dOp, DenseOp, MatmulOp
from partita.shapes import DYNAMIC, dtype_of, element_of, shape_of, shape_text


def macs(op: Operation) -> int:
    """Return the multiply-accumulates of an op on static shapes, those of ops nested in it included.

    Convolutions and matrix products have them, every other op none. Taps on padding count,
    as networks are usually measured.
    """
    return sum(map(_macs, op.walk()))


def nbytes(value: SSAValue) -> int:
    """Return the bytes of a tensor of static shape."""
    return _size(value) * dtype_of(element_of(value)).itemsize


def _macs(op: Operation) -> int:
    match op:
        case Conv2dOp():
            kernel = op.layouts[1].extents(shape_of(op.weight))
            return _size(op.result) * kernel["I"] * kernel["H"] * kernel["W"]
        case DenseOp():
            return _size(op.result) * shape_of(op.data)[1]
        case MatmulOp():
            return _size(op.result) * shape_of(op.lhs)[-1]
        case _:
            return 0


def _size(value: SSAValue) -> int:
    shape = shape_of(value)
    if DYNAMIC in shape:
        raise ValueError(f"expected a static shape, got {shape_text(shape)}")
    return prod(shape)
