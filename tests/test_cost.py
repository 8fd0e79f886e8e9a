"""Costs are those that a loop nest which does the op by definition has."""

from typing import Any

import numpy as np
import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute, Block, Region, SSAValue

from partita.analysis.cost import macs, nbytes
from partita.dialects import relay
from partita.shapes import DYNAMIC, Shape, element_type, tensor_of


def value(*shape: int, element: Attribute = f32) -> SSAValue:
    return Block(arg_types=[tensor_of(shape, element)]).args[0]


@pytest.mark.parametrize(
    ("data", "weight", "options", "expected"),
    [
        # Each of 8 * 6 * 6 results sums 3 * 3 * 3 products.
        ((1, 3, 8, 8), (8, 3, 3, 3), {}, 8 * 36 * 27),
        ((2, 3, 8, 8), (8, 3, 3, 3), {}, 2 * 8 * 36 * 27),
        ((1, 3, 8, 8), (8, 3, 3, 3), {"padding": (1, 1, 1, 1)}, 8 * 64 * 27),
        ((1, 3, 9, 8), (8, 3, 3, 1), {"strides": (2, 2)}, 8 * 4 * 4 * 9),
        ((1, 8, 8, 8), (8, 1, 3, 3), {"groups": 8}, 8 * 36 * 9),
        ((1, 4, 8, 8), (8, 2, 1, 1), {"groups": 2}, 8 * 64 * 2),
        ((1, 3, 8, 8), (2, 3, 3, 3, 4), {"kernel_layout": "OIHW4o"}, 8 * 36 * 27),
        (
            (1, 2, 8, 8, 4),
            (2, 2, 3, 3, 4, 4),
            {
                "data_layout": "NCHW4c",
                "kernel_layout": "OIHW4i4o",
                "result_layout": "NCHW4c",
            },
            8 * 36 * 72,
        ),
        ((0, 3, 8, 8), (8, 3, 3, 3), {}, 0),
    ],
)
def test_convolutions(
    data: Shape, weight: Shape, options: dict[str, Any], expected: int
) -> None:
    assert macs(relay.Conv2dOp(value(*data), value(*weight), **options)) == expected


def test_matrix_products() -> None:
    assert macs(relay.DenseOp(value(5, 4), value(8, 4))) == 5 * 8 * 4
    blocked = relay.DenseOp(value(5, 4), value(2, 4, 4), weight_layout="OI4o")
    assert macs(blocked) == 5 * 8 * 4
    for lhs, rhs, expected in (
        ((2, 3), (3, 4), 24),
        ((5, 2, 3), (3, 4), 120),
        ((5, 1, 2, 3), (7, 3, 4), 5 * 7 * 24),
        ((3,), (3,), 3),
        ((3,), (5, 3, 4), 60),
        ((2, 3), (3,), 6),
    ):
        assert macs(relay.MatmulOp(value(*lhs), value(*rhs))) == expected


def test_what_multiplies_nothing_by_weights() -> None:
    assert macs(relay.MultiplyOp(value(2, 3), value(2, 3))) == 0
    assert macs(relay.ReluOp(value(2, DYNAMIC))) == 0


def test_ops_that_hold_ops() -> None:
    block = Block(arg_types=[tensor_of((5, 4), f32), tensor_of((8, 4), f32)])
    block.add_op(relay.DenseOp(*block.args))
    block.add_op(relay.ReluOp(block.args[0]))
    assert macs(test.TestOp(regions=[Region(block)])) == 160


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float64"])
def test_bytes_are_those_of_the_array(dtype: str) -> None:
    array = np.zeros((3, 5), dtype)
    element = element_type(array.dtype)
    assert nbytes(value(3, 5, element=element)) == array.nbytes
    assert nbytes(value(element=element)) == array.itemsize
    assert nbytes(value(0, 3, element=i1)) == 0


def test_dynamic_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^expected a static shape, got 2x\?$"):
        nbytes(value(2, DYNAMIC))
    dense = relay.DenseOp(value(DYNAMIC, 4), value(8, 4))
    with pytest.raises(ValueError, match=r"^expected a static shape, got \?x8$"):
        macs(dense)
