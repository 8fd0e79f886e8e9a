"""Reductions in tiles: some rows by some vectors of a result stay in registers until they are complete."""

from dataclasses import dataclass
from itertools import takewhile
from math import prod

from xdsl.ir import SSAValue

from partita.transforms.loop_rules.lanes import SHORTEST, Lanes
from partita.transforms.loop_rules.nest import Stage
from partita.transforms.loop_rules.order import PREFETCH, stream_of, tile_order
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiles import (
    PARALLEL_WORK,
    Registers,
    Tile,
    best_tile,
)

UNROLLED_WINDOW = 32
"""Taps of a window that is unrolled whole."""


@dataclass(frozen=True)
class _TileLoops:
    """The spatial loops of a result that is split into tiles."""

    outer: tuple[SSAValue, ...]
    """From tile to tile, outermost first."""

    inner: tuple[SSAValue, ...]
    """From register to register of a tile: rows, then vectors."""

    lane: SSAValue
    """The lanes of a vector."""

    ragged: frozenset[SSAValue]
    """Outer loops whose last tile is cut short."""


def schedule_tiles(
    steps: Steps,
    stage: Stage,
    epilogue: Stage | None,
    lanes: Lanes,
    registers: Registers,
    costly: bool,
) -> None:
    """Split the result into tiles of rows by vectors; the reduction runs inside, then the epilogue, which may be costly."""
    block = steps.block(stage.label)
    last = steps.block(epilogue.label) if epilogue else steps.cache_write(block)
    loops = steps.loops(block, stage.names)
    rank = len(stage.spatial)
    reduction = loops[rank:]
    depth = prod(stage.reduction)
    rows = [stage.spatial[axis] for axis in lanes.rows]
    tile = best_tile(registers, rows, lanes.vector_count, depth)
    tiled = _split(steps, stage, loops[:rank], lanes, tile)

    steps.reorder(*tiled.outer, *reduction, *tiled.inner, tiled.lane)
    steps.vectorize(tiled.lane)
    for loop in tiled.inner:
        steps.unroll(loop)
    if tiled.outer:
        steps.reverse_compute_at(last, tiled.outer[-1])
    if stream := stream_of(stage, lanes):
        axis, ahead = stream
        steps.annotate(reduction[axis], PREFETCH, ahead)
    steps.set_scope(block)
    steps.decompose_reduction(block, reduction[0])
    if not lanes.rows and depth <= UNROLLED_WINDOW:
        for loop in reduction:
            steps.unroll(loop)
    _schedule_epilogue(steps, stage, last, len(tiled.outer), lanes, tile, costly)
    if tiled.outer and stage.work >= PARALLEL_WORK:
        steps.parallel(steps.fuse(*_grid(tiled)))


def _split(
    steps: Steps,
    stage: Stage,
    spatial: tuple[SSAValue, ...],
    lanes: Lanes,
    tile: Tile,
) -> _TileLoops:
    """Split the axes of lanes and vectors into vectors, and those that share them into rows."""
    outer = dict(enumerate(spatial))
    inner: list[SSAValue] = []
    ragged: set[SSAValue] = set()
    lane = outer.pop(lanes.axis)
    vectors: SSAValue | None = None
    if lanes.vectors != lanes.axis:
        vectors = outer.pop(lanes.vectors)
        if tile.vectors > 1:
            vectors, middle = steps.split(vectors, None, tile.vectors)
            inner.append(middle)
    elif lanes.extent == lanes.count * tile.vectors:
        if tile.vectors > 1:
            middle, lane = steps.split(lane, None, lanes.count)
            inner.append(middle)
    else:
        factors = (tile.vectors, lanes.count) if tile.vectors > 1 else (lanes.count,)
        vectors, *middles, lane = steps.split(lane, None, *factors, tail="peel")
        inner += middles
        if lanes.extent % (lanes.count * tile.vectors):
            ragged.add(vectors)
    for axis, size in zip(lanes.rows, tile.rows, strict=True):
        if size == 1:
            continue
        row, extent = outer.pop(axis), stage.spatial[axis]
        if size < extent:
            outer[axis], row = steps.split(row, None, size, tail="peel")
            if extent % size:
                ragged.add(outer[axis])
        inner.insert(0, row)
    order = tile_order(stage, lanes, outer, vectors)
    return _TileLoops(order, tuple(inner), lane, frozenset(ragged))


def _grid(tiled: _TileLoops) -> list[SSAValue]:
    """Return the outer loops that threads share: all but the last, which walks along rows.

    A loop whose last iteration is cut short cannot be fused with others.
    """
    whole = takewhile(lambda loop: loop not in tiled.ragged, tiled.outer[:-1])
    return list(whole) or [tiled.outer[0]]


def _schedule_epilogue(
    steps: Steps,
    stage: Stage,
    last: SSAValue,
    depth: int,
    lanes: Lanes,
    tile: Tile,
    costly: bool,
) -> None:
    """Vectorize what is done with a finished tile, along the axis that results are contiguous on.

    Where that is the axis of lanes, results go from registers to memory: registers are told
    apart by constants only, so the other loops are unrolled. Code that computes something
    costly is too long for that.
    """
    sizes = {lanes.axis: lanes.count}
    sizes[lanes.vectors] = sizes.get(lanes.vectors, 1) * tile.vectors
    sizes |= dict(zip(lanes.rows, tile.rows, strict=True))
    if not depth:
        sizes = dict(enumerate(stage.spatial))
    axes = sorted(axis for axis, size in sizes.items() if size > 1)
    names = [stage.names[axis] for axis in axes]
    loops = steps.loops(last, [*(f"o{i}" for i in range(depth)), *names])
    if not axes:
        return
    axis, loop = axes[-1], loops[-1]
    size = sizes[axis]
    others = loops[depth:-1]
    if axis == lanes.axis and size > lanes.count and size % lanes.count == 0:
        vectors, loop = steps.split(loop, None, lanes.count)
        others = (*others, vectors)
    if axis == lanes.axis and not costly:
        for each in others:
            steps.unroll(each)
    if size >= SHORTEST:
        steps.vectorize(loop)
