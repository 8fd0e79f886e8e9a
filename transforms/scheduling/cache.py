"""Choose where a block's operands and results are kept while they are used."""

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType, NoneAttr, StringAttr
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.rewriter import Rewriter

from partita.analysis.loop_nests import (
    accesses_of,
    block_of,
    copies_of,
    loads_of,
    read_by,
    readers_of,
    step_in,
    stores_of,
    writers_of,
    written_by,
)
from partita.analysis.memory_scopes import GLOBAL
from partita.dialects.access import INDEX
from partita.dialects.partita import inherit_origins
from partita.dialects.tir import BlockOp, ForOp, LoadOp, StoreOp, buffer_type
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    hint,
    name_of,
)


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
    state.check_scope(scope)
    for buffer in written_by(block):
        own_buffer(block, buffer)
    for buffer in written_by(block):
        Rewriter.replace_value_with_new_type(
            buffer, in_scope(buffer_type(buffer), scope)
        )


def cache_write(state: State, block: BlockOp, scope: str) -> BlockOp:
    """Let a block write a new buffer, and copy it to the old one once the block's loops are done."""
    state.check_scope(scope)
    buffer = only_result(block)
    writers = writers_of(buffer)
    nests = {step_in(writer, state.function) for writer in writers}
    for reader in readers_of(buffer):
        if step_in(reader, state.function) in nests:
            raise ScheduleError(
                f"{name_of(reader)} in the same loops reads what it writes; cache_write first"
            )
    label = _new_label(state, f"{block.label.data}_copy")
    names = axis_names(block, len(buffer_type(buffer).get_shape()))
    top = state.function.body.block
    first, last = (
        next(op for op in ops if op in nests)
        for ops in (tuple(top.ops), reversed(tuple(top.ops)))
    )
    cached = _cached(buffer, scope)
    top.insert_op_before(cached, first)
    for access in accesses_of(buffer):
        if block_of(access) in writers:
            access.operands[access.operands.index(buffer)] = cached.memref
    nest, copy = _copy_nest(label, cached.memref, buffer, names)
    inherit_origins(copy, block)
    top.insert_op_after(nest, last)
    return copy


def cache_read(state: State, block: BlockOp, index: int, scope: str) -> BlockOp:
    """Let a block read a new buffer, and copy the old one to it just in front of the block's loops."""
    state.check_scope(scope)
    read = read_by(block)
    if not 0 <= index < len(read):
        raise ScheduleError(
            f"expected the index of one of the {len(read)} buffers that it reads, got {index}"
        )
    buffer = read[index]
    nest = step_in(block, state.function)
    for writer in writers_of(buffer):
        if step_in(writer, state.function) is nest:
            raise ScheduleError(
                f"{name_of(writer)} in the same loops writes what it reads; cache_read first"
            )
    label = _new_label(state, f"{block.label.data}_read{index}")
    cached = _cached(buffer, scope)
    for load in loads_of(block):
        if load.buffer is buffer:
            load.operands[load.operands.index(buffer)] = cached.memref
    names = ["i"] * len(buffer_type(buffer).get_shape())
    loops, copy = _copy_nest(label, buffer, cached.memref, names)
    inherit_origins(copy, block)
    top = state.function.body.block
    assert nest is not None
    top.insert_ops_before((cached, loops), nest)
    return copy


def _new_label(state: State, label: str) -> str:
    if label in state.labels():
        raise ScheduleError(f'block "{label}" exists already')
    return label


def _cached(buffer: SSAValue, scope: str) -> AllocOp:
    """Make a buffer like another one in a memory scope."""
    alloc = AllocOp((), (), in_scope(buffer_type(buffer), scope))
    alloc.memref.name_hint = f"{hint(buffer, 'buffer')}_{scope.replace('.', '_')}"
    return alloc


def _copy_nest(
    label: str, source: SSAValue, destination: SSAValue, names: Sequence[str]
) -> tuple[Operation, BlockOp]:
    """Make a block that copies a buffer, element by element, in loops of these names; return the outermost op too."""
    shape = buffer_type(source).get_shape()
    axes = Block(arg_types=(INDEX,) * len(shape))
    for axis, name in zip(axes.args, names, strict=True):
        axis.name_hint = name
    identity = AffineMap.identity(len(shape))
    load = LoadOp(source, identity, axes.args)
    axes.add_ops((load, StoreOp(load.result, destination, identity, axes.args)))
    loops = [
        ForOp.empty(extent, name) for extent, name in zip(shape, names, strict=True)
    ]
    copy = BlockOp(
        label,
        [loop.variable for loop in loops],
        AffineMap.identity(len(shape)),
        shape,
        (),
        Region(axes),
    )
    ops = (*loops, copy)
    for around, inside in zip(loops, ops[1:], strict=True):
        around.body.block.add_op(inside)
    return ops[0], copy
