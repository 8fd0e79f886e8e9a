"""Reductions without an axis for vectors: one element at a time."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from partita.transforms.loop_rules.maps import joins
from partita.transforms.loop_rules.nest import Stage
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiles import PARALLEL_WORK


def schedule_rows(steps: Steps, stage: Stage, epilogue: Stage | None) -> None:
    """Reduce one element at a time; LLVM vectorizes along the reduction."""
    block = steps.block(stage.label)
    loops = steps.loops(block, stage.names)
    rank = len(stage.spatial)
    spatial, reduction = loops[:rank], loops[rank:]
    axes = range(rank, len(stage.block.extents))
    reduction = fuse_joined(steps, stage, reduction, axes)
    if spatial and len(stage.stores) == 1:
        last = steps.block(epilogue.label) if epilogue else steps.cache_write(block)
        steps.reverse_compute_at(last, spatial[-1])
        steps.set_scope(block)
    steps.decompose_reduction(block, reduction[0])
    if spatial and stage.work >= PARALLEL_WORK:
        steps.parallel(steps.fuse(*spatial))


def fuse_joined(
    steps: Steps, stage: Stage, loops: Sequence[SSAValue], axes: Sequence[int]
) -> tuple[SSAValue, ...]:
    """Make one of the last loops of a reduction, as far as all accesses go on in steps; `axes` are those of the loops."""
    first = len(axes) - 1
    while first > 0 and all(
        joins(load, axes[first - 1], axes[first], stage.block.extents[axes[first]])
        for load in stage.loads
    ):
        first -= 1
    return (*loops[:first], steps.fuse(*loops[first:]))
