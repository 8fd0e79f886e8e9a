"""What stands where in a nest of loops, and which blocks read and write a buffer."""

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from partita.dialects.tir import BlockOp, ForOp, LoadOp, StoreOp

Access = LoadOp | StoreOp


def loops_around(op: Operation) -> tuple[ForOp, ...]:
    """Return the loops that an op stands in, outermost first."""
    loops: list[ForOp] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            loops.append(parent)
        parent = parent.parent_op()
    return tuple(reversed(loops))


def loops_of(block: BlockOp, exprs: tuple[AffineExpr, ...]) -> set[ForOp]:
    """Return the loops that some of a block's expressions are made of."""
    used = {position for expr in exprs for position in expr.used_dims()}
    variables = {block.indices[position] for position in used}
    return {loop for loop in loops_around(block) if loop.variable in variables}


def block_of(op: Operation) -> BlockOp | None:
    """Return the block that an op stands in."""
    while (parent := op.parent_op()) is not None:
        if isinstance(parent, BlockOp):
            return parent
        op = parent
    return None


def blocks_in(op: Operation) -> Iterator[BlockOp]:
    """Yield the blocks below an op, in program order."""
    return (each for each in op.walk() if isinstance(each, BlockOp))


def loops_in(op: Operation) -> Iterator[ForOp]:
    """Yield the loops below an op, the op itself included, outer ones before inner ones."""
    return (each for each in op.walk() if isinstance(each, ForOp))


def is_inside(op: Operation, outer: Operation) -> bool:
    """Say whether an op stands below another."""
    parent = op.parent_op()
    while parent is not None and parent is not outer:
        parent = parent.parent_op()
    return parent is not None


def step_in(op: Operation, outer: Operation) -> Operation | None:
    """Return what of `outer`'s direct children an op is, or stands in."""
    while (parent := op.parent_op()) is not None:
        if parent is outer:
            return op
        op = parent
    return None


def accesses_in(op: Operation) -> Iterator[Access]:
    """Yield reads and writes below an op, in program order."""
    return (each for each in op.walk() if isinstance(each, LoadOp | StoreOp))


def stores_of(block: BlockOp) -> tuple[StoreOp, ...]:
    """Return what a block's body writes."""
    return tuple(each for each in block.body.walk() if isinstance(each, StoreOp))


def loads_of(block: BlockOp) -> tuple[LoadOp, ...]:
    """Return what a block's body reads, its own results included."""
    return tuple(each for each in block.body.walk() if isinstance(each, LoadOp))


def written_by(block: BlockOp) -> tuple[SSAValue, ...]:
    """Return the buffers that a block writes, each once."""
    return tuple(dict.fromkeys(store.buffer for store in stores_of(block)))


def read_by(block: BlockOp) -> tuple[SSAValue, ...]:
    """Return the buffers that a block reads and does not write, each once."""
    written = written_by(block)
    buffers = dict.fromkeys(load.buffer for load in loads_of(block))
    return tuple(buffer for buffer in buffers if buffer not in written)


def accesses_of(buffer: SSAValue) -> tuple[Access, ...]:
    """Return the reads and writes of a buffer."""
    users = (use.operation for use in buffer.uses)
    return tuple(each for each in users if isinstance(each, LoadOp | StoreOp))


def writers_of(buffer: SSAValue) -> tuple[BlockOp, ...]:
    """Return the blocks that write a buffer."""
    found = (
        block_of(each) for each in accesses_of(buffer) if isinstance(each, StoreOp)
    )
    return tuple(dict.fromkeys(block for block in found if block is not None))


def readers_of(buffer: SSAValue) -> tuple[BlockOp, ...]:
    """Return the blocks that read a buffer and do not write it."""
    writers = writers_of(buffer)
    found = (block_of(each) for each in accesses_of(buffer))
    return tuple(
        dict.fromkeys(
            block for block in found if block is not None and block not in writers
        )
    )


def copies_of(buffer: SSAValue) -> tuple[Operation, ...]:
    """Return what uses a buffer as a whole rather than element by element."""
    users = (use.operation for use in buffer.uses)
    return tuple(each for each in users if not isinstance(each, LoadOp | StoreOp))
