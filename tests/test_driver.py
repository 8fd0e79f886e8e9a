"""`partita.compile` and what it is made of: what is kept, where passes go, who watches, what is refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

import partita
from partita.dialects.te import ComputeOp
from partita.driver import Insertion, context, insert, make_backend, prepare
from partita.errors import (
    ArtifactError,
    CodegenError,
    ModelError,
    OptionError,
    PartitaError,
    PassError,
)
from partita.runtime import KernelStep
from partita.targets.host import Host
from partita.targets.host.native import Compiler
from partita.targets.host.processors import machine_named
from partita.transforms.pipeline import Observer

NO_CACHE = Host(cache="none")

MODULE = """\
func.func @f(%x : tensor<2x8xf32> {partita.name = "image"}) -> (tensor<2x8xf32> {partita.name = "sum"}) {
  %0 = relay.add %x, %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = relay.relu %0 : tensor<2x8xf32>
  func.return %1 : tensor<2x8xf32>
}
"""

DYNAMIC = MODULE.replace("2x8", "?x8")

X = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8)


def parse(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


def test_a_module_stays_as_it_is() -> None:
    module = parse(MODULE)
    before = str(module)
    exe = partita.compile(module, [NO_CACHE])
    assert str(module) == before
    (result,) = exe.run({"image": X}).values()
    np.testing.assert_array_equal(result, np.maximum(2 * X, 0))


def test_arguments_without_names_have_those_of_the_text() -> None:
    text = MODULE.replace('{partita.name = "image"}', "").replace(
        '{partita.name = "sum"}', ""
    )
    exe = partita.compile(parse(text), [NO_CACHE])
    argument = parse(text).body.block.first_op
    assert isinstance(argument, FuncOp)
    hint = argument.args[0].name_hint
    assert [str(each) for each in exe.inputs] == [f"'{hint}': float32[2, 8]"]
    assert [str(each) for each in exe.outputs] == ["'output0': float32[2, 8]"]


MODEL = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 8] x) => (float[N, 8] y) { y = Tanh (x) }'
)


@pytest.mark.parametrize("shapes", [{"x": (2, 8)}, {"N": (2,)}])
def test_models_of_every_form(tmp_path: Path, shapes: dict[str, Sequence[int]]) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(MODEL.SerializeToString())
    for model in (
        MODEL,
        path,
        str(path),
        MODEL.SerializeToString(),
        partita.load_onnx(path, shapes),
    ):
        given = None if isinstance(model, ModuleOp) else shapes
        exe = partita.compile(model, [NO_CACHE], shapes=given)
        (result,) = exe.run({"x": X}).values()
        np.testing.assert_allclose(result, np.tanh(X), rtol=1e-6)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    exe = partita.compile(parse(MODULE), [NO_CACHE], threads=1)
    assert exe.threads == 1
    exe.save(tmp_path / "m.partita")
    loaded = partita.load(tmp_path / "m.partita")
    assert (loaded.inputs, loaded.outputs) == (exe.inputs, exe.outputs)
    assert "relay.relu" in loaded.artifact.graph
    parse(loaded.artifact.graph).verify()
    np.testing.assert_array_equal(
        loaded.run({"image": X})["sum"], exe.run({"image": X})["sum"]
    )


def test_shapes_of_a_module() -> None:
    exe = partita.compile(parse(DYNAMIC), [NO_CACHE], shapes={"image": (3, 8)})
    assert exe.inputs[0].shape == exe.outputs[0].shape == (3, 8)
    with pytest.raises(PassError, match="expected static shapes, got image of type"):
        partita.compile(parse(DYNAMIC), [NO_CACHE])
    with pytest.raises(PassError, match="got one of picture"):
        partita.compile(parse(DYNAMIC), [NO_CACHE], shapes={"picture": (3, 8)})
    with pytest.raises(ModelError, match="expected an input or a symbolic"):
        partita.load_onnx(MODEL, {"M": (1,)})


TWO = MODULE + MODULE.replace("@f", "@g").replace("relay.relu", "relay.negative")


def test_entry_is_chosen() -> None:
    marked = TWO.replace(
        '"sum"}) {', '"sum"}) attributes {partita.entry} {', 1
    )  # marks @f
    for text, entry, expected in (
        (TWO, "f", np.maximum(2 * X, 0)),
        (TWO, "g", -2 * X),
        (marked, None, np.maximum(2 * X, 0)),
        (marked, "g", -2 * X),
    ):
        exe = partita.compile(parse(text), [NO_CACHE], entry=entry)
        assert exe.artifact.entry == (entry or "f")
        np.testing.assert_array_equal(exe.run({"image": X})["sum"], expected)
    with pytest.raises(PassError, match="one entry function, got @f, @g; set entry"):
        partita.compile(parse(TWO), [NO_CACHE])
    with pytest.raises(PassError, match="entry function @h, got @f, @g; set entry"):
        partita.compile(parse(TWO), [NO_CACHE], entry="h")


class Watch(Observer):
    """Note the passes, and whether there are computes after each."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bool]] = []

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        computes = any(isinstance(op, ComputeOp) for op in module.walk())
        self.seen.append((each.name, computes))


def test_observers_see_every_pass() -> None:
    watch = Watch()
    partita.compile(parse(MODULE), [NO_CACHE], observers=[watch])
    names = [name for name, _ in watch.seen]
    assert names == [each.name for each in prepare(parse(MODULE), [NO_CACHE])]
    having = [name for name, computes in watch.seen if computes]
    assert having == ["lower-relay-to-te"]


LAYERS = """\
func.func @f(%x : tensor<2x3x12x12xf32>) -> (tensor<2x16xf32>, tensor<f32>) {
  %w = relay.constant dense<0.25> : tensor<16x3x3x3xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x12x12xf32>, tensor<16x3x3x3xf32>) -> tensor<2x16x12x12xf32>
  %1 = relay.relu %0 : tensor<2x16x12x12xf32>
  %2 = relay.max %1 {axes = array<i64: 2, 3>, keepdims = false} : tensor<2x16x12x12xf32> -> tensor<2x16xf32>
  %3 = relay.softmax %2 {axis = 1 : i64} : tensor<2x16xf32>
  %4 = relay.sum %x {axes = array<i64: 0, 1, 2, 3>, keepdims = false} : tensor<2x3x12x12xf32> -> tensor<f32>
  func.return %3, %4 : tensor<2x16xf32>, tensor<f32>
}
"""


class Recorder(Observer):
    """Keeps the text after every pass."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        self.texts[each.name] = str(module)


def test_text_of_every_level_compiles_to_the_same() -> None:
    """What a schedule has changed is not scheduled again."""
    recorder = Recorder()
    x = np.linspace(-1, 1, 2 * 3 * 12 * 12, dtype=np.float32).reshape(2, 3, 12, 12)
    exe = partita.compile(parse(LAYERS), [NO_CACHE], observers=[recorder])
    expected = exe.run({exe.inputs[0].name: x})
    for name, text in recorder.texts.items():
        again = partita.compile(parse(text), [NO_CACHE]).run({exe.inputs[0].name: x})
        for output, value in expected.items():
            np.testing.assert_array_equal(again[output], value, err_msg=name)


def test_passes_are_inserted_anywhere() -> None:
    insertions = [
        Insertion("fold-constants", "cse"),
        Insertion("lower-relay-to-te", "cse,dce"),
        Insertion("plan-memory", "verify-dominance"),
    ]
    watch = Watch()
    exe = partita.compile(
        parse(MODULE), [NO_CACHE], insertions=insertions, observers=[watch]
    )
    names = [name for name, _ in watch.seen]
    last = len(names) - names[::-1].index("fold-constants")
    assert names[last] == "cse"
    place = names.index("lower-relay-to-te")
    assert names[place + 1 : place + 3] == ["cse", "dce"]
    assert names[-1] == "verify-dominance"
    np.testing.assert_array_equal(exe.run({"image": X})["sum"], np.maximum(2 * X, 0))


@dataclass(frozen=True)
class Spoil(ModulePass):
    """Leave a module that does not verify."""

    name = "spoil"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and (last := function.body.block.last_op):
                last.detach()
                last.erase()


def test_passes_that_cannot_be_inserted() -> None:
    spoil = [Insertion("dce", "spoil")]
    passes = insert(prepare(parse(MODULE)), spoil, {"spoil": lambda: Spoil})
    assert Spoil() in passes
    with pytest.raises(OptionError, match="unknown pass spoil"):
        partita.compile(parse(MODULE), insertions=spoil)
    with pytest.raises(
        OptionError, match=r"to insert after, got fuse-op; did you mean fuse-ops\?"
    ):
        partita.compile(parse(MODULE), insertions=[Insertion("fuse-op", "dce")])


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("hst", r"unknown target hst; did you mean host\?; choose from host"),
        ("host{casche=a}", r"target host has no option casche; did you mean cache\?"),
        ("host{cache}", "expected option cache of target host to be of type str"),
        ("host{cache=", "cannot read target 'host{cache=': "),
        ("", "cannot read target '': "),
        ("c{cc=/bin/cc}", "more than letters, digits, - and _ need double quotes"),
    ],
)
def test_targets_that_do_not_exist(target: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make_backend(target)
    with pytest.raises(OptionError, match=message):
        partita.compile(parse(MODULE), [target])


def test_targets_in_text_and_in_python_are_the_same() -> None:
    assert make_backend('host{cache="none"}') == NO_CACHE
    assert make_backend(NO_CACHE) is NO_CACHE
    with pytest.raises(OptionError, match="expected each target once, got host twice"):
        partita.compile(parse(MODULE), [NO_CACHE, "host"])


def test_what_is_no_graph_is_refused() -> None:
    """Errors of passes and of the verifier are ours, and say which pass it was."""
    unverified = parse(MODULE)
    Spoil().apply(context(), unverified)
    for module in (
        unverified,
        parse('func.func @f() {\n "test.op"() : () -> ()\n func.return\n}'),
        parse("func.func private @f(tensor<4xf32>) -> tensor<4xf32>"),
        parse("builtin.module {}"),
    ):
        with pytest.raises(PartitaError) as caught:
            partita.compile(module, [NO_CACHE])
        assert type(caught.value) in (PassError, CodegenError)


def test_code_for_another_machine_is_saved_not_run(tmp_path: Path) -> None:
    triple = "aarch64-unknown-linux-gnu"
    if machine_named().architecture == "aarch64":
        triple = "x86_64-unknown-linux-gnu"
    artifact = partita.compile_artifact(
        parse(MODULE), [NO_CACHE], machine=machine_named(triple)
    )
    assert artifact.machine.triple == triple
    artifact.write(tmp_path / "m.partita")
    with pytest.raises(ArtifactError, match=r"compiled for .* but this machine is"):
        partita.load(tmp_path / "m.partita")
    with pytest.raises(ArtifactError, match=r"compiled for .* but this machine is"):
        partita.Executable(artifact)


def test_progress_counts_kernels() -> None:
    told: list[tuple[str, int, int]] = []

    def tell(what: str, done: int, of: int) -> None:
        told.append((what, done, of))

    exe = partita.compile(parse(MODULE), [NO_CACHE], progress=tell)
    kernels = sum(isinstance(each, KernelStep) for each in exe.artifact.plan.steps)
    assert told == [("kernels", done + 1, kernels) for done in range(kernels)]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is handed to LLVM."""
    texts: list[str] = []
    compile = Compiler.compile

    def note(self: Compiler, text: str) -> bytes:
        texts.append(text)
        return compile(self, text)

    monkeypatch.setattr(Compiler, "compile", note)
    return texts


def objects(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def test_objects_are_made_once(tmp_path: Path, made: list[str]) -> None:
    host = Host(cache=str(tmp_path / "objects"))
    first = partita.compile(parse(MODULE), [host]).artifact
    assert len(made) == 1
    kept = objects(tmp_path / "objects")
    assert len(kept) == 1
    again = partita.compile(parse(MODULE), [host]).artifact
    assert len(made) == 1
    assert again.objects == first.objects
    other = MODULE.replace("relay.relu", "relay.negative")
    partita.compile(parse(other), [host])
    assert len(made) == 2
    assert objects(tmp_path / "objects").items() > kept.items()


def test_objects_of_other_machines_are_others(tmp_path: Path, made: list[str]) -> None:
    host = Host(cache=str(tmp_path))
    here = partita.compile_artifact(parse(MODULE), [host])
    triple = "riscv64-unknown-linux-gnu"
    there = partita.compile_artifact(
        parse(MODULE), [host], machine=machine_named(triple)
    )
    assert len(made) == len(objects(tmp_path)) == 2
    assert list(here.objects.values()) != list(there.objects.values())


@pytest.mark.parametrize("torn", [b"", b"\x7fELF", None])
def test_torn_objects_are_made_again(
    tmp_path: Path, made: list[str], torn: bytes | None
) -> None:
    host = Host(cache=str(tmp_path))
    first = partita.compile(parse(MODULE), [host]).artifact
    before = objects(tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-1] if torn is None else torn)
    again = partita.compile(parse(MODULE), [host]).artifact
    assert len(made) == 2
    assert again.objects == first.objects
    assert objects(tmp_path) == before


def test_a_cache_that_cannot_be_written_is_not_used(
    tmp_path: Path, made: list[str]
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    for folder in (file, file / "below"):
        exe = partita.compile(parse(MODULE), [Host(cache=str(folder))])
        exe.run({"image": X})
    assert len(made) == 2
    assert list(tmp_path.iterdir()) == [file]
