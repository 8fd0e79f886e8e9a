"""How much a kernel over buffers does: operations on elements, and bytes that it has to move."""

from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.math import FmaOp
from xdsl.ir import Operation, SSAValue

from partita.analysis.loop_nests import accesses_in, blocks_in, loops_around
from partita.dialects.tir import BlockOp, LoadOp, buffer_type
from partita.runtime.plan import Work
from partita.shapes import dtype_of


def work_of(kernel: FuncOp) -> Work:
    """Return what one call of a kernel of scheduled loops does.

    An operation is one addition, product, maximum, exponential or the like on elements; a
    fused multiply-add is two. Conversions, comparisons, selections and everything on indices
    count nothing; what a guard would leave out counts. Of each argument, a kernel moves at
    most as many elements as it accesses, and each of them once: caches are taken to be ideal.
    """
    operations = sum(map(_operations, blocks_in(kernel)))
    arguments = kernel.body.block.args
    read: dict[SSAValue, int] = {each: 0 for each in arguments}
    written = dict(read)
    for access in accesses_in(kernel):
        moved = read if isinstance(access, LoadOp) else written
        if access.buffer in moved:
            moved[access.buffer] += _trips(access)
    nbytes = 0
    for argument in arguments:
        type = buffer_type(argument)
        size = prod(type.get_shape())
        elements = min(read[argument], size) + min(written[argument], size)
        nbytes += elements * dtype_of(type.element_type).itemsize
    return Work(operations, nbytes)


def _operations(block: BlockOp) -> int:
    return _trips(block) * sum(map(_weight, block.body.walk()))


def _weight(op: Operation) -> int:
    """Return how many operations an op is: arithmetic keeps the type of what it computes on."""
    if not op.operands or len(op.results) != 1:
        return 0
    kept = op.results[0].type
    if isinstance(kept, IndexType) or any(each.type != kept for each in op.operands):
        return 0
    return 2 if isinstance(op, FmaOp) else 1


def _trips(op: Operation) -> int:
    return prod(loop.extent for loop in loops_around(op))
