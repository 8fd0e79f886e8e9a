"""Index expressions in host code: affine over loop variables, made into `i64` arithmetic once per scope."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from partita.analysis.affine import linear_form, simplify
from partita.dialects.access import Interval, interval
from partita.dialects.tir import index_interval
from partita.targets.host.emitter import Emitter, Value, integer

ANY: Interval = (-(1 << 62), 1 << 62)
"""The range of an index that is computed from data."""


@dataclass(frozen=True)
class Dimension:
    """A value that index expressions are made of."""

    value: Value
    """A loop's variable, the lanes of a vectorized loop, or an index computed from data."""

    range: Interval

    is_lane: bool = False
    """Whether it counts the lanes of a vector: 0, 1, 2, …"""


@dataclass(frozen=True)
class Address:
    """A position in a buffer, in elements: a part that may vary, and a constant."""

    varying: AffineExpr
    """Without a constant term."""

    offset: int

    stride: int | None
    """Elements from one lane to the next; 0 if all lanes share it, `None` if irregular."""


class Indices:
    """The dimensions in scope, and what each index value of the IR is in terms of them."""

    def __init__(self, emitter: Emitter):
        self.emitter = emitter
        self.dimensions: list[Dimension] = []
        self.expressions: dict[SSAValue, AffineExpr] = {}
        self._made: list[dict[AffineExpr, Value]] = [{}]

    @property
    def ranges(self) -> list[Interval]:
        """The range of each dimension."""
        return [dimension.range for dimension in self.dimensions]

    @contextmanager
    def scope(self) -> Generator[None]:
        """Forget, at the end, values made inside: they do not dominate what follows."""
        count = len(self.dimensions)
        self._made.append({})
        yield
        self._made.pop()
        del self.dimensions[count:]

    def dimension(self, dimension: Dimension) -> AffineExpr:
        """Add a dimension, and return the expression that stands for it."""
        self.dimensions.append(dimension)
        return AffineExpr.dimension(len(self.dimensions) - 1)

    def expression(self, value: SSAValue) -> AffineExpr:
        """Return what an index value of the IR is."""
        return self.expressions[value]

    def compose(
        self, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]
    ) -> tuple[AffineExpr, ...]:
        """Return expressions of operands as expressions of dimensions, simplified."""
        dims = [self.expressions[operand] for operand in operands]
        ranges = self.ranges
        return tuple(
            simplify(expr.replace_dims_and_symbols(dims, ()), ranges) for expr in exprs
        )

    def range(self, expr: AffineExpr) -> Interval:
        """Return bounds of an expression."""
        return interval(expr, self.ranges)

    def lane(self, expr: AffineExpr) -> int | None:
        """Return the position of the lane dimension that an expression uses, if it does."""
        for part in expr.dfs():
            if (
                isinstance(part, AffineDimExpr)
                and self.dimensions[part.position].value.lanes > 1
            ):
                return part.position
        return None

    def address(
        self,
        exprs: Sequence[AffineExpr],
        operands: Sequence[SSAValue],
        strides: Sequence[int],
    ) -> Address:
        """Return the position of an element, given its index on each axis and the axes' strides.

        Indices are joined first in terms of the block's own axes, then of loops: what the
        block takes apart and puts together again, as a reshape does, is gone before loops
        come in.
        """
        flat: AffineExpr = AffineExpr.constant(0)
        for expr, stride in zip(exprs, strides, strict=True):
            flat = flat + expr * stride
        flat = simplify(flat, [index_interval(each) or ANY for each in operands])
        (total,) = self.compose((flat,), operands)
        offset = 0
        if isinstance(total, AffineConstantExpr):
            total, offset = AffineExpr.constant(0), total.value
        elif (
            isinstance(total, AffineBinaryOpExpr)
            and total.kind is AffineBinaryOpKind.Add
            and isinstance(total.rhs, AffineConstantExpr)
        ):
            total, offset = total.lhs, total.rhs.value
        return Address(total, offset, self._stride(total))

    def _stride(self, expr: AffineExpr) -> int | None:
        """Return by how much an expression grows from lane to lane."""
        lane = self.lane(expr)
        if lane is None:
            return 0
        if not self.dimensions[lane].is_lane:
            return None
        step = 0
        terms = [expr]
        while terms:
            term = terms.pop()
            match term:
                case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
                    terms += (lhs, rhs)
                case _ if self.lane(term) is None:
                    pass
                case _:
                    form = linear_form(term, len(self.dimensions))
                    if form is None:
                        return None
                    step += form[0][lane]
        return step

    def without_lane(self, expr: AffineExpr) -> AffineExpr:
        """Return the expression at lane 0."""
        dims = [
            AffineExpr.constant(0)
            if dimension.is_lane
            else AffineExpr.dimension(position)
            for position, dimension in enumerate(self.dimensions)
        ]
        return simplify(expr.replace_dims_and_symbols(dims, ()), self.ranges)

    def value(self, expr: AffineExpr) -> Value:
        """Return the value of an expression, an `i64`, making it where it is not made yet."""
        match expr:
            case AffineConstantExpr(value=constant):
                return integer(constant)
            case AffineDimExpr(position=position):
                return self.dimensions[position].value
            case _:
                pass
        for made in reversed(self._made):
            if expr in made:
                return made[expr]
        value = self._make(expr)
        self._made[-1][expr] = value
        return value

    def _make(self, expr: AffineExpr) -> Value:
        assert isinstance(expr, AffineBinaryOpExpr)
        emitter = self.emitter
        lhs, rhs = self.value(expr.lhs), self.value(expr.rhs)
        match expr.kind:
            case AffineBinaryOpKind.Add:
                return emitter.binary("add nsw", lhs, rhs)
            case AffineBinaryOpKind.Mul:
                return emitter.binary("mul nsw", lhs, rhs)
            case AffineBinaryOpKind.CeilDiv:
                ceiling = expr.lhs + (self._divisor(expr) - 1)
                return self.value(
                    AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, ceiling, expr.rhs)
                )
            case AffineBinaryOpKind.FloorDiv | AffineBinaryOpKind.Mod:
                quotient = expr.kind is AffineBinaryOpKind.FloorDiv
                if self.range(expr.lhs)[0] >= 0:
                    return emitter.binary("udiv" if quotient else "urem", lhs, rhs)
                remainder = emitter.binary("srem", lhs, rhs)
                negative = emitter.binary("icmp slt", remainder, integer(0), "i1")
                if not quotient:
                    shifted = emitter.binary("add", remainder, rhs)
                    return emitter.select(negative, shifted, remainder)
                truncated = emitter.binary("sdiv", lhs, rhs)
                lower = emitter.binary("sub", truncated, integer(1))
                return emitter.select(negative, lower, truncated)

    @staticmethod
    def _divisor(expr: AffineBinaryOpExpr) -> int:
        assert isinstance(expr.rhs, AffineConstantExpr)
        return expr.rhs.value
