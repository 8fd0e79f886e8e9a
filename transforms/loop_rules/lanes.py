"""The axis that vectors run along while a reduction is computed."""

from dataclasses import dataclass

from partita.transforms.loop_rules.nest import Stage
from partita.transforms.loop_rules.tiles import Registers, lane_count

SHORTEST = 4
"""Fewer elements than this are not worth a vector."""

VECTOR_STRIDES = (0, 1, 2)
"""Strides from lane to lane that loads are fast for."""


@dataclass(frozen=True)
class Lanes:
    """The axis of a reduction's result that vectors run along."""

    axis: int

    count: int
    """Lanes of a vector."""

    extent: int

    shared: int | None
    """An axis along which one vector of operands serves several elements, if there is one."""


def choose_lanes(stage: Stage, registers: Registers) -> Lanes | None:
    """Choose the axis to vectorize: one on which operands are contiguous, blocked ones first.

    Along every other axis a loaded vector can be shared if it does not depend on it.
    """
    if len(stage.stores) != 1 or stage.stores[0].exprs is None:
        return None
    if any(load.exprs is None for load in stage.loads):
        return None
    width = registers.lanes(stage.bits)
    best: tuple[int, Lanes] | None = None
    for axis, extent in enumerate(stage.spatial):
        if extent < SHORTEST or (block := _block_along(stage, axis)) is None:
            continue
        count = min(block, width) if block else lane_count(extent, width)
        shared = _shared_axis(stage, axis)
        score = count * (1 if shared is None else 2)
        if axis == len(stage.spatial) - 1:
            score += 1
        if best is None or score > best[0]:
            best = (score, Lanes(axis, count, extent, shared))
    return None if best is None else best[1]


def _block_along(stage: Stage, axis: int) -> int | None:
    """Return in what blocks operands are contiguous along an axis: 0 if in one piece, `None` if not at all."""
    sizes = {size for load in stage.loads if (size := load.block_of(axis))}
    plain = [load.stride(axis) for load in stage.loads if not load.block_of(axis)]
    if len(sizes) > 1 or any(stride not in VECTOR_STRIDES for stride in plain):
        return None
    if not sizes and not any(plain):
        return None
    block = sizes.pop() if sizes else 0
    return None if block % SHORTEST else block


def _shared_axis(stage: Stage, lanes: int) -> int | None:
    """Return the last other axis on which loaded vectors do not depend, and something else does."""
    moving = [
        load for load in stage.loads if load.block_of(lanes) or load.stride(lanes)
    ]
    shared = [
        axis
        for axis, extent in enumerate(stage.spatial)
        if axis != lanes
        and extent > 1
        and all(load.stride(axis) == 0 for load in moving)
        and any(load.stride(axis) != 0 for load in stage.loads)
    ]
    return shared[-1] if shared else None
