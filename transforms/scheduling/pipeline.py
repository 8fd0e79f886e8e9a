"""Software pipelining: what fills buffers runs ahead of what reads them.

A loop loads a tile and computes with it. With `n` slots for each buffer, iteration `t`
loads tile `t + n - 1` into slot `(t + n - 1) mod n`, and computes with tile `t` in slot
`t mod n`; the first `n - 1` tiles are loaded before the loop, the last ones used after it.
The slots that one iteration fills and reads differ, so a machine may do both at once.

Source: M. Lam, "Software pipelining: an effective scheduling technique for VLIW machines",
PLDI 1988, with the stages given and modulo variable expansion by an index.
"""

from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr, i64
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from partita.analysis.loop_nests import (
    accesses_in,
    accesses_of,
    blocks_in,
    is_inside,
    loops_in,
)
from partita.dialects.tir import ForOp, LoadOp, LoopKind, StoreOp, buffer_type
from partita.transforms.scheduling.indices import set_access, substitute
from partita.transforms.scheduling.partition import Labels, restrict, unwrapped
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    require_serial,
)

SLOTS = "sched.slots"
"""Marks loops that are to be pipelined, with the number of slots."""


def pipeline(state: State, loop: ForOp, slots: int) -> None:
    """Let what fills buffers in a loop run ahead, in the end, over buffers of so many slots."""
    require_serial(loop)
    loop.loop_kind = LoopKind.PIPELINED
    loop.attributes[SLOTS] = IntegerAttr(slots, i64)


def pipeline_loops(state: State) -> None:
    """Pipeline the loops that are to be, outer ones first."""
    labels = Labels(state.labels())
    while True:
        loop = next(
            (each for each in loops_in(state.function) if SLOTS in each.attributes),
            None,
        )
        if loop is None:
            return
        _pipeline(loop, labels)


def _pipeline(loop: ForOp, labels: Labels) -> None:
    slots = loop.attributes.pop(SLOTS)
    assert isinstance(slots, IntegerAttr)
    count = min(slots.value.data, loop.extent)
    ahead, buffers = _ahead(loop)
    if not ahead:
        raise ScheduleError(
            "nothing in it can run ahead: expected a block that fills a buffer of the "
            "loop's own, which others there read, from what the loop does not write",
            loop,
        )
    for alloc in buffers:
        _give_slots(alloc, loop, count)

    first, last = loop.lower.value.data, loop.upper.value.data - 1
    places = [index for index, op in enumerate(loop.body.block.ops) if op in ahead]
    fill, drain = loop.clone(), loop.clone()
    for copy, keeps in ((fill, True), (drain, False)):
        copy.loop_kind = LoopKind.SERIAL
        # Users go before what they use.
        for index, op in reversed(tuple(enumerate(copy.body.block.ops))):
            if (index in places) is not keeps:
                op.detach()
                op.erase()
        for block in blocks_in(copy):
            label = labels.copy_of(block.label.data, "head" if keeps else "tail")
            block.properties["label"] = StringAttr(label)
    parent = loop.parent_block()
    assert parent is not None
    parent.insert_op_before(fill, loop)
    parent.insert_op_after(drain, loop)
    distance = count - 1
    _shift(ahead, loop, distance)
    restrict(fill, first, first + distance - 1)
    restrict(loop, first, last - distance)
    restrict(drain, last - distance + 1, last)
    for part in (fill, loop, drain):
        if part.extent == 1:
            unwrapped(part)


def _ahead(loop: ForOp) -> tuple[list[Operation], list[AllocOp]]:
    """Return what of a loop's body can run ahead of the rest, and the buffers that it fills."""
    body = tuple(loop.body.block.ops)
    own: dict[SSAValue, AllocOp] = {
        op.memref: op for op in body if isinstance(op, AllocOp)
    }
    written = {op.buffer for op in accesses_in(loop) if isinstance(op, StoreOp)}
    ahead: list[Operation] = []
    filled: dict[AllocOp, None] = {}
    for op in body:
        stored = {each.buffer for each in accesses_in(op) if isinstance(each, StoreOp)}
        stored = {buffer for buffer in stored if not _is_private(buffer, op)}
        read = {each.buffer for each in accesses_in(op) if isinstance(each, LoadOp)}
        depends = {buffer for buffer in read & written if not _is_private(buffer, op)}
        if not stored or depends or not stored <= own.keys():
            continue
        users = [each for buffer in stored for each in accesses_of(buffer)]
        others = [each for each in users if not is_inside(each, op)]
        if others and not any(isinstance(each, StoreOp) for each in others):
            ahead.append(op)
            filled |= {own[buffer]: None for buffer in stored if buffer in own}
    return ahead, list(filled)


def _is_private(buffer: SSAValue, op: Operation) -> bool:
    return isinstance(buffer.owner, Operation) and is_inside(buffer.owner, op)


def _give_slots(alloc: AllocOp, loop: ForOp, count: int) -> None:
    """Allocate a buffer of several slots in front of a loop; its iterations use one after the other."""
    old = buffer_type(alloc.memref)
    shape = (count, *old.get_shape())
    new = AllocOp(
        (), (), MemRefType(old.element_type, shape, memory_space=old.memory_space)
    )
    new.memref.name_hint = alloc.memref.name_hint
    parent = loop.parent_block()
    assert parent is not None
    parent.insert_op_before(new, loop)
    for access in accesses_of(alloc.memref):
        indices = (*access.indices, loop.variable)
        slot = AffineExpr.dimension(len(indices) - 1) % count
        set_access(access, (slot, *access.access.results), indices, new.memref)
    alloc.detach()
    alloc.erase()


def _shift(ahead: list[Operation], loop: ForOp, distance: int) -> None:
    """Let a part of a loop's body run so many iterations ahead, in front of the rest."""
    body = loop.body.block
    stand_in = ForOp.empty(loop.extent)
    stand_in.properties["lower"] = loop.lower
    stand_in.properties["upper"] = loop.upper
    front = next(op for op in body.ops if op not in ahead)
    for op in ahead:
        body.insert_op_before(op.clone({loop.variable: stand_in.variable}), front)
        op.detach()
        op.erase()
    later = AffineExpr.dimension(0) + distance
    substitute(stand_in.variable, later, (loop.variable,))
    stand_in.erase()
