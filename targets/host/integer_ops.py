"""Integer arithmetic that is more than an instruction: it never traps, rounds as asked, and takes any shift."""

from collections.abc import Callable

from xdsl.ir import Operation

from partita.targets.host.emitter import Emitter, Value

Rule = Callable[[Emitter, Operation, tuple[Value, ...]], Value]
"""From an op and its operands' values to the value of its result."""


def divide(opcode: str) -> Rule:
    """Divide integers; where the divisor is 0, or the quotient overflows, divide by 1 instead of trapping."""

    def apply(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
        dividend, divisor = emitter.same_lanes(*values)
        type = divisor.type
        one = emitter.constant(1, type)
        trap = emitter.binary("icmp eq", divisor, emitter.constant(0, type), "i1")
        if opcode in ("sdiv", "srem"):
            minus = emitter.binary("icmp eq", divisor, emitter.constant(-1, type), "i1")
            least = emitter.constant(-(1 << (int(type[1:]) - 1)), type)
            low = emitter.binary("icmp eq", dividend, least, "i1")
            trap = emitter.binary("or", trap, emitter.binary("and", minus, low))
        safe = emitter.select(trap, one, divisor)
        return emitter.binary(opcode, dividend, safe)

    return apply


def divide_down(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
    """Divide, rounding down."""
    quotient, remainder = _quotient_and_remainder(emitter, op, values)
    return _corrected(emitter, quotient, remainder, values[1], -1, "slt")


def divide_up(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
    """Divide, rounding up."""
    quotient, remainder = _quotient_and_remainder(emitter, op, values)
    return _corrected(emitter, quotient, remainder, values[1], 1, "sge")


def _quotient_and_remainder(
    emitter: Emitter, op: Operation, values: tuple[Value, ...]
) -> tuple[Value, Value]:
    return (
        divide("sdiv")(emitter, op, values),
        divide("srem")(emitter, op, values),
    )


def _corrected(
    emitter: Emitter,
    quotient: Value,
    remainder: Value,
    divisor: Value,
    step: int,
    predicate: str,
) -> Value:
    """Add a step to a quotient that was rounded toward zero where remainder and divisor have signs that ask for it."""
    zero = emitter.constant(0, quotient.type)
    signs = emitter.binary("xor", remainder, divisor)
    other_way = emitter.binary(f"icmp {predicate}", signs, zero, "i1")
    inexact = emitter.binary("icmp ne", remainder, zero, "i1")
    moved = emitter.binary("add", quotient, emitter.constant(step, quotient.type))
    return emitter.select(emitter.binary("and", inexact, other_way), moved, quotient)


def divide_up_unsigned(
    emitter: Emitter, op: Operation, values: tuple[Value, ...]
) -> Value:
    """Divide what counts as unsigned, rounding up."""
    quotient = divide("udiv")(emitter, op, values)
    remainder = divide("urem")(emitter, op, values)
    zero = emitter.constant(0, quotient.type)
    inexact = emitter.binary("icmp ne", remainder, zero, "i1")
    return emitter.binary(
        "add", quotient, emitter.convert("zext", inexact, quotient.type)
    )


def shift(opcode: str, arithmetic: bool = False) -> Rule:
    """Shift; by the width or more gives 0, or the sign in all bits."""

    def apply(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
        value, amount = emitter.same_lanes(*values)
        width = int(value.type[1:])
        last = emitter.constant(width - 1, value.type)
        inside = emitter.binary("icmp ule", amount, last, "i1")
        shifted = emitter.binary(opcode, value, emitter.select(inside, amount, last))
        if arithmetic:
            return shifted
        return emitter.select(inside, shifted, emitter.constant(0, value.type))

    return apply


def count_zeros(name: str) -> Rule:
    """Count zeros at one end; of 0, all bits."""

    def apply(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
        value = values[0]
        function = (
            f"llvm.{name}.{'' if value.lanes == 1 else f'v{value.lanes}'}{value.type}"
        )
        emitter.declarations.setdefault(
            function,
            f"declare {value.vector_type} @{function}({value.vector_type}, i1)",
        )
        return emitter.emit(
            f"call {value.vector_type} @{function}({value}, i1 false)",
            value.type,
            value.lanes,
        )

    return apply


def absolute(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
    """Drop the sign; the least integer, which has no positive counterpart, stays."""
    value = values[0]
    zero = emitter.constant(0, value.type)
    negated = emitter.binary("sub", zero, value)
    negative = emitter.binary("icmp slt", value, zero, "i1")
    return emitter.select(negative, negated, value)


def power(emitter: Emitter, op: Operation, values: tuple[Value, ...]) -> Value:
    """Square and multiply, for the bits of a non-negative exponent; a negative one gives 0, or ±1 for ±1."""
    base, exponent = emitter.same_lanes(*values)
    type = base.type
    zero, one = emitter.constant(0, type), emitter.constant(1, type)
    result, square = emitter.splat(one, base.lanes), base
    for bit in range(int(exponent.type[1:]) - 1):
        mask = emitter.constant(1 << bit, exponent.type)
        chosen = emitter.binary("and", exponent, mask)
        empty = emitter.binary(
            "icmp eq", chosen, emitter.constant(0, exponent.type), "i1"
        )
        product = emitter.binary("mul", result, square)
        result = emitter.select(empty, result, product)
        square = emitter.binary("mul", square, square)
    negative = emitter.binary(
        "icmp slt", exponent, emitter.constant(0, exponent.type), "i1"
    )
    unit = emitter.binary("icmp eq", base, one, "i1")
    minus = emitter.binary("icmp eq", base, emitter.constant(-1, type), "i1")
    odd = emitter.convert(
        "trunc",
        emitter.binary("and", exponent, emitter.constant(1, exponent.type)),
        "i1",
    )
    sign = emitter.select(odd, emitter.constant(-1, type), one)
    inverse = emitter.select(unit, one, emitter.select(minus, sign, zero))
    return emitter.select(negative, inverse, result)
