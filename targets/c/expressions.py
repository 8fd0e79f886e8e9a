"""C expressions as text that knows how tightly it binds, so that parentheses stand where they must."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from partita.dialects.access import Interval, interval
from partita.targets.c.support import Support
from partita.targets.c.types import BOOL, I64, CType


class Level(IntEnum):
    """How tightly an expression's outermost operator binds."""

    CHOICE = 1
    OR = 2
    AND = 3
    EQUAL = 4
    ORDER = 5
    SUM = 6
    PRODUCT = 7
    UNARY = 8
    ATOM = 9


@dataclass(frozen=True)
class Value:
    """An expression."""

    text: str

    type: CType

    level: Level = Level.ATOM

    number: float | None = None
    """What it is worth, if it is a literal."""

    def at(self, least: Level) -> str:
        """Write it as an operand of an operator that binds this tightly."""
        return self.text if self.level >= least else f"({self.text})"

    @property
    def is_simple(self) -> bool:
        """Whether it is a name or a literal, as good to repeat as to give a name."""
        return self.text.replace("_", "").replace(".", "").lstrip("-").isalnum()


def infix(lhs: Value, operator: str, rhs: Value, level: Level, type: CType) -> Value:
    """Join two expressions; where people, or compilers, would have to think, there are parentheses."""
    left = level if level in (Level.SUM, Level.PRODUCT) else Level(level + 1)
    right = Level(level + 1)
    if level in (Level.AND, Level.OR):
        left = level if lhs.level == level else Level.EQUAL
        right = level if rhs.level == level else Level.EQUAL
    elif level is Level.EQUAL:
        left = right = Level.SUM
    return Value(f"{lhs.at(left)} {operator} {rhs.at(right)}", type, level)


def both(lhs: Value | None, rhs: Value) -> Value:
    """Say that two conditions hold; the first may be none."""
    return rhs if lhs is None else infix(lhs, "&&", rhs, Level.AND, BOOL)


def choice(condition: Value, yes: Value, no: Value) -> Value:
    """Choose one of two."""
    lowest = Level.OR
    text = f"{condition.at(lowest)} ? {yes.at(lowest)} : {no.at(lowest)}"
    return Value(text, yes.type, Level.CHOICE)


def call(name: str, type: CType, *arguments: Value) -> Value:
    """Call a function."""
    return Value(f"{name}({', '.join(each.text for each in arguments)})", type)


def integer(value: int) -> Value:
    """Write an index."""
    level = Level.ATOM if value >= 0 else Level.UNARY
    return Value(str(value), I64, level, value)


class Affine:
    """Writes index expressions, given what their dimensions are and in which range."""

    def __init__(
        self, support: Support, names: Sequence[Value], ranges: Sequence[Interval]
    ):
        self.support = support
        self.names = names
        self.ranges = ranges

    def write(self, expr: AffineExpr) -> Value:
        """Write an expression."""
        match expr:
            case AffineConstantExpr(value=value):
                return integer(value)
            case AffineDimExpr(position=position):
                return self.names[position]
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
                return self._sum(expr)
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=rhs):
                return infix(self.write(lhs), "*", self.write(rhs), Level.PRODUCT, I64)
            case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
                if kind is AffineBinaryOpKind.CeilDiv:
                    assert isinstance(rhs, AffineConstantExpr)
                    return self._division(lhs + (rhs.value - 1), rhs, "/", "floor_div")
                if kind is AffineBinaryOpKind.FloorDiv:
                    return self._division(lhs, rhs, "/", "floor_div")
                return self._division(lhs, rhs, "%", "floor_mod")
            case _:
                raise ValueError(f"unexpected affine expression {expr}")

    def _division(
        self, lhs: AffineExpr, rhs: AffineExpr, operator: str, rounding: str
    ) -> Value:
        """Divide; C rounds toward zero, which is down unless the dividend may be negative."""
        dividend, divisor = self.write(lhs), self.write(rhs)
        if interval(lhs, self.ranges)[0] >= 0:
            return infix(dividend, operator, divisor, Level.PRODUCT, I64)
        return call(self.support.function(rounding, I64), I64, dividend, divisor)

    def _sum(self, expr: AffineExpr) -> Value:
        """Write a sum, positive terms first, and subtract those with a negative factor."""
        terms = _terms(expr)
        first = next((each for each in terms if _negated(each) is None), terms[0])
        terms.remove(first)
        total = self.write(first)
        for term in terms:
            negated = _negated(term)
            other = self.write(term if negated is None else negated)
            operator = "+" if negated is None else "-"
            total = infix(total, operator, other, Level.SUM, I64)
        return total


def _terms(expr: AffineExpr) -> list[AffineExpr]:
    terms: list[AffineExpr] = []
    pending = [expr]
    while pending:
        match pending.pop():
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
                pending += (rhs, lhs)
            case term:
                terms.append(term)
    return terms


def _negated(term: AffineExpr) -> AffineExpr | None:
    """Return a term times -1 if its factor is negative."""
    match term:
        case AffineConstantExpr(value=value) if value < 0:
            return AffineExpr.constant(-value)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=value)
        ) if value < 0:
            return lhs if value == -1 else lhs * -value
        case _:
            return None
