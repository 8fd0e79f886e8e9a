"""What picks, joins and pads."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from partita.dialects.relay import (
    ConcatenateOp,
    GatherOp,
    PadOp,
    SplitOp,
    StridedSliceOp,
)
from partita.dialects.relay.base import normalize_axis
from partita.frontends.onnx.node import Node, table
from partita.frontends.onnx.shapes import shape_text
from partita.shapes import DYNAMIC, element_of, is_float, shape_of


def concat(node: Node) -> SSAValue:
    """The axis is 1 by default before opset 4, then always given."""
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
        if node.opset < 18 and extent % count:
            node.fail(f"expected {count} equal parts along axis {axis}, got {extent}")
        part = -(-extent // count)
        sizes = tuple(
            max(0, min(part, extent - part * index)) for index in range(count)
        )
    return node.emit_all(SplitOp(data, sizes=sizes, axis=axis))


def slice_(node: Node) -> SSAValue:
    """Bounds are attributes before opset 10, then inputs; they are cut to the data, as Python's are."""
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
    begin, sizes, strides = [0] * len(shape), list(shape), [1] * len(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = normalize_axis(axis, len(shape), "axes")
        if step == 0:
            node.fail("expected steps other than 0, got 0")
        extent = shape[axis]
        if extent == DYNAMIC:
            if start < 0 or step != 1 or end < 2**31 - 1:
                node.static(data, "data")
            begin[axis], sizes[axis] = start, DYNAMIC
            continue
        taken = range(*slice(start, _end(end, extent), step).indices(extent))
        begin[axis] = taken.start if len(taken) else 0
        sizes[axis], strides[axis] = len(taken), step
    return node.emit(StridedSliceOp(data, begin=begin, sizes=sizes, strides=strides))


def _end(end: int, extent: int) -> int | None:
    """Return an end as Python has it: one that lies before the first element is none."""
    return None if end < -extent else end


def gather(node: Node) -> SSAValue:
    return node.emit(
        GatherOp(node.operand(0), node.operand(1), axis=node.integer("axis", 0))
    )


def pad(node: Node) -> SSAValue:
    """Pads and value are attributes before opset 11, then inputs; from opset 18 on they may concern some axes."""
    data = node.operand(0)
    rank = len(shape_of(data))
    value: float = 0.0
    if node.opset < 11:
        pads = node.required_integers("paddings" if node.opset < 2 else "pads")
        value = node.real("value", 0.0)
    else:
        pads = node.constant_integers(1, "pads")
        if node.has(2):
            value = node.constant(2, "constant_value").reshape(-1)[0].item()
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
        "Pad": pad,
        "Slice": slice_,
        "Split": split,
    }
)
