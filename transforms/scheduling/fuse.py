"""Make one loop of several."""

from collections.abc import Sequence
from math import prod

from xdsl.ir import Region
from xdsl.ir.affine import AffineExpr

from partita.dialects.tir import ForOp
from partita.transforms.scheduling.indices import substitute
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    chain,
    hint,
    name_of,
    require_plain,
)

LONGEST_NAME = 12


def fuse(state: State, loops: Sequence[ForOp]) -> ForOp:
    """Replace loops that are directly nested in each other, outermost first, by one of all their iterations."""
    if not loops:
        raise ScheduleError("expected at least one loop")
    require_plain(*loops)
    if chain(loops) != tuple(loops):
        raise ScheduleError(
            "expected loops that are directly nested, outermost first, got "
            + ", ".join(map(name_of, loops))
        )
    if len(loops) == 1:
        return loops[0]
    first, last = loops[0], loops[-1]
    name = "".join(hint(loop.variable, "i") for loop in loops)
    fused_variable = last.variable
    body = last.body.detach_block(last.body.block)
    fused = ForOp(prod(loop.extent for loop in loops), Region(body))
    parent = first.parent_block()
    assert parent is not None
    parent.insert_op_before(fused, first)
    # The innermost loop's variable becomes the fused one, so it is replaced first.
    stride = 1
    for loop in reversed(loops):
        part = AffineExpr.dimension(0) // stride
        if loop is not first:
            part = part % loop.extent
        substitute(
            loop.variable if loop is not last else fused_variable,
            part + loop.lower.value.data,
            (fused_variable,),
        )
        stride *= loop.extent
    first.detach()
    first.erase()
    fused_variable.name_hint = name if len(name) <= LONGEST_NAME else "fused"
    state.peeled.difference_update(loops)
    return fused
