"""The axis that vectors run along while a reduction is computed."""

from dataclasses import dataclass

from partita.transforms.loop_rules.nest import Access, Stage
from partita.transforms.loop_rules.tiles import Registers, lane_count

SHORTEST = 4
"""Fewer elements than this are not worth a vector."""

VECTOR_STRIDES = (0, 1, 2)
"""Strides from lane to lane that loads are fast for."""


MOST_ROW_AXES = 2
"""A tile has rows along this many axes at most."""


@dataclass(frozen=True)
class Lanes:
    """The axis of a reduction's result that vectors run along, and those that a tile has more vectors along."""

    axis: int

    count: int
    """Lanes of a vector."""

    extent: int

    rows: tuple[int, ...]
    """Axes along which one vector of operands serves several elements, the last one first."""

    vectors: int
    """The axis that has vectors side by side: the lanes' own, or where one vector fills that, another axis on which
    what is the same in all lanes does not depend."""

    vector_count: int
    """How many vectors there are along that axis."""


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
        rows = _row_axes(stage, axis)
        score = count * (2 if rows else 1)
        if axis == len(stage.spatial) - 1:
            score += 1
        if best is None or score > best[0]:
            vectors = _vector_axis(stage, axis, rows) if count == extent else axis
            number = stage.spatial[vectors] if vectors != axis else extent // count
            lanes = Lanes(axis, count, extent, rows, vectors, max(1, number))
            best = (score, lanes)
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


def _row_axes(stage: Stage, lanes: int) -> tuple[int, ...]:
    """Return the last other axes on which loaded vectors do not depend, and something else does."""
    moving = moving_loads(stage, lanes)
    shared = [
        axis
        for axis, extent in enumerate(stage.spatial)
        if axis != lanes
        and extent > 1
        and all(load.stride(axis) == 0 for load in moving)
        and any(load.stride(axis) != 0 for load in stage.loads)
    ]
    return tuple(reversed(shared[-MOST_ROW_AXES:]))


def _vector_axis(stage: Stage, lanes: int, rows: tuple[int, ...]) -> int:
    """Return an axis along which the same scalars meet other vectors; that of the lanes if there is none."""
    moving = moving_loads(stage, lanes)
    scalars = [load for load in stage.loads if load not in moving]
    if scalars and rows:
        for axis, extent in enumerate(stage.spatial):
            if (
                axis != lanes
                and extent > 1
                and all(load.stride(axis) == 0 for load in scalars)
                and all(load.stride(axis) for load in moving)
            ):
                return axis
    return lanes


def moving_loads(stage: Stage, lanes: int) -> list[Access]:
    """Return the loads that are vectors where lanes run along an axis."""
    return [load for load in stage.loads if load.block_of(lanes) or load.stride(lanes)]
