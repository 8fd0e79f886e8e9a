"""The `onnxruntime` back end: what models say, that they mean what relay means, and what is refused."""

import os
import re
import sys
from collections.abc import Sequence
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from relay_cases import CASES, Case, Input, assert_close
from relay_cases.graphs import graphs
from xdsl.dialects.builtin import f32, f64, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser

from partita.dialects import relay
from partita.driver import context
from partita.errors import ArtifactError, OptionError
from partita.interpreters.scalar import Array
from partita.runtime import Machine
from partita.runtime.loaders import LoaderContext, find_loader
from partita.runtime.plan import TensorSpec
from partita.runtime.tensors import aligned, aligned_empty
from partita.targets.backend import Accept, CodegenContext, ExternalModule, Reject
from partita.targets.onnxruntime import OnnxRuntime
from partita.targets.onnxruntime.emit import OnnxTextTarget
from partita.targets.onnxruntime.rules import RULES

BACKEND = OnnxRuntime(threads=1)

EXAMPLES = 1000 if os.environ.get("PARTITA_FULL") else 50
"""Random graphs."""

CONTEXT = CodegenContext(Machine.host())

ONLY_SINGLE = {
    *("erf", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "asinh", "acosh", "atanh"),
}
"""Functions that onnxruntime does not have for `f64`."""

PASSES_OVER_NAN = {"max_pool2d-special"}
"""What ONNX leaves open, and onnxruntime does otherwise than relay."""


def function_of(case: Case) -> FuncOp:
    (function,) = case.module().ops
    assert isinstance(function, FuncOp)
    return function


def parsed(text: str) -> FuncOp:
    (function,) = Parser(context(), text).parse_module().ops
    assert isinstance(function, FuncOp)
    return function


def body(function: FuncOp) -> list[Operation]:
    return list(function.body.block.ops)[:-1]


def model_of(module: ExternalModule) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(module.files["model.onnx"])


def specs(arrays: Sequence[Array]) -> list[TensorSpec]:
    return [
        TensorSpec(f"x{index}", each.dtype.name, each.shape)
        for index, each in enumerate(arrays)
    ]


def run(
    function: FuncOp, inputs: Sequence[Array], like: Sequence[Array]
) -> list[Array]:
    """Export, load and run a function; the results are of the types of `like`."""
    module = BACKEND.codegen(function, CONTEXT)
    weights = [aligned(each.content()) for each in module.weights]
    load = find_loader("onnxruntime")
    loaded = load(
        module.files,
        specs(inputs),
        specs(like),
        weights,
        module.options,
        LoaderContext(),
    )
    outputs = [aligned_empty(each.shape, each.dtype) for each in like]
    loaded(inputs, outputs)
    return outputs


def test_every_op() -> None:
    """Every case is what relay says, or is rejected for a reason that is stated here."""
    rejected: set[str] = set()
    failed: list[str] = []
    for case in CASES:
        function = function_of(case)
        if any(isinstance(BACKEND.supports(op), Reject) for op in body(function)):
            rejected.add(case.name)
            continue
        if case.name in PASSES_OVER_NAN:
            continue
        inputs = case.inputs()
        expected = case.expected(inputs)
        try:
            assert_close(run(function, inputs, expected), expected)
        except (AssertionError, ArtifactError, RuntimeError) as error:
            failed.append(f"{case}: {error}")
    assert not failed, "\n".join(failed)
    assert rejected == {f"{name}-float64" for name in ONLY_SINGLE}


def test_every_op_has_a_rule() -> None:
    assert set(RULES) == {*relay.ALL_OPS, relay.OnnxNodeOp, relay.OnnxGraphOp}


@pytest.mark.parametrize(
    ("option", "threads", "expected"), [(0, 3, 3), (2, 3, 2), (4, 3, 3)]
)
def test_threads(
    option: int, threads: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The target's option bounds what one region uses, the executable's what any does."""
    made: list[onnxruntime.InferenceSession] = []

    class Session(onnxruntime.InferenceSession):
        def __init__(self, *arguments: Any, **named: Any):
            super().__init__(*arguments, **named)
            made.append(self)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Session)
    module = OnnxRuntime(threads=option).codegen(parsed(PASSING), CONTEXT)
    find_loader("onnxruntime")(
        module.files, (), (), (), module.options, LoaderContext(threads)
    )
    assert made[0].get_session_options().intra_op_num_threads == expected


def test_rejection_names_operator_and_type() -> None:
    function = function_of(Case("erf", (Input((3,), "float64"),), relay.ErfOp))
    assert BACKEND.supports(body(function)[0]) == Reject(
        "onnxruntime has no Erf of f64 elements"
    )


def test_dynamic_shapes_are_rejected() -> None:
    function = parsed(
        "func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {"
        "  %y = relay.relu %x : tensor<?x3xf32>"
        "  func.return %y : tensor<?x3xf32> }"
    )
    assert BACKEND.supports(body(function)[0]) == Reject(
        "expected static shapes, got tensor<?x3xf32>"
    )


def test_other_ops_are_rejected() -> None:
    function = function_of(Case("relu", (Input((3,)),), relay.ReluOp))
    assert BACKEND.supports(function) == Reject("func.func cannot be written in ONNX")
    assert isinstance(BACKEND.supports(body(function)[0]), Accept)


CONVOLUTION = """
func.func @main(%image: tensor<1x2x5x6xf32> {partita.name = "image of a cat"}) -> (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) {
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<4x2x3x3xf32>
  %0 = relay.conv2d %image, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 3, 3, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64, partita.origin = "conv_1"} : (tensor<1x2x5x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x8xf32>
  %1 = relay.relu %0 {partita.origin = "relu_1, sum_2"} : tensor<1x4x6x8xf32>
  %2 = relay.conv2d %image, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 3, 3, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64, partita.origin = "conv_1"} : (tensor<1x2x5x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x8xf32>
  func.return %1, %2 : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>
}
"""


def test_model_is_named_after_its_origins() -> None:
    model = model_of(BACKEND.codegen(parsed(CONVOLUTION), CONTEXT))
    assert [each.name for each in model.graph.input] == ["image of a cat"]
    assert [each.name for each in model.graph.node] == [
        "conv_1/Conv",
        "relu_1, sum_2/Relu",
        "conv_1/Conv.1",
    ]
    assert [each.name for each in model.graph.output] == ["relu_1, sum_2", "conv_1.1"]


def test_padding_stays_asymmetric() -> None:
    model = model_of(BACKEND.codegen(parsed(CONVOLUTION), CONTEXT))
    (pads,) = (each for each in model.graph.node[0].attribute if each.name == "pads")
    assert list(pads.ints) == [0, 3, 3, 1]


def test_weights_are_not_in_the_model() -> None:
    """One weight that is used twice is one external initializer without content."""
    module = BACKEND.codegen(parsed(CONVOLUTION), CONTEXT)
    (initializer,) = model_of(module).graph.initializer
    assert initializer.data_location == onnx.TensorProto.EXTERNAL
    assert not initializer.raw_data
    assert [each.digest for each in module.weights] == [
        "00112233445566778899aabbccddeeff"
    ]
    assert module.options["weights"] == [initializer.name]


def test_the_same_function_makes_the_same_bytes() -> None:
    first, second = (BACKEND.codegen(parsed(CONVOLUTION), CONTEXT) for _ in range(2))
    assert first.files == second.files


PASSING = """
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>) {
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = relay.negative %x : tensor<3xf32>
  func.return %x, %x, %c, %y, %y : tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>
}
"""


def test_results_may_be_inputs_constants_and_each_other() -> None:
    x, c = np.array([1, -2, 3], np.float32), np.array([1, 2], np.float32)
    negative = np.negative(x)
    expected = [x, x, c, negative, negative]
    assert_close(run(parsed(PASSING), [x], expected), expected)


def test_names_that_meet_are_made_distinct() -> None:
    """An argument, a weight and nodes may all be called the same."""
    text = PASSING.replace(
        "relay.negative %x", 'relay.negative %x {partita.origin = "x"}'
    ).replace("relay.constant dense", 'relay.constant {partita.origin = "x"} dense')
    x, c = np.array([1, -2, 3], np.float32), np.array([1, 2], np.float32)
    negative = np.negative(x)
    expected = [x, x, c, negative, negative]
    assert_close(run(parsed(text), [x], expected), expected)


def quantized_conv2d(
    data: SSAValue, zero: SSAValue, weight: SSAValue
) -> relay.Conv2dOp:
    """Take zero points off 8-bit images and filters, and convolve them as wider integers."""
    images = relay.SubtractOp(widened(data), widened(zero))
    three = relay.ConstantOp.of(np.array(3, np.int32))
    filters = relay.SubtractOp(widened(weight), three.result)
    return relay.Conv2dOp(images.result, filters.result, padding=(0, 1, 2, 3))


def quantized_dense(data: SSAValue, weight: SSAValue) -> relay.DenseOp:
    five = relay.ConstantOp.of(np.array(5, np.int32))
    rows = relay.SubtractOp(widened(data), five.result)
    return relay.DenseOp(rows.result, widened(weight))


def widened(value: SSAValue) -> SSAValue:
    return relay.CastOp(value, element_type=i32).result


BYTES = Input((1, 3, 6, 6), "uint8", 0, 255)

INTEGER_CASES = {
    "ConvInteger": Case(
        "quantized",
        (BYTES, Input((), "uint8", 0, 255), Input((4, 3, 2, 2), "int8", -128, 127)),
        quantized_conv2d,
    ),
    "MatMulInteger": Case(
        "quantized",
        (Input((4, 6), "uint8", 0, 255), Input((3, 6), "int8", -128, 127)),
        quantized_dense,
    ),
}


@pytest.mark.parametrize("operator", INTEGER_CASES)
def test_widened_bytes_go_to_integer_operators(operator: str) -> None:
    """Nothing is left of what widened them."""
    case = INTEGER_CASES[operator]
    function, inputs = function_of(case), case.inputs()
    expected = case.expected(inputs)
    assert_close(run(function, inputs, expected), expected)
    nodes = model_of(BACKEND.codegen(function, CONTEXT)).graph.node
    assert {each.op_type for each in nodes} <= {operator, "Transpose"}


def test_zero_points_out_of_range_stay_apart() -> None:
    """-3 is no zero point of unsigned bytes."""

    def build(data: SSAValue, weight: SSAValue) -> relay.MatmulOp:
        three = relay.ConstantOp.of(np.array(-3, np.int32))
        rows = relay.SubtractOp(widened(data), three.result)
        return relay.MatmulOp(rows.result, widened(weight))

    arguments = (Input((4, 6), "uint8", 0, 255), Input((6, 3), "uint8", 0, 255))
    case = Case("negative", arguments, build)
    inputs = case.inputs()
    expected = case.expected(inputs)
    assert_close(run(function_of(case), inputs, expected), expected)


def test_unused_ops_and_weights_are_dropped() -> None:
    text = CONVOLUTION.replace("func.return %1, %2", "func.return %image, %image")
    text = text.replace(
        "tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) {",
        "tensor<1x2x5x6xf32>, tensor<1x2x5x6xf32>) {",
    )
    text = text.replace(
        ": tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>\n}",
        ": tensor<1x2x5x6xf32>, tensor<1x2x5x6xf32>\n}",
    )
    module = BACKEND.codegen(parsed(text), CONTEXT)
    assert not module.weights
    assert {each.op_type for each in model_of(module).graph.node} == {"Identity"}


def test_weights_are_used_where_they_lie() -> None:
    weight = aligned(np.ones((8, 8), np.float32))
    assert (
        onnxruntime.OrtValue.ortvalue_from_numpy(weight).data_ptr()
        == weight.ctypes.data
    )


def test_missing_provider_is_an_error() -> None:
    backend = OnnxRuntime(providers=("NoneExecutionProvider",))
    module = backend.codegen(parsed(PASSING), CONTEXT)
    load = find_loader("onnxruntime")
    with pytest.raises(ArtifactError, match="this onnxruntime has no NoneExecution"):
        load(module.files, (), (), (), module.options, LoaderContext())


def test_without_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    """The back end says that it is unavailable, the loader that it cannot load."""
    reason = "onnxruntime is not installed; install partita[onnxruntime]"
    assert BACKEND.unavailable() is None
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(
        sys.modules, "partita.runtime.loaders.onnxruntime", raising=False
    )
    assert BACKEND.unavailable() == reason
    with pytest.raises(ArtifactError, match=reason.replace("[", r"\[")):
        find_loader("onnxruntime")


@pytest.mark.parametrize("element", [f32, f64])
def test_runs_again_on_other_arrays(element: object) -> None:
    """Buffers are bound anew where they change, and not where they do not."""
    dtype = np.float32 if element is f32 else np.float64
    case = Case("relu", (Input((5,), np.dtype(dtype).name),), relay.ReluOp)
    module = BACKEND.codegen(function_of(case), CONTEXT)
    outputs = [np.empty(5, dtype)]
    load = find_loader("onnxruntime")
    loaded = load(
        module.files,
        specs(outputs),
        specs(outputs),
        (),
        module.options,
        LoaderContext(),
    )
    for seed in range(3):
        inputs = case.inputs(seed)
        loaded(inputs, outputs)
        assert_close(outputs, case.expected(inputs))
        inputs[0][:] = np.negative(inputs[0])
        loaded(inputs, outputs)
        assert_close(outputs, case.expected(inputs))


def test_threads_of_several_regions_do_not_wait_busily() -> None:
    module = BACKEND.codegen(parsed(PASSING), CONTEXT)
    alone = BACKEND.link({"a": module}, CONTEXT)
    both = BACKEND.link({"a": module, "b": module}, CONTEXT)
    assert alone["a"].options["spinning"]
    assert not both["a"].options["spinning"]
    assert not both["b"].options["spinning"]


def test_takes_only_the_ops_that_it_is_told() -> None:
    backend = OnnxRuntime(ops=("relay.exp",))
    exp, relu = (
        body(function_of(Case("", (Input((3,)),), op)))[0]
        for op in (relay.ExpOp, relay.ReluOp)
    )
    assert backend.supports(exp) == Accept()
    assert backend.supports(relu) == Reject(
        "relay.relu is not among the ops that this target may take"
    )
    with pytest.raises(OptionError, match=r"got relay\.exq; did you mean relay\.exp\?"):
        OnnxRuntime(ops=("relay.exq",))


@settings(max_examples=EXAMPLES, deadline=None)
@given(graphs())
def test_random_graphs(case: Case) -> None:
    inputs = case.inputs()
    expected = case.expected(inputs)
    results = run(function_of(case), inputs, expected)
    assert_close(results, expected, case.slack(inputs))


def test_page_shows_what_the_emitter_gives() -> None:
    page = (Path(__file__).parent.parent / "docs" / "onnxruntime.md").read_text()
    blocks = re.findall(r"```(mlir|onnx)\n(.*?)```", page, re.DOTALL)
    for (_, source), (kind, expected) in pairwise(blocks):
        assert kind == "onnx"
        output = StringIO()
        module = Parser(context(), source).parse_module()
        OnnxTextTarget().emit(context(), module, output)
        assert output.getvalue() == expected
