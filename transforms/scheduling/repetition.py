"""The order of loops that a reduction with an init relies on.

A block may stand in loops that its axes do not follow: `compute_at` computes what several
iterations read in each of them. An element is then reduced several times, from its init on.
That is right as long as each time is complete before the next one begins, and starts with
the first value of all reduction axes.
"""

from collections.abc import Sequence
from itertools import combinations

from partita.analysis.iterations import determined
from partita.analysis.loop_nests import (
    blocks_in,
    is_inside,
    loops_around,
    loops_of,
)
from partita.analysis.regions import Space
from partita.dialects.tir import BlockOp, ForOp
from partita.transforms.scheduling.state import ScheduleError, name_of


def repeating(block: BlockOp, loops: Sequence[ForOp]) -> list[ForOp]:
    """Return those of some loops around a block whose iterations may run it for the same axes as others do.

    Loops around all of these stand still.
    """
    space = Space()
    bindings = space.bindings(block)
    around = [each for each in loops_around(block) if is_inside(loops[0], each)]
    fixed = space.positions(around)
    return [
        loop
        for loop in loops
        if not determined(space.positions((loop,)), bindings, space.ranges, fixed)
    ]


def check_order(nest: Sequence[ForOp], order: Sequence[ForOp]) -> None:
    """Raise `ScheduleError` if another order of a nest's loops could tear a reduction apart."""
    first = next(i for i, loop in enumerate(order) if loop is not nest[i])
    nest, order = nest[first:], order[first:]
    swapped = [
        {later, sooner}
        for sooner, later in combinations(nest, 2)
        if order.index(later) < order.index(sooner)
    ]
    for block in blocks_in(nest[-1]):
        if block.init.blocks:
            _check(block, swapped, set(repeating(block, nest)))


def _check(block: BlockOp, swapped: Sequence[set[ForOp]], again: set[ForOp]) -> None:
    rank = len(block.spatial_shape)
    spatial = loops_of(block, block.binding_exprs[:rank])
    reduced = loops_of(block, block.binding_exprs[rank:])
    for pair in swapped:
        if not pair & reduced:
            continue
        for each in pair & again:
            raise ScheduleError(
                f"{name_of(each)} repeats the reduction of {name_of(block)}, "
                "which has to be complete each time"
            )
        if pair <= reduced:
            for each in sorted(pair & spatial, key=name_of):
                raise ScheduleError(
                    f"{name_of(each)} runs over reduction and spatial axes of {name_of(block)} at once, "
                    "so that a sum might not begin with its init"
                )
