"""What rearranges, repeats or broadcasts one tensor."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from partita.dialects.relay import (
    BroadcastToOp,
    ExpandDimsOp,
    GreaterEqualOp,
    LessEqualOp,
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

REST = -1
"""The extent, in a shape, that takes what the others leave."""


def reshape(node: Node) -> SSAValue:
    """Zeros keep an extent, unless `allowzero`; -1 takes what is left. The shape is an attribute before opset 5."""
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
    shape = _solved(wanted, old)
    if shape is None:
        node.static(data, "data")
        node.fail(
            f"expected a shape of as many elements as data of shape {shape_text(old)} has, got {shape_text(wanted)}"
        )
    return node.emit(ReshapeOp(data, shape=shape))


def _solved(wanted: Shape, old: Shape) -> Shape | None:
    """Compute the -1, leaving -1 for the only extent that is dynamic; `None` if the shapes do not fit."""
    unknown = [axis for axis, extent in enumerate(wanted) if extent < 0]
    kept = [axis for axis in unknown if wanted[axis] == DYNAMIC]
    known = prod(extent for extent in wanted if extent >= 0)
    if DYNAMIC not in old:
        total = prod(old)
        if not unknown:
            return wanted if known == total else None
        if len(unknown) > 1 or known == 0 or total % known:
            return None
        return _filled(wanted, unknown[0], total // known)
    if len(unknown) == 1:
        return _filled(wanted, unknown[0], REST)
    others = prod(extent for extent in old if extent != DYNAMIC)
    if len(unknown) == 2 and len(kept) == 1 and old.count(DYNAMIC) == 1:
        rest = next(axis for axis in unknown if axis not in kept)
        if known and others % known == 0:
            return _filled(_filled(wanted, rest, others // known), kept[0], REST)
    return wanted if not unknown else None


def _filled(shape: Shape, axis: int, extent: int) -> Shape:
    return (*shape[:axis], extent, *shape[axis + 1 :])


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
        REST if DYNAMIC in part else prod(part) for part in (shape[:axis], shape[axis:])
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
    count, axis = node.one_element(1, "tiles"), node.one_element(2, "axis")
    repeats = [1] * len(shape_of(data))
    repeats[normalize_axis(int(axis.item()), len(repeats))] = int(count.item())
    return node.emit(TileOp(data, repeats=repeats))


def depth_to_space(node: Node) -> SSAValue:
    """Move blocks of channels into the image: depth is the outer part of channels (DCR) or the inner one (CRD)."""
    data, size = node.operand(0), _block_size(node)
    n, c, h, w = _image(node, data)
    depth = c // (size * size)
    if node.text("mode", "DCR") == "DCR":
        parts, axes = (n, size, size, depth, h, w), (0, 3, 4, 1, 5, 2)
    else:
        parts, axes = (n, depth, size, size, h, w), (0, 1, 4, 2, 5, 3)
    return _rearranged(node, data, parts, axes, (n, depth, h * size, w * size))


def space_to_depth(node: Node) -> SSAValue:
    data, size = node.operand(0), _block_size(node)
    n, c, h, w = _image(node, data)
    parts = (n, c, h // size, size, w // size, size)
    outer = node.text("mode", "DCR") == "DCR"
    axes = (0, 3, 5, 1, 2, 4) if outer else (0, 1, 3, 5, 2, 4)
    result = (n, c * size * size, h // size, w // size)
    return _rearranged(node, data, parts, axes, result)


def _block_size(node: Node) -> int:
    size = node.integer("blocksize", 1)
    if size < 1:
        node.fail(f"expected blocksize of at least 1, got {size}")
    return size


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
    """Keep the upper or lower triangle of matrices, and put 0 elsewhere; the diagonal need not be constant."""
    data, upper = node.operand(0), node.flag("upper", True)
    node.check_rank(data, 2, "data")
    rows, columns = node.static(data, "data")[-2:]
    distance = constant(np.arange(columns) - np.arange(rows)[:, None])
    diagonal = node.optional(1)
    if diagonal is None:
        diagonal = node.scalar(0, distance)
    op = GreaterEqualOp if upper else LessEqualOp
    keep = node.emit(op(distance, diagonal))
    return node.emit(WhereOp(keep, data, node.scalar(0, data)))


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
