"""How local buffers are laid out: the axis that lanes run along goes innermost, so that vectors are whole."""

from collections import Counter

from xdsl.dialects.memref import AllocOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from partita.dialects import tir
from partita.dialects.tir import LoopKind, buffer_type


def axis_order(alloc: AllocOp) -> tuple[int, ...]:
    """Return the axes of a local buffer, outermost first, as they should lie in memory.

    Nobody else sees a local buffer, so its layout is free. The accesses inside most loops
    decide; without vectorized loops the order stays.
    """
    rank = len(buffer_type(alloc.memref).get_shape())
    votes: Counter[int] = Counter()
    for use in alloc.memref.uses:
        access = use.operation
        if not isinstance(access, tir.LoadOp | tir.StoreOp):
            continue
        for axis, expr in enumerate(access.access.results):
            if any(
                _is_lane(access.indices[position]) for position in _dimensions(expr)
            ):
                votes[axis] += 4 ** _depth(access)
    if not votes:
        return tuple(range(rank))
    lanes = max(sorted(votes), key=lambda axis: votes[axis])
    return (*(axis for axis in range(rank) if axis != lanes), lanes)


def _dimensions(expr: AffineExpr) -> list[int]:
    return [part.position for part in expr.dfs() if isinstance(part, AffineDimExpr)]


def _is_lane(index: SSAValue) -> bool:
    """Say whether an index differs between the lanes of a vectorized loop."""
    if not isinstance(index, BlockArgument):
        return False
    match index.block.parent_op():
        case tir.ForOp() as loop:
            return loop.loop_kind is LoopKind.VECTORIZED and loop.extent > 1
        case tir.BlockOp() as block:
            binding = block.binding_exprs[index.index]
            return any(
                _is_lane(block.indices[position]) for position in _dimensions(binding)
            )
        case _:
            return False


def _depth(op: Operation) -> int:
    """Return how many loops there are around an op."""
    count, parent = 0, op.parent_op()
    while parent is not None:
        count += isinstance(parent, tir.ForOp)
        parent = parent.parent_op()
    return count
