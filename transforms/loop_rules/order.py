"""In what order the tiles of a result follow each other, which is also what threads share."""

from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from partita.dialects.tir import buffer_type
from partita.transforms.loop_rules.lanes import Lanes, moving_loads
from partita.transforms.loop_rules.nest import Access, Stage

CACHED = 1 << 20
"""Bytes that are read again and again from a cache of one core, without waiting for them."""


PREFETCH = "prefetch"
"""What a loop is annotated with that reads a long stream of memory: by how many iterations to run ahead."""

STREAMED = 1 << 18
"""Bytes of operands from which on they are hardly in a cache when a kernel begins."""

AHEAD = 1 << 12
"""Bytes to run ahead of a stream: into the next page, where hardware that sees streams stops."""


def stream_of(stage: Stage, lanes: Lanes) -> tuple[int, int] | None:
    """Return the reduction axis along which vectors are streamed from memory, and how many iterations to run ahead.

    `None` if they are in a cache after the first few of many rows.
    """
    moving = moving_loads(stage, lanes.axis)
    axes = [axis for axis, extent in enumerate(stage.reduction) if extent > 1]
    if not lanes.rows or not axes or sum(map(_bytes, moving)) < STREAMED:
        return None
    steps = [load.stride(len(stage.spatial) + axes[-1]) for load in moving]
    if not all(steps):
        return None
    step = max(abs(each) for each in steps if each) * stage.bits // 8
    return axes[-1], max(1, AHEAD // step)


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
    moving = moving_loads(stage, lanes.axis)
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
