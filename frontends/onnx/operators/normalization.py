"""Normalization by statistics that are given, or computed from the data; dropout."""

import numpy as np
from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute, SSAValue

from partita.dialects.relay import (
    AddOp,
    BatchNormOp,
    CastOp,
    DivideOp,
    DropoutOp,
    ExpandDimsOp,
    LayerNormOp,
    LrnOp,
    MeanOp,
    MultiplyOp,
    ReciprocalOp,
    ReshapeOp,
    SqrtOp,
    SubtractOp,
)
from partita.dialects.relay.base import normalize_axis
from partita.frontends.onnx.builder import splat
from partita.frontends.onnx.node import Node, table
from partita.shapes import DYNAMIC, dtype_of, element_of, shape_of

EPSILON = 1e-5


def batch_normalization(node: Node) -> SSAValue:
    """Inference only; before opset 9, `spatial = 0` gives each activation statistics of its own."""
    if node.flag("training_mode"):
        node.fail("training is not supported")
    data, epsilon = node.operand(0), node.real("epsilon", EPSILON)
    element = element_of(data)
    scale, bias, mean, variance = (
        node.cast(node.operand(index), element) for index in range(1, 5)
    )
    if node.opset < 9 and not node.flag("spatial", True):
        shifted = node.emit(AddOp(variance, node.scalar(epsilon, variance)))
        normal = node.emit(
            DivideOp(node.emit(SubtractOp(data, mean)), node.emit(SqrtOp(shifted)))
        )
        return node.emit(AddOp(node.emit(MultiplyOp(normal, scale)), bias))
    return node.emit(
        BatchNormOp(data, scale, bias, mean, variance, axis=1, epsilon=epsilon)
    )


def normalized(node: Node, data: SSAValue, axis: int, epsilon: float) -> SSAValue:
    """Normalize over the axes from `axis` on, without scale and shift."""
    one, zero = node.scalar(1, data), node.scalar(0, data)
    return node.emit(LayerNormOp(data, one, zero, axis=axis, epsilon=epsilon))


def instance_normalization(node: Node) -> SSAValue:
    """Over the spatial axes of each channel."""
    data, scale, bias = node.operand(0), node.operand(1), node.operand(2)
    epsilon = node.real("epsilon", EPSILON)
    normal = normalized(node, data, 2, epsilon)
    return affine_by_channel(node, normal, scale, bias)


def affine_by_channel(
    node: Node, data: SSAValue, scale: SSAValue, bias: SSAValue
) -> SSAValue:
    """Multiply and add by channel, axis 1."""
    axes = range(1, len(shape_of(data)) - 1)
    scaled = node.emit(MultiplyOp(data, node.emit(ExpandDimsOp(scale, axes=axes))))
    return node.emit(AddOp(scaled, node.emit(ExpandDimsOp(bias, axes=axes))))


def group_normalization(node: Node) -> SSAValue:
    """Over groups of channels and the spatial axes; scale and bias are by group before opset 21, then by channel."""
    data, scale, bias = node.operand(0), node.operand(1), node.operand(2)
    groups = node.integer("num_groups", 1)
    epsilon = node.real("epsilon", EPSILON)
    element, shape = element_of(data), shape_of(data)
    work = _work_type(node, element) if node.opset >= 21 else element
    node.check_rank(data, 3, "data")
    if DYNAMIC in shape[1:] or groups < 1 or shape[1] % groups:
        node.static(data, "data")
        node.fail(f"expected num_groups to divide {shape[1]} channels, got {groups}")
    grouped = node.emit(
        ReshapeOp(
            node.cast(data, work),
            shape=(shape[0], groups, shape[1] // groups, *shape[2:]),
        )
    )
    normal = node.cast(normalized(node, grouped, 2, epsilon), element)
    if node.opset < 21:
        return node.emit(
            ReshapeOp(affine_by_channel(node, normal, scale, bias), shape=shape)
        )
    flat = node.emit(ReshapeOp(normal, shape=shape))
    return affine_by_channel(node, flat, scale, bias)


def _work_type(node: Node, element: Attribute) -> Attribute:
    """Return the type in which statistics are computed: `stash_type`, f32 as a rule, unless it is narrower."""
    narrow = dtype_of(element).itemsize < 4
    return f32 if narrow and node.integer("stash_type", 1) == 1 else element


def layer_normalization(node: Node) -> tuple[SSAValue | None, ...]:
    """Over the axes from `axis` on; mean and inverse deviation are results too, if they are wanted."""
    data, scale, bias = node.operand(0), node.operand(1), node.optional(2)
    rank, element = len(shape_of(data)), element_of(data)
    axis, epsilon = (
        normalize_axis(node.integer("axis", -1), rank),
        node.real("epsilon", EPSILON),
    )
    work = _work_type(node, element)
    if work == element:
        if bias is None:
            bias = node.scalar(0, data)
        result = node.emit(LayerNormOp(data, scale, bias, axis=axis, epsilon=epsilon))
    else:
        normal = normalized(node, node.cast(data, work), axis, epsilon)
        result = node.emit(MultiplyOp(node.cast(normal, element), scale))
        if bias is not None:
            result = node.emit(AddOp(result, bias))
    if not node.output_used(1) and not node.output_used(2):
        return (result,)
    axes = tuple(range(axis, rank))
    mean, variance = moments(node, node.cast(data, work), axes)
    shifted = node.emit(AddOp(variance, node.scalar(epsilon, variance)))
    return result, mean, node.emit(ReciprocalOp(node.emit(SqrtOp(shifted))))


def moments(
    node: Node, data: SSAValue, axes: tuple[int, ...]
) -> tuple[SSAValue, SSAValue]:
    """Return mean and biased variance over axes, which stay with extent 1."""
    mean = node.emit(MeanOp(data, axes, True))
    centred = node.emit(SubtractOp(data, mean))
    return mean, node.emit(MeanOp(node.emit(MultiplyOp(centred, centred)), axes, True))


def rms_normalization(node: Node) -> SSAValue:
    """X / sqrt(mean(x^2) + epsilon) * scale, over the axes from `axis` on."""
    data, scale = node.operand(0), node.operand(1)
    rank, element = len(shape_of(data)), element_of(data)
    axes = tuple(range(normalize_axis(node.integer("axis", -1), rank), rank))
    value = node.cast(data, _work_type(node, element))
    square = node.emit(MeanOp(node.emit(MultiplyOp(value, value)), axes, True))
    shifted = node.emit(
        AddOp(square, node.scalar(node.real("epsilon", EPSILON), square))
    )
    normal = node.emit(DivideOp(value, node.emit(SqrtOp(shifted))))
    return node.emit(MultiplyOp(node.cast(normal, element), scale))


def mean_variance_normalization(node: Node) -> SSAValue:
    data = node.operand(0)
    rank = len(shape_of(data))
    axes = tuple(
        normalize_axis(axis, rank, "axes")
        for axis in node.integers("axes") or (0, 2, 3)
    )
    mean, variance = moments(node, data, axes)
    deviation = node.emit(SqrtOp(variance))
    safe = node.emit(AddOp(deviation, node.scalar(1e-9, data)))
    return node.emit(DivideOp(node.emit(SubtractOp(data, mean)), safe))


def lrn(node: Node) -> SSAValue:
    return node.emit(
        LrnOp(
            node.operand(0),
            size=node.integer("size", 1),
            alpha=node.real("alpha", 1e-4),
            beta=node.real("beta", 0.75),
            bias=node.real("bias", 1.0),
        )
    )


def dropout(node: Node) -> tuple[SSAValue, ...]:
    """Inference only: the data, and a mask that keeps all of it, boolean from opset 10 on."""
    data = node.operand(0)
    if node.has(2) and node.scalar_constant(2) is None:
        node.fail("expected training_mode to be a constant, got a run-time value")
    if node.scalar_constant(2):
        node.fail("training is not supported")
    rate = node.real("ratio", 0.5)
    result = node.emit(DropoutOp(data, rate=rate))
    if not node.output_used(1):
        return (result,)
    shape = node.static(data, "data")
    mask = splat(shape, np.bool_(True))
    element = element_of(data) if node.opset < 10 else i1
    return result, mask if element == i1 else node.emit(
        CastOp(mask, element_type=element)
    )


NORMALIZATION = table(
    {
        "BatchNormalization": batch_normalization,
        "Dropout": dropout,
        "GroupNormalization": group_normalization,
        "InstanceNormalization": instance_normalization,
        "LRN": lrn,
        "LayerNormalization": layer_normalization,
        "MeanVarianceNormalization": mean_variance_normalization,
        "RMSNormalization": rms_normalization,
    }
)
