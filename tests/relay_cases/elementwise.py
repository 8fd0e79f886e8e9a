"""Ops that make an element from one element of each operand."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from partita.dialects import relay
from partita.shapes import element_type
from relay_cases.case import FLOATS, INTEGERS, NUMBERS, Case, Input, case

MATRIX, ROW, COLUMN, SCALAR = (5, 7), (7,), (5, 1), ()

SPECIAL = Input((40,), special=True)

Op = type[relay.RelayOp]

ANYWHERE: tuple[Op, ...] = (
    relay.ExpOp,
    relay.TanhOp,
    relay.SigmoidOp,
    relay.ErfOp,
    relay.FloorOp,
    relay.CeilOp,
    relay.RoundOp,
    relay.TruncOp,
    relay.SinOp,
    relay.CosOp,
    relay.AtanOp,
    relay.SinhOp,
    relay.CoshOp,
    relay.AsinhOp,
    relay.IsNanOp,
    relay.IsInfOp,
)

DOMAINS: dict[Op, tuple[float, float]] = {
    **dict.fromkeys(ANYWHERE, (-4.0, 4.0)),
    **dict.fromkeys((relay.LogOp, relay.SqrtOp, relay.RsqrtOp), (0.1, 4.0)),
    relay.ReciprocalOp: (0.5, 4.0),
    relay.AcoshOp: (1.0, 4.0),
    relay.TanOp: (-1.2, 1.2),
    **dict.fromkeys((relay.AsinOp, relay.AcosOp, relay.AtanhOp), (-0.9, 0.9)),
}
"""Where functions of floats are well-conditioned."""

ARITHMETIC: tuple[Op, ...] = (
    relay.AddOp,
    relay.SubtractOp,
    relay.MultiplyOp,
    relay.MaximumOp,
    relay.MinimumOp,
    relay.EqualOp,
    relay.NotEqualOp,
    relay.LessOp,
    relay.LessEqualOp,
    relay.GreaterOp,
    relay.GreaterEqualOp,
)


def unary() -> Iterator[Case]:
    """Functions of one number."""
    for op, (low, high) in DOMAINS.items():
        for dtype in FLOATS:
            yield case(op, dtype, Input(MATRIX, dtype, low, high))
        yield case(op, "special", SPECIAL)
    for op, dtype in product(
        (relay.ReluOp, relay.NegativeOp, relay.AbsOp, relay.SignOp), NUMBERS
    ):
        yield case(op, dtype, Input(MATRIX, dtype, -9, 9, True))
    for dtype in INTEGERS:
        yield case(relay.BitwiseNotOp, dtype, Input(MATRIX, dtype, -9, 9))
    yield case(relay.LogicalNotOp, "", Input(MATRIX, "bool"))
    yield case(relay.DropoutOp, "", Input(MATRIX))
    yield case(relay.ExpOp, "scalar", Input(SCALAR))
    yield case(relay.ExpOp, "empty", Input((3, 0)))


def unary_with_attributes() -> Iterator[Case]:
    """Functions of one number that take parameters."""
    for positive, negative in product((False, True), repeat=2):
        variant = f"{positive:d}{negative:d}"
        yield case(
            relay.IsInfOp, variant, SPECIAL, positive=positive, negative=negative
        )
    for dtype in FLOATS:
        yield case(relay.LeakyReluOp, dtype, Input(MATRIX, dtype, -4, 4))
        yield case(relay.HardSigmoidOp, dtype, Input(MATRIX, dtype, -4, 4))
    yield case(relay.LeakyReluOp, "alpha", SPECIAL, alpha=0.3)
    yield case(relay.HardSigmoidOp, "slope", SPECIAL, alpha=1 / 6, beta=0.4)
    for dtype in NUMBERS:
        data = Input(MATRIX, dtype, -9, 9, True)
        low = 1 if dtype.startswith("u") else -3
        yield case(relay.ClipOp, f"both-{dtype}", data, minimum=low, maximum=6)
        yield case(relay.ClipOp, f"below-{dtype}", data, minimum=low)
        yield case(relay.ClipOp, f"above-{dtype}", data, maximum=6)
        yield case(relay.ClipOp, f"wide-{dtype}", data, minimum=-1000, maximum=1000)
        yield case(relay.ClipOp, f"none-{dtype}", data)
    for source, target in product((*NUMBERS, "bool"), repeat=2):
        yield case(
            relay.CastOp,
            f"{source}-{target}",
            Input((41,), source, -300, 300, True),
            element_type=element_type(np.dtype(target)),
        )


def binary() -> Iterator[Case]:
    """Functions of two numbers of any type."""
    for op in ARITHMETIC:
        for dtype in NUMBERS:
            data = Input(MATRIX, dtype, -3, 3, True)
            yield case(op, dtype, data, data)
        yield case(op, "row", Input(MATRIX), Input(ROW))
        yield case(op, "outer", Input(COLUMN), Input(ROW))
        yield case(op, "scalar", Input(SCALAR), Input(MATRIX))
        yield case(op, "scalars", Input(SCALAR), Input(SCALAR))
        yield case(op, "rank4", Input((2, 1, 3, 1)), Input((4, 1, 5)))
    truths = (Input(MATRIX, "bool"), Input(ROW, "bool"))
    for op in (
        relay.LogicalAndOp,
        relay.LogicalOrOp,
        relay.LogicalXorOp,
        relay.EqualOp,
        relay.NotEqualOp,
    ):
        yield case(op, "bool", *truths)
    for dtype in (*NUMBERS, "bool"):
        yield case(
            relay.WhereOp,
            dtype,
            Input(COLUMN, "bool"),
            Input(ROW, dtype),
            Input(MATRIX, dtype),
        )


def division() -> Iterator[Case]:
    """Quotients, remainders, bits and powers."""
    for dtype in FLOATS:
        divisor = Input((60,), dtype, 0.5, 5)
        yield case(relay.DivideOp, dtype, Input((60,), dtype), divisor)
        dividend = Input((60,), dtype, -50, 50)
        yield case(relay.ModOp, f"fmod-{dtype}", dividend, divisor, fmod=True)
    for dtype in ("float32", "float64"):
        large, small = Input((60,), dtype, -1e30, 1e30), Input((60,), dtype, 0.5, 5)
        yield case(relay.ModOp, f"fmod-large-{dtype}", large, small, fmod=True)
    for dtype in INTEGERS:
        x = Input((60,), dtype, -100, 100, True)
        y = Input((60,), dtype, -5, 5, True)
        three = np.array(3, dtype)
        yield case(relay.DivideOp, dtype, x, y)
        yield case(relay.DivideOp, f"by-constant-{dtype}", x, three)
        yield case(relay.ModOp, f"mod-{dtype}", x, y, fmod=False)
        yield case(relay.ModOp, f"fmod-{dtype}", x, y, fmod=True)
        yield case(relay.ModOp, f"by-constant-{dtype}", x, three, fmod=False)
        for op in (relay.BitwiseAndOp, relay.BitwiseOrOp, relay.BitwiseXorOp):
            yield case(op, dtype, x, y)
        for op in (relay.LeftShiftOp, relay.RightShiftOp):
            yield case(op, dtype, x, Input((60,), dtype, 0, 70))
            yield case(op, f"by-constant-{dtype}", x, three)


def power() -> Iterator[Case]:
    """Powers, also of mixed types and by constants."""
    for base, exponent in (
        *zip(FLOATS, FLOATS, strict=True),
        ("float32", "int64"),
        ("float32", "float64"),
        ("float64", "int32"),
        ("int32", "float32"),
        *zip(INTEGERS, INTEGERS, strict=True),
        ("int32", "int8"),
        ("int64", "uint8"),
    ):
        low = 0.2 if base.startswith("f") else -5
        least = 0 if base.startswith("i") else -2
        yield case(
            relay.PowerOp,
            f"{base}-{exponent}",
            Input(MATRIX, base, low, 5),
            Input(MATRIX, exponent, least, 3),
        )
    for exponent in (0.5, 1.0, 2.0, 3.0, -1.0):
        value = np.array(exponent, np.float32)
        yield case(relay.PowerOp, f"by-{exponent}", Input(MATRIX, low=0.2), value)


def constants() -> Iterator[Case]:
    """Constants: one value repeated, a few, and weights."""
    for dtype in (*NUMBERS, "bool"):
        condition, data = Input(MATRIX, "bool"), Input(MATRIX, dtype)
        yield case(
            relay.WhereOp, f"splat-{dtype}", condition, data, np.full(ROW, 1, dtype)
        )
        yield case(
            relay.WhereOp,
            f"constant-{dtype}",
            condition,
            data,
            np.arange(7).astype(dtype),
        )
    weight = np.linspace(-1, 1, 35, dtype=np.float32).reshape(MATRIX)
    ones = np.ones(MATRIX, np.float32)
    yield case(relay.AddOp, "weight", Input(MATRIX), weight)
    yield case(relay.PadOp, "splat", ones, before=(1, 0), after=(0, 2))
    yield Case("constant-splat", (), lambda: relay.ConstantOp.of(ones))
    yield Case("constant-weight", (), lambda: relay.ConstantOp.of(weight))


ELEMENTWISE_CASES: tuple[Case, ...] = (
    *unary(),
    *unary_with_attributes(),
    *binary(),
    *division(),
    *power(),
    *constants(),
)
