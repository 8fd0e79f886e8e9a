"""Operators that relay does not model are carried along for `onnxruntime`, when that is asked for."""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from onnx_cases.case import random_inputs
from relay_cases import assert_close
from xdsl.dialects.func import FuncOp

import partita
from partita.dialects.relay import OnnxNodeOp
from partita.errors import ModelError
from partita.frontends.onnx import import_onnx
from partita.interpreters import interpret
from partita.interpreters.scalar import Array
from partita.runtime import Machine
from partita.runtime.loaders import find_loader
from partita.runtime.plan import TensorSpec
from partita.targets.backend import Accept, CodegenContext
from partita.targets.host import Host
from partita.targets.onnxruntime import OnnxRuntime

MODELS: Mapping[str, tuple[int, str]] = {
    "several outputs": (
        17,
        "g (float[4,5] x) => (float[4,2] y, int64[4,2] i) <int64[1] k = {2}> { v, i = TopK <axis = 1> (x, k) y = Relu (v) }",
    ),
    "inputs that are left out": (
        14,
        "g (float[3,2,4] x, float[1,12,4] w, float[1,12,3] r, float[1,2,3] h0) => (float[3,1,2,3] y, float[1,2,3] c) "
        "{ y, , c = LSTM <hidden_size = 3> (x, w, r, , , h0) }",
    ),
    "an older opset": (
        12,
        "g (float[3,2,4] x, float[1,9,4] w, float[1,9,3] r) => (float[3,1,2,3] y) { y = GRU <hidden_size = 3> (x, w, r) }",
    ),
    "an operator that became another": (
        9,
        'g (float[1,1,3,3] x) => (float[1,1,6,6] y) <float[4] s = {1, 1, 2, 2}> { y = Upsample <mode = "nearest"> (x, s) }',
    ),
    "a newer opset": (
        22,
        "g (float[4,5] x) => (float[4,5] y) <int64 a = {1}> { y = CumSum (x, a) }",
    ),
    "a domain that ONNX does not know": (
        17,
        "g (float[4,8] x) => (float[4,8] y) { z = com.microsoft.FastGelu (x) y = Relu (z) }",
    ),
    "more axes than the converter takes": (
        17,
        "g (float[1,2,4,5,6] x, float[3,2,2,2,2] w) => (float[1,3,3,4,5] y) { y = Conv (x, w) }",
    ),
    "inside of a function of the model": (
        17,
        "g (float[4,5] x) => (float[4,5] y) { y = local.running (x) }"
        '<domain: "local", opset_import: ["" : 17]> running (a) => (b) '
        "{ zero = Constant <value = int64 {0}> () c = Abs (a) b = CumSum (c, zero) }",
    ),
    "an output that the converter does not make": (
        17,
        "g (float[1,2,6,6] x) => (float[1,2,3,3] y, int64[1,2,3,3] i) "
        "{ y, i = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) }",
    ),
    "a shape that the model states": (
        18,
        "g (float[3,2,2] x, int64[1] i) => (float[2,2] y) { axes = Sub (i, i) y = ReduceSum <keepdims = 0> (x, axes) }",
    ),
    "two operators in a row": (
        17,
        "g (float[4,5] x) => (float[4,5] y) <int64 a = {1}> { z = CumSum (x, a) y = CumSum <reverse = 1> (z, a) }",
    ),
}


def parsed(opset: int, text: str) -> onnx.ModelProto:
    domains = f'"" : {opset}, "com.microsoft" : 1, "com.acme" : 1, "local" : 1'
    return onnx.parser.parse_model(f"<ir_version: 8, opset_import: [{domains}]> {text}")


def carried(model: onnx.ModelProto, **shapes: Sequence[int]) -> list[OnnxNodeOp]:
    module = import_onnx(model, shapes, opaque=True)
    module.verify()
    return [op for op in module.walk() if isinstance(op, OnnxNodeOp)]


def from_onnxruntime(
    model: onnx.ModelProto, inputs: Mapping[str, Array]
) -> list[Array]:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs)


@pytest.mark.parametrize("name", MODELS)
def test_means_what_onnxruntime_says(name: str) -> None:
    model = parsed(*MODELS[name])
    assert carried(model)
    inputs = random_inputs(model)
    results = interpret(import_onnx(model, opaque=True), inputs)
    assert_close(list(results.values()), from_onnxruntime(model, inputs))


@pytest.mark.parametrize("name", MODELS)
def test_back_end_runs_it(name: str) -> None:
    """Exported again among the ops that relay models."""
    model = parsed(*MODELS[name])
    (function,) = import_onnx(model, opaque=True).ops
    assert isinstance(function, FuncOp)
    backend = OnnxRuntime(threads=1)
    for op in list(function.body.block.ops)[:-1]:
        assert backend.supports(op) == Accept()
    module = backend.codegen(function, CodegenContext(Machine.host()))
    inputs = list(random_inputs(model).values())
    expected = from_onnxruntime(model, random_inputs(model))
    outputs = [np.empty(each.shape, each.dtype) for each in expected]

    def specs(arrays: Sequence[Array]) -> list[TensorSpec]:
        return [TensorSpec("x", each.dtype.name, each.shape) for each in arrays]

    weights = [each.content() for each in module.weights]
    load = find_loader("onnxruntime")
    run = load(module.files, specs(inputs), specs(outputs), weights, module.options)
    run(inputs, outputs)
    assert_close(outputs, expected)


@pytest.mark.parametrize("name", MODELS)
def test_compiled(name: str) -> None:
    """The host runs what relay models."""
    model = parsed(*MODELS[name])
    executable = partita.compile(model, [OnnxRuntime(ops=("relay.onnx_node",))])
    inputs = random_inputs(model)
    results = executable.run(inputs)
    assert_close(list(results.values()), from_onnxruntime(model, inputs))


def test_compiling_for_others_is_an_error() -> None:
    with pytest.raises(ModelError, match="--target onnxruntime runs them"):
        partita.compile(parsed(*MODELS["several outputs"]), ["c"])


def test_only_when_asked() -> None:
    model = parsed(*MODELS["several outputs"])
    with pytest.raises(ModelError) as caught:
        import_onnx(model)
    assert str(caught.value) == (
        "not supported: node TopK_0 (TopK of domain ai.onnx); --target onnxruntime runs them"
    )


def test_host_rejects_it() -> None:
    (op,) = carried(parsed(*MODELS["several outputs"]))
    assert Host().supports(op) != Accept()


def test_supported_operators_are_converted() -> None:
    """What relay models is not carried along, whatever is asked for."""
    assert not carried(parsed(17, "g (float[4] x) => (float[4] y) { y = Relu (x) }"))


def test_unchanged_operators_keep_their_version() -> None:
    (op,) = carried(parsed(*MODELS["several outputs"]))
    assert op.version.value.data == 17
    (op,) = carried(parsed(*MODELS["an older opset"]))
    assert op.version.value.data == 20


def test_shapes_that_only_the_user_knows() -> None:
    model = parsed(17, "g (float[4] x) => (int64[] y) { y = NonZero (x) }")
    (op,) = carried(model, y=(1, 4))
    assert str(op.results[0].type) == "tensor<1x4xi64>"


def test_types_that_only_the_model_knows() -> None:
    text = "g (float[4] x) => (float[4] y) { y = com.acme.Blend (x) }"
    (op,) = carried(parsed(17, text))
    assert str(op.results[0].type) == "tensor<4xf32>"


def test_symbolic_dimensions_of_results() -> None:
    text = "g (float[4] x) => (float[N] y) { y = com.acme.Blend (x) }"
    (op,) = carried(parsed(17, text), N=(7,))
    assert str(op.results[0].type) == "tensor<7xf32>"


def test_random_nodes_stay_apart() -> None:
    """Two nodes that look the same give different numbers."""
    first, second = carried(
        parsed(
            17,
            "g (float[3] x) => (float[3] y) { a = RandomNormalLike (x) b = RandomNormalLike (x) y = Add (a, b) }",
        )
    )
    assert first.properties != second.properties


ERRORS = {
    "a subgraph": (
        "g (bool c, float[3] x) => (float[] y) { [if] y = If (c) <then_branch = t () => (float[3] p) { p = Relu (x) }, "
        "else_branch = e () => (float[3] q) { q = Abs (x) }> }",
        "not supported: node if (If of domain ai.onnx); no target runs operators with subgraphs",
    ),
    "a sequence": (
        "g (float[3] x) => (float[] y) { [s] s = SequenceConstruct (x, x) y = ConcatFromSequence <axis = 0> (s) }",
        "node s (SequenceConstruct): output s is a sequence, not a tensor",
    ),
    "a dynamic shape": (
        "g (float[N,3] x) => (float[] y) <int64 a = {1}> { [c] y = CumSum (x, a) }",
        "node c (CumSum): expected operands of static shape, got ?x3; pass --shape x=?x3 with a number for each ?",
    ),
    "a shape that nobody knows": (
        "g (float[4] x) => (int64[] y) { [n] y = NonZero (x) }",
        "node n (NonZero): the shape of output y is not known; if it is always the same, pass --shape y=…",
    ),
    "a type that nobody knows": (
        "g (float[4] x) => (float[] y) { [b] z = com.acme.Blend (x) y = Relu (z) }",
        "node b (Blend): the type of output z is not known; state it in the model's value_info",
    ),
    "operands that do not fit": (
        "g (float[1,3,8,8] x, float[4,2,3,3] w) => (float[] y) { [c] y = Conv (x, w) }",
        "node c (Conv): expected data with 2 channels, got 3",
    ),
    "an attribute that does not exist": (
        "g (float[2] x) => (float[] y) { [f] y = Flatten <axes = 1> (x) }",
        "node f (Flatten): unknown attribute axes; did you mean axis?",
    ),
}


@pytest.mark.parametrize("what", ERRORS)
def test_error(what: str) -> None:
    text, message = ERRORS[what]
    with pytest.raises(ModelError) as caught:
        import_onnx(parsed(17, text), opaque=True)
    assert str(caught.value) == message
