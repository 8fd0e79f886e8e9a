"""Give a block new loops at another place, over just a part of its axes."""

from collections.abc import Sequence

from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineExpr

from partita.analysis.affine import Sum, as_expr, plus
from partita.analysis.loop_nests import (
    blocks_in,
    is_inside,
    loops_around,
    writers_of,
    written_by,
)
from partita.analysis.regions import Space, Span
from partita.dialects.tir import BlockOp, ForOp
from partita.transforms.scheduling.indices import set_bindings
from partita.transforms.scheduling.state import (
    ScheduleError,
    hint,
    name_of,
    require_plain,
)

ALL = Sum(0)


def whole(extent: int) -> Span:
    """Return the span of a whole axis."""
    return Span(ALL, extent)


def insides(block: BlockOp, space: Space) -> set[Sum]:
    """Return what is not negative where a block's axes are inside."""
    bindings = space.bindings(block)
    return {
        bound
        for value, extent in zip(bindings, block.extents, strict=True)
        for bound in (value, plus(Sum(extent - 1), value, -1))
    }


def check_movable(block: BlockOp, loop: ForOp) -> None:
    """Raise `ScheduleError` unless a block can leave its loops for another loop."""
    if is_inside(block, loop):
        raise ScheduleError(f"{name_of(block)} stands in {name_of(loop)} already")
    for buffer in written_by(block):
        for other in writers_of(buffer):
            if other is not block:
                raise ScheduleError(
                    f"{name_of(other)} writes the same as {name_of(block)}; move it before decompose_reduction"
                )
    around = (*loops_around(loop), loop)
    own = next((each for each in loops_around(block) if each not in around), block)
    for other in blocks_in(own):
        if other is not block:
            raise ScheduleError(
                f"{name_of(other)} shares the loops of {name_of(block)}"
            )
    require_plain(*(each for each in loops_around(block) if each not in around))
    space = Space()
    if not insides(block, space).issuperset(space.guards(block)):
        raise ScheduleError(
            f"the where of {name_of(block)} says more than that its axes are inside"
        )


def move(
    block: BlockOp,
    spans: Sequence[Span],
    space: Space,
    parent: Block,
    before: Operation | None,
    also: Sequence[Sum] = (),
) -> None:
    """Run a block over a span of each axis, in new loops at a place; the old ones go.

    It runs where its axes are inside, and where what is in `also` is not negative
    either. Spans and guards are of `space`'s loops, which stand around the place.
    """
    old = block.parent_op()
    block.detach()
    while isinstance(old, ForOp) and old.body.block.is_empty:
        old, empty = old.parent_op(), old
        empty.detach()
        empty.erase()

    loops: list[ForOp] = []
    bindings: list[AffineExpr] = []
    count = len(space.values)
    for axis, each in zip(block.axes, spans, strict=True):
        binding = as_expr(each.base)
        if each.size > 1:
            binding = binding + AffineExpr.dimension(count + len(loops))
            loops.append(ForOp.empty(each.size, hint(axis, "i")))
        bindings.append(binding)
    ops = (*loops, block)
    for around, inside in zip(loops, ops[1:], strict=True):
        around.body.block.add_op(inside)
    if before is None:
        parent.add_op(ops[0])
    else:
        parent.insert_op_before(ops[0], before)
    guards = [
        guard
        for binding, extent in zip(bindings, block.extents, strict=True)
        for guard in (binding, AffineExpr.constant(extent - 1) - binding)
    ]
    guards.extend(map(as_expr, also))
    indices = (*space.values, *(loop.variable for loop in loops))
    set_bindings(block, bindings, guards, indices)
