"""Reductions without an axis for vectors: one element at a time."""

from partita.transforms.loop_rules.nest import Stage
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiles import PARALLEL_WORK


def schedule_rows(steps: Steps, stage: Stage, epilogue: Stage | None) -> None:
    """Reduce one element at a time; LLVM vectorizes along the reduction."""
    block = steps.block(stage.label)
    loops = steps.loops(block, stage.names)
    rank = len(stage.spatial)
    spatial, reduction = loops[:rank], loops[rank:]
    if spatial and len(stage.stores) == 1:
        last = steps.block(epilogue.label) if epilogue else steps.cache_write(block)
        steps.reverse_compute_at(last, spatial[-1])
        steps.set_scope(block)
    steps.decompose_reduction(block, reduction[0])
    if spatial and stage.work >= PARALLEL_WORK:
        steps.parallel(steps.fuse(*spatial))
