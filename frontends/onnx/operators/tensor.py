"""What rearranges, repeats or broadcasts one tensor."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from partita.dialects.relay import (
    BroadcastToOp,
    ExpandDimsOp,
    ReshapeOp,
    SqueezeOp,
    TileOp,
    TransposeOp,
    WhereOp,
)
from partita.dialects.relay.base import broadcast, normalize_axis
from partita.frontends.onnx.builder import constant
from partita.frontends.onnx.node import Node, table
from partita.frontends.onnx.shapes import shape_text
from partita.shapes import DYNAMIC, Shape, shape_of


def reshape(node: Node) -> SSAValue:
    """The shape is an attribute before opset 5; 0 keeps an extent, unless `allowzero`, and -1 takes what is left."""
    data = node.operand(0)
    wanted = (
        node.required_integers("shape")
        if node.opset < 5
        else node.constant_integers(1, "shape")
    )
    old = shape_of(data)
    if not node.flag("allowzero"):
        if any(extent == 0 and axis >= len(old) for axis, extent in enumerate(wanted)):
            node.fail(
                f"expected zeros in shape only for the {len(old)} axes of data, got {shape_text(wanted)}"
            )
        wanted = tuple(
            old[axis] if extent == 0 else extent for axis, extent in enumerate(wanted)
        )
        kept = tuple(
            axis
            for axis, extent in enumerate(wanted)
            if axis < len(old) and extent == old[axis] == DYNAMIC
        )
        wanted = _solved(wanted, old, kept)
    if wanted.count(DYNAMIC) > 1:
        node.static(data, "data")
    if DYNAMIC not in (*wanted, *old) and prod(wanted) != prod(old):
        node.fail(
            f"expected a shape of {prod(old)} elements, as data of shape {shape_text(old)} has, got {shape_text(wanted)}"
        )
    return node.emit(ReshapeOp(data, shape=wanted))


def _solved(wanted: Shape, old: Shape, kept: Sequence[int]) -> Shape:
    """Compute the -1 beside one dynamic extent that is kept, from the other extents."""
    if wanted.count(-1) != 2 or len(kept) != 1 or old.count(DYNAMIC) != 1:
        return wanted
    others = prod(extent for extent in old if extent != DYNAMIC)
    known = prod(extent for extent in wanted if extent != -1)
    if known == 0 or others % known:
        return wanted
    return tuple(
        others // known if extent == -1 and axis not in kept else extent
        for axis, extent in enumerate(wanted)
    )


def transpose(node: Node) -> SSAValue:
    data = node.operand(0)
    reverse = tuple(reversed(range(len(shape_of(data)))))
    return node.emit(TransposeOp(data, axes=node.integers("perm") or reverse))


def squeeze(node: Node) -> SSAValue:
    """Axes are an attribute before opset 13, then an input; without them, all of extent 1."""
    data = node.operand(0)
    axes = node.integers("axes")
    if node.opset >= 13:
        axes = node.constant_integers(1, "axes") if node.has(1) else None
    if axes is None:
        shape = node.static(data, "data")
        axes = tuple(axis for axis, extent in enumerate(shape) if extent == 1)
    return node.emit(SqueezeOp(data, axes=axes))


def unsqueeze(node: Node) -> SSAValue:
    data = node.operand(0)
    axes = (
        node.required_integers("axes")
        if node.opset < 13
        else node.constant_integers(1, "axes")
    )
    return node.emit(ExpandDimsOp(data, axes=axes))


def flatten(node: Node) -> SSAValue:
    """Make a matrix of the axes before and from `axis` on; one dynamic extent may stay."""
    data = node.operand(0)
    shape, axis = shape_of(data), node.integer("axis", 1)
    rank = len(shape)
    if not -rank <= axis <= rank:
        node.fail(f"expected axis in [-{rank}, {rank}], got {axis}")
    axis = axis + rank if axis < 0 else axis
    if shape.count(DYNAMIC) > 1:
        node.static(data, "data")
    parts = [
        DYNAMIC if DYNAMIC in part else prod(part)
        for part in (shape[:axis], shape[axis:])
    ]
    return node.emit(ReshapeOp(data, shape=parts))


def expand(node: Node) -> SSAValue:
    """Broadcast data and a shape with each other."""
    data, wanted = node.operand(0), node.constant_integers(1, "shape")
    shape = broadcast(node.static(data, "data"), wanted)
    if shape == shape_of(data):
        return data
    return node.emit(BroadcastToOp(data, shape=shape))


def tile(node: Node) -> SSAValue:
    """Repeat each axis; before opset 6, one axis."""
    data = node.operand(0)
    if node.opset >= 6:
        return node.emit(TileOp(data, repeats=node.constant_integers(1, "repeats")))
    (count,) = node.constant_integers(1, "tiles")
    (axis,) = node.constant_integers(2, "axis")
    repeats = [1] * len(shape_of(data))
    repeats[normalize_axis(axis, len(repeats))] = count
    return node.emit(TileOp(data, repeats=repeats))


def depth_to_space(node: Node) -> SSAValue:
    """Move blocks of channels into the image: depth is the outer part of channels (DCR) or the inner one (CRD)."""
    data, size = node.operand(0), node.integer("blocksize", 1)
    n, c, h, w = _image(node, data)
    depth = c // (size * size)
    if node.text("mode", "DCR") == "DCR":
        parts, axes = (n, size, size, depth, h, w), (0, 3, 4, 1, 5, 2)
    else:
        parts, axes = (n, depth, size, size, h, w), (0, 1, 4, 2, 5, 3)
    return _rearranged(node, data, parts, axes, (n, depth, h * size, w * size))


def space_to_depth(node: Node) -> SSAValue:
    data, size = node.operand(0), node.integer("blocksize", 1)
    n, c, h, w = _image(node, data)
    parts = (n, c, h // size, size, w // size, size)
    if node.text("mode", "DCR") == "DCR":
        axes = (0, 3, 5, 1, 2, 4)
    else:
        axes = (0, 1, 3, 5, 2, 4)
    result = (n, c * size * size, h // size, w // size)
    return _rearranged(node, data, parts, axes, result)


def _image(node: Node, data: SSAValue) -> Shape:
    shape = node.static(data, "data")
    if len(shape) != 4:
        node.fail(f"expected data of rank 4, got {shape_text(shape)}")
    return shape


def _rearranged(
    node: Node, data: SSAValue, parts: Shape, axes: Sequence[int], result: Shape
) -> SSAValue:
    split = node.emit(ReshapeOp(data, shape=parts))
    turned = node.emit(TransposeOp(split, axes=axes))
    return node.emit(ReshapeOp(turned, shape=result))


def trilu(node: Node) -> SSAValue:
    """Keep the upper or lower triangle of matrices, and put 0 elsewhere."""
    data = node.operand(0)
    rows, columns = node.static(data, "data")[-2:]
    offset = int(node.constant(1, "k").item()) if node.has(1) else 0
    distance = np.arange(columns) - np.arange(rows)[:, None]
    keep = distance >= offset if node.flag("upper", True) else distance <= offset
    return node.emit(WhereOp(constant(keep), data, node.scalar(0, data)))


TENSOR = table(
    {
        "DepthToSpace": depth_to_space,
        "Expand": expand,
        "Flatten": flatten,
        "Reshape": reshape,
        "SpaceToDepth": space_to_depth,
        "Squeeze": squeeze,
        "Tile": tile,
        "Transpose": transpose,
        "Trilu": trilu,
        "Unsqueeze": unsqueeze,
    }
)
