"""Affine expressions as sums: simplify them where the ranges of their dimensions are known.

Schedules compose index expressions: split loops put sums into them, fused loops floor
divisions and remainders. Here an expression becomes a sum of terms, each an integer
times an atom; an atom is a dimension, or the quotient or the remainder of a sum by a
positive integer. Rules on atoms use the ranges of the dimensions and divisibility:

- `(16 * o + i) floordiv 16` is `o`, and `(16 * o + i) mod 16` is `i`, for `i` in [0, 16)
- `(16 * o + i) floordiv 112` is `o floordiv 7`
- `(y + x floordiv a) floordiv b` is `(a * y + x) floordiv (a * b)`
- `(x mod (a * b)) floordiv a` is `(x floordiv a) mod b`
- `a * (x floordiv a) + x mod a` is `x`
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from partita.dialects.access import Interval

DIM, QUOTIENT, REMAINDER = 0, 1, 2


@dataclass(frozen=True, order=True, slots=True)
class Atom:
    """What a term is a multiple of: a dimension, or a sum divided by an integer."""

    kind: int
    """`DIM`, `QUOTIENT` or `REMAINDER`."""

    number: int
    """The dimension's position, or the divisor."""

    of: "Sum | None" = None
    """The dividend, which is not constant."""

    @property
    def dividend(self) -> "Sum":
        """What a quotient or remainder is of."""
        assert self.of is not None
        return self.of


@dataclass(frozen=True, order=True, slots=True)
class Sum:
    """A constant plus atoms times integers: each atom once, none times 0, in order."""

    constant: int = 0

    terms: tuple[tuple[Atom, int], ...] = ()

    @property
    def only(self) -> Atom | None:
        """The atom that this sum is, if it is no more than one."""
        if self.constant == 0 and len(self.terms) == 1 and self.terms[0][1] == 1:
            return self.terms[0][0]
        return None


def total(constant: int, terms: Iterable[tuple[Atom, int]]) -> Sum:
    """Collect terms."""
    collected: dict[Atom, int] = {}
    for atom, coefficient in terms:
        collected[atom] = collected.get(atom, 0) + coefficient
    kept = ((atom, factor) for atom, factor in collected.items() if factor)
    return Sum(constant, tuple(sorted(kept)))


def plus(lhs: Sum, rhs: Sum, times: int = 1) -> Sum:
    """Return `lhs + times * rhs`."""
    return total(
        lhs.constant + times * rhs.constant,
        (*lhs.terms, *((atom, times * factor) for atom, factor in rhs.terms)),
    )


def dimension(position: int, dims: Sequence[Interval]) -> Sum:
    """Return the sum that is one dimension, or its value if it has only one."""
    low, high = dims[position]
    return Sum(low) if low == high else Sum(0, ((Atom(DIM, position), 1),))


def dimensions_of(value: Sum) -> set[int]:
    """Return the positions of the dimensions that occur in a sum."""
    found: set[int] = set()
    for atom, _ in value.terms:
        found |= {atom.number} if atom.kind == DIM else dimensions_of(atom.dividend)
    return found


def atom_bounds(atom: Atom, dims: Sequence[Interval]) -> Interval:
    """Return the least and the greatest value of an atom."""
    if atom.kind == DIM:
        return dims[atom.number]
    low, high = bounds(atom.dividend, dims)
    if atom.kind == QUOTIENT:
        return low // atom.number, high // atom.number
    if low // atom.number == high // atom.number:
        return low % atom.number, high % atom.number
    return 0, atom.number - 1


def bounds(value: Sum, dims: Sequence[Interval]) -> Interval:
    """Return the least and the greatest value of a sum: safe, tight where atoms are independent."""
    low = high = value.constant
    for atom, factor in value.terms:
        least, most = atom_bounds(atom, dims)
        if factor < 0:
            least, most = most, least
        low += factor * least
        high += factor * most
    return low, high


def _remainder_part(
    value: Sum, divisor: int, dims: Sequence[Interval]
) -> tuple[Sum, Sum, int] | None:
    """Write a sum as `step * coarse + fine`, with `fine` in [0, step) and `step > 1` a divisor of `divisor`."""
    steps = {gcd(factor, divisor) for _, factor in value.terms}
    for step in sorted(steps, reverse=True):
        if step == 1:
            continue
        fine = Sum(
            value.constant % step,
            tuple(term for term in value.terms if term[1] % step),
        )
        low, high = bounds(fine, dims)
        if low >= 0 and high < step:
            coarse = Sum(
                value.constant // step,
                tuple(
                    (atom, factor // step)
                    for atom, factor in value.terms
                    if factor % step == 0
                ),
            )
            return coarse, fine, step
    return None


def quotient(value: Sum, divisor: int, dims: Sequence[Interval]) -> Sum:
    """Return `value floordiv divisor`, simplified."""
    if divisor == 1:
        return value
    whole = Sum(
        value.constant // divisor,
        tuple(
            (atom, factor // divisor)
            for atom, factor in value.terms
            if factor % divisor == 0
        ),
    )
    rest = Sum(
        value.constant % divisor,
        tuple(term for term in value.terms if term[1] % divisor),
    )
    low, high = bounds(rest, dims)
    if low // divisor == high // divisor:
        return plus(whole, Sum(low // divisor))
    if parts := _remainder_part(rest, divisor, dims):
        coarse, _, step = parts
        return plus(whole, quotient(coarse, divisor // step, dims))
    for atom, factor in rest.terms:
        if atom.kind == QUOTIENT and factor == 1:
            others = plus(rest, Sum(0, ((atom, 1),)), -1)
            inner = plus(atom.dividend, others, atom.number)
            return plus(whole, quotient(inner, divisor * atom.number, dims))
    if len(rest.terms) == 1 and rest.terms[0][1] == 1:
        atom = rest.terms[0][0]
        if atom.kind == REMAINDER and rest.constant == 0 and atom.number % divisor == 0:
            inner = quotient(atom.dividend, divisor, dims)
            return plus(whole, remainder(inner, atom.number // divisor, dims))
    return plus(whole, Sum(0, ((Atom(QUOTIENT, divisor, rest), 1),)))


def remainder(value: Sum, divisor: int, dims: Sequence[Interval]) -> Sum:
    """Return `value mod divisor`, simplified."""
    if divisor == 1:
        return Sum()
    rest = Sum(value.constant % divisor)
    for atom, factor in value.terms:
        if factor % divisor == 0:
            continue
        if atom.kind == REMAINDER and factor * atom.number % divisor == 0:
            rest = plus(rest, atom.dividend, factor)
        else:
            rest = plus(rest, Sum(0, ((atom, factor),)))
    rest = Sum(
        rest.constant % divisor,
        tuple(term for term in rest.terms if term[1] % divisor),
    )
    low, high = bounds(rest, dims)
    if low // divisor == high // divisor:
        return plus(rest, Sum(low // divisor * divisor), -1)
    if parts := _remainder_part(rest, divisor, dims):
        coarse, fine, step = parts
        return plus(fine, remainder(coarse, divisor // step, dims), step)
    return Sum(0, ((Atom(REMAINDER, divisor, rest), 1),))


def joined(value: Sum, dims: Sequence[Interval]) -> Sum:
    """Replace `factor * (a * (x floordiv a) + x mod a)` by `factor * x`, as often as it occurs."""
    changed = True
    while changed:
        changed = False
        factors = dict(value.terms)
        for atom, factor in value.terms:
            if atom.kind != REMAINDER:
                continue
            whole = quotient(atom.dividend, atom.number, dims).only
            if whole is not None and factors.get(whole) == factor * atom.number:
                pair = Sum(0, ((atom, factor), (whole, factor * atom.number)))
                value = plus(plus(value, pair, -1), atom.dividend, factor)
                changed = True
                break
    return value


def _combined(
    kind: AffineBinaryOpKind, lhs: Sum, rhs: Sum, dims: Sequence[Interval]
) -> Sum:
    match kind:
        case AffineBinaryOpKind.Add:
            return plus(lhs, rhs)
        case AffineBinaryOpKind.Mul:
            if lhs.terms and rhs.terms:
                raise ValueError("expected a product with a constant")
            if rhs.terms:
                lhs, rhs = rhs, lhs
            return plus(Sum(), lhs, rhs.constant)
        case AffineBinaryOpKind.Mod:
            return remainder(lhs, rhs.constant, dims)
        case AffineBinaryOpKind.FloorDiv:
            return quotient(lhs, rhs.constant, dims)
        case AffineBinaryOpKind.CeilDiv:
            return quotient(plus(lhs, Sum(rhs.constant - 1)), rhs.constant, dims)


def as_sum(
    expr: AffineExpr, dims: Sequence[Interval], arguments: Sequence[Sum] | None = None
) -> Sum:
    """Return an expression as a sum, simplified by the ranges of its dimensions.

    With `arguments`, the expression is of these, and they are of the dimensions.
    """
    match expr:
        case AffineConstantExpr(value=value):
            return Sum(value)
        case AffineDimExpr(position=position):
            if arguments is not None:
                return arguments[position]
            return dimension(position, dims)
        case AffineBinaryOpExpr(kind=kind, lhs=left, rhs=right):
            lhs, rhs = as_sum(left, dims, arguments), as_sum(right, dims, arguments)
            return joined(_combined(kind, lhs, rhs, dims), dims)
        case _:
            raise ValueError(f"unexpected affine expression {expr}")


def as_expr(value: Sum) -> AffineExpr:
    """Return a sum as an expression, the largest multiples first."""
    terms = sorted(value.terms, key=lambda term: (term[1] < 0, -abs(term[1])))
    result: AffineExpr | None = None
    for atom, factor in terms:
        term = _atom_expr(atom) * factor if factor != 1 else _atom_expr(atom)
        result = term if result is None else result + term
    if result is None:
        return AffineExpr.constant(value.constant)
    return result + value.constant if value.constant else result


def _atom_expr(atom: Atom) -> AffineExpr:
    if atom.kind == DIM:
        return AffineExpr.dimension(atom.number)
    dividend = as_expr(atom.dividend)
    if atom.kind == QUOTIENT:
        return dividend // atom.number
    return dividend % atom.number


@lru_cache(maxsize=1 << 14)
def _simplify(expr: AffineExpr, dims: tuple[Interval, ...]) -> AffineExpr:
    return as_expr(as_sum(expr, dims))


def simplify(expr: AffineExpr, dims: Sequence[Interval]) -> AffineExpr:
    """Return an equal expression that is a sum of few terms, given the ranges of the dimensions.

    Expressions that are equal for reasons named above become the same one. A dimension
    whose range is one value is replaced by it. `ValueError` for a product of dimensions.
    """
    return _simplify(expr, tuple(dims))


def equal(lhs: AffineExpr, rhs: AffineExpr, dims: Sequence[Interval]) -> bool:
    """Say whether two expressions are known to be the same over the ranges of the dimensions."""
    return simplify(lhs - rhs, dims) == AffineExpr.constant(0)


def range_of(expr: AffineExpr, dims: Sequence[Interval]) -> Interval:
    """Return bounds of an expression after simplification: at least as tight as `interval`."""
    return bounds(as_sum(expr, dims), dims)


def linear_form(expr: AffineExpr, n_dims: int) -> tuple[tuple[int, ...], int] | None:
    """Return the dimensions' coefficients and the constant, `None` if the expression holds a division.

    Divisions that a range would resolve count: `simplify` first.
    """
    match expr:
        case AffineConstantExpr(value=value):
            return (0,) * n_dims, value
        case AffineDimExpr(position=position):
            return tuple(int(i == position) for i in range(n_dims)), 0
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
            a, b = linear_form(lhs, n_dims), linear_form(rhs, n_dims)
            if a is None or b is None:
                return None
            return tuple(map(sum, zip(a[0], b[0], strict=True))), a[1] + b[1]
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=rhs):
            a, b = linear_form(lhs, n_dims), linear_form(rhs, n_dims)
            if a is None or b is None:
                return None
            if any(a[0]):
                a, b = b, a
            if any(a[0]):
                return None
            return tuple(a[1] * each for each in b[0]), a[1] * b[1]
        case _:
            return None
