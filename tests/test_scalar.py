"""Scalar ops on numpy arrays: what wraps, what is undefined elsewhere, what NaN does."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    f16,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.test_value import create_ssa_value

from partita.interpreters.scalar import (
    Array,
    evaluate_scalar,
    quiet,
    scalar_constant,
)

NAN, INF = float("nan"), float("inf")


def evaluate(op: Callable[..., Operation], type: Attribute, *args: Array) -> Array:
    with quiet():
        return evaluate_scalar(op(*(create_ssa_value(type) for _ in args)), args)


def int8(*values: int) -> Array:
    return np.array(values, np.int8)


def float32(*values: float) -> Array:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("op", "lhs", "rhs", "expected"),
    [
        (arith.AddiOp, 127, 1, -128),
        (arith.SubiOp, -128, 1, 127),
        (arith.MuliOp, 100, 3, 44),
        (arith.DivSIOp, -7, 2, -3),
        (arith.DivSIOp, 7, 0, 0),
        (arith.DivSIOp, -128, -1, -128),
        (arith.DivUIOp, -7, 2, 124),
        (arith.FloorDivSIOp, -7, 2, -4),
        (arith.CeilDivSIOp, -7, 2, -3),
        (arith.CeilDivSIOp, 7, 2, 4),
        (arith.CeilDivUIOp, -1, 2, -128),
        (arith.RemSIOp, -7, 2, -1),
        (arith.RemUIOp, -7, 2, 1),
        (arith.MinSIOp, -1, 1, -1),
        (arith.MinUIOp, -1, 1, 1),
        (arith.MaxSIOp, -1, 1, 1),
        (arith.MaxUIOp, -1, 1, -1),
        (arith.ShLIOp, 3, 7, -128),
        (arith.ShRSIOp, -128, 7, -1),
        (arith.ShRUIOp, -128, 7, 1),
        (math.IPowIOp, 3, 5, -13),
        (math.IPowIOp, -1, -3, -1),
        (math.IPowIOp, 2, -1, 0),
    ],
)
def test_integers_wrap(
    op: Callable[..., Operation], lhs: int, rhs: int, expected: int
) -> None:
    result = evaluate(op, i8, int8(lhs), int8(rhs))
    assert result.dtype == np.int8
    assert result == expected


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (arith.AddiOp, [False, True, True, False]),
        (arith.SubiOp, [False, True, True, False]),
        (arith.MuliOp, [False, False, False, True]),
        (arith.MaxSIOp, [False, False, False, True]),
        (arith.MinSIOp, [False, True, True, True]),
        (arith.MaxUIOp, [False, True, True, True]),
        (arith.MinUIOp, [False, False, False, True]),
        (arith.XOrIOp, [False, True, True, False]),
    ],
)
def test_truth_values_are_integers_of_one_bit(
    op: Callable[..., Operation], expected: list[bool]
) -> None:
    lhs, rhs = np.array([False, False, True, True]), np.array([False, True] * 2)
    assert evaluate(op, i1, lhs, rhs).tolist() == expected


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("slt", [False, True, False]),
        ("ult", [False, False, True]),
        ("sge", [True, False, True]),
        ("ugt", [False, True, False]),
        ("ne", [False, True, True]),
    ],
)
def test_comparisons_of_integers_are_signed_or_not(
    predicate: str, expected: list[bool]
) -> None:
    result = evaluate(
        partial(arith.CmpiOp, arg=predicate), i8, int8(1, -1, 1), int8(1, 1, -1)
    )
    assert result.tolist() == expected


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("oeq", [False, True, False, False]),
        ("ueq", [False, True, True, True]),
        ("one", [True, False, False, False]),
        ("une", [True, False, True, True]),
        ("olt", [True, False, False, False]),
        ("uge", [False, True, True, True]),
        ("ord", [True, True, False, False]),
        ("uno", [False, False, True, True]),
        ("true", [True] * 4),
        ("false", [False] * 4),
    ],
)
def test_comparisons_of_floats_are_ordered_or_not(
    predicate: str, expected: list[bool]
) -> None:
    result = evaluate(
        partial(arith.CmpfOp, arg=predicate),
        f32,
        float32(1, 1, NAN, 1),
        float32(2, 1, 1, NAN),
    )
    assert result.tolist() == expected


def test_nan_propagates_through_maximum_but_not_maxnum() -> None:
    pair = float32(NAN, 1), float32(2, 2)
    np.testing.assert_array_equal(evaluate(arith.MaximumfOp, f32, *pair), [NAN, 2])
    np.testing.assert_array_equal(evaluate(arith.MinimumfOp, f32, *pair), [NAN, 1])
    np.testing.assert_array_equal(evaluate(arith.MaxnumfOp, f32, *pair), [2, 2])
    np.testing.assert_array_equal(evaluate(arith.MinnumfOp, f32, *pair), [2, 1])


@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [
        (math.RoundEvenOp, (0.5, 1.5, -2.5), (0, 2, -2)),
        (math.RoundOp, (0.5, 1.5, -2.5, 0.49999997), (1, 2, -3, 0)),
        (math.TruncOp, (1.5, -1.5), (1, -1)),
        (math.RsqrtOp, (4, 0, -1), (0.5, INF, NAN)),
        (math.ErfOp, (0, INF, -INF, 0.5), (0, 1, -1, 0.5204999)),
        (math.AbsFOp, (-1, -INF), (1, INF)),
    ],
)
def test_functions_of_floats(
    op: Callable[..., Operation], values: tuple[float], expected: tuple[float]
) -> None:
    result = evaluate(op, f32, float32(*values))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.astype(np.float64), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("op", "source", "target", "value", "expected"),
    [
        (arith.ExtSIOp, i8, i32, int8(-1), -1),
        (arith.ExtUIOp, i8, i32, int8(-1), 255),
        (arith.ExtSIOp, i1, i8, np.array([True]), -1),
        (arith.ExtUIOp, i1, i8, np.array([True]), 1),
        (arith.TruncIOp, i32, i8, np.array([300], np.int32), 44),
        (arith.TruncIOp, i32, i1, np.array([2], np.int32), False),
        (arith.SIToFPOp, i8, f32, int8(-1), -1.0),
        (arith.UIToFPOp, i8, f32, int8(-1), 255.0),
        (arith.FPToSIOp, f32, i8, float32(-1.9), -1),
        (arith.FPToUIOp, f32, i8, float32(200.9), -56),
        (arith.TruncFOp, f32, f16, float32(65520), INF),
        (arith.IndexCastOp, i8, IndexType(), int8(-1), -1),
        (arith.BitcastOp, f32, i32, float32(1), 0x3F800000),
    ],
)
def test_conversions(
    op: Callable[..., Operation],
    source: Attribute,
    target: Attribute,
    value: Array,
    expected: float,
) -> None:
    result = evaluate(partial(op, target_type=target), source, value)
    assert result.tolist() == [expected]


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        (IntegerAttr(-1, i8), np.int8(-1)),
        (IntegerAttr(1, i1), np.bool_(True)),
        (IntegerAttr(-1, i1), np.bool_(True)),
        (IntegerAttr(-(1 << 63), i64), np.int64(-(1 << 63))),
        (IntegerAttr(-3, IndexType()), np.int64(-3)),
        (FloatAttr(0.5, f16), np.float16(0.5)),
        (FloatAttr(-INF, f32), np.float32(-INF)),
    ],
)
def test_constants(
    attribute: IntegerAttr[IntegerType | IndexType] | FloatAttr[AnyFloat],
    expected: np.generic,
) -> None:
    result = scalar_constant(attribute)
    assert result.dtype == expected.dtype
    assert result == expected
