"""Convolutions and matrix products, also of integers with zero points."""

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from partita.dialects.relay import (
    AddOp,
    Conv2dOp,
    DenseOp,
    ExpandDimsOp,
    MatmulOp,
    SqueezeOp,
    SubtractOp,
    TransposeOp,
)
from partita.frontends.onnx.node import Node, table
from partita.frontends.onnx.operators.activation import scaled
from partita.frontends.onnx.operators.elementwise import aligned
from partita.frontends.onnx.operators.window import window_of
from partita.frontends.onnx.shapes import shape_text
from partita.shapes import DYNAMIC, shape_of


def conv(node: Node) -> SSAValue:
    made = convolution(node, node.operand(0), node.operand(1))
    bias = node.optional(2)
    if bias is None:
        return made
    rank = len(shape_of(made))
    per_channel = node.emit(ExpandDimsOp(bias, axes=range(1, rank - 1)))
    return node.emit(AddOp(made, per_channel))


def convolution(node: Node, data: SSAValue, weight: SSAValue) -> SSAValue:
    """Convolve over one or two spatial axes; a single one is made the second of two."""
    rank = len(shape_of(data)) - 2
    if rank not in (1, 2):
        node.fail(f"expected data with 1 or 2 spatial axes, got {rank}")
    if len(shape_of(weight)) != rank + 2:
        node.fail(
            f"expected weight of rank {rank + 2}, got {shape_text(shape_of(weight))}"
        )
    kernel = shape_of(weight)[2:]
    if DYNAMIC in kernel:
        node.static(weight, "weight")
    stated = node.integers("kernel_shape")
    if stated is not None and stated != kernel:
        node.fail(
            f"expected kernel_shape {shape_text(kernel)} as weight has, got {shape_text(stated)}"
        )
    window = window_of(node, shape_of(data)[2:], kernel)
    if rank == 1:
        window = window.extended()
        data = node.emit(ExpandDimsOp(data, axes=(2,)))
        weight = node.emit(ExpandDimsOp(weight, axes=(2,)))
    made = node.emit(
        Conv2dOp(
            data,
            weight,
            strides=window.strides,
            padding=window.padding,
            dilation=window.dilations,
            groups=node.integer("group", 1),
        )
    )
    return node.emit(SqueezeOp(made, axes=(2,))) if rank == 1 else made


def centred(node: Node, data: int, zero_point: int, axis: int) -> SSAValue:
    """Return an integer input as i32, less its zero point, which may differ along an axis."""
    value = node.cast(node.operand(data), i32)
    zero = node.optional(zero_point)
    if zero is None:
        return value
    zero = node.cast(zero, i32)
    if len(shape_of(zero)) == 1 and shape_of(zero) != (1,):
        zero = aligned(node, zero, len(shape_of(value)), axis)
    elif shape_of(zero) == (1,):
        zero = node.emit(SqueezeOp(zero, axes=(0,)))
    return node.emit(SubtractOp(value, zero))


def conv_integer(node: Node) -> SSAValue:
    return convolution(node, centred(node, 0, 2, 1), centred(node, 1, 3, 0))


def matmul_integer(node: Node) -> SSAValue:
    """Multiply; the zero point of the left matrix may differ by row, that of the right one by column."""
    lhs, rhs = node.operand(0), node.operand(1)
    rows, columns = len(shape_of(lhs)) - 2, len(shape_of(rhs)) - 1
    return node.emit(MatmulOp(centred(node, 0, 2, rows), centred(node, 1, 3, columns)))


def matmul(node: Node) -> SSAValue:
    return node.emit(MatmulOp(node.operand(0), node.operand(1)))


def gemm(node: Node) -> SSAValue:
    """Alpha * A' * B' + beta * C, where a prime transposes if the attribute says so."""
    lhs, rhs, addend = node.operand(0), node.operand(1), node.optional(2)
    for name, value in (("A", lhs), ("B", rhs)):
        if len(shape_of(value)) != 2:
            node.fail(f"expected {name} of rank 2, got {shape_text(shape_of(value))}")
    if node.flag("transA"):
        lhs = node.emit(TransposeOp(lhs, axes=(1, 0)))
    op = DenseOp if node.flag("transB") else MatmulOp
    made = scaled(node, node.emit(op(lhs, rhs)), node.real("alpha", 1.0))
    if addend is None or node.real("beta", 1.0) == 0:
        return made
    return node.emit(AddOp(made, scaled(node, addend, node.real("beta", 1.0))))


NN = table(
    {
        "Conv": conv,
        "ConvInteger": conv_integer,
        "Gemm": gemm,
        "MatMul": matmul,
        "MatMulInteger": matmul_integer,
    }
)
