"""Modules run: by name or position, through calls, however deep, without keeping what is not needed."""

import gc
import tracemalloc

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, f32
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from partita.dialects import ALL_DIALECTS, relay
from partita.errors import InputError, IRError, WeightsError
from partita.interpreters import evaluate, interpret
from partita.shapes import tensor_of
from partita.weights import Array

CALLS = """
func.func private @twice(%x : tensor<2xf32>) -> tensor<2xf32> {
  %y = relay.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
func.func @main(%a : tensor<2xf32> {partita.name = "the input"}, %b : tensor<?xf32>)
    -> (tensor<2xf32> {partita.name = "the output"}, tensor<?xf32>) attributes {partita.entry} {
  %y = func.call @twice(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %z = func.call @twice(%y) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %z, %b : tensor<2xf32>, tensor<?xf32>
}
func.func @other(%a : tensor<2xf32>) -> tensor<2xf32> {
  %y = relay.negative %a : tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""


def parsed(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, *ALL_DIALECTS):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def array(*values: float) -> Array:
    return np.array(values, np.float32)


def test_in_order() -> None:
    first, second = interpret(parsed(CALLS), [array(1, 2), array(3)])
    np.testing.assert_array_equal(first, array(4, 8))
    np.testing.assert_array_equal(second, array(3))


def test_by_name() -> None:
    results = interpret(parsed(CALLS), {"b": array(3), "the input": array(1, 2)})
    assert list(results) == ["the output", "1"]
    np.testing.assert_array_equal(results["the output"], array(4, 8))


def test_other_entry() -> None:
    (result,) = interpret(parsed(CALLS), [array(1, 2)], entry="other")
    np.testing.assert_array_equal(result, array(-1, -2))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([array(1, 2)], "expected 2 inputs, the input, b, got 1"),
        (
            [array(1, 2, 3), array(1)],
            "expected input the input of shape 2, got 3",
        ),
        (
            [array(1, 2), np.array([1])],
            "expected input b of dtype float32, got int64",
        ),
        ({"x": array(1)}, "expected inputs the input, b, got x"),
    ],
)
def test_wrong_inputs(inputs: list[Array] | dict[str, Array], message: str) -> None:
    with pytest.raises(InputError) as error:
        interpret(parsed(CALLS), inputs)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "entry", "message"),
    [
        (CALLS, "none", "expected function @none, got @twice, @main, @other"),
        (
            CALLS.replace("attributes {partita.entry}", ""),
            None,
            "expected one entry function, got @main, @other; set entry",
        ),
        (
            "func.func private @f()",
            None,
            "expected one entry function, got none; set entry",
        ),
        ("func.func private @f()", "f", "expected a body of @f, got a declaration"),
    ],
)
def test_what_cannot_run(text: str, entry: str | None, message: str) -> None:
    with pytest.raises(IRError) as error:
        interpret(parsed(text), [], entry)
    assert str(error.value) == message


def test_weights_are_needed() -> None:
    digest = "00112233445566778899aabbccddeeff"
    module = parsed(
        f"""func.func @main() -> tensor<4xf32> {{
          %c = relay.constant #partita.weight<"{digest}"> : tensor<4xf32>
          func.return %c : tensor<4xf32>
        }}"""
    )
    with pytest.raises(WeightsError) as error:
        interpret(module, [])
    assert str(error.value) == f"weight {digest} is not loaded; pass --weights FILE"


def negations(length: int, elements: int) -> ModuleOp:
    type = tensor_of((elements,), f32)
    function = FuncOp("main", ((type,), (type,)))
    value: SSAValue = function.body.block.args[0]
    for _ in range(length):
        op = relay.NegativeOp(value)
        function.body.block.add_op(op)
        value = op.result
    function.body.block.add_op(ReturnOp(value))
    return ModuleOp([function])


def test_depth_is_no_limit() -> None:
    (result,) = interpret(negations(10_001, 3), [array(1, -2, 3)])
    np.testing.assert_array_equal(result, array(-1, 2, -3))


def test_arrays_are_dropped_after_their_last_use() -> None:
    elements = 1 << 18
    module = negations(50, elements)
    data = np.ones(elements, np.float32)
    gc.collect()
    tracemalloc.start()
    interpret(module, [data])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 * data.nbytes


def test_half_precision_rounds_once() -> None:
    """A sum of f16 is not f16 on the way, where 2048 + 1 is 2048."""
    data = np.ones((1, 4096), np.float16)
    op = relay.SumOp(relay.ConstantOp.of(data).result)
    (result,) = evaluate(op, [data])
    assert result.dtype == np.float16
    np.testing.assert_array_equal(result, [[4096]])


def test_integers_wrap() -> None:
    data = np.full((1, 3), 100, np.int8)
    op = relay.SumOp(relay.ConstantOp.of(data).result)
    np.testing.assert_array_equal(evaluate(op, [data])[0], [[300 - 256]])
    op = relay.DenseOp(*(relay.ConstantOp.of(data).result,) * 2)
    np.testing.assert_array_equal(evaluate(op, [data, data])[0], [[30000 % 256]])
