"""Reductions of rows and what is done with them, such as softmax: all of it for one row, then the next."""

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from partita.dialects.tir import buffer_type
from partita.shapes import Shape
from partita.transforms.loop_rules.lanes import choose_lanes
from partita.transforms.loop_rules.maps import vectorize_last
from partita.transforms.loop_rules.nest import Access, Stage, is_temporary
from partita.transforms.loop_rules.rows import fuse_joined
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiles import PARALLEL_WORK, Registers

ROW_BYTES = 64 * 1024
"""What the intermediate results of one row may take: they live on a thread's stack."""

FEWEST_ROWS = 16
"""Rows below which stages are better shared among threads one by one, if there is enough to do."""


@dataclass(frozen=True)
class RowGroup:
    """Stages that can run one after the other for each row."""

    stages: tuple[Stage, ...]
    """In program order. Nobody else reads what those before the last one write."""

    rank: int
    """How many leading axes of each stage number the rows."""

    @property
    def rows(self) -> Shape:
        """Extents of the axes that number the rows."""
        return self.stages[0].spatial[: self.rank]


def find_group(
    stages: tuple[Stage, ...], start: int, registers: Registers
) -> RowGroup | None:
    """Return the longest group that starts with a reduction of rows and ends with a block without reduction."""
    first = stages[start]
    if not first.reduction or not first.spatial:
        return None
    rank = len(first.spatial)
    while rank > 1 and first.spatial[rank - 1] == 1:
        rank -= 1
    for end in range(len(stages), start + 1, -1):
        group = RowGroup(stages[start:end], rank)
        if not group.stages[-1].reduction and _is_group(group, stages, registers):
            return group
    return None


def _is_group(group: RowGroup, stages: tuple[Stage, ...], registers: Registers) -> bool:
    inside = {store.buffer for stage in group.stages for store in stage.stores}
    private = [store for stage in group.stages[:-1] for store in stage.stores]
    others = [stage for stage in stages if stage not in group.stages]
    count = prod(group.rows)
    work = sum(stage.work for stage in group.stages)
    return (
        all(stage.spatial[: group.rank] == group.rows for stage in group.stages)
        and not any(
            stage.reduction and choose_lanes(stage, registers) for stage in group.stages
        )
        and all(
            _is_of_row(access, group.rank)
            for stage in group.stages
            for access in (*stage.loads, *stage.stores)
            if access.buffer in inside
        )
        and all(is_temporary(store.buffer) for store in private)
        and not any(
            load.buffer is store.buffer
            for store in private
            for stage in others
            for load in stage.loads
        )
        and sum(_bytes(store.buffer) for store in private) <= ROW_BYTES * count
        and (count >= FEWEST_ROWS or work < PARALLEL_WORK)
    )


def _is_of_row(access: Access, rank: int) -> bool:
    """Say whether an access stays in the row that its block is about."""
    if access.exprs is None or access.guarded:
        return False
    return all(
        expr == AffineDimExpr(axis) for axis, expr in enumerate(access.exprs[:rank])
    )


def _bytes(buffer: SSAValue) -> int:
    type = buffer_type(buffer)
    return prod(type.get_shape()) * 8


def schedule_group(steps: Steps, group: RowGroup, registers: Registers) -> None:
    """Compute what leads to a row of the last stage in front of it, in buffers of one row."""
    last = group.stages[-1]
    loops = steps.loops(steps.block(last.label), last.names)
    row = steps.fuse(*loops[: group.rank])
    rest = range(group.rank, len(last.spatial))
    if rest:
        vectorize_last(steps, last, loops[group.rank :], rest, registers)
    for stage in reversed(group.stages[:-1]):
        block = steps.block(stage.label)
        steps.compute_at(block, row)
        steps.set_scope(block)
        extents = stage.block.extents
        kept = [axis for axis in range(group.rank, len(extents)) if extents[axis] > 1]
        names = ["row", *(stage.names[axis] for axis in kept)]
        inner = steps.loops(block, names)[1:]
        count = sum(axis < len(stage.spatial) for axis in kept)
        if inner[count:]:
            reduction = fuse_joined(steps, stage, inner[count:], kept[count:])
            steps.decompose_reduction(block, reduction[0])
        elif not stage.reduction and inner:
            vectorize_last(steps, stage, inner, kept, registers)
    work = sum(stage.work for stage in group.stages)
    if work >= PARALLEL_WORK:
        steps.parallel(row)
