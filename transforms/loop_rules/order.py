"""In what order the tiles of a result follow each other, which is also what threads share."""

from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from partita.dialects.tir import buffer_type
from partita.transforms.loop_rules.lanes import Lanes
from partita.transforms.loop_rules.nest import Access, Stage

CACHED = 1 << 20
"""Bytes that are read again and again from a cache of one core, without waiting for them."""


def tile_order(
    stage: Stage, lanes: Lanes, outer: dict[int, SSAValue], vectors: SSAValue | None
) -> tuple[SSAValue, ...]:
    """Return the loops from tile to tile, outermost first: `vectors` over the axis of vectors, `outer` over others, by axis.

    What is streamed along the lanes (weights) stays close if the loop over vectors stands before the axis that
    shares them. It stands inside all but the last axis if weights are small enough to be read again, and smaller
    than the other operands (activations): threads, which share the outermost loops, then read different
    activations, those they wrote themselves in the kernel before, and the same weights. The
    other way round each thread would fetch half of the activations from another core's cache, which takes
    longer than to compute a 1x1 convolution with them.
    """
    if vectors is None:
        return tuple(outer[axis] for axis in sorted(outer))
    first = min((lanes.vectors, *lanes.rows[:1]))
    before = [outer[axis] for axis in sorted(outer) if axis < first]
    after = [outer[axis] for axis in sorted(outer) if axis >= first]
    moving = [
        load
        for load in stage.loads
        if load.block_of(lanes.axis) or load.stride(lanes.axis)
    ]
    weights = sum(map(_bytes, moving))
    activations = sum(_bytes(load) for load in stage.loads if load not in moving)
    if len(after) > 1 and weights <= min(activations, CACHED):
        return (*before, *after[:-1], vectors, after[-1])
    return (*before, vectors, *after)


def _bytes(access: Access) -> int:
    type = buffer_type(access.buffer)
    element = type.element_type
    size = element.size if isinstance(element, FixedBitwidthType) else 8
    return prod(type.get_shape()) * size
