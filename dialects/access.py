"""Indices as affine expressions of SSA values: how they print, parse, and between what they lie.

`te.read`, `tir.load`, `tir.store` and the bindings of `tir.block` all hold an affine map
over their index operands, written with the values' names: `%x[%n, %h * 2 + %r - 1]`.
A map has one dimension for each operand and no symbols.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Generic, TypeVar

from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.hints import isa

INDEX = IndexType()

Interval = tuple[int, int]
"""Least and greatest value, both included."""

_PRECEDENCE = {
    AffineBinaryOpKind.Add: 1,
    AffineBinaryOpKind.Mul: 2,
    AffineBinaryOpKind.Mod: 2,
    AffineBinaryOpKind.FloorDiv: 2,
    AffineBinaryOpKind.CeilDiv: 2,
}

_DIVISIONS = (
    AffineBinaryOpKind.Mod,
    AffineBinaryOpKind.FloorDiv,
    AffineBinaryOpKind.CeilDiv,
)

_IRREGULAR = "expected products with and divisions by constants, and divisors above 0"

_TOKEN = {
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.Mod: "mod",
    AffineBinaryOpKind.FloorDiv: "floordiv",
    AffineBinaryOpKind.CeilDiv: "ceildiv",
}


def parse_access(parser: Parser) -> tuple[AffineMap, tuple[SSAValue, ...]]:
    """Parse `[expr, …]` over SSA values; a value that occurs twice is one dimension."""
    start = parser.pos
    try:
        parsed, operands = parser.parse_affine_map_of_ssa_ids()
    except (NotImplementedError, ZeroDivisionError):
        parser.raise_error(_IRREGULAR, start, parser.pos)
    if any(map(_divides_by_none, parsed.results)):
        parser.raise_error(_IRREGULAR, start, parser.pos)
    count = len(operands)
    dims = [AffineExpr.dimension(i) for i in range(count)]
    results = tuple(
        result.replace_dims_and_symbols((), dims) for result in parsed.results
    )
    return AffineMap(count, 0, results), tuple(operands)


def _divides_by_none(expr: AffineExpr) -> bool:
    """Say whether there is a divisor in an expression that is 0 or below."""
    return any(
        isinstance(part, AffineBinaryOpExpr)
        and part.kind in _DIVISIONS
        and isinstance(part.rhs, AffineConstantExpr)
        and part.rhs.value <= 0
        for part in expr.dfs()
    )


def print_access(
    printer: Printer, map: AffineMap, operands: Sequence[SSAValue]
) -> None:
    """Print `[expr, …]` with operands in place of dimensions."""
    with printer.in_square_brackets():
        printer.print_list(
            map.results, lambda result: print_index(printer, result, operands)
        )


def print_index(
    printer: Printer,
    expr: AffineExpr,
    operands: Sequence[SSAValue],
    least: int = 0,
) -> None:
    """Print one expression, in parentheses if its precedence is below `least`."""
    match expr:
        case AffineConstantExpr(value=value):
            printer.print_string(str(value))
        case AffineDimExpr(position=position):
            printer.print_ssa_value(operands[position])
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            with printer.in_parens() if least > 1 else nullcontext():
                _print_sum(printer, expr, operands)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            precedence = _PRECEDENCE[kind]
            with printer.in_parens() if least > precedence else nullcontext():
                print_index(printer, lhs, operands, precedence)
                printer.print_string(f" {_TOKEN[kind]} ")
                print_index(printer, rhs, operands, precedence + 1)
        case _:
            raise ValueError(f"unexpected affine expression {expr}")


def _print_sum(
    printer: Printer, expr: AffineExpr, operands: Sequence[SSAValue]
) -> None:
    """Print a sum; terms with a negative factor are subtracted, behind the first one that has none."""
    terms: list[AffineExpr] = []
    pending = [expr]
    while pending:
        match pending.pop():
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
                pending += (rhs, lhs)
            case term:
                terms.append(term)
    first = next((term for term in terms if _negated(term) is None), terms[0])
    terms.remove(first)
    print_index(printer, first, operands, 1)
    for term in terms:
        negated = _negated(term)
        printer.print_string(" + " if negated is None else " - ")
        print_index(printer, term if negated is None else negated, operands, 2)


def _negated(term: AffineExpr) -> AffineExpr | None:
    """Return a term times -1 if its factor is negative."""
    match term:
        case AffineConstantExpr(value=value) if value < 0:
            return AffineExpr.constant(-value)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=value)
        ) if value < 0:
            return lhs * -value
        case _:
            return None


def without_unused(
    map: AffineMap, operands: Sequence[SSAValue]
) -> tuple[AffineMap, tuple[SSAValue, ...]]:
    """Drop operands that no result uses, and merge equal ones, so that text round-trips.

    Operands are renumbered in the order in which results mention them, as a parser meets them.
    """
    order: dict[SSAValue, int] = {}
    for result in map.results:
        for part in result.dfs():
            if isinstance(part, AffineDimExpr):
                order.setdefault(operands[part.position], len(order))
    positions = [order.get(value) for value in operands]
    if positions == list(range(len(operands))):
        return map, tuple(operands)
    dims = [
        AffineExpr.constant(0) if position is None else AffineExpr.dimension(position)
        for position in positions
    ]
    results = tuple(result.replace_dims_and_symbols(dims, ()) for result in map.results)
    return AffineMap(len(order), 0, results), tuple(order)


def parse_axes(parser: Parser) -> tuple[list[Parser.Argument], list[int]]:
    """Parse `(%i in 4, %j in 8)`: names and extents."""
    extents: list[int] = []

    def parse_axis() -> Parser.Argument:
        argument = parser.parse_argument(expect_type=False).resolve(INDEX)
        parser.parse_keyword("in")
        extents.append(parser.parse_integer(allow_boolean=False, allow_negative=False))
        return argument

    arguments = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parse_axis)
    return arguments, extents


def print_axes(
    printer: Printer, axes: Sequence[SSAValue], extents: Sequence[int]
) -> None:
    """Print `(%i in 4, %j in 8)`."""

    def print_axis(axis: tuple[SSAValue, int]) -> None:
        printer.print_ssa_value(axis[0])
        printer.print_string(f" in {axis[1]}")

    with printer.in_parens():
        printer.print_list(zip(axes, extents, strict=True), print_axis)


def print_element(
    printer: Printer,
    container: SSAValue,
    map: AffineMap,
    indices: Sequence[SSAValue],
    otherwise: SSAValue | None = None,
) -> None:
    """Print `%x[expr, …] else %v`: an element of a tensor or buffer, and what stands for it outside."""
    printer.print_ssa_value(container)
    print_access(printer, map, indices)
    if otherwise is not None:
        printer.print_string(" else ")
        printer.print_ssa_value(otherwise)


def print_element_type(
    printer: Printer, container: SSAValue, attributes: Mapping[str, Attribute]
) -> None:
    """Print what follows an element: attributes and the type of what it is of."""
    printer.print_op_attributes(attributes)
    printer.print_string(" : ")
    printer.print_attribute(container.type)


ContainerT = TypeVar("ContainerT", bound=Attribute)


@dataclass(frozen=True)
class Element(Generic[ContainerT]):
    """An element as it was parsed, with attributes and the type of what it is of."""

    parser: Parser

    container: SSAValue

    type: ContainerT

    map: AffineMap

    indices: tuple[SSAValue, ...]

    unresolved: UnresolvedOperand | None

    attributes: dict[str, Attribute]

    def otherwise(self, type: Attribute) -> SSAValue | None:
        """Return the value after `else`, of this type."""
        if self.unresolved is None:
            return None
        return self.parser.resolve_operand(self.unresolved, type)


def parse_element(
    parser: Parser, expected: type[ContainerT], name: str
) -> Element[ContainerT]:
    """Parse `%x[expr, …] else %v {attributes} : type`."""
    container = parser.parse_unresolved_operand()
    map, indices = parse_access(parser)
    otherwise = (
        parser.parse_unresolved_operand()
        if parser.parse_optional_keyword("else")
        else None
    )
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type = parser.parse_type()
    if not isa(type, expected):
        parser.raise_error(f"expected {name}, got {type}")
    value = parser.resolve_operand(container, type)
    return Element(parser, value, type, map, indices, otherwise, attributes)


def access_attr(map: AffineMap) -> AffineMapAttr:
    """Wrap a map as the attribute that ops hold."""
    return AffineMapAttr(map)


def interval(expr: AffineExpr, dims: Sequence[Interval]) -> Interval:
    """Return bounds of an expression, given those of its dimensions (interval arithmetic: safe, not always tight)."""
    match expr:
        case AffineConstantExpr(value=value):
            return value, value
        case AffineDimExpr(position=position):
            return dims[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            a, b = interval(lhs, dims), interval(rhs, dims)
            match kind:
                case AffineBinaryOpKind.Add:
                    return a[0] + b[0], a[1] + b[1]
                case AffineBinaryOpKind.Mul:
                    corners = [x * y for x in a for y in b]
                    return min(corners), max(corners)
                case AffineBinaryOpKind.Mod:
                    modulus = b[1]
                    if a[0] // modulus == a[1] // modulus:
                        return a[0] % modulus, a[1] % modulus
                    return 0, modulus - 1
                case AffineBinaryOpKind.FloorDiv:
                    return a[0] // b[1], a[1] // b[1]
                case AffineBinaryOpKind.CeilDiv:
                    return -(-a[0] // b[1]), -(-a[1] // b[1])
        case _:
            raise ValueError(f"unexpected affine expression {expr}")
