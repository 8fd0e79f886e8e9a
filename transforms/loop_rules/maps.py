"""Blocks without reduction: vectors along the last axes, threads along the others."""

from math import prod

from partita.transforms.loop_rules.nest import Access, Stage
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiles import PARALLEL_WORK, Registers, lane_count


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
