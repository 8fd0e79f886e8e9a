"""Sums, means, extremes and norms over axes; softmax and its like."""

from collections.abc import Callable

import numpy as np
from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue

from partita.dialects.relay import (
    AbsOp,
    AddOp,
    ArgmaxOp,
    ArgminOp,
    ClipOp,
    DivideOp,
    EqualOp,
    ExpOp,
    LogOp,
    LogSoftmaxOp,
    MaxOp,
    MeanOp,
    MinOp,
    MultiplyOp,
    PowerOp,
    ProdOp,
    RelayOp,
    ReshapeOp,
    SoftmaxOp,
    SqrtOp,
    SubtractOp,
    SumOp,
)
from partita.dialects.relay.base import normalize_axis
from partita.frontends.onnx.builder import constant
from partita.frontends.onnx.node import Converter, Node, table
from partita.shapes import dtype_of, element_of, is_float, shape_of

Reduction = Callable[[SSAValue, "tuple[int, ...] | None", bool], RelayOp]


def axes_of(node: Node, input_opset: int) -> tuple[int, ...] | None:
    """Return the axes to reduce, `None` for all: an attribute before `input_opset`, then an input.

    An empty list means all axes too, unless `noop_with_empty_axes` makes it none.
    """
    if node.opset < input_opset:
        axes = node.integers("axes")
    elif node.has(1):
        axes = node.constant_integers(1, "axes")
    else:
        axes = None
    if not axes:
        return () if node.flag("noop_with_empty_axes") else None
    return axes


def reduction(op: Reduction, input_opset: int = 18) -> Converter:
    """Make the converter of an op that is one relay reduction."""

    def convert(node: Node) -> SSAValue:
        axes = axes_of(node, input_opset)
        data = node.operand(0)
        if axes == ():
            return data
        return node.emit(op(data, axes, node.flag("keepdims", True)))

    return convert


Map = Callable[[Node, SSAValue], SSAValue]


def composed(before: Map, after: Map) -> Converter:
    """Make the converter of a sum with something done to each element before, and to each sum after."""

    def convert(node: Node) -> SSAValue:
        data = before(node, node.operand(0))
        axes = axes_of(node, 18)
        if axes != ():
            data = node.emit(SumOp(data, axes, node.flag("keepdims", True)))
        return after(node, data)

    return convert


def same(node: Node, value: SSAValue) -> SSAValue:
    return value


def absolute(node: Node, value: SSAValue) -> SSAValue:
    return node.emit(AbsOp(value))


def square(node: Node, value: SSAValue) -> SSAValue:
    return node.emit(MultiplyOp(value, value))


def root(node: Node, value: SSAValue) -> SSAValue:
    """Integers take the detour of floats."""
    element = element_of(value)
    if is_float(element):
        return node.emit(SqrtOp(value))
    return node.cast(node.emit(SqrtOp(node.cast(value, f64))), element)


def logarithm(node: Node, value: SSAValue) -> SSAValue:
    return node.emit(LogOp(value))


def log_sum_exp(node: Node) -> SSAValue:
    """log(sum(exp(x))), as m + log(sum(exp(x - m))) with m the largest element, limited to finite numbers."""
    data, axes = node.operand(0), axes_of(node, 18)
    if axes == ():
        return node.emit(LogOp(node.emit(ExpOp(data))))
    keepdims = node.flag("keepdims", True)
    reach = float(np.finfo(dtype_of(element_of(data)).name).max)
    most = node.emit(MaxOp(data, axes, True))
    most = node.emit(ClipOp(most, minimum=-reach, maximum=reach))
    powers = node.emit(ExpOp(node.emit(SubtractOp(data, most))))
    total = node.emit(LogOp(node.emit(SumOp(powers, axes, keepdims))))
    if not keepdims:
        most = node.emit(ReshapeOp(most, shape=node.static(total, "data")))
    return node.emit(AddOp(total, most))


def index_of(op: Callable[[SSAValue, int, bool, bool], RelayOp]) -> Converter:
    """Make the converter of an op that finds the place of an extreme element."""
    return lambda node: node.emit(
        op(
            node.operand(0),
            node.integer("axis", 0),
            node.flag("keepdims", True),
            node.flag("select_last_index"),
        )
    )


def along_axis(op: Callable[[Node, SSAValue, int], SSAValue]) -> Converter:
    """Make the converter of an op along one axis that, before opset 13, saw all axes from it on as one."""

    def convert(node: Node) -> SSAValue:
        data = node.operand(0)
        rank = len(shape_of(data))
        if node.opset >= 13:
            return op(node, data, node.integer("axis", -1))
        axis = node.integer("axis", 1)
        if not -rank <= axis <= rank:
            node.fail(f"expected axis in [-{rank}, {rank}], got {axis}")
        axis = axis + rank if axis < 0 else axis
        if axis == rank - 1:
            return op(node, data, axis)
        shape = node.static(data, "data")
        before = int(np.prod(shape[:axis], dtype=np.int64))
        flat = node.emit(
            ReshapeOp(data, shape=(before, int(np.prod(shape[axis:], dtype=np.int64))))
        )
        return node.emit(ReshapeOp(op(node, flat, 1), shape=shape))

    return convert


def softmax(node: Node, data: SSAValue, axis: int) -> SSAValue:
    return node.emit(SoftmaxOp(data, axis=axis))


def log_softmax(node: Node, data: SSAValue, axis: int) -> SSAValue:
    return node.emit(LogSoftmaxOp(data, axis=axis))


def hardmax(node: Node, data: SSAValue, axis: int) -> SSAValue:
    """1 where the first largest element is, else 0."""
    rank = len(shape_of(data))
    axis = normalize_axis(axis, rank)
    extent = node.static(data, "data")[axis]
    places = np.arange(extent).reshape((extent,) + (1,) * (rank - 1 - axis))
    first = node.emit(ArgmaxOp(data, axis, True, False))
    hit = node.emit(EqualOp(first, constant(places)))
    return node.cast(hit, element_of(data))


def lp_normalization(node: Node) -> SSAValue:
    """Divide by the p-norm along an axis; where that is 0, the result is 0."""
    data, p = node.operand(0), node.integer("p", 2)
    if p not in (1, 2):
        node.fail(f"expected p 1 or 2, got {p}")
    axis = node.integer("axis", -1)
    norm = p_norm(node, data, (axis,), p)
    tiny = node.scalar(float(np.finfo(dtype_of(element_of(data)).name).tiny), data)
    zero = node.emit(EqualOp(norm, node.scalar(0, data)))
    safe = node.emit(
        AddOp(norm, node.emit(MultiplyOp(node.cast(zero, element_of(data)), tiny)))
    )
    return node.emit(DivideOp(data, safe))


def p_norm(node: Node, data: SSAValue, axes: tuple[int, ...], p: int) -> SSAValue:
    """sum(|x|^p)^(1/p) over axes, which stay with extent 1."""
    if p == 1:
        return node.emit(SumOp(absolute(node, data), axes, True))
    if p == 2:
        return node.emit(SqrtOp(node.emit(SumOp(square(node, data), axes, True))))
    powers = node.emit(PowerOp(absolute(node, data), node.scalar(p, data)))
    total = node.emit(SumOp(powers, axes, True))
    return node.emit(PowerOp(total, node.scalar(1 / p, data)))


REDUCTION = table(
    {
        "ArgMax": index_of(ArgmaxOp),
        "ArgMin": index_of(ArgminOp),
        "Hardmax": along_axis(hardmax),
        "LogSoftmax": along_axis(log_softmax),
        "LpNormalization": lp_normalization,
        "ReduceL1": composed(absolute, same),
        "ReduceL2": composed(square, root),
        "ReduceLogSum": composed(same, logarithm),
        "ReduceLogSumExp": log_sum_exp,
        "ReduceMax": reduction(MaxOp),
        "ReduceMean": reduction(MeanOp),
        "ReduceMin": reduction(MinOp),
        "ReduceProd": reduction(ProdOp),
        "ReduceSum": reduction(SumOp, input_opset=13),
        "ReduceSumSquare": composed(square, same),
        "Softmax": along_axis(softmax),
    }
)
