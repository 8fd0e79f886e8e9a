"""Simplified affine expressions have the values of the original ones, and are as short as expected."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from partita.analysis.affine import (
    equal,
    linear_form,
    range_of,
    simplify,
)
from partita.dialects.access import Interval, interval

a, b, c, d = (AffineExpr.dimension(i) for i in range(4))

CASES: list[tuple[AffineExpr, list[Interval], AffineExpr]] = [
    ((a * 16 + b) // 16, [(0, 9), (0, 15)], a),
    ((a * 16 + b) % 16, [(0, 9), (0, 15)], b),
    ((a * 32 + b * 16 + c) // 16, [(0, 9), (0, 1), (0, 15)], a * 2 + b),
    ((a * 16 + b) // 112, [(0, 99), (0, 15)], a // 7),
    ((a * 16 + b) % 112, [(0, 99), (0, 15)], (a % 7) * 16 + b),
    ((a // 4) * 4 + a % 4, [(0, 99)], a),
    ((a // 12) * 12 + ((a // 3) % 4) * 3 + a % 3, [(0, 99)], a),
    (((a * 16 + b) // 49) * 49 + (a * 16 + b) % 49, [(0, 99), (0, 15)], a * 16 + b),
    ((a // 4) // 3, [(0, 99)], a // 12),
    ((a % 12) // 4, [(0, 99)], (a // 4) % 3),
    ((a % 12) % 4, [(0, 99)], a % 4),
    ((a // 4) % 3, [(0, 11)], a // 4),
    (a % 12, [(24, 30)], a - 24),
    ((a + 16) // 8, [(0, 99)], a // 8 + 2),
    (a.ceil_div(4), [(1, 4)], AffineExpr.constant(1)),
    (a * 3 + b - a, [(5, 5), (0, 3)], b + 10),
    ((a * 14 + b) * 2 + c - (a * 28 + b * 2), [(0, 3), (0, 13), (0, 2)], c),
]


@pytest.mark.parametrize(("expr", "dims", "expected"), CASES, ids=str)
def test_becomes_short(
    expr: AffineExpr, dims: list[Interval], expected: AffineExpr
) -> None:
    assert simplify(expr, dims) == expected
    assert equal(expr, expected, dims)


@st.composite
def expressions(draw: st.DrawFn) -> tuple[AffineExpr, list[Interval]]:
    """Draw an expression and ranges of its dimensions, not all from 0."""
    lows = draw(st.lists(st.integers(-3, 3), min_size=3, max_size=3))
    dims = [(low, low + draw(st.integers(0, 6))) for low in lows]
    sizes = st.sampled_from([1, 2, 3, 4, 6, 8, 12])

    def grow(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
        return st.one_of(
            st.tuples(inner, inner).map(lambda each: each[0] + each[1]),
            st.tuples(inner, st.integers(-3, 12)).map(lambda each: each[0] * each[1]),
            st.tuples(inner, sizes).map(lambda each: each[0] // each[1]),
            st.tuples(inner, sizes).map(lambda each: each[0] % each[1]),
            st.tuples(inner, sizes).map(lambda each: each[0].ceil_div(each[1])),
        )

    leaves = st.one_of(
        st.sampled_from([a, b, c]), st.integers(-5, 20).map(AffineExpr.constant)
    )
    return draw(st.recursive(leaves, grow, max_leaves=8)), dims


@given(expressions())
def test_keeps_values(case: tuple[AffineExpr, list[Interval]]) -> None:
    expr, dims = case
    simple = simplify(expr, dims)
    assert simplify(simple, dims) == simple
    low, high = range_of(expr, dims)
    widest = interval(simple, dims)
    assert widest[0] <= low
    assert high <= widest[1]
    for point in product(*(range(each[0], each[1] + 1) for each in dims)):
        value = expr.eval(point, ())
        assert simple.eval(point, ()) == value
        assert low <= value <= high


def test_linear_form() -> None:
    assert linear_form(a * 3 - c + 5, 3) == ((3, 0, -1), 5)
    assert linear_form((a + b) * 2, 2) == ((2, 2), 0)
    assert linear_form(a // 2, 1) is None
    assert linear_form(AffineExpr.constant(7), 2) == ((0, 0), 7)
