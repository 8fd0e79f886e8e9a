"""The `onednn` back end: what programs say, that they mean what relay means, and what is refused."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from relay_cases import CASES, Case, Input, assert_close
from relay_cases.case import Build
from test_networks import assert_close as assert_close_results
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser

import partita
from networks import light, random_inputs
from partita.dialects import relay
from partita.driver import context
from partita.errors import ArtifactError, OptionError
from partita.interpreters.scalar import Array
from partita.runtime import ExternalStep, Machine, dnnl
from partita.runtime.loaders import LoaderContext, find_loader
from partita.runtime.plan import TensorSpec
from partita.runtime.tensors import aligned, aligned_empty
from partita.targets import make_backend
from partita.targets.backend import Accept, CodegenContext, ExternalModule, Reject
from partita.targets.onednn import OneDnn
from partita.targets.onednn.emit import OneDnnJsonTarget
from partita.targets.onednn.rules import RULES
from partita.transforms.pipeline import Pipeline

BACKEND = OneDnn(threads=1)

CONTEXT = CodegenContext(Machine.host())

PROGRAM = "program.json"

PASS_OVER_NAN = {
    "clip-both-float32",
    "clip-wide-float32",
    "max_pool2d-special",
    "relu-float32",
}
"""Where oneDNN takes a number in place of NaN."""

OVER_IMAGE = tuple(
    Case(
        f"{op.name}-{keepdims}",
        (Input((2, 3, 5, 4)),),
        partial(op, axes=(2, 3), keepdims=keepdims),
    )
    for op in (relay.MaxOp, relay.MeanOp)
    for keepdims in (False, True)
)

FULL = pytest.mark.full


def function_of(module: ModuleOp) -> FuncOp:
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    return function


def body(function: FuncOp) -> list[Operation]:
    return list(function.body.block.ops)[:-1]


def op_of(build: Build, *inputs: Input, **attributes: object) -> Operation:
    """Make the last op of a case."""

    def made(*values: SSAValue) -> relay.RelayOp:
        return build(*values, **attributes)

    return body(function_of(Case("", inputs, made).module()))[-1]


def specs(arrays: Sequence[Array]) -> list[TensorSpec]:
    return [
        TensorSpec(f"x{index}", each.dtype.name, each.shape)
        for index, each in enumerate(arrays)
    ]


def compiled(module: ModuleOp) -> ExternalModule:
    """Prepare and compile a module of one function."""
    Pipeline(tuple(BACKEND.post_partition())).apply(Context(), module)
    return BACKEND.codegen(function_of(module), CONTEXT)


def run(
    module: ModuleOp, inputs: Sequence[Array], like: Sequence[Array]
) -> list[Array]:
    """Compile, load and run a function, twice; the results are of the types of `like`."""
    made = compiled(module)
    weights = [aligned(each.content()) for each in made.weights]
    load = find_loader("onednn")
    loaded = load(
        made.files, specs(inputs), specs(like), weights, made.options, LoaderContext()
    )
    outputs = [aligned_empty(each.shape, each.dtype) for each in like]
    loaded(inputs, [np.empty_like(each) for each in outputs])
    loaded(inputs, outputs)
    return outputs


def ops_of(text: str) -> list[Mapping[str, object]]:
    """Return the ops of the program that a function in text becomes."""
    made = compiled(Parser(context(), text).parse_module())
    return json.loads(made.files[PROGRAM])["ops"]


def test_every_op() -> None:
    """Every case is what relay says, or is rejected, or has a NaN that oneDNN passes over."""
    accepted: set[type[Operation]] = set()
    failed: set[str] = set()
    for case in (*CASES, *OVER_IMAGE):
        module = case.module()
        ops = body(function_of(module))
        if any(isinstance(BACKEND.supports(op), Reject) for op in ops):
            continue
        accepted |= {type(op) for op in ops}
        inputs = case.inputs()
        expected = case.expected(inputs)
        try:
            assert_close(run(module, inputs, expected), expected)
        except AssertionError:
            failed.add(case.name)
    assert failed == PASS_OVER_NAN
    assert accepted == {*RULES} - {relay.BatchNormOp}


REJECTIONS: Mapping[str, Operation] = {
    "oneDNN has no relay.erf": op_of(relay.ErfOp, Input((3,))),
    "expected f32 elements, got f64": op_of(relay.ReluOp, Input((3,), "float64")),
    "expected elements, got tensor<0x3xf32>": op_of(relay.ReluOp, Input((0, 3))),
    "expected tensors up to rank 5, got tensor<1x1x1x1x1x1xf32>": op_of(
        relay.ReluOp, Input((1, 1, 1, 1, 1, 1))
    ),
    "expected weights in the plain layout": op_of(
        relay.DenseOp, Input((3, 5)), Input((2, 5, 8)), weight_layout="OI8o"
    ),
    "expected a minimum and a maximum above it": op_of(
        relay.ClipOp, Input((3,)), minimum=0.0
    ),
    "expected no negative padding": op_of(
        relay.MaxPool2dOp, Input((1, 1, 5, 5)), kernel=(2, 2), padding=(-1, 0, 0, 0)
    ),
    "expected windows that all have elements": op_of(
        relay.MaxPool2dOp, Input((1, 1, 5, 5)), kernel=(2, 2), padding=(2, 0, 0, 0)
    ),
    "expected no padding where windows have gaps": op_of(
        relay.MaxPool2dOp,
        Input((1, 1, 5, 5)),
        kernel=(2, 2),
        padding=(1, 0, 0, 0),
        dilation=(2, 2),
    ),
    "expected windows without gaps": op_of(
        relay.AvgPool2dOp, Input((1, 1, 5, 5)), kernel=(2, 2), dilation=(2, 2)
    ),
    "expected windows inside the padded image": op_of(
        relay.AvgPool2dOp,
        Input((1, 1, 4, 4)),
        kernel=(3, 3),
        strides=(2, 2),
        ceil_mode=True,
        count_include_pad=True,
    ),
    "expected data of rank 4 and the last two axes": op_of(
        relay.MeanOp, Input((3, 4)), axes=(1,)
    ),
    "expected an operand of the result's shape": op_of(
        relay.AddOp, Input((3, 1)), Input((1, 4))
    ),
    "expected the first operand of the result's shape": op_of(
        relay.SubtractOp, Input((1,)), Input((4,))
    ),
    "expected constant parameters": op_of(
        relay.BatchNormOp, Input((1, 3)), *(Input((3,)) for _ in range(4))
    ),
    "expected axes": op_of(relay.TransposeOp, Input(()), axes=()),
}


@pytest.mark.parametrize("reason", REJECTIONS)
def test_rejection(reason: str) -> None:
    assert BACKEND.supports(REJECTIONS[reason]) == Reject(reason)


def test_dynamic_shapes_are_rejected() -> None:
    module = Parser(
        context(),
        "func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {"
        "  %y = relay.relu %x : tensor<?x3xf32>"
        "  func.return %y : tensor<?x3xf32> }",
    ).parse_module()
    assert BACKEND.supports(body(function_of(module))[0]) == Reject(
        "expected static shapes, got tensor<?x3xf32>"
    )


def test_regions_without_heavy_ops_do_not_pay() -> None:
    relu = op_of(relay.ReluOp, Input((3,)))
    product = op_of(relay.MatmulOp, Input((3, 4)), Input((4, 5)))
    assert BACKEND.pays([relu]) == Reject(
        "expected a convolution, a product of matrices or a pool"
    )
    assert BACKEND.pays([relu, product]) == Accept()


class Network:
    """A network with random weights, the same whenever it is built."""

    def weight(self, *shape: int) -> SSAValue:
        array = self._rng.uniform(0.1, 0.5, shape).astype(np.float32)
        return relay.ConstantOp.of(array).result

    def normalized(self, x: SSAValue, filters: int, channels: int) -> SSAValue:
        """Convolve, add a bias, normalize."""
        weight = self.weight(filters, channels, 3, 3)
        y = relay.Conv2dOp(x, weight, padding=(1, 1, 1, 1)).result
        y = relay.AddOp(y, self.weight(filters, 1, 1)).result
        return relay.BatchNormOp(y, *(self.weight(filters) for _ in range(4))).result

    def __call__(self, x: SSAValue) -> relay.RelayOp:
        """Build two residual blocks, two branches, and a classifier."""
        self._rng = np.random.default_rng(0)
        x = relay.ReluOp(self.normalized(x, 32, 3)).result
        for _ in range(2):
            y = relay.ReluOp(self.normalized(x, 32, 32)).result
            x = relay.ReluOp(relay.AddOp(self.normalized(y, 32, 32), x).result).result
        depthwise = relay.Conv2dOp(x, self.weight(32, 1, 3, 3), groups=32).result
        pooled = relay.AvgPool2dOp(x, kernel=(3, 3)).result
        x = relay.ConcatenateOp([depthwise, pooled], axis=1).result
        x = relay.MultiplyOp(x, self.weight(64, 1, 1)).result
        x = relay.ClipOp(x, minimum=0.0, maximum=6.0).result
        x = relay.MeanOp(x, axes=(2, 3), keepdims=False).result
        x = relay.DenseOp(x, self.weight(10, 64)).result
        return relay.SoftmaxOp(relay.AddOp(x, self.weight(10)).result)


def test_small_network() -> None:
    """A network of all that is fused gives what relay says."""
    case = Case("network", (Input((2, 3, 9, 7)),), Network())
    inputs = case.inputs()
    expected = case.expected(inputs)
    module = case.module()
    made = compiled(module)
    ops = json.loads(made.files[PROGRAM])["ops"]
    assert [each["op"] for each in ops] == [
        *("convolution",) * 6,
        *("avg_pool", "concatenate", "multiply", "avg_pool"),
        *("view", "matmul", "softmax"),
    ]
    assert [[post["op"] for post in each.get("post", ())] for each in ops[:6]] == [
        *(["relu"], ["relu"], ["add", "relu"], ["relu"], ["add", "relu"], []),
    ]
    assert_close(run(case.module(), inputs, expected), expected)


CHAIN = """
func.func @main(%x: tensor<1x2x4x4xf32>, %y: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<3x2x3x3xf32>
  %b = relay.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 2, 2, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, partita.origin = "conv_1"} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>
  %1 = relay.add %0, %b : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %2 = relay.subtract %1, %y : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %3 = relay.relu %2 {partita.origin = "relu_1"} : tensor<1x3x4x4xf32>
  func.return %3 : tensor<1x3x4x4xf32>
}
"""


def test_chain_is_one_op() -> None:
    """Padding stays asymmetric; the bias is one; names are those of the nodes."""
    (op,) = ops_of(CHAIN)
    assert op["operands"] == ["input0", "weight0", "weight1"]
    assert op["padding"] == [0, 2, 2, 0]
    assert op["origin"] == "conv_1, relu_1"
    assert op["post"] == [
        {"op": "subtract", "operand": "input1"},
        {"op": "relu", "alpha": 0.0, "beta": 0.0},
    ]


def test_what_is_used_twice_is_not_fused() -> None:
    text = CHAIN.replace(
        'relay.relu %2 {partita.origin = "relu_1"} : tensor<1x3x4x4xf32>',
        "relay.add %2, %0 : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>",
    )
    assert [each["op"] for each in ops_of(text)] == ["convolution", "add"]


def test_subtrahend_is_not_fused() -> None:
    text = CHAIN.replace("relay.subtract %1, %y", "relay.subtract %y, %1")
    first, second = ops_of(text)
    assert first["post"] == []
    assert (second["op"], second["operands"]) == ("subtract", ["input1", "value0"])


def test_results_may_be_inputs_constants_and_each_other() -> None:
    """Also where one is another in a different shape."""
    text = """
    func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<4xf32>) {
      %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %y = relay.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %z = relay.reshape %y : tensor<2x2xf32> -> tensor<4xf32>
      func.return %x, %c, %y, %y, %z : tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<4xf32>
    }
    """
    x = np.array([[1, 2], [3, -4]], np.float32)
    y = x @ x
    expected = [x, np.array([1, 2], np.float32), y, y, y.reshape(4)]
    module = Parser(context(), text).parse_module()
    assert_close(run(module, [x], expected), expected)


def loading(program: object, weights: Sequence[Array] = ()) -> None:
    """Load a program of one input of three elements and one output."""
    files = {PROGRAM: json.dumps(program).encode()}
    spec = [TensorSpec("x", "float32", (3,))]
    find_loader("onednn")(files, spec, spec, weights, {}, LoaderContext())


@pytest.mark.parametrize(
    ("option", "most", "expected"), [(0, 3, 3), (2, 3, 2), (4, 3, 3)]
)
def test_threads(
    option: int, most: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The target's option bounds what one region uses, the executable's what any does."""
    files = {PROGRAM: json.dumps(program()).encode()}
    spec = [TensorSpec("x", "float32", (3,))]
    context = LoaderContext(most)
    run = find_loader("onednn")(files, spec, spec, (), {"threads": option}, context)
    seen: list[int] = []

    def note(stream: dnnl.Stream, primitives: object) -> None:
        seen.append(dnnl.thread_count())

    monkeypatch.setattr(dnnl.Stream, "run", note)
    arrays = [np.zeros(3, np.float32), np.zeros(3, np.float32)]
    run(arrays[:1], arrays[1:])
    assert seen == [expected]


def program(**changes: object) -> dict[str, object]:
    op = {
        "op": "relu",
        "operands": ["input0"],
        "result": "y",
        "shape": [3],
        "alpha": 0,
        "beta": 0,
    }
    return {"weights": {}, "ops": [op | changes], "outputs": ["y"]}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (program(op="glow"), "program.json has no tensor or op 'glow'"),
        (program(operands=["z"]), "program.json has no tensor or op 'z'"),
        (program(shape=[4]), "program.json: ops[0]: shape: expected [3], got [4]"),
        (program(alpha="a"), "alpha: expected a number, got 'a'"),
        (program(op="view", shape=[2]), "shape: expected a shape of 3 elements"),
        (
            program(op="transpose", axes=[1]),
            "program.json: ops[0]: axes: expected each axis of [3], got [1]",
        ),
        (
            program(op="softmax", axis=7),
            "dnnl_softmax_forward_primitive_desc_create of oneDNN failed: invalid arguments",
        ),
        (
            {"weights": {"w": {"number": 0, "shape": [3]}}, "ops": [], "outputs": []},
            "number: expected a number below 0, got 0",
        ),
    ],
)
def test_broken_programs_do_not_load(made: object, message: str) -> None:
    with pytest.raises(ArtifactError, match=re.escape(message)):
        loading(made)


def test_weights_must_fit() -> None:
    made = program() | {"weights": {"w": {"number": 0, "shape": [3]}}}
    with pytest.raises(ArtifactError, match="expected a shape of 2 elements"):
        loading(made, [np.zeros(2, np.float32)])


def test_missing_program() -> None:
    with pytest.raises(ArtifactError, match=r"it has no file program\.json"):
        find_loader("onednn")({}, (), (), (), {}, LoaderContext())


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(dnnl, "DISTRIBUTION", "no-such-package")
    dnnl.library.cache_clear()
    yield
    dnnl.library.cache_clear()


@pytest.mark.usefixtures("without_library")
def test_without_onednn() -> None:
    """The back end says that it is unavailable, the loader that it cannot load."""
    reason = "oneDNN is not installed; install partita[onednn]"
    assert BACKEND.unavailable() == reason
    with pytest.raises(OptionError, match=re.escape(reason)):
        make_backend("onednn")
    with pytest.raises(ArtifactError, match=re.escape(reason)):
        loading(program())


def test_threads_are_given_back() -> None:
    with dnnl.threads(1):
        with dnnl.threads(3):
            pass
        with dnnl.threads(2):
            assert dnnl.thread_count() == 2
        assert dnnl.thread_count() == 1


@pytest.mark.parametrize(
    "name",
    [
        "shufflenet",
        *(
            pytest.param(name, marks=FULL)
            for name in ("resnet50", "densenet121", "inception_v2")
        ),
    ],
)
def test_light_graph(name: str, tmp_path: Path) -> None:
    """A whole network gives what the host alone gives."""
    model = light(name)
    inputs = random_inputs(model)
    expected = partita.compile(model, threads=2).run(inputs)
    partita.compile(model, ["onednn{threads=2}"], threads=2).save(
        tmp_path / "m.partita"
    )
    executable = partita.load(tmp_path / "m.partita", threads=2)
    assert any(
        isinstance(step, ExternalStep) for step in executable.artifact.plan.steps
    )
    results = executable.run(inputs)
    assert_close_results(list(results.values()), list(expected.values()))


def test_page_shows_what_the_emitter_gives() -> None:
    page = (Path(__file__).parent.parent / "docs" / "onednn.md").read_text()
    blocks = re.findall(r"```(mlir|json)\n(.*?)```", page, re.DOTALL)
    for (_, source), (kind, expected) in pairwise(blocks):
        assert kind == "json"
        output = StringIO()
        module = Parser(context(), source).parse_module()
        OneDnnJsonTarget().emit(context(), module, output)
        assert output.getvalue() == expected
