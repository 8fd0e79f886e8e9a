"""The schedule of one kernel: inline, then a rule for each block that is left."""

from dataclasses import dataclass
from itertools import takewhile
from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from partita.dialects import sched
from partita.targets.host.rules.inlining import inline
from partita.targets.host.rules.nest import Access, Nest, Stage, is_temporary
from partita.targets.host.rules.steps import Steps
from partita.targets.host.rules.tiles import Registers, best_tile, lane_count

PARALLEL_WORK = 16 * 1024
"""Runs of a block's body below which threads cost more than they give."""

UNROLLED_WINDOW = 32
"""Taps of a window that is unrolled whole."""


def schedule(function: FuncOp, registers: Registers) -> sched.SequenceOp | None:
    """Return the schedule of a kernel as `lower-te-to-tir` leaves it; `None` if it needs none, or had one."""
    nest = Nest.of(function)
    if not all(stage.is_bare for stage in nest.stages):
        return None
    steps = Steps()
    inlined = inline(nest)
    for label in inlined.labels:
        steps.inline(steps.block(label))
    done: set[str] = set()
    for stage in inlined.stages:
        if stage.label in done:
            continue
        if not stage.reduction:
            schedule_map(steps, stage, registers)
            continue
        epilogue = find_epilogue(inlined.stages, stage)
        if epilogue is not None:
            done.add(epilogue.label)
        schedule_reduction(steps, stage, epilogue, registers)
    return steps.sequence(function.sym_name.data)


def find_epilogue(stages: tuple[Stage, ...], stage: Stage) -> Stage | None:
    """Return the block that alone reads a reduction's result, each element where it is written."""
    if len(stage.stores) != 1 or not is_temporary(stage.stores[0].buffer):
        return None
    buffer, written = stage.stores[0].buffer, stage.stores[0].exprs
    readers = [
        each for each in stages if any(load.buffer is buffer for load in each.loads)
    ]
    if len(readers) != 1:
        return None
    reader = readers[0]
    if reader.reduction or reader.spatial != stage.spatial:
        return None
    reads = [load for load in reader.loads if load.buffer is buffer]
    if any(read.exprs != written or read.guarded for read in reads):
        return None
    before = {
        store.buffer
        for each in stages[stages.index(stage) + 1 : stages.index(reader)]
        for store in each.stores
    }
    if any(load.buffer in before for load in reader.loads):
        return None
    return reader


def schedule_map(steps: Steps, stage: Stage, registers: Registers) -> None:
    """Vectorize along the last axes on which all accesses are regular; share the others among threads."""
    extents = stage.spatial
    if not extents:
        return
    loops = steps.loops(steps.block(stage.label), stage.names)
    accesses = (*stage.loads, *stage.stores)
    first = len(extents) - 1
    regular = all(_is_regular(access, first) for access in accesses)
    while (
        regular
        and first
        and all(_joins(access, first - 1, extents[first]) for access in accesses)
    ):
        first -= 1
    inner_extent = prod(extents[first:])
    inner = steps.fuse(*loops[first:])
    outer = list(loops[:first])
    lanes = lane_count(inner_extent, registers.lanes(stage.bits))
    if regular and lanes >= 4:
        if inner_extent > lanes:
            chunks, inner = steps.split(inner, None, lanes, tail="peel")
            if prod(extents[:first]) == 1:
                outer = [chunks]
        steps.vectorize(inner)
    elif not outer or prod(extents[:first]) < 8:
        outer.append(inner)
    if stage.work < PARALLEL_WORK or not outer:
        return
    steps.parallel(steps.fuse(*outer))


def _is_regular(access: Access, axis: int) -> bool:
    return access.stride(axis) is not None


def _joins(access: Access, axis: int, inner_extent: int) -> bool:
    """Say whether an access goes on along an axis where it ends on the next one."""
    outer, inner = access.stride(axis), access.stride(axis + 1)
    if access.guarded:
        return False
    return outer is not None and inner is not None and outer == inner * inner_extent


@dataclass(frozen=True)
class Lanes:
    """The axis of a reduction's result that vectors run along."""

    axis: int

    count: int
    """Lanes of a vector."""

    extent: int

    shared: int | None
    """An axis along which one vector of operands serves several elements, if there is one."""


def schedule_reduction(
    steps: Steps, stage: Stage, epilogue: Stage | None, registers: Registers
) -> None:
    """Keep a tile of the result in registers while the reduction runs; without lanes, one row at a time."""
    lanes = choose_lanes(stage, registers)
    if lanes is None:
        schedule_rows(steps, stage, epilogue)
    else:
        schedule_tiles(steps, stage, epilogue, lanes, registers)


def choose_lanes(stage: Stage, registers: Registers) -> Lanes | None:
    """Choose the axis to vectorize: one on which operands are contiguous, blocked ones first.

    Along every other axis a loaded vector can be shared if it does not depend on it.
    """
    if not stage.spatial or any(load.exprs is None for load in stage.loads):
        return None
    if any(store.exprs is None for store in stage.stores) or len(stage.stores) != 1:
        return None
    width = registers.lanes(stage.bits)
    best: tuple[int, Lanes] | None = None
    for axis, extent in enumerate(stage.spatial):
        blocks = [load.block_of(axis) for load in stage.loads]
        strides = [load.stride(axis) for load in stage.loads]
        sizes = {block for block in blocks if block}
        if len(sizes) > 1 or extent < 4:
            continue
        kinds = [block or stride for block, stride in zip(blocks, strides, strict=True)]
        if any(
            not block and stride not in (0, 1, 2)
            for block, stride in zip(blocks, strides, strict=True)
        ):
            continue
        moving = [load for load, kind in zip(stage.loads, kinds, strict=True) if kind]
        if not moving:
            continue
        block = sizes.pop() if sizes else None
        if block is not None and block % 4:
            continue
        count = min(block, width) if block else lane_count(extent, width)
        shared = [
            other
            for other in range(len(stage.spatial))
            if other != axis
            and stage.spatial[other] > 1
            and all(load.stride(other) == 0 for load in moving)
            and any(load.stride(other) != 0 for load in stage.loads)
        ]
        score = count * (2 if shared else 1) + (
            1 if axis == len(stage.spatial) - 1 else 0
        )
        lanes = Lanes(axis, count, extent, shared[-1] if shared else None)
        if best is None or score > best[0]:
            best = (score, lanes)
    return None if best is None else best[1]


def schedule_tiles(
    steps: Steps,
    stage: Stage,
    epilogue: Stage | None,
    lanes: Lanes,
    registers: Registers,
) -> None:
    """Split the result into tiles of rows by vectors; the reduction runs inside, then the epilogue."""
    block = steps.block(stage.label)
    last = steps.cache_write(block) if epilogue is None else steps.block(epilogue.label)
    loops = steps.loops(block, stage.names)
    rank = len(stage.spatial)
    spatial, reduction = loops[:rank], loops[rank:]
    depth = prod(stage.reduction)
    vectors = max(1, lanes.extent // lanes.count)
    rows = 1 if lanes.shared is None else stage.spatial[lanes.shared]
    tile = best_tile(registers, rows, vectors, depth)

    whole = lanes.extent == lanes.count * tile.vectors
    inner: list[SSAValue] = []
    outer = {axis: loop for axis, loop in enumerate(spatial) if axis != lanes.axis}
    lane_outer: SSAValue | None = None
    if tile.vectors > 1:
        if whole:
            middle, lane = steps.split(spatial[lanes.axis], None, lanes.count)
        else:
            lane_outer, middle, lane = steps.split(
                spatial[lanes.axis], None, tile.vectors, lanes.count, tail="peel"
            )
        inner.append(middle)
    elif whole:
        lane = spatial[lanes.axis]
    else:
        lane_outer, lane = steps.split(
            spatial[lanes.axis], None, lanes.count, tail="peel"
        )
    row: SSAValue | None = None
    if lanes.shared is not None and tile.rows > 1:
        if tile.rows == rows:
            row = outer.pop(lanes.shared)
        else:
            outer[lanes.shared], row = steps.split(
                outer[lanes.shared], None, tile.rows, tail="peel"
            )
        inner.insert(0, row)
    order = _outer_order(outer, lane_outer, lanes)
    steps.reorder(*order, *reduction, *inner, lane)
    steps.vectorize(lane)
    for loop in inner:
        steps.unroll(loop)
    if lanes.shared is None and depth <= UNROLLED_WINDOW:
        unrolled = reduction
    else:
        unrolled = ()
    if order:
        steps.reverse_compute_at(last, order[-1])
    steps.set_scope(block)
    if reduction:
        steps.decompose_reduction(block, reduction[0])
    for loop in unrolled:
        steps.unroll(loop)
    _schedule_epilogue(steps, stage, last, order, lanes, tile.rows, tile.vectors)
    if order and stage.work >= PARALLEL_WORK:
        ragged = set[SSAValue]()
        if lane_outer is not None and lanes.extent % (lanes.count * tile.vectors):
            ragged.add(lane_outer)
        if row is not None and rows % tile.rows:
            ragged.update(order[-1:])
        steps.parallel(steps.fuse(*_grid(order, ragged)))


def _outer_order(
    outer: dict[int, SSAValue], lane_outer: SSAValue | None, lanes: Lanes
) -> list[SSAValue]:
    """Put the vectors' loop where it keeps streamed operands close: before the axis that shares them."""
    order: list[SSAValue] = []
    for axis in sorted(outer):
        if lane_outer is not None and axis > min(
            lanes.axis, lanes.axis if lanes.shared is None else lanes.shared
        ):
            order.append(lane_outer)
            lane_outer = None
        if lane_outer is not None and axis == lanes.shared:
            order.append(lane_outer)
            lane_outer = None
        order.append(outer[axis])
    if lane_outer is not None:
        order.append(lane_outer)
    return order


def _grid(order: list[SSAValue], ragged: set[SSAValue]) -> list[SSAValue]:
    """Return the outer loops that threads share: all but the last, which walks along rows.

    A loop whose last iteration is cut short cannot be fused with others.
    """
    whole = list(takewhile(lambda loop: loop not in ragged, order[: len(order) - 1]))
    return whole or order[:1]


def _schedule_epilogue(
    steps: Steps,
    stage: Stage,
    last: SSAValue,
    order: list[SSAValue],
    lanes: Lanes,
    rows: int,
    vectors: int,
) -> None:
    """Vectorize what is done with a finished tile, along the axis that results are contiguous on."""
    sizes = {lanes.axis: lanes.count * vectors}
    if lanes.shared is not None and rows > 1:
        sizes[lanes.shared] = rows
    if not order:
        sizes = dict(enumerate(stage.spatial))
    axes = sorted(axis for axis, size in sizes.items() if size > 1)
    names = [stage.names[axis] for axis in axes]
    loops = steps.loops(last, [*(f"o{i}" for i in range(len(order))), *names])
    inner = loops[len(order) :]
    if not inner:
        return
    axis, loop = axes[-1], inner[-1]
    size = sizes[axis]
    if size > lanes.count and size % lanes.count == 0 and axis == lanes.axis:
        _, loop = steps.split(loop, None, lanes.count)
    if size >= 4:
        steps.vectorize(loop)


def schedule_rows(steps: Steps, stage: Stage, epilogue: Stage | None) -> None:
    """Reduce one element at a time; LLVM vectorizes along the reduction."""
    block = steps.block(stage.label)
    loops = steps.loops(block, stage.names)
    rank = len(stage.spatial)
    spatial, reduction = loops[:rank], loops[rank:]
    if spatial and len(stage.stores) == 1:
        if epilogue is None:
            last = steps.cache_write(block)
        else:
            last = steps.block(epilogue.label)
        steps.reverse_compute_at(last, spatial[-1])
        steps.set_scope(block)
    steps.decompose_reduction(block, reduction[0])
    if spatial and stage.work >= PARALLEL_WORK:
        steps.parallel(steps.fuse(*spatial))
