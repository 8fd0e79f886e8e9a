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
from partita.dialects.relay import CarriedOp, OnnxGraphOp, OnnxNodeOp
from partita.errors import CodegenError, ModelError
from partita.frontends.onnx import import_onnx
from partita.interpreters import interpret
from partita.interpreters.scalar import Array
from partita.runtime import Machine
from partita.runtime.loaders import LoaderContext, find_loader
from partita.runtime.plan import TensorSpec
from partita.targets.backend import Accept, CodegenContext
from partita.targets.host import Host
from partita.targets.onnxruntime import OnnxRuntime
from partita.targets.onnxruntime.export import export

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
    "two results of a batch normalization that is trained": (
        15,
        "g (float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,4] z, float[3] n) "
        "{ y, n, u = BatchNormalization <training_mode = 1> (x, s, b, m, v) z = Relu (y) }",
    ),
    "a shape that the model states": (
        18,
        "g (float[3,2,2] x, int64[1] i) => (float[2,2] y) { axes = Sub (i, i) y = ReduceSum <keepdims = 0> (x, axes) }",
    ),
    "a subgraph that reads values from outside": (
        17,
        "g (bool c, float[3,4] x, float[4] w) => (float[3,4] y) { a = Relu (x) z = If (c) <"
        "then_branch = t () => (float[3,4] p) { h = Add (a, w) p = Relu (h) }, "
        "else_branch = e () => (float[3,4] q) { h = Neg (x) q = Add (h, a) }> y = Abs (z) }",
    ),
    "a subgraph in a subgraph": (
        16,
        "g (int64 n, bool c, float[3] x) => (float[3] y, float[5,3] s) <int64 five = {5}> { on = Equal (five, five)"
        " y, s = Loop (five, on, x) <body = b (int64 i, bool go, float[3] a) => (bool more, float[3] d, float[3] e) "
        "{ more = Identity (go) d = If (c) <then_branch = t () => (float[3] p) { p = Add (a, x) }, "
        "else_branch = e () => (float[3] q) { f = Cast <to = 1> (i) q = Mul (a, f) }> e = Identity (d) }> }",
    ),
    "a subgraph of an older opset": (
        11,
        "g (float[3] s, float[5,3] x) => (float[3] y, float[5,1] z) { y, z = Scan <num_scan_inputs = 1, "
        "body = b (float[3] a, float[3] e) => (float[3] d, float[1] o) "
        "{ d = Add (a, e) o = ReduceSum <axes = [0]> (d) }> (s, x) }",
    ),
    "a subgraph that calls functions": (
        17,
        "g (bool c, float[3] x) => (float[3] y) { y = local.either (c, x) }"
        '<domain: "local", opset_import: ["" : 17, "local" : 1]> either (c, x) => (y) { k = Relu (x) y = If (c) <'
        "then_branch = t () => (p) { p = local.twice (k) }, else_branch = e () => (q) { q = Neg (x) }> }"
        '<domain: "local", opset_import: ["" : 17]> twice (a) => (b) { b = Add (a, a) }',
    ),
    "a sequence": (
        17,
        "g (float[3] x, float[2] w) => (float[5] y) { s = SequenceConstruct (x, w) y = ConcatFromSequence <axis = 0> (s) }",
    ),
    "a sequence of which several tensors are taken": (
        17,
        "g (float[4,6] x) => (float[2,6] a, float[2,6] b) <int64 one = {1}, int64 zero = {0}, int64 two = {2}> "
        "{ s = SplitToSequence <axis = 0> (x, two) c = SequenceAt (s, one) a = Relu (c) t = SequenceInsert (s, a) "
        "b = SequenceAt (t, two) }",
    ),
    "a shape of which only the end is known": (
        17,
        "g (float[3,4] x) => (float[4] y) <int64[1] four = {4}> { i = NonZero (x) t = Transpose (i) z = GatherND (x, t) "
        "r = Relu (z) n = Size (r) f = Cast <to = 1> (n) k = ReduceSum <keepdims = 0> (x) h = Add (f, k) "
        "e = Expand (h, four) y = Abs (e) }",
    ),
    "strings between nodes": (
        20,
        'g (float[3] x) => (bool[3] y) <string[1] one = {"1"}> { s = Cast <to = 8> (x) y = RegexFullMatch '
        '<pattern = "1|1.0"> (s) }',
    ),
    "an optional": (
        18,
        "g (float[3] x) => (bool y, float[3] z) { o = Optional (x) y = OptionalHasElement (o) z = OptionalGetElement (o) }",
    ),
    "elements that relay does not have": (
        17,
        "g (float[3] x) => (float[3] y) { b = Cast <to = 16> (x) y = Cast <to = 1> (b) }",
    ),
    "two operators in a row": (
        17,
        "g (float[4,5] x) => (float[4,5] y) <int64 a = {1}> { z = CumSum (x, a) y = CumSum <reverse = 1> (z, a) }",
    ),
}


def parsed(opset: int, text: str) -> onnx.ModelProto:
    domains = f'"" : {opset}, "com.microsoft" : 1, "com.acme" : 1, "local" : 1'
    return onnx.parser.parse_model(f"<ir_version: 8, opset_import: [{domains}]> {text}")


def carried(model: onnx.ModelProto, **shapes: Sequence[int]) -> list[CarriedOp]:
    module = import_onnx(model, shapes, opaque=True)
    module.verify()
    return [op for op in module.walk() if isinstance(op, CarriedOp)]


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
    run = load(
        module.files,
        specs(inputs),
        specs(outputs),
        weights,
        module.options,
        LoaderContext(),
    )
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
    assert isinstance(op, OnnxNodeOp)
    assert op.version.value.data == 17
    (op,) = carried(parsed(*MODELS["an older opset"]))
    assert isinstance(op, OnnxNodeOp)
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


def test_what_ops_share_is_computed_once() -> None:
    """Each op holds all nodes from tensors to its tensor; a model that has several of them holds each node once."""
    (function,) = import_onnx(
        parsed(*MODELS["a sequence of which several tensors are taken"]), opaque=True
    ).ops
    assert isinstance(function, FuncOp)
    assert sum(isinstance(op, OnnxGraphOp) for op in function.body.block.ops) == 2
    nodes = [each.op_type for each in export(function).model.graph.node]
    assert nodes.count("SplitToSequence") == 1


def test_weights_in_graphs_are_weights_like_others() -> None:
    """They are stored once, and not in the model; two graphs may call different ones the same."""
    rng = np.random.default_rng(0)

    def body(name: str) -> onnx.GraphProto:
        weights = [
            onnx.numpy_helper.from_array(
                rng.standard_normal((32, 32), np.float32), "w"
            ),
            onnx.numpy_helper.from_array(np.array([1, 2], np.float32), "small"),
        ]
        value = onnx.numpy_helper.from_array(rng.standard_normal((32, 32), np.float32))
        make = onnx.helper.make_node
        nodes = [
            make("Constant", [], ["k"], value=value),
            make("MatMul", ["x", "w"], ["a"]),
            make("Add", ["a", "k"], ["b"]),
            make("Concat", ["b", "b"], [name], axis=0),
        ]
        result = onnx.helper.make_tensor_value_info(name, 1, (64, 32))
        return onnx.helper.make_graph(nodes, name, [], [result], weights)

    node = onnx.helper.make_node(
        "If", ["c"], ["y"], then_branch=body("then"), else_branch=body("other")
    )
    inputs = [
        onnx.helper.make_tensor_value_info("c", 9, ()),
        onnx.helper.make_tensor_value_info("x", 1, (32, 32)),
    ]
    outputs = [onnx.helper.make_tensor_value_info("y", 1, (64, 32))]
    graph = onnx.helper.make_graph([node], "g", inputs, outputs)
    opsets = [onnx.helper.make_opsetid("", 17)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    executable = partita.compile(model, ["onnxruntime"])
    artifact = executable.artifact
    assert len(artifact.weights) == 4
    assert max(map(len, artifact.modules.values())) < 4096
    for chosen in (True, False):
        given = {
            "c": np.array(chosen),
            "x": rng.standard_normal((32, 32), np.float32),
        }
        results = executable.run(given)
        assert_close(list(results.values()), from_onnxruntime(model, given))


def test_weights_of_graphs_in_one_function_stay_apart() -> None:
    """The graphs are in one op, since what they give is of elements that relay does not have."""
    rows = ["{" + ", ".join([str(float(number))] * 20) + "}" for number in (2, 5, 7)]
    nodes = " ".join(
        f"s{i} = If (c) <then_branch = t{i} () => (p) {{ k = Constant <value = float[20] {row}> () "
        f"a = Sum (x, k) p = Cast <to = 16> (a) }}, else_branch = e{i} () => (q) {{ q = Cast <to = 16> (x) }}>"
        for i, row in enumerate(rows)
    )
    text = (
        "g (bool c, float[20] x) => (float[60] y) { y = local.all (c, x) }"
        f'<domain: "local", opset_import: ["" : 20]> all (c, x) => (y) {{ {nodes} '
        "j = Concat <axis = 0> (s0, s1, s2) y = Cast <to = 1> (j) }"
    )
    model = parsed(20, text)
    assert len(carried(model)) == 1
    inputs = {"c": np.array(True), "x": np.zeros(20, np.float32)}
    (y,) = partita.compile(model, ["onnxruntime"]).run(inputs).values()
    assert y.tolist() == [2.0] * 20 + [5.0] * 20 + [7.0] * 20


def test_random_numbers_are_not_shared() -> None:
    text = (
        "g (bool c, float[3] x) => (float[3] y, float[3] z) { y = If (c) <then_branch = t () => (float[3] p) "
        "{ p = RandomNormalLike (x) }, else_branch = e () => (float[3] q) { q = Neg (x) }> z = If (c) <then_branch = "
        "t () => (float[3] p) { p = RandomNormalLike (x) }, else_branch = e () => (float[3] q) { q = Neg (x) }> }"
    )
    (function,) = import_onnx(parsed(17, text), opaque=True).ops
    assert isinstance(function, FuncOp)
    nodes = export(function).model.graph.node
    assert [each.op_type for each in nodes] == ["If", "If"]


def test_branch_that_is_known_to_be_taken_is_converted() -> None:
    text = (
        "g (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> { n = Shape (x) three = Constant <value = int64[1] {3}> () "
        "e = Equal (n, three) c = Squeeze (e) y = If (c) <then_branch = t () => (float[3] p) { h = Relu (x) p = Add (h, w) }, "
        "else_branch = e () => (float[3] q) { q = com.acme.Blend (x) }> }"
    )
    model = parsed(17, text)
    assert not carried(model)
    for module in (
        import_onnx(model, opaque=True),
        import_onnx(parsed(17, text.replace("com.acme.Blend", "Abs"))),
    ):
        result = interpret(module, [np.array([-1, 0, 1], np.float32)])
        assert_close(list(result), [np.array([1, 2, 4], np.float32)])


def test_branch_that_is_not_known_is_for_onnxruntime() -> None:
    with pytest.raises(ModelError) as caught:
        import_onnx(parsed(*MODELS["a subgraph that reads values from outside"]))
    assert str(caught.value) == (
        "not supported: node If_1 (If of domain ai.onnx); --target onnxruntime runs them"
    )


def test_strings_that_are_given_as_constants() -> None:
    text = (
        'g (float[3] x) => (float[3] y) <string[1] pattern = {"1"}, string[2] kept = {"a", "b"}> { s = Cast <to = 8> (x) '
        "j = StringConcat (s, pattern) c = Cast <to = 1> (j) y = Abs (c) }"
    )
    model = parsed(20, text)
    inputs = {"x": np.array([1, 2, 3], np.float32)}
    results = partita.compile(model, ["onnxruntime"]).run(inputs)
    assert_close(list(results.values()), from_onnxruntime(model, inputs))


def test_a_value_of_no_known_type_is_read() -> None:
    """ONNX's own inference of types crashes on it."""
    text = 'g (float[3] x) => (bool[3] y) { s = Oast <to = 8> (x) y = RegexFullMatch <pattern = "1"> (s) }'
    (op,) = carried(parsed(20, text))
    assert op.operators == ("ai.onnx.Oast", "ai.onnx.RegexFullMatch")


def test_operators_that_nobody_has_are_found_when_code_is_made() -> None:
    text = "g (float[4] x) => (float[4] y) { y = com.acme.Blend (x) }"
    with pytest.raises(CodegenError, match=r"onnxruntime does not take it: .*Blend"):
        partita.compile(parsed(17, text), ["onnxruntime"])


ERRORS = {
    "a sequence": (
        "g (float[3] x) => (seq(float[3]) s) { [s] s = SequenceConstruct (x, x) }",
        "node s (SequenceConstruct): expected output s as a tensor, got type sequence; compiled models return nothing else",
    ),
    "strings": (
        "g (float[3] x) => (string[3] s) { [s] s = Cast <to = 8> (x) }",
        "node s (Cast): expected output s of numeric or boolean elements, got string",
    ),
    "strings given": (
        "g (string[3] s) => (float[3] y) { y = Cast <to = 1> (s) }",
        "input s: expected numeric or boolean elements, got string",
    ),
    "a sequence given": (
        "g (seq(float[3]) s) => (float[] y) { y = ConcatFromSequence <axis = 0> (s) }",
        "input s: expected a tensor, got sequence",
    ),
    "random numbers of unknown shape": (
        "g (float[3] x) => (float y) { i = NonZero (x) f = Cast <to = 1> (i) [r] r = RandomNormalLike (f) "
        "y = ReduceSum <keepdims = 0> (r) }",
        "node r (RandomNormalLike): the shape of output r is not known; if it is always the same, pass --shape r=…",
    ),
    "a dynamic shape": (
        "g (float[N,3] x) => (float[] y) <int64 a = {1}> { [c] y = CumSum (x, a) }",
        "node c (CumSum): expected operands of static shape, got ?x3; pass --shape x=?x3 with a number for each ?",
    ),
    "a dynamic shape of what could be converted if its operands were constants": (
        "g (float[N,3] x) => (float y) { [n] i = NonZero (x) s = Size (i) y = Cast <to = 1> (s) }",
        "node n (NonZero): expected operands of static shape, got ?x3; pass --shape x=?x3 with a number for each ?",
    ),
    "an operator in a graph that is not as ONNX has it": (
        "g (bool c, float[3] x) => (float[3] y) { [if] y = If (c) <then_branch = t () => (float[3] p) "
        "{ [s] p = Softmax <axes = 1> (x) }, else_branch = e () => (float[3] q) { q = Relu (x) }> }",
        "node s (Softmax): unknown attribute axes; did you mean axis?",
    ),
    "a shape that nobody knows": (
        "g (float[4] x) => (int64[] y) { [n] y = NonZero (x) }",
        "node n (NonZero): the shape of output y is not known; if it is always the same, pass --shape y=…",
    ),
    "a type that nobody knows": (
        "g (float[4] x) => (float[] y) { [b] z = com.acme.Blend (x) y = Relu (z) }",
        "node Relu_1 (Relu): the shape of output y is not known; if it is always the same, pass --shape y=…",
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
