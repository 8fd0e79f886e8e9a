"""Tasks: what compiling a model has to schedule, each once, whatever it is called and wherever it stands."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import example_backend
import numpy as np
import onnx
import onnx.parser
import pytest
from onnx_graphs import random_model
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

import partita
from networks import light, mobilenet, resnet18, transformer
from partita.analysis.canonical_task import task_key
from partita.analysis.verification import verify
from partita.dialects import byoc
from partita.dialects.byoc import external_modules
from partita.dialects.partita import KERNEL
from partita.driver import Insertion, Task, context
from partita.errors import OptionError, PartitaError, PassError
from partita.interpreters import interpret
from partita.runtime import KernelStep, Machine
from partita.targets import make_backend
from partita.targets.host import Host, schedule_host
from partita.transforms.loop_rules.tiles import Registers
from partita.transforms.lower_relay_to_te import Computes
from partita.transforms.pipeline import Observer

NO_CACHE = Host(cache="none")


def parse(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


def keys(tasks: Sequence[Task]) -> dict[str, int]:
    return {each.key: each.weight for each in tasks}


MLP = """\
<ir_version: 8, opset_import: ["" : 17]>
mlp (float[1, 64] x, float[64, 64] w1, float[64] b1, float[64, 64] w2, float[64] b2) => (float[1, 64] y) {
    a = Gemm(x, w1, b1)
    b = Relu(a)
    c = Gemm(b, w2, b2)
    y = Relu(c)
}
"""


def test_two_equal_layers_are_one_task() -> None:
    (task,) = partita.extract_tasks(onnx.parser.parse_model(MLP), "host")
    assert (task.weight, task.macs, task.target) == (2, 64 * 64, "host")
    assert task.origins == ("Gemm_0", "Relu_1", "Gemm_2", "Relu_3")
    assert len(task.key) == 32
    assert task.name.startswith("matmul_add_relu")


def quantized(layers: Sequence[tuple[str, float, float]], other: str = "") -> str:
    """Write layers that differ in their name, their scale and their zero point only."""
    lines: list[str] = []
    source = "x"
    for name, scale, zero in layers:
        lines.append(f"""
  %{name}_s = relay.constant dense<{scale}> : tensor<f32>
  %{name}_z = relay.constant dense<{zero}> : tensor<f32>
  %{name}_0 = relay.matmul %{source}, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %{name}_1 = relay.multiply %{name}_0, %{name}_s : (tensor<1x64xf32>, tensor<f32>) -> tensor<1x64xf32>
  %{name}_2 = relay.round %{name}_1 : tensor<1x64xf32>
  %{name}_3 = relay.add %{name}_2, %{name}_z : (tensor<1x64xf32>, tensor<f32>) -> tensor<1x64xf32>
  %{name}_4 = relay.clip %{name}_3 {{minimum = -128.0 : f64, maximum = 127.0 : f64}} : tensor<1x64xf32>""")
        source = f"{name}_4"
    return f"""
func.func @main(%x : tensor<1x64xf32>, %w : tensor<64x64xf32>) -> tensor<1x64xf32> attributes {{partita.entry}} {{
  {other}{"".join(lines)}
  func.return %{source} : tensor<1x64xf32>
}}
"""


FIRST, SECOND = ("first", 0.5, 3.0), ("second", 0.25, -7.0)


@pytest.mark.parametrize(
    "layers", [(FIRST, SECOND), (SECOND, FIRST)], ids=["one order", "the other"]
)
def test_layers_that_differ_in_constants_are_one_task(
    layers: Sequence[tuple[str, float, float]],
) -> None:
    """In whatever order a model defines them, and a compilation meets them."""
    (task,) = partita.extract_tasks(parse(quantized(layers)), "host")
    (alone,) = partita.extract_tasks(parse(quantized(layers[:1])), "host")
    assert (task.key, task.weight) == (alone.key, 2)


def test_the_same_layer_of_another_model_is_the_same_task() -> None:
    """Names of values, origins, neighbours and the order of listing are the model's affair."""
    renamed = MLP.replace("Relu(c)", "Tanh(c)").replace("b = ", "hidden = ")
    renamed = renamed.replace("(b, w2", "(hidden, w2").replace("mlp", "other")
    one, other = (
        keys(partita.extract_tasks(onnx.parser.parse_model(each)))
        for each in (MLP, renamed)
    )
    assert len(one.keys() & other.keys()) == 1
    assert len(other.keys()) == 2


def test_keys_are_the_same_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "m.onnxtxt").write_text(MLP)
    command = [sys.executable, "-c", "from partita.tools.cli import main; main()"]
    result = subprocess.run(
        [*command, "tasks", "m.onnxtxt", "--json"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONHASHSEED": "1234"},
        capture_output=True,
        text=True,
        check=True,
    )
    (task,) = partita.extract_tasks(onnx.parser.parse_model(MLP))
    (told,) = json.loads(result.stdout)
    assert told["key"] == task.key
    assert told["module"] == str(task.module)


TWO = """
func.func @f(%x : tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = relay.relu %x : tensor<2x8xf32>
  func.return %0 : tensor<2x8xf32>
}
func.func @g(%x : tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<8x2xf32>) {
  %0 = relay.relu %x : tensor<2x8xf32>
  %1 = relay.transpose %x {axes = array<i64: 1, 0>} : tensor<2x8xf32> -> tensor<8x2xf32>
  func.return %0, %1 : tensor<2x8xf32>, tensor<8x2xf32>
}
"""


def test_every_function_of_a_module_counts() -> None:
    relu, transpose = partita.extract_tasks(parse(TWO))
    assert (relu.weight, transpose.weight) == (2, 1)
    assert relu.name.startswith("relu")
    chosen = partita.extract_tasks(parse(TWO), entry="g")
    assert keys(chosen) == keys([relu, transpose])


def test_dynamic_shapes_are_for_the_entry() -> None:
    dynamic = TWO.replace("2x8", "?x8").replace("8x2", "8x?")
    with pytest.raises(PassError, match="expected one entry function"):
        partita.extract_tasks(parse(dynamic))
    only = dynamic[: dynamic.index("func.func @g")]
    with pytest.raises(PassError, match="expected static shapes"):
        partita.extract_tasks(parse(only))
    (task,) = partita.extract_tasks(parse(only), shapes={"x": (2, 8)})
    assert task.key in keys(partita.extract_tasks(parse(TWO)))


def test_a_rule_that_raises_is_none_of_its_business(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*arguments: object) -> None:
        raise ZeroDivisionError("no schedule")

    monkeypatch.setattr(schedule_host, "schedule", refuse)
    model = onnx.parser.parse_model(MLP)
    with pytest.raises(PartitaError, match="no schedule"):
        partita.compile(model, [NO_CACHE])
    assert len(partita.extract_tasks(model, NO_CACHE)) == 1


def test_the_module_that_is_given_stays_as_it_is() -> None:
    module = parse(TWO)
    before = str(module)
    partita.extract_tasks(module)
    assert str(module) == before


def test_what_compiles_a_task_runs_it() -> None:
    """A task is a module of its own, for any compiler, and does what the kernel does."""
    module = parse(quantized((FIRST,)))
    (task,) = partita.extract_tasks(module)
    verify(task.module)
    rng = np.random.default_rng(0)
    inputs = [
        rng.standard_normal(shape).astype(np.float32) for shape in ((1, 64), (64, 64))
    ]
    (expected,) = interpret(module, inputs)
    exe = partita.compile(parse(str(task.module)), [NO_CACHE])
    named = {spec.name: each for spec, each in zip(exe.inputs, inputs, strict=True)}
    (result,) = exe.run(named).values()
    np.testing.assert_array_equal(result, expected)
    assert task_key(task.function) == task.key
    again = partita.extract_tasks(task.module)
    assert [(each.key, str(each.module)) for each in again] == [
        (task.key, str(task.module))
    ]


ELSEWHERE = """
func.func @main(%x : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {partita.entry} {
  %0 = relay.exp %x {partita.origin = "e1"} : tensor<4x4xf32>
  %1 = relay.transpose %0 {axes = array<i64: 1, 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = relay.exp %1 {partita.origin = "e2"} : tensor<4x4xf32>
  %3 = relay.transpose %2 {axes = array<i64: 1, 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}
"""


@pytest.mark.parametrize("partitioned", [False, True])
def test_regions_are_tasks_of_their_own_target(
    monkeypatch: pytest.MonkeyPatch, partitioned: bool
) -> None:
    """As a whole, module in and module out, and never of the host; two equal ones are one."""
    example_backend.install(monkeypatch)
    module, targets = parse(ELSEWHERE), ["example{ops=exp}"]
    if partitioned:
        module, targets = partita.partition(module, targets), []
    region, transpose = partita.extract_tasks(module, targets)
    assert (region.target, region.weight) == ("example{ops=exp}", 2)
    assert region.origins == ("e1", "e2")
    assert (transpose.target, transpose.weight) == ("host", 2)
    assert transpose.name.startswith("transpose")
    assert "relay.exp" in str(region.module)
    assert "te.compute" in str(transpose.module)
    exe = partita.compile(region.module, [region.target])
    (name,) = (each.name for each in exe.inputs)
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
    (result,) = exe.run({name: x}).values()
    np.testing.assert_allclose(result, np.exp(x), rtol=1e-6)


def test_regions_of_one_structure_are_one_task_whatever_constants_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    example_backend.install(monkeypatch)
    text = """
      func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {{
        %c = relay.constant dense<{0}> : tensor<4xf32>
        %0 = relay.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        func.return %0 : tensor<4xf32>
      }}
    """
    one, other = (
        partita.extract_tasks(parse(text.format(each)), "example")
        for each in ("[0.0, 1.0, 2.0, 3.0]", "[4.0, 1.0, 2.0, 3.0]")
    )
    assert keys(one) == keys(other)
    assert str(one[0].module) != str(other[0].module)


def test_options_of_the_host_that_do_not_matter_are_not_told() -> None:
    for target in ("host", 'host{cache="none"}', Host(cache="none")):
        (task,) = partita.extract_tasks(parse(TWO), [target])[:1]
        assert task.target == "host"
    with pytest.raises(OptionError, match="did you mean host"):
        partita.extract_tasks(parse(TWO), "hots")


def test_passes_of_the_user_count_where_they_come_before_loops() -> None:
    simplify = Insertion("simplify-inference", "reduce-strength,dce")
    late = Insertion("apply-schedules", "dce")
    plain = partita.extract_tasks(parse(TWO))
    assert keys(plain) == keys(
        partita.extract_tasks(parse(TWO), insertions=[simplify, late])
    )
    nothing = Insertion("fuse-ops", "specialize-shapes{shapes=y=3}")
    with pytest.raises(PartitaError):
        partita.extract_tasks(parse(TWO), insertions=[nothing])


class Primitives(Observer):
    """Collects what a compilation makes code of: kernels as they leave the graph, regions as they are cut."""

    def __init__(self) -> None:
        self.found: Counter[tuple[str, str]] = Counter()
        self.kernels: set[str] = set()

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        if each.name == "lower-relay-to-te":
            self._count(
                module,
                CallOp,
                "host",
                {
                    function.sym_name.data: function
                    for function in module.ops
                    if isinstance(function, FuncOp) and KERNEL in function.attributes
                },
            )
        elif each.name == "partition-graph":
            for target, external in external_modules(module).items():
                functions = {
                    name: function
                    for name, function in external.functions.items()
                    if isinstance(function, FuncOp)
                }
                self._count(module, byoc.CallOp, target, functions)

    def _count(
        self,
        module: ModuleOp,
        kind: type[CallOp | byoc.CallOp],
        target: str,
        functions: dict[str, FuncOp],
    ) -> None:
        if kind is CallOp:
            self.kernels |= functions.keys()
        for op in module.walk():
            if isinstance(op, kind):
                name = (
                    op.function
                    if isinstance(op, byoc.CallOp)
                    else op.callee.string_value()
                )
                if name in functions:
                    self.found[target, task_key(functions[name])] += 1


def assert_tasks_are_what_is_compiled(
    model: onnx.ModelProto, targets: Sequence[str] = ()
) -> None:
    primitives = Primitives()
    artifact = partita.compile_artifact(model, targets, observers=[primitives])
    tasks = partita.extract_tasks(model, targets)
    names = {
        make_backend(each).task_target(): each.partition("{")[0] for each in targets
    }
    told = {
        (names.get(each.target, each.target), each.key): each.weight for each in tasks
    }
    assert len(told) == len(tasks)
    assert told == dict(primitives.found)
    called = {
        step.kernel for step in artifact.plan.steps if isinstance(step, KernelStep)
    }
    for name in called:
        assert any(name.startswith(each) for each in primitives.kernels), name


@pytest.mark.parametrize("seed", range(8))
def test_tasks_are_what_is_compiled(seed: int) -> None:
    assert_tasks_are_what_is_compiled(random_model(seed))


@pytest.mark.parametrize("seed", range(4))
def test_tasks_are_what_is_compiled_for_several_targets(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    example_backend.install(monkeypatch)
    assert_tasks_are_what_is_compiled(random_model(seed), ["example", "other"])


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    ["resnet18", "mobilenet", "transformer", "squeezenet", "shufflenet", "densenet121"],
)
def test_tasks_are_what_is_compiled_of_networks(name: str) -> None:
    made = {"resnet18": resnet18, "mobilenet": mobilenet, "transformer": transformer}
    model = made[name]() if name in made else light(name)
    assert_tasks_are_what_is_compiled(model)


@pytest.mark.parametrize(
    ("name", "classes", "each"),
    [("squeezenet", 1000, 512 * 13 * 13), ("shufflenet", 0, 0)],
)
def test_multiplications_are_those_of_the_graph(
    name: str, classes: int, each: int
) -> None:
    """Whatever layouts and fusion make of it; a convolution to classes also computes what fills its last vector."""
    module = partita.load_onnx(light(name))
    told = sum(task.weight * task.macs for task in partita.extract_tasks(module))
    excess = -classes % Registers.of(Machine.host()).lanes(32) * each
    assert told == sum(op.macs for op in partita.explain(module).ops) + excess


def test_graphs_are_lowered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that its owner keeps gives equal graphs what they compute, each with its own origins."""
    from partita.transforms import lower_relay_to_te

    computes = Computes()
    plain = partita.extract_tasks(onnx.parser.parse_model(MLP))
    first = partita.extract_tasks(onnx.parser.parse_model(MLP), computes=computes)
    monkeypatch.setattr(lower_relay_to_te, "TE_RULES", {})
    with pytest.raises(PassError, match="expected an op with a rule"):
        partita.extract_tasks(onnx.parser.parse_model(MLP))
    again = partita.extract_tasks(onnx.parser.parse_model(MLP), computes=computes)
    for each in (first, again):
        assert [str(task.module) for task in each] == [
            str(task.module) for task in plain
        ]
