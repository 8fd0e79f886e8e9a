"""Index expressions in ops: replace what they are made of, or compute them as values."""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from partita.analysis.affine import range_of, simplify
from partita.analysis.loop_nests import Access
from partita.dialects.access import INDEX, Interval, access_attr, without_unused
from partita.dialects.tir import BlockOp, LoadOp, StoreOp, index_interval

ANY: Interval = (-(1 << 62), 1 << 62)
"""The range of an index that depends on data."""


def ranges_of(indices: Sequence[SSAValue]) -> tuple[Interval, ...]:
    """Return between what indices lie."""
    return tuple(index_interval(index) or ANY for index in indices)


def tidy(
    exprs: Sequence[AffineExpr], indices: Sequence[SSAValue]
) -> tuple[AffineMap, tuple[SSAValue, ...]]:
    """Return expressions of indices, simplified, as a map of the ones that they use."""
    ranges = ranges_of(indices)
    results = tuple(simplify(expr, ranges) for expr in exprs)
    return without_unused(AffineMap(len(indices), 0, results), indices)


def set_access(
    access: Access,
    exprs: Sequence[AffineExpr],
    indices: Sequence[SSAValue],
    buffer: SSAValue | None = None,
) -> None:
    """Let a load or store use these index expressions, and another buffer if given."""
    map, indices = tidy(exprs, indices)
    access.properties["map"] = access_attr(map)
    buffer = buffer or access.buffer
    if isinstance(access, StoreOp):
        access.operands = (access.value, buffer, *indices)
        return
    otherwise = () if access.otherwise is None else (access.otherwise,)
    access.operands = (buffer, *indices, *otherwise)
    access.properties["operandSegmentSizes"] = DenseArrayBase.from_list(
        i32, (1, len(indices), len(otherwise))
    )


def drop_otherwise(load: LoadOp) -> None:
    """Let a read whose index is inside the buffer have no other value."""
    indices = tuple(load.indices)
    load.operands = (load.buffer, *indices)
    load.properties["operandSegmentSizes"] = DenseArrayBase.from_list(
        i32, (1, len(indices), 0)
    )


def set_bindings(
    block: BlockOp,
    bindings: Sequence[AffineExpr],
    guards: Sequence[AffineExpr],
    indices: Sequence[SSAValue],
) -> None:
    """Bind a block's axes, and let it run where guards are not negative; guards that always hold are dropped."""
    map, indices = tidy((*bindings, *guards), indices)
    rank = len(bindings)
    kept = tuple(
        dict.fromkeys(
            guard
            for guard in map.results[rank:]
            if _may_be_negative(guard, ranges_of(indices))
        )
    )
    map, indices = without_unused(
        AffineMap(len(indices), 0, (*map.results[:rank], *kept)), indices
    )
    block.operands = indices
    count = len(indices)
    block.properties["bindings"] = access_attr(AffineMap(count, 0, map.results[:rank]))
    if kept:
        block.properties["guard"] = access_attr(AffineMap(count, 0, map.results[rank:]))
    else:
        block.properties.pop("guard", None)


def _may_be_negative(guard: AffineExpr, ranges: Sequence[Interval]) -> bool:
    return range_of(guard, ranges)[0] < 0


def add_guard(block: BlockOp, guard: AffineExpr, of: Sequence[SSAValue]) -> None:
    """Let a block run only where an expression is not negative either."""
    count = len(block.indices)
    shifted = guard.replace_dims_and_symbols(
        [AffineExpr.dimension(count + i) for i in range(len(of))], ()
    )
    guards = (*block.guard_exprs, shifted)
    set_bindings(block, block.binding_exprs, guards, (*block.indices, *of))


def replaced(
    exprs: Sequence[AffineExpr],
    indices: Sequence[SSAValue],
    old: SSAValue,
    new: AffineExpr,
    of: Sequence[SSAValue],
) -> tuple[tuple[AffineExpr, ...], tuple[SSAValue, ...]]:
    """Return expressions in which an index is replaced by an expression of others."""
    count = len(indices)
    shifted = new.replace_dims_and_symbols(
        [AffineExpr.dimension(count + i) for i in range(len(of))], ()
    )
    dims = [
        shifted if index is old else AffineExpr.dimension(i)
        for i, index in enumerate(indices)
    ]
    results = tuple(expr.replace_dims_and_symbols(dims, ()) for expr in exprs)
    return results, (*indices, *of)


def substitute(old: SSAValue, new: AffineExpr, of: Sequence[SSAValue]) -> None:
    """Replace an index, wherever it is used, by an expression of others, itself perhaps among them."""
    users = tuple(dict.fromkeys(use.operation for use in old.uses))
    for user in users:
        match user:
            case BlockOp():
                exprs = (*user.binding_exprs, *user.guard_exprs)
                results, indices = replaced(exprs, tuple(user.indices), old, new, of)
                rank = len(user.binding_exprs)
                set_bindings(user, results[:rank], results[rank:], indices)
            case LoadOp() | StoreOp():
                exprs = user.access.results
                set_access(user, *replaced(exprs, tuple(user.indices), old, new, of))
            case _:
                value = materialize(new, of, user)
                user.operands = tuple(
                    value if operand is old else operand for operand in user.operands
                )


def constant_index(value: int, before: Operation) -> SSAValue:
    """Insert an index constant."""
    return _inserted(arith.ConstantOp(IntegerAttr(value, INDEX)), before)


def _inserted(op: Operation, before: Operation) -> SSAValue:
    block = before.parent_block()
    assert block is not None
    block.insert_op_before(op, before)
    return op.results[0]


_OPS = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}


def materialize(
    expr: AffineExpr, of: Sequence[SSAValue], before: Operation
) -> SSAValue:
    """Insert ops that compute an expression of indices as a value."""
    match expr:
        case AffineConstantExpr(value=value):
            return constant_index(value, before)
        case AffineDimExpr(position=position):
            return of[position]
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mod, lhs=lhs, rhs=rhs):
            whole = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, lhs, rhs)
            dividend = materialize(lhs, of, before)
            multiple = materialize(whole * rhs, of, before)
            return _inserted(arith.SubiOp(dividend, multiple), before)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            operands = (materialize(lhs, of, before), materialize(rhs, of, before))
            return _inserted(_OPS[kind](*operands), before)
        case _:
            raise ValueError(f"unexpected affine expression {expr}")
