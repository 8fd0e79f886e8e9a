"""The c back end on graphs: what it takes, what an artifact holds of it, and what happens where it fails."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from test_networks import assert_close
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

import partita
from networks import light, random_inputs
from partita.dialects import relay
from partita.dialects.partita import ENTRY, ORIGIN
from partita.driver import compile_artifact
from partita.errors import ArtifactError, CodegenError, OptionError
from partita.interpreters import interpret
from partita.interpreters.scalar import Array
from partita.runtime import Artifact, Executable, ExternalStep, Machine
from partita.runtime.loaders import LoaderContext
from partita.runtime.loaders.c import load
from partita.shapes import Shape, tensor_of
from partita.targets.c import C
from partita.targets.host.processors import machine_named
from partita.targets.partition.codegen_externals import ExternalFailureWarning
from partita.weights import weight

QUICK = C(flags="-O1")

RNG = np.random.default_rng(0)

FILTERS = RNG.standard_normal((16, 4, 3, 3), np.float32)

Body = Callable[..., Sequence[SSAValue]]


def graph(body: Body, *shapes: Shape) -> ModuleOp:
    """Make a module of one function of arguments with these shapes, which returns what `body` makes of them."""
    types = [tensor_of(shape, f32) for shape in shapes]
    function = FuncOp("main", (types, ()))
    with ImplicitBuilder(function.body.block):
        ReturnOp(*body(*function.body.block.args))
    function.update_function_type()
    function.attributes[ENTRY] = UnitAttr()
    return ModuleOp([function])


def block(x: SSAValue) -> Sequence[SSAValue]:
    weights = relay.ConstantOp.of(FILTERS).result
    conv = relay.Conv2dOp(x, weights, padding=(2, 0, 0, 2))
    scale, bias, mean, variance = (
        relay.ConstantOp.of(np.full(16, value, np.float32)).result
        for value in (1.5, 0.5, 0.25, 2.0)
    )
    norm = relay.BatchNormOp(conv.results[0], scale, bias, mean, variance)
    for op, name in ((conv, "conv"), (norm, "norm")):
        op.attributes[ORIGIN] = StringAttr(name)
    return relay.DropoutOp(relay.ReluOp(norm.results[0]).results[0]).results


def block_graph() -> ModuleOp:
    return graph(block, (1, 4, 9, 9))


def inputs(executable: Executable) -> Mapping[str, Array]:
    return {
        each.name: RNG.uniform(0.5, 2, each.shape).astype(each.dtype)
        for each in executable.inputs
    }


def check(module: ModuleOp, backend: C = QUICK) -> Artifact:
    """Compile a module, and compare what it gives with the interpreter."""
    before = str(module)
    executable = partita.compile(module, [backend], on_external_failure="error")
    assert str(module) == before
    given = inputs(executable)
    expected = interpret(module, tuple(given.values()))
    for got, want in zip(executable.run(given).values(), expected, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), atol=1e-4
        )
    return executable.artifact


def steps(artifact: Artifact) -> list[ExternalStep]:
    return [each for each in artifact.plan.steps if isinstance(each, ExternalStep)]


def test_a_region_with_weights() -> None:
    """Batch normalization is folded into weights, which are stored once, as they are used; padding stays lopsided."""
    artifact = check(block_graph())
    (step,) = steps(artifact)
    assert {each for each in artifact.modules} == {
        f"modules/c/{step.function}/module.c",
        f"modules/c/{step.function}/module.so",
    }
    assert len(artifact.weights) == len(artifact.plan.weights) == len(step.weights)
    assert weight(FILTERS).digest not in artifact.weights
    source = artifact.modules[f"modules/c/{step.function}/module.c"].decode()
    assert "/* conv, norm */" in source
    assert "expf" not in source


def test_weights_as_tables() -> None:
    artifact = check(block_graph(), C(flags="-O1", weights="table"))
    assert not artifact.weights
    assert not steps(artifact)[0].weights


def test_a_part_of_a_graph() -> None:
    """The host does what the target was not told to take."""
    artifact = check(block_graph(), C(flags="-O1", ops=("relay.relu", "relay.conv2d")))
    assert len(steps(artifact)) == 2


def alternating(x: SSAValue) -> Sequence[SSAValue]:
    """Layers of the same shape, each followed by an op that the target is not told to take."""
    for _ in range(12):
        weights = RNG.standard_normal((16, 16, 3, 3), np.float32) / 16
        filters = relay.ConstantOp.of(weights).result
        x = relay.Conv2dOp(x, filters, padding=(1, 1, 1, 1)).results[0]
        x = relay.TanhOp(x).results[0]
    return (x,)


def test_regions_are_compiled_together() -> None:
    """They share one object, which an artifact holds once, and in it the kernels that are alike."""
    backend = C(flags="-O1", ops=("relay.conv2d",))
    artifact = check(graph(alternating, (1, 16, 8, 8)), backend)
    called = steps(artifact)
    assert len(called) == 12
    assert set(artifact.modules) == {
        "modules/c/main_0/module.c",
        "modules/c/main_0/module.so",
    }
    source = artifact.modules["modules/c/main_0/module.c"].decode()
    kernels = re.findall(r"static void (\w+)", source)
    assert len(kernels) == len(set(kernels)) == 2  # A padded copy, and the convolution.
    assert [len(each.weights) for each in called] == [1] * 12
    assert len(artifact.modules["modules/c/main_0/module.so"]) < 1 << 15


def exp(x: SSAValue) -> SSAValue:
    return relay.ExpOp(x).results[0]


def passes_on(x: SSAValue, y: SSAValue) -> Sequence[SSAValue]:
    return x, exp(y)


def is_constant(x: SSAValue) -> Sequence[SSAValue]:
    return relay.ConstantOp.of(np.arange(3, dtype=np.float32)).result, exp(x)


def returns_twice(x: SSAValue) -> Sequence[SSAValue]:
    y = exp(x)
    return y, y, relay.TransposeOp(y, axes=(1, 0)).results[0]


def has_forty_results(x: SSAValue) -> Sequence[SSAValue]:
    values = [x]
    for _ in range(40):
        values.append(relay.SigmoidOp(values[-1]).results[0])
    return values[1:]


def sums(x: SSAValue) -> Sequence[SSAValue]:
    return relay.SumOp(x, axes=(0,), keepdims=False).results


def same(x: SSAValue) -> Sequence[SSAValue]:
    return (x,)


@pytest.mark.parametrize(
    ("body", "shapes", "outputs"),
    [
        (passes_on, ((4,), (5,)), 1),
        (is_constant, ((4,),), 1),
        (returns_twice, ((4, 5),), 2),
        (has_forty_results, ((4,),), 40),
        (sums, ((0, 3),), 1),
        (sums, ((3, 0),), 1),
        (same, ((3,),), 0),
    ],
)
def test_a_function_that(body: Body, shapes: tuple[Shape, ...], outputs: int) -> None:
    artifact = check(graph(body, *shapes))
    assert sum(len(step.outputs) for step in steps(artifact)) == outputs


def test_what_does_not_exist() -> None:
    with pytest.raises(OptionError, match="weights of target c to be arguments or"):
        C(weights="files")
    with pytest.raises(OptionError, match=r"got relay.rely; did you mean relay.relu\?"):
        C(ops=("relay.rely",))
    with pytest.raises(OptionError, match="no C compiler 'no-such-cc' is installed; "):
        partita.compile(block_graph(), ['c{cc="no-such-cc"}'])


def test_a_compiler_that_fails() -> None:
    backend = C(flags="-fno-such-flag")
    with pytest.warns(ExternalFailureWarning, match=r"cc failed: .*no-such-flag"):
        executable = partita.compile(block_graph(), [backend])
    assert not steps(executable.artifact)
    with pytest.raises(CodegenError, match=r"cc failed: .*no-such-flag"):
        partita.compile(block_graph(), [backend], on_external_failure="error")


def test_a_compiler_that_makes_nothing() -> None:
    with pytest.raises(CodegenError, match="true ended well but left no shared object"):
        check(block_graph(), C(cc="true"))


def test_another_machine() -> None:
    """One compiler makes code for one kind of machine; another processor of the kind gets what all can run."""
    compiler = C().compiler
    there = machine_named("aarch64-unknown-linux-gnu", "cortex-a72")
    if Machine.host().architecture == "aarch64":
        there = machine_named("x86_64-unknown-linux-gnu", "x86-64")
    with pytest.raises(CodegenError, match="set options cc and flags"):
        compile_artifact(
            block_graph(), [C()], machine=there, on_external_failure="error"
        )
    host = Machine.host()
    plain = Machine(host.triple, "generic", frozenset())
    source = "int one(void) { return 1; }\n"
    assert compiler.compile(source, plain)[:4] == compiler.compile(source, host)[:4]


def test_a_module_that_cannot_be_loaded(tmp_path: Path) -> None:
    artifact = check(block_graph())
    (step,) = steps(artifact)
    files = {
        name.rpartition("/")[2]: content for name, content in artifact.modules.items()
    }
    arguments = step.input_specs, step.output_specs
    with pytest.raises(ArtifactError, match=r"it has no file module\.so"):
        load({}, *arguments, (), step.options, LoaderContext())
    with pytest.raises(ArtifactError, match="it does not name its function"):
        load(files, *arguments, (), {}, LoaderContext())
    with pytest.raises(ArtifactError, match="has no function nothing"):
        load(files, *arguments, (), {"function": "nothing"}, LoaderContext())
    with pytest.raises(ArtifactError, match="its shared object cannot be loaded: "):
        load({"module.so": b"text"}, *arguments, (), step.options, LoaderContext())


def test_two_executables_of_one_artifact(tmp_path: Path) -> None:
    """Each has its own memory."""
    partita.compile(block_graph(), [QUICK]).save(tmp_path / "m.partita")
    one, other = (partita.load(tmp_path / "m.partita") for _ in range(2))
    given = inputs(one)
    want = one.run(given)
    other.run(inputs(other))
    for name, got in one.run(given).items():
        np.testing.assert_array_equal(got, want[name])


@pytest.mark.parametrize(
    "name",
    [
        "shufflenet",
        *(
            pytest.param(name, marks=pytest.mark.full)
            for name in ("resnet50", "densenet121", "inception_v2")
        ),
    ],
)
def test_light_graph(name: str, tmp_path: Path) -> None:
    model = light(name)
    given = random_inputs(model)
    expected = partita.compile(model, threads=2).run(given)
    partita.compile(model, ["c"]).save(tmp_path / "m.partita")
    executable = partita.load(tmp_path / "m.partita")
    assert steps(executable.artifact)
    assert_close(list(executable.run(given).values()), list(expected.values()))
