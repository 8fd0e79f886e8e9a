"""Choose where a block's results are kept while they are computed."""

from xdsl.dialects.builtin import MemRefType, NoneAttr, StringAttr
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from partita.analysis.loop_nests import (
    accesses_of,
    block_of,
    copies_of,
    readers_of,
    step_in,
    stores_of,
    writers_of,
    written_by,
)
from partita.dialects.access import INDEX
from partita.dialects.partita import inherit_origins
from partita.dialects.tir import BlockOp, ForOp, LoadOp, StoreOp, buffer_type
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    hint,
    name_of,
)

GLOBAL = "global"
"""The scope of buffers that do not say."""


def only_result(block: BlockOp) -> SSAValue:
    """Return the buffer that a block writes; it must be one."""
    written = written_by(block)
    if len(written) != 1:
        raise ScheduleError(f"{name_of(block)} writes {len(written)} buffers, not one")
    return written[0]


def in_scope(type: MemRefType[Attribute], scope: str) -> MemRefType[Attribute]:
    """Return a buffer's type in another memory scope."""
    space = NoneAttr() if scope == GLOBAL else StringAttr(scope)
    return MemRefType(type.element_type, type.shape, type.layout, space)


def axis_names(block: BlockOp, rank: int) -> list[str]:
    """Return names for the dimensions of what a block writes: its axes' where they are indices."""
    store = stores_of(block)[0]
    names = ["i"] * rank
    for dim, expr in enumerate(store.access.results):
        if isinstance(expr, AffineDimExpr):
            names[dim] = hint(store.indices[expr.position], "i")
    return names


def own_buffer(block: BlockOp, buffer: SSAValue) -> AllocOp:
    """Return the allocation of a buffer that a block writes and only blocks use."""
    if not isinstance(buffer.owner, AllocOp):
        raise ScheduleError(
            f"{name_of(block)} writes %{hint(buffer, '?')}, which belongs to the caller"
        )
    for user in copies_of(buffer):
        raise ScheduleError(
            f"{user.name} uses %{hint(buffer, '?')}, which {name_of(block)} writes"
        )
    return buffer.owner


def set_scope(state: State, block: BlockOp, scope: str) -> None:
    """Keep what a block writes in a memory scope."""
    for buffer in written_by(block):
        own_buffer(block, buffer)
    for buffer in written_by(block):
        Rewriter.replace_value_with_new_type(
            buffer, in_scope(buffer_type(buffer), scope)
        )


def cache_write(state: State, block: BlockOp, scope: str) -> BlockOp:
    """Let a block write a new buffer, and copy it to the old one once the block's loops are done."""
    buffer = only_result(block)
    writers = writers_of(buffer)
    nests = {step_in(writer, state.function) for writer in writers}
    for reader in readers_of(buffer):
        if step_in(reader, state.function) in nests:
            raise ScheduleError(
                f"{name_of(reader)} in the same loops reads what it writes; cache_write first"
            )
    label = f"{block.label.data}_copy"
    if label in state.labels():
        raise ScheduleError(f'block "{label}" exists already')

    type = buffer_type(buffer)
    alloc = AllocOp((), (), in_scope(type, scope))
    alloc.memref.name_hint = f"{hint(buffer, 'buffer')}_{scope}"
    top = state.function.body.block
    first, last = (
        next(op for op in ops if op in nests)
        for ops in (tuple(top.ops), reversed(tuple(top.ops)))
    )
    top.insert_op_before(alloc, first)
    cached = alloc.memref
    for access in accesses_of(buffer):
        if block_of(access) in writers:
            access.operands[access.operands.index(buffer)] = cached

    shape = type.get_shape()
    names = axis_names(block, len(shape))
    axes = Block(arg_types=(INDEX,) * len(shape))
    for axis, name in zip(axes.args, names, strict=True):
        axis.name_hint = name
    identity = AffineMap.identity(len(shape))
    load = LoadOp(cached, identity, axes.args)
    axes.add_ops((load, StoreOp(load.result, buffer, identity, axes.args)))
    loops = [
        ForOp.empty(extent, name) for extent, name in zip(shape, names, strict=True)
    ]
    copy = BlockOp(
        label,
        [loop.variable for loop in loops],
        AffineMap(
            len(shape), 0, tuple(AffineExpr.dimension(i) for i in range(len(shape)))
        ),
        shape,
        (),
        Region(axes),
    )
    inherit_origins(copy, block)
    for around, inside in zip(loops, (*loops[1:], copy), strict=False):
        around.body.block.add_op(inside)
    top.insert_op_after(loops[0] if loops else copy, last)
    return copy
