"""Change the order in which loops are nested."""

from collections.abc import Sequence
from itertools import pairwise

from partita.dialects.tir import ForOp
from partita.transforms.scheduling.repetition import check_order
from partita.transforms.scheduling.state import ScheduleError, State, chain


def reorder(state: State, loops: Sequence[ForOp]) -> None:
    """Put loops of one nest into this order, outermost first; others keep their places.

    Between the outermost and the innermost of them stand only loops. Then the order of
    iterations does not matter: spatial ones are independent, reductions are defined up
    to order, and a block's init belongs to the first value of its axes, not to a place;
    except that a reduction that is repeated has to be complete each time.
    """
    if not loops:
        raise ScheduleError("expected at least one loop")
    nest = chain(loops)
    wanted = iter(loops)
    order = [next(wanted) if loop in loops else loop for loop in nest]
    if order == list(nest):
        return
    check_order(nest, order)
    body = tuple(nest[-1].body.block.ops)
    for op in body:
        op.detach()
    place = nest[0]
    parent = place.parent_block()
    assert parent is not None
    after = place.next_op
    for loop in nest:
        loop.detach()
    if after is None:
        parent.add_op(order[0])
    else:
        parent.insert_op_before(order[0], after)
    for around, inside in pairwise(order):
        around.body.block.add_op(inside)
    order[-1].body.block.add_ops(body)
