"""Compute a producer where it is read, and drop its buffer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.traits import is_side_effect_free
from xdsl.utils.hints import isa

from partita.analysis.affine import range_of
from partita.analysis.loop_nests import (
    accesses_of,
    loads_of,
    stores_of,
    writers_of,
)
from partita.dialects.access import interval
from partita.dialects.partita import inherit_origins
from partita.dialects.tir import BlockOp, LoadOp, StoreOp, buffer_type
from partita.transforms.scheduling.cache import only_result, own_buffer
from partita.transforms.scheduling.indices import (
    constant_index,
    materialize,
    ranges_of,
    tidy,
)
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    name_of,
    remove,
)


def axes_of_result(block: BlockOp, store: StoreOp) -> tuple[int | None, ...]:
    """Return for each dimension of what a block writes the axis that is its index, `None` for index 0.

    Every spatial axis is the index of one dimension; else `ScheduleError`.
    """
    axes: list[int | None] = []
    for expr in store.access.results:
        match expr:
            case AffineDimExpr(position=position) if (
                index := store.indices[position]
            ) in block.axes:
                axes.append(block.axes.index(index))
            case AffineConstantExpr(value=0):
                axes.append(None)
            case _:
                raise ScheduleError(
                    f"{name_of(block)} writes at an index that is not one of its axes"
                )
    found = sorted(axis for axis in axes if axis is not None)
    missing = [
        axis
        for axis, extent in enumerate(block.spatial_shape)
        if axis not in found and extent > 1
    ]
    if len(set(found)) < len(found) or missing:
        raise ScheduleError(
            f"{name_of(block)} writes at indices that are not each of its axes once"
        )
    return tuple(axes)


def compute_inline(state: State, block: BlockOp) -> None:
    """Replace reads of what a block writes by its computation, and erase the block."""
    if block.reduction_shape:
        raise ScheduleError(f"{name_of(block)} is a reduction")
    buffer = only_result(block)
    stores = stores_of(block)
    if len(stores) != 1 or writers_of(buffer) != (block,):
        raise ScheduleError(f"{name_of(block)} does not write its result at once")
    alloc = own_buffer(block, buffer)
    if any(load.buffer is buffer for load in loads_of(block)):
        raise ScheduleError(f"{name_of(block)} reads what it writes")
    axes = axes_of_result(block, stores[0])
    reads = [each for each in accesses_of(buffer) if isinstance(each, LoadOp)]
    if not reads:
        raise ScheduleError(f"nothing reads what {name_of(block)} writes")

    bodies: dict[Block, None] = {}
    for load in reads:
        body = load.parent_block()
        assert body is not None
        bodies[body] = None
        inline_into(block, stores[0], axes, load)
    for body in bodies:
        merge_equal(body)
        consumer = body.parent_op()
        if isinstance(consumer, BlockOp):
            inherit_origins(consumer, block, consumer)
    remove(block)
    alloc.detach()
    alloc.erase()


@dataclass
class Inlining:
    """One read, and the producer that takes its place."""

    block: BlockOp

    store: StoreOp
    """What the producer writes."""

    axes: Sequence[int | None]
    """For each dimension of its result, the axis that is the index."""

    load: LoadOp

    at: list[AffineExpr] = field(default_factory=list[AffineExpr])
    """What each of the producer's axes is, of the read's indices."""

    outside: Sequence[int] = ()
    """Dimensions in which the read may lie outside the result."""

    @property
    def indices(self) -> tuple[SSAValue, ...]:
        """What the read's index is made of."""
        return tuple(self.load.indices)

    @property
    def shape(self) -> Sequence[int]:
        """Of the producer's result."""
        return buffer_type(self.load.buffer).get_shape()


def inline_into(
    block: BlockOp, store: StoreOp, axes: Sequence[int | None], load: LoadOp
) -> None:
    """Replace one read by a copy of the producer's body, its axes replaced by the read's index."""
    work = Inlining(block, store, axes, load)
    exprs = load.access.results
    work.at = [AffineExpr.constant(0)] * len(block.axes)
    for axis, expr in zip(axes, exprs, strict=True):
        if axis is not None:
            work.at[axis] = expr
    if load.otherwise is not None:
        ranges = ranges_of(work.indices)
        bounds = [range_of(expr, ranges) for expr in exprs]
        work.outside = [
            dim
            for dim, (low, high) in enumerate(bounds)
            if low < 0 or high >= work.shape[dim]
        ]
    passed_on = bool(work.outside) and _passes_on(work)
    values = _copy_body(work, load.otherwise if passed_on else None)
    result = values[store.value]
    if work.outside and not passed_on:
        assert load.otherwise is not None
        for dim in work.outside:
            inside = _is_inside(exprs[dim], work.shape[dim], work.indices, load)
            result = _insert(arith.SelectOp(inside, result, load.otherwise), load)
    if result.name_hint is None:
        result.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(result)
    load.detach()
    load.erase()


def _copy_body(work: Inlining, otherwise: SSAValue | None) -> dict[SSAValue, SSAValue]:
    """Insert copies of the producer's ops in front of the read; what it stores reads `otherwise` outside."""
    block, load = work.block, work.load
    values: dict[SSAValue, SSAValue] = {}
    for op in block.body.block.ops:
        if op is work.store:
            continue
        if isinstance(op, LoadOp):
            new = _composed(work, op, values)
            if otherwise is not None and op.result is work.store.value:
                plain = new
                new = LoadOp(new.buffer, new.access, tuple(new.indices), otherwise)
                plain.erase()
        else:
            for operand in op.operands:
                if operand in block.axes and operand not in values:
                    expr = work.at[block.axes.index(operand)]
                    values[operand] = materialize(expr, work.indices, load)
            new = op.clone(values)
        _insert(new, load)
        values.update(zip(op.results, new.results, strict=True))
    return values


def _insert(op: Operation, before: Operation) -> SSAValue:
    body = before.parent_block()
    assert body is not None
    body.insert_op_before(op, before)
    return op.results[0]


def _passes_on(work: Inlining) -> bool:
    """Say whether a block copies elements, so that what lies outside its result lies outside what it reads."""
    source = work.store.value.owner
    if not isinstance(source, LoadOp) or source.otherwise is not None:
        return False
    extents = buffer_type(source.buffer).get_shape()
    copied = {
        (source.indices[expr.position], extent)
        for expr, extent in zip(source.access.results, extents, strict=True)
        if isinstance(expr, AffineDimExpr)
    }
    for dim in work.outside:
        axis = work.axes[dim]
        if axis is None or (work.block.axes[axis], work.shape[dim]) not in copied:
            return False
    return True


def _composed(work: Inlining, op: LoadOp, values: dict[SSAValue, SSAValue]) -> LoadOp:
    """Return a producer's read with the axes replaced; where it may lie outside then, it reads 0."""
    dims: list[AffineExpr] = []
    of = list(work.indices)
    for index in op.indices:
        if index in work.block.axes:
            dims.append(work.at[work.block.axes.index(index)])
        else:
            dims.append(AffineExpr.dimension(len(of)))
            of.append(values.get(index, index))
    exprs = [expr.replace_dims_and_symbols(dims, ()) for expr in op.access.results]
    map, used = tidy(exprs, of)
    otherwise = op.otherwise
    if otherwise is not None:
        otherwise = values.get(otherwise, otherwise)
    elif not _surely_inside(map.results, used, buffer_type(op.buffer).get_shape()):
        otherwise = _insert(zero(op.result.type), work.load)
    new = LoadOp(op.buffer, map, used, otherwise)
    new.attributes |= op.attributes
    new.result.name_hint = op.result.name_hint
    return new


def _surely_inside(
    exprs: Sequence[AffineExpr], indices: Sequence[SSAValue], shape: Sequence[int]
) -> bool:
    ranges = ranges_of(indices)
    found = (interval(expr, ranges) for expr in exprs)
    return all(
        low >= 0 and high < extent
        for (low, high), extent in zip(found, shape, strict=True)
    )


def _is_inside(
    expr: AffineExpr, extent: int, indices: Sequence[SSAValue], before: Operation
) -> SSAValue:
    index = materialize(expr, indices, before)
    limit = constant_index(extent, before)
    return _insert(arith.CmpiOp(index, limit, "ult"), before)


def zero(type: Attribute) -> arith.ConstantOp:
    """Make the constant 0 of a scalar type."""
    if isa(type, IntegerType):
        return arith.ConstantOp(IntegerAttr(0, type))
    assert isa(type, AnyFloat)
    return arith.ConstantOp(FloatAttr(0.0, type))


def merge_equal(body: Block) -> None:
    """Keep one of equal ops in a block's body; reads of what it writes are left alone."""
    written = {op.buffer for op in body.ops if isinstance(op, StoreOp)}
    seen: dict[object, Operation] = {}
    for op in tuple(body.ops):
        if op.regions or not op.results:
            continue
        if isinstance(op, LoadOp):
            if op.buffer in written:
                continue
        elif not is_side_effect_free(op):
            continue
        key = (
            type(op),
            tuple(op.operands),
            tuple(op.result_types),
            frozenset(op.properties.items()),
            frozenset(op.attributes.items()),
        )
        first = seen.setdefault(key, op)
        if first is not op:
            for old, new in zip(op.results, first.results, strict=True):
                old.replace_all_uses_with(new)
            op.detach()
            op.erase()
