"""Which part of a buffer accesses touch, while some of the loops around them stand still.

Index expressions of loads and stores are of a block's axes, and these are bound to
expressions of loops. A `Space` composes them to sums of loop variables; `span` says
between which values such a sum lies while only inner loops run: from a base, which is a
sum of the outer loops' variables, a constant number of values.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from partita.analysis.affine import (
    DIM,
    QUOTIENT,
    Atom,
    Sum,
    as_expr,
    as_sum,
    atom_bounds,
    bounds,
    dimension,
    dimensions_of,
    plus,
    quotient,
)
from partita.analysis.loop_nests import Access
from partita.dialects.access import Interval
from partita.dialects.tir import BlockOp, ForOp, index_interval


@dataclass
class Space:
    """Indices as dimensions of sums: loop variables, and axes of blocks unless they are looked through."""

    through_blocks: bool = True
    """Whether an axis is what its block binds it to."""

    values: list[SSAValue] = field(default_factory=list[SSAValue])
    """The index that each dimension is."""

    ranges: list[Interval] = field(default_factory=list[Interval])
    """Between what it lies."""

    _positions: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def position(self, value: SSAValue) -> int | None:
        """Return the dimension of a loop variable or axis, a new one if need be; `None` for other values."""
        if value not in self._positions:
            range = index_interval(value)
            if range is None:
                return None
            self._positions[value] = len(self.values)
            self.values.append(value)
            self.ranges.append(range)
        return self._positions[value]

    def positions(self, loops: Iterable[ForOp]) -> set[int]:
        """Return the dimensions of loops' variables."""
        found = (self.position(loop.variable) for loop in loops)
        return {each for each in found if each is not None}

    def value(self, index: SSAValue) -> Sum | None:
        """Return an index as a sum, `None` if it depends on data."""
        if self.through_blocks and isinstance(index, BlockArgument):
            block = index.block.parent_op()
            if isinstance(block, BlockOp):
                expr = block.binding_exprs[index.index]
                return self.apply(expr, tuple(block.indices))
        position = self.position(index)
        return None if position is None else dimension(position, self.ranges)

    def apply(self, expr: AffineExpr, indices: Sequence[SSAValue]) -> Sum | None:
        """Return an expression of indices as a sum, `None` if it depends on data."""
        used = expr.used_dims()
        arguments: list[Sum] = []
        for i, index in enumerate(indices):
            argument = self.value(index) if i in used else Sum()
            if argument is None:
                return None
            arguments.append(argument)
        return as_sum(expr, self.ranges, arguments)

    def access(self, access: Access) -> tuple[Sum | None, ...]:
        """Return a load's or store's position in its buffer."""
        indices = tuple(access.indices)
        return tuple(self.apply(expr, indices) for expr in access.access.results)

    def bindings(self, block: BlockOp) -> tuple[Sum, ...]:
        """Return what a block's axes are bound to."""
        return self._all(block.binding_exprs, block)

    def guards(self, block: BlockOp) -> tuple[Sum, ...]:
        """Return what must not be negative for a block to run."""
        return self._all(block.guard_exprs, block)

    def _all(self, exprs: Sequence[AffineExpr], block: BlockOp) -> tuple[Sum, ...]:
        found = (self.apply(expr, tuple(block.indices)) for expr in exprs)
        return tuple(each for each in found if each is not None)

    def bounds(self, value: Sum) -> Interval:
        """Return the least and the greatest value of a sum."""
        return bounds(value, self.ranges)

    def map(self, values: Sequence[Sum]) -> AffineMap:
        """Return sums as a map of all dimensions."""
        return AffineMap(len(self.values), 0, tuple(as_expr(each) for each in values))


@dataclass(frozen=True)
class Span:
    """`size` consecutive values from `base` on."""

    base: Sum
    """The least one, of the loops that stand still."""

    size: int


def _atom_span(atom: Atom, space: Space, inner: Set[int]) -> Span:
    dims = {atom.number} if atom.kind == DIM else dimensions_of(atom.dividend)
    if not dims & inner:
        return Span(Sum(0, ((atom, 1),)), 1)
    if atom.kind == QUOTIENT and not dims <= inner:
        of = span(atom.dividend, space, inner)
        base = quotient(of.base, atom.number, space.ranges)
        return Span(base, (of.size + 2 * atom.number - 2) // atom.number)
    low, high = atom_bounds(atom, space.ranges)
    return Span(Sum(low), high - low + 1)


def span(value: Sum, space: Space, inner: Set[int]) -> Span:
    """Return values among which a sum lies while only inner dimensions change; not always the fewest."""
    base, size = Sum(value.constant), 1
    for atom, factor in value.terms:
        of = _atom_span(atom, space, inner)
        base = plus(base, of.base, factor)
        if factor < 0:
            base = plus(base, Sum((of.size - 1) * factor))
        size += abs(factor) * (of.size - 1)
    low, high = space.bounds(value)
    if size > high - low + 1:
        return Span(Sum(low), high - low + 1)
    return Span(base, size)


def hull(lhs: Span, rhs: Span) -> Span | None:
    """Return the least span that holds both, `None` if their distance is not constant."""
    distance = plus(rhs.base, lhs.base, -1)
    if distance.terms:
        return None
    low = min(0, distance.constant)
    high = max(lhs.size, distance.constant + rhs.size)
    return Span(plus(lhs.base, Sum(low)), high - low)


def hull_of(values: Sequence[Sum | None], space: Space, inner: Set[int]) -> Span | None:
    """Return the least span that holds all sums, `None` if there is none or one depends on data."""
    result: Span | None = None
    for value in values:
        if value is None:
            return None
        each = span(value, space, inner)
        result = each if result is None else hull(result, each)
        if result is None:
            return None
    return result
