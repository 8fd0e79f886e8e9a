"""Blocks that read along one axis and write along another: square tiles, which are transposed in registers."""

from dataclasses import dataclass
from math import prod

from partita.transforms.loop_rules.maps import joins
from partita.transforms.loop_rules.nest import Stage
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiles import PARALLEL_WORK, Registers

LARGEST = 16
"""Rows and columns of a tile: its rows are all in registers."""

SMALLEST = 4


@dataclass(frozen=True)
class Transposition:
    """How a block is cut into tiles."""

    row: int
    """The axis along which elements that are read are neighbours."""

    first: int
    """From this axis on, all are one along which elements that are written are neighbours."""

    size: int
    """Rows and columns of a tile, a power of two."""


def find_transposition(stage: Stage, registers: Registers) -> Transposition | None:
    """Return the tiles for a block that reads something along another axis than it writes."""
    accesses = (*stage.loads, *stage.stores)
    last = len(stage.spatial) - 1
    if any(
        access.guarded or access.stride(axis) is None
        for access in accesses
        for axis in range(last + 1)
    ):
        return None
    if any(store.stride(last) != 1 for store in stage.stores):
        return None
    far = [load for load in stage.loads if load.stride(last) not in (0, 1)]
    rows = [
        axis
        for axis, extent in enumerate(stage.spatial[:last])
        if extent >= SMALLEST and all(load.stride(axis) == 1 for load in far)
    ]
    if not far or not rows:
        return None
    row = rows[-1]
    first = last
    while first - 1 > row and all(
        joins(access, first - 1, first, prod(stage.spatial[first:]))
        for access in accesses
    ):
        first -= 1
    shortest = min(stage.spatial[row], prod(stage.spatial[first:]))
    size = min(LARGEST, registers.lanes(stage.bits))
    while size > shortest:
        size //= 2
    return Transposition(row, first, size) if size >= SMALLEST else None


def schedule_transposition(steps: Steps, stage: Stage, tiles: Transposition) -> None:
    """Cut both axes into tiles, of which one row is unrolled and the other lanes; share strips of tiles among threads."""
    loops = steps.loops(steps.block(stage.label), stage.names)
    row = loops[tiles.row]
    before, between = loops[: tiles.row], loops[tiles.row + 1 : tiles.first]
    column = steps.fuse(*loops[tiles.first :])
    strips, row = steps.split(row, None, tiles.size, tail="peel")
    chunks, column = steps.split(column, None, tiles.size, tail="peel")
    steps.reorder(strips, *between, chunks, row, column)
    steps.unroll(row)
    steps.vectorize(column)
    if stage.work >= PARALLEL_WORK:
        whole = stage.spatial[tiles.row] % tiles.size == 0
        outer = (*before, *((strips,) if whole or not before else ()))
        steps.parallel(steps.fuse(*outer))
