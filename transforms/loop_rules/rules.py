"""The table of rules for loops: one for each kind of block, the more particular ones first."""

from partita.transforms.loop_rules.lanes import choose_lanes
from partita.transforms.loop_rules.maps import schedule_map
from partita.transforms.loop_rules.nest import Stage, is_temporary
from partita.transforms.loop_rules.products import find_product, schedule_product
from partita.transforms.loop_rules.row_groups import find_group, schedule_group
from partita.transforms.loop_rules.rows import schedule_rows
from partita.transforms.loop_rules.schedule import Draft, Rule
from partita.transforms.loop_rules.tiled import schedule_tiles
from partita.transforms.loop_rules.transposes import (
    find_transposition,
    schedule_transposition,
)


def row_groups(draft: Draft, stage: Stage) -> bool:
    """Run blocks that follow each other along the rows of a tensor row by row."""
    start = draft.stages.index(stage)
    group = find_group(draft.stages, start, draft.registers)
    if group is None:
        return False
    draft.done.update(each.label for each in group.stages)
    schedule_group(draft.steps, group, draft.registers)
    return True


def transpositions(draft: Draft, stage: Stage) -> bool:
    """Exchange the last axis with another in square tiles."""
    if stage.reduction:
        return False
    tiles = find_transposition(stage, draft.registers)
    if tiles is None:
        return False
    schedule_transposition(draft.steps, stage, tiles)
    return True


def maps(draft: Draft, stage: Stage) -> bool:
    """Run what reduces nothing as lanes and threads."""
    if stage.reduction:
        return False
    schedule_map(draft.steps, stage, draft.registers)
    return True


def products(draft: Draft, stage: Stage) -> bool:
    """Multiply matrices in tiles of rows and columns, with panels of far columns copied first."""
    product = find_product(stage, draft.registers) if stage.reduction else None
    if product is None:
        return False
    schedule_product(draft.steps, stage, _take_epilogue(draft, stage), product)
    return True


def tiles(draft: Draft, stage: Stage) -> bool:
    """Keep a tile of a result in registers while a reduction runs."""
    lanes = choose_lanes(stage, draft.registers) if stage.reduction else None
    if lanes is None:
        return False
    epilogue = _take_epilogue(draft, stage)
    costly = epilogue is not None and epilogue.label in draft.costly
    schedule_tiles(draft.steps, stage, epilogue, lanes, draft.registers, costly)
    return True


def rows(draft: Draft, stage: Stage) -> bool:
    """Reduce one element after the other."""
    if not stage.reduction:
        return False
    schedule_rows(draft.steps, stage, _take_epilogue(draft, stage))
    return True


RULES: tuple[Rule, ...] = (row_groups, transpositions, maps, products, tiles, rows)
"""For processors with vector registers; each block gets the first that takes it."""


def _take_epilogue(draft: Draft, stage: Stage) -> Stage | None:
    """Return the block that finishes a reduction's result, which then needs no rule of its own."""
    epilogue = find_epilogue(draft.stages, stage)
    if epilogue is not None:
        draft.done.add(epilogue.label)
    return epilogue


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
