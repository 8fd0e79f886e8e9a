"""What picks, joins and pads."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from partita.dialects.relay import (
    AddOp,
    ConcatenateOp,
    GatherOp,
    LessOp,
    MultiplyOp,
    PadOp,
    ReshapeOp,
    SplitOp,
    StridedSliceOp,
    SumOp,
    WhereOp,
)
from partita.dialects.relay.base import normalize_axis
from partita.frontends.onnx.builder import constant
from partita.frontends.onnx.node import Node, table
from partita.frontends.onnx.shapes import shape_text
from partita.shapes import DYNAMIC, Shape, element_of, is_float, shape_of

TO_THE_END = -1
"""The size of a slice that takes all there is along a dynamic axis."""


def concat(node: Node) -> SSAValue:
    """Join along an axis, which is 1 by default before opset 4, then always given."""
    values = node.all()
    if len(values) == 1:
        return values[0]
    return node.emit(ConcatenateOp(values, axis=node.integer("axis", 1)))


def split(node: Node) -> Sequence[SSAValue]:
    """Sizes are an attribute before opset 13, then an input; without them parts are equal, the last maybe smaller."""
    data = node.operand(0)
    rank = len(shape_of(data))
    axis = normalize_axis(node.integer("axis", 0), rank)
    sizes = node.integers("split")
    if node.has(1):
        sizes = node.constant_integers(1, "split")
    if sizes is None:
        extent = shape_of(data)[axis]
        if extent == DYNAMIC:
            node.static(data, "data")
        count = node.integer("num_outputs", len(node.proto.output))
        if count < 1:
            node.fail(f"expected num_outputs of at least 1, got {count}")
        if node.opset < 18 and extent % count:
            node.fail(f"expected {count} equal parts along axis {axis}, got {extent}")
        part = -(-extent // count)
        sizes = tuple(
            max(0, min(part, extent - part * index)) for index in range(count)
        )
    return node.emit_all(SplitOp(data, sizes=sizes, axis=axis))


def slice_(node: Node) -> SSAValue:
    """Bounds are attributes before opset 10, then inputs; they are cut to the data."""
    data = node.operand(0)
    shape = shape_of(data)
    if node.opset < 10:
        starts = node.required_integers("starts")
        ends = node.required_integers("ends")
        axes = node.integers("axes")
        steps = None
    else:
        starts = node.constant_integers(1, "starts")
        ends = node.constant_integers(2, "ends")
        axes = node.constant_integers(3, "axes") if node.has(3) else None
        steps = node.constant_integers(4, "steps") if node.has(4) else None
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        node.fail(
            "expected starts, ends, axes and steps of equal length, "
            f"got {len(starts)}, {len(ends)}, {len(axes)} and {len(steps)}"
        )
    begin, sizes, strides = (
        [0] * len(shape),
        [TO_THE_END if extent == DYNAMIC else extent for extent in shape],
        [1] * len(shape),
    )
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = normalize_axis(axis, len(shape), "axes")
        if step == 0:
            node.fail("expected steps other than 0, got 0")
        extent = shape[axis]
        if extent == DYNAMIC:
            if start < 0 or step != 1 or end < 2**31 - 1:
                node.static(data, "data")
            begin[axis], sizes[axis] = start, TO_THE_END
            continue
        taken = _taken(start, end, step, extent)
        begin[axis] = taken.start if len(taken) else 0
        sizes[axis], strides[axis] = len(taken), step
    return node.emit(StridedSliceOp(data, begin=begin, sizes=sizes, strides=strides))


def _taken(start: int, end: int, step: int, extent: int) -> range:
    """Return the places that a slice takes.

    Bounds are cut to the data; unlike in Python, a start before the first element is the first backward, too.
    """
    first, last = (0, extent) if step > 0 else (-1, extent - 1)
    start, end = (bound + extent if bound < 0 else bound for bound in (start, end))
    return range(min(max(start, 0), last), min(max(end, first), last), step)


def gather(node: Node) -> SSAValue:
    return node.emit(
        GatherOp(node.operand(0), node.operand(1), axis=node.integer("axis", 0))
    )


def gather_elements(node: Node) -> SSAValue:
    """Pick by an index per result: `result[i][j] = data[indices[i][j]][j]` for axis 0, and so on.

    Data is flattened, and indices are made places in it: the strides of the other axes are constants.
    """
    data, indices = node.operand(0), node.operand(1)
    shape, wanted = node.static(data, "data"), node.static(indices, "indices")
    if len(shape) != len(wanted):
        node.fail(
            f"expected data and indices of equal rank, got {len(shape)} and {len(wanted)}"
        )
    axis = normalize_axis(node.integer("axis", 0), len(shape))
    strides = _strides(shape)
    places = _from_start(node, indices, shape[axis])
    base = np.zeros((1,) * len(wanted), np.int64)
    for other, extent in enumerate(wanted):
        if other != axis:
            steps = np.arange(extent) * strides[other]
            base = base + steps.reshape((-1,) + (1,) * (len(wanted) - 1 - other))
    scale = node.scalar(strides[axis], places)
    places = node.emit(MultiplyOp(places, scale))
    places = node.emit(AddOp(places, constant(base)))
    flat = node.emit(ReshapeOp(data, shape=(prod(shape),)))
    return node.emit(GatherOp(flat, places, axis=0))


def gather_nd(node: Node) -> SSAValue:
    """Pick by tuples of indices, which the last axis of `indices` holds, after `batch_dims` axes in common."""
    data, indices = node.operand(0), node.operand(1)
    node.check_rank(indices, 1, "indices")
    shape, wanted = node.static(data, "data"), node.static(indices, "indices")
    batch = node.integer("batch_dims", 0)
    depth = batch + wanted[-1]
    if (
        depth > len(shape)
        or not 0 <= batch < len(wanted)
        or shape[:batch] != wanted[:batch]
    ):
        node.fail(
            f"expected indices that fit data of shape {shape_text(shape)}, got {shape_text(wanted)}"
        )
    strides = _strides(shape[:depth])
    extents = constant(np.array(shape[batch:depth], np.int64))
    places = node.cast(indices, i64)
    negative = node.emit(LessOp(places, node.scalar(0, places)))
    places = node.emit(WhereOp(negative, node.emit(AddOp(places, extents)), places))
    weights = constant(np.array(strides[batch:], np.int64))
    places = node.emit(MultiplyOp(places, weights))
    places = node.emit(SumOp(places, (len(wanted) - 1,), False))
    if batch:
        base = np.arange(prod(shape[:batch])) * prod(shape[batch:depth])
        base = base.reshape(shape[:batch] + (1,) * (len(wanted) - 1 - batch))
        places = node.emit(AddOp(places, constant(base)))
    rows = node.emit(ReshapeOp(data, shape=(prod(shape[:depth]), *shape[depth:])))
    return node.emit(GatherOp(rows, places, axis=0))


def _strides(shape: Shape) -> Shape:
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _from_start(node: Node, indices: SSAValue, extent: int) -> SSAValue:
    """Make indices i64, and those that count from the end count from the start."""
    places = node.cast(indices, i64)
    negative = node.emit(LessOp(places, node.scalar(0, places)))
    shifted = node.emit(AddOp(places, node.scalar(extent, places)))
    return node.emit(WhereOp(negative, shifted, places))


def pad(node: Node) -> SSAValue:
    """Add or take away at both ends.

    Pads and value are attributes before opset 11, then inputs; from opset 18 on they may concern some axes.
    """
    data = node.operand(0)
    rank = len(shape_of(data))
    value: float = 0.0
    if node.opset < 11:
        pads = node.required_integers("paddings" if node.opset < 2 else "pads")
        value = node.real("value", 0.0)
    else:
        pads = node.constant_integers(1, "pads")
        if node.has(2):
            value = node.one_element(2, "constant_value").item()
    axes = node.constant_integers(3, "axes") if node.has(3) else tuple(range(rank))
    if len(pads) != 2 * len(axes):
        node.fail(f"expected pads of {2 * len(axes)} values, got {shape_text(pads)}")
    before, after = [0] * rank, [0] * rank
    for place, axis in enumerate(axes):
        axis = normalize_axis(axis, rank, "axes")
        before[axis], after[axis] = pads[place], pads[place + len(axes)]
    return node.emit(
        PadOp(
            data,
            before=before,
            after=after,
            mode=node.text("mode", "constant"),
            value=value if is_float(element_of(data)) else int(value),
        )
    )


INDEXING = table(
    {
        "Concat": concat,
        "Gather": gather,
        "GatherElements": gather_elements,
        "GatherND": gather_nd,
        "Pad": pad,
        "Slice": slice_,
        "Split": split,
    }
)
