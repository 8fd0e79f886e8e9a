"""What is said to be a whole box is one, by trying all iterations."""

from itertools import product

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from partita.analysis.affine import as_sum
from partita.analysis.coverage import fills_box

D = AffineExpr.dimension


def is_box(exprs: list[AffineExpr], extents: list[int], inner: set[int]) -> bool:
    """Say whether, whatever outer dimensions are, indices take each combination of consecutive values."""
    outer = [range(1 if i in inner else e) for i, e in enumerate(extents)]
    for fixed in product(*outer):
        ranges = [
            range(e) if i in inner else (fixed[i],) for i, e in enumerate(extents)
        ]
        found = {
            tuple(expr.eval(values, ()) for expr in exprs)
            for values in product(*ranges)
        }
        sides = [set(side) for side in zip(*found, strict=True)]
        if any(max(side) - min(side) >= len(side) for side in sides):
            return False
        if found != set(product(*sides)):
            return False
    return True


@st.composite
def indices(draw: st.DrawFn, count: int) -> AffineExpr:
    """Draw an index: a sum of loops, whole, divided, or what is left."""
    expr = AffineExpr.constant(draw(st.integers(-2, 2)))
    for _ in range(draw(st.integers(1, 3))):
        term = D(draw(st.integers(0, count - 1)))
        if draw(st.booleans()):
            other = D(draw(st.integers(0, count - 1)))
            term = term * draw(st.sampled_from([1, 2, 3, 4, 6])) + other
        for kind in draw(st.sampled_from(["", "", "/", "%", "/%"])):
            by = draw(st.sampled_from([2, 3, 4, 6]))
            term = term // by if kind == "/" else term % by
        expr = expr + term * draw(st.sampled_from([1, 1, 1, 2, 3, 4, 6, -1]))
    return expr


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_a_box_is_a_box(data: st.DataObject) -> None:
    extents = data.draw(
        st.lists(st.sampled_from([1, 2, 3, 4, 6, 12]), min_size=2, max_size=3)
    )
    exprs = data.draw(st.lists(indices(len(extents)), min_size=1, max_size=2))
    inner = data.draw(st.sets(st.integers(0, len(extents) - 1)))
    ranges = [(0, extent - 1) for extent in extents]
    positions = [as_sum(expr, ranges) for expr in exprs]
    if fills_box(positions, ranges, inner):
        event("filled")
        assert is_box(exprs, extents, inner)


@pytest.mark.parametrize(
    ("exprs", "extents", "inner", "expected"),
    [
        ([D(0) * 4 + D(1)], [2, 4], {0, 1}, True),
        ([D(0) * 4 + D(1)], [2, 4], {1}, True),
        ([D(0) * 4 + D(1)], [2, 4], {0}, False),
        ([D(0) * 3 + D(1)], [2, 4], {0, 1}, True),
        ([D(0) * 5 + D(1)], [2, 4], {0, 1}, False),
        ([D(0), D(0)], [3, 1], {0}, False),
        ([D(0) // 6, D(0) % 6], [24, 1], {0}, True),
        ([D(0) // 6, D(0) % 6], [20, 1], {0}, False),
        ([(D(0) * 6 + D(1)) // 9, (D(0) * 6 + D(1)) % 9], [6, 6], {0, 1}, True),
        ([(D(0) * 6 + D(1)) // 9, (D(0) * 6 + D(1)) % 9], [6, 6], {1}, False),
        ([D(0) // 4, D(0) % 2], [8, 1], {0}, True),
        ([D(0) // 4, D(0) // 2 % 2, D(0) % 2], [8, 1], {0}, True),
        ([D(0) // 2, D(0) % 4], [8, 1], {0}, False),
    ],
)  # fmt: skip
def test_boxes(
    exprs: list[AffineExpr], extents: list[int], inner: set[int], expected: bool
) -> None:
    ranges = [(0, extent - 1) for extent in extents]
    positions = [as_sum(expr, ranges) for expr in exprs]
    assert fills_box(positions, ranges, inner) is expected
    assert is_box(exprs, extents, inner) is expected
