"""The schedule of one kernel: inline, then a rule for each block that is left."""

from xdsl.dialects.func import FuncOp

from partita.dialects import sched
from partita.transforms.loop_rules.inlining import inline
from partita.transforms.loop_rules.lanes import choose_lanes
from partita.transforms.loop_rules.maps import schedule_map
from partita.transforms.loop_rules.nest import Nest, Stage, is_temporary
from partita.transforms.loop_rules.row_groups import find_group, schedule_group
from partita.transforms.loop_rules.rows import schedule_rows
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiled import schedule_tiles
from partita.transforms.loop_rules.tiles import Registers
from partita.transforms.loop_rules.transposes import (
    find_transposition,
    schedule_transposition,
)


def schedule(function: FuncOp, registers: Registers) -> sched.SequenceOp | None:
    """Return the schedule of a kernel as `lower-te-to-tir` leaves it; `None` if it needs none, or had one."""
    nest = Nest.of(function)
    if not all(stage.is_bare for stage in nest.stages):
        return None
    steps = Steps()
    inlined = inline(nest)
    for label in inlined.labels:
        steps.compute_inline(steps.block(label))
    done: set[str] = set()
    for start, stage in enumerate(inlined.stages):
        if stage.label in done:
            continue
        group = find_group(inlined.stages, start, registers)
        if group is not None:
            done.update(each.label for each in group.stages)
            schedule_group(steps, group, registers)
            continue
        if not stage.reduction:
            if tiles := find_transposition(stage, registers):
                schedule_transposition(steps, stage, tiles)
            else:
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


def schedule_reduction(
    steps: Steps, stage: Stage, epilogue: Stage | None, registers: Registers
) -> None:
    """Keep a tile of the result in registers while the reduction runs; without lanes, one row at a time."""
    lanes = choose_lanes(stage, registers)
    if lanes is None:
        schedule_rows(steps, stage, epilogue)
    else:
        schedule_tiles(steps, stage, epilogue, lanes, registers)
