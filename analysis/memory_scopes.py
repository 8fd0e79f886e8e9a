"""Which memory scopes there are, how much they hold, and how much of them a kernel takes."""

from collections.abc import Iterable
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, StringAttr
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Block, Operation

from partita.dialects.tir import LOCAL, ForOp, MemoryOp, buffer_type

GLOBAL = "global"
"""The scope of buffers that do not say."""

STACK_BYTES = 256 * 1024
"""What local buffers of a kernel may take together where a module does not say: they live on a thread's stack."""


def capacities(ops: Iterable[Operation]) -> dict[str, int]:
    """Return the bytes of each memory scope that ops of a module state, and of the stack."""
    stated = {
        op.scope.data: op.capacity.value.data for op in ops if isinstance(op, MemoryOp)
    }
    return {LOCAL.data: STACK_BYTES} | stated


def bytes_of(type: MemRefType[Attribute]) -> int:
    """Return the size of a buffer."""
    element = type.element_type
    assert isinstance(element, FixedBitwidthType)
    return element.size * prod(type.get_shape())


def scope_of(alloc: AllocOp) -> str:
    """Return the memory scope of a buffer."""
    space = buffer_type(alloc.memref).memory_space
    return space.data if isinstance(space, StringAttr) else GLOBAL


def total_bytes(allocs: Iterable[AllocOp]) -> int:
    """Return how much buffers take together."""
    return sum(bytes_of(buffer_type(alloc.memref)) for alloc in allocs)


def alive_together(body: Block, scope: str) -> list[AllocOp]:
    """Return the buffers of a scope that are alive where most of it is taken.

    A buffer lives from its first use to its last one, in one iteration of the loop that it
    is allocated in. Stacks are not that clever: all local buffers are there from the start.
    """
    if scope == LOCAL.data:
        return _in_scope(body.walk(), scope)
    steps = {op: number for number, op in enumerate(body.ops)}
    here: list[tuple[AllocOp, range]] = []
    for alloc in _in_scope(steps, scope):
        used = {steps[_step(use.operation, body)] for use in alloc.memref.uses}
        if used:
            here.append((alloc, range(min(used), max(used) + 1)))
    most: list[AllocOp] = []
    for op, number in steps.items():
        alive = [alloc for alloc, span in here if number in span]
        if isinstance(op, ForOp):
            alive += alive_together(op.body.block, scope)
        if total_bytes(alive) > total_bytes(most):
            most = alive
    return most


def _in_scope(ops: Iterable[Operation], scope: str) -> list[AllocOp]:
    return [op for op in ops if isinstance(op, AllocOp) and scope_of(op) == scope]


def _step(op: Operation, body: Block) -> Operation:
    """Return which of a body's own ops an op stands in."""
    while op.parent_block() is not body:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op
