"""What relay refuses where no text leads to it, or before there is an op."""

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import test as xdsl_test
from xdsl.dialects.builtin import Builtin, f32
from xdsl.ir import SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from partita.dialects import ALL_DIALECTS, relay
from partita.dialects.partita import WeightAttr
from partita.dialects.relay import RelayOp
from partita.shapes import tensor_of
from partita.weights import weight

REFUSED: list[tuple[Callable[[SSAValue], RelayOp], str]] = [
    (lambda x: relay.SumOp(x, axes=[-3]), "expected axes in [-2, 2), got -3"),
    (lambda x: relay.SoftmaxOp(x, axis=2), "expected axis in [-2, 2), got 2"),
    (
        lambda x: relay.ReshapeOp(x, shape=(7, -1)),
        "expected shape of 6 elements, got 7, -1",
    ),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_construction(build: Callable[[SSAValue], RelayOp], message: str) -> None:
    (x,) = xdsl_test.TestOp(result_types=[tensor_of((2, 3), f32)]).results
    with pytest.raises(VerifyException) as error:
        build(x)
    assert str(error.value) == message


def test_weight_of_another_type() -> None:
    content = np.zeros((2, 3), np.float64)
    op = relay.ConstantOp(WeightAttr(weight(content)), tensor_of((2, 3), f32))
    with pytest.raises(VerifyException) as error:
        op.verify()
    assert "expected weight of type tensor<2x3xf32>, got tensor<2x3xf64>" in str(
        error.value
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1 : i32", "expected dense elements or a weight, got 1 : i32"),
        ("dense<1> : vector<2xi32>", "expected a tensor type, got vector<2xi32>"),
    ],
)
def test_text_of_constants(value: str, message: str) -> None:
    context = Context()
    for dialect in (Builtin, *ALL_DIALECTS):
        context.load_dialect(dialect)
    with pytest.raises(ParseError) as error:
        Parser(context, f"%c = relay.constant {value}").parse_module()
    assert message in str(error.value)
