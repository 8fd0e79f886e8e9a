"""What becomes of a model where a back end fails, or what it made cannot be loaded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.parser import Parser

import partita
from partita.dialects import relay
from partita.driver import compile_artifact, context
from partita.errors import ArtifactError, CodegenError
from partita.runtime import Executable
from partita.runtime.loaders import LOADERS, LoaderContext
from partita.runtime.tensors import Array
from partita.targets.backend import (
    Accept,
    CodegenContext,
    ExternalBackend,
    ExternalModule,
    Reject,
)
from partita.targets.partition.codegen_externals import ExternalFailureWarning
from partita.weights import Weight

MODULE = """\
func.func @main(%x : tensor<4xf32> {partita.name = "x"}) -> (tensor<4xf32> {partita.name = "y"}) attributes {partita.entry} {
  %0 = relay.exp %x {partita.origin = "before"} : tensor<4xf32>
  %1 = relay.relu %0 {partita.origin = "middle"} : tensor<4xf32>
  %2 = relay.negative %1 {partita.origin = "after"} : tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
"""

X = np.array([-1, 0, 0.5, 2], np.float32)

GOOD = ExternalModule({"relu": b""})


def parse(text: str = MODULE) -> ModuleOp:
    return Parser(context(), text).parse_module()


def refuse(function: FuncOp) -> Any:
    raise CodegenError("no memory of that kind")


def crash(function: FuncOp) -> Any:
    raise ValueError("of no\nuse")


def change(function: FuncOp) -> Any:
    function.attributes["mine"] = StringAttr("now")
    return GOOD


def succeed(function: FuncOp) -> Any:
    return GOOD


def returns(thing: object) -> Callable[[FuncOp], Any]:
    return lambda function: thing


@dataclass(frozen=True)
class Relu(ExternalBackend):
    """Takes each ReLU, and fails as it is told."""

    name: ClassVar[str] = "relu"

    make: Callable[[FuncOp], Any] = field(default=succeed, repr=False)

    def supports(self, op: Operation) -> Accept | Reject:
        if isinstance(op, relay.ReluOp | relay.OnnxNodeOp):
            return Accept()
        return Reject("only ReLU")

    def codegen(self, function: FuncOp, context: CodegenContext) -> ExternalModule:
        return self.make(function)


@pytest.fixture(autouse=True)
def _loader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(LOADERS, "relu", "relu_loader:load")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def run(executable: Executable) -> list[float]:
    return executable.run({"x": X})["y"].tolist()


EXPECTED = (-np.exp(X)).tolist()


FAILURES: list[tuple[Callable[[FuncOp], Any], str]] = [
    (refuse, "no memory of that kind"),
    (crash, "ValueError: of no use"),
    (
        returns(None),
        "expected code generation to return an ExternalModule, got NoneType",
    ),
    (
        returns(ExternalModule({"../../etc/passwd": b""})),
        "'../../etc/passwd' is no name that a file can have",
    ),
    (
        returns(ExternalModule({"a": "text"})),  # pyright: ignore[reportArgumentType]
        "expected the content of file a as bytes, got str",
    ),
    (
        returns(ExternalModule({}, options={"a": {1, 2}})),
        "expected options that JSON can hold: Object of type set is not JSON serializable",
    ),
    (
        returns(ExternalModule({}, (Weight("0" * 32),))),
        f"weight {'0' * 32} is not loaded; pass --weights FILE",
    ),
]


@pytest.mark.parametrize(("make", "reason"), FAILURES)
def test_a_failure_is_an_error(make: Callable[[FuncOp], Any], reason: str) -> None:
    with pytest.raises(CodegenError) as caught:
        partita.compile(parse(), [Relu(make)], on_external_failure="error")
    assert str(caught.value) == (
        f"target relu cannot compile @main_0: {reason}; "
        "set --on-external-failure=host to let the host run it"
    )


@pytest.mark.parametrize(("make", "reason"), FAILURES)
def test_the_host_makes_up_for_a_failure(
    make: Callable[[FuncOp], Any], reason: str
) -> None:
    with pytest.warns(ExternalFailureWarning) as caught:
        exe = partita.compile(parse(), [Relu(make)], on_external_failure="host")
    assert [str(each.message) for each in caught] == [
        f"target relu cannot compile @main_0: {reason}; the host runs it"
    ]
    assert exe.artifact.modules == {}
    np.testing.assert_allclose(run(exe), EXPECTED, rtol=1e-6)


@pytest.mark.parametrize("policy", ["host", "error"])
def test_changing_the_ir_is_a_fault(policy: str) -> None:
    with pytest.raises(CodegenError, match="of target relu changed the functions"):
        partita.compile(parse(), [Relu(change)], on_external_failure=policy)


OPAQUE = """\
func.func @main(%x : tensor<4xf32> {partita.name = "x"}) -> tensor<4xf32> attributes {partita.entry} {
  %0 = relay.onnx_node %x {op_type = "Det", domain = "com.example", version = 1 : i64, inputs = array<i64: 0>, outputs = array<i64: 0>, partita.origin = "det_1"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""


def test_what_the_host_cannot_run_either() -> None:
    with pytest.raises(CodegenError) as caught:
        partita.compile(parse(OPAQUE), [Relu(refuse)], on_external_failure="host")
    message = str(caught.value)
    assert message.startswith(
        "target relu cannot compile @main_0: no memory of that kind; the host cannot run it either: "
    )


def test_what_works_is_a_module() -> None:
    exe = partita.compile(parse(), [Relu()])
    assert set(exe.artifact.modules) == {"modules/relu/main_0/relu"}
    np.testing.assert_allclose(run(exe), EXPECTED, rtol=1e-6)


LOADING: list[tuple[str | None, str]] = [
    (None, "no loader for this target is installed"),
    (
        "relu_loader:load_without_library",
        "librelu is not installed; install relu[library]",
    ),
    ("no_such_module:load", "No module named 'no_such_module'"),
]


@pytest.mark.parametrize(("loader", "reason"), LOADING)
def test_what_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loader: str | None, reason: str
) -> None:
    """Compiling needs no loader; loading says in one sentence what is missing, unless the host can do it."""
    path = tmp_path / "m.partita"
    compile_artifact(parse(), [Relu()]).write(path)
    fallback = tmp_path / "fallback.partita"
    compile_artifact(parse(), [Relu()], keep_host_fallback=True).write(fallback)
    use_loader(monkeypatch, loader)
    with pytest.raises(ArtifactError) as caught:
        partita.load(path)
    message = f"cannot load external @main_0 of target relu: {reason}"
    assert str(caught.value) == f"{path}: {message}"
    exe = partita.load(fallback)
    assert exe.fallbacks == (message,)
    np.testing.assert_allclose(run(exe), EXPECTED, rtol=1e-6)


def use_loader(monkeypatch: pytest.MonkeyPatch, loader: str | None) -> None:
    if loader is None:
        monkeypatch.delitem(LOADERS, "relu")
    else:
        monkeypatch.setitem(LOADERS, "relu", loader)


def test_threads_reach_loaders(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def load(
        files: object,
        i: object,
        o: object,
        w: object,
        options: object,
        context: LoaderContext,
    ) -> Callable[[Sequence[Array], Sequence[Array]], None]:
        seen.append(context.threads)
        threads = context.threads

        def module(inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
            outputs[0][...] = threads

        return module

    monkeypatch.setattr("relu_loader.load", load)
    exe = partita.compile(parse(), [Relu()], threads=3)
    assert run(exe) == [-3.0] * len(X)
    exe.set_threads(3)
    assert seen == [3]
    exe.set_threads(2)
    assert seen == [3, 2]
    assert run(exe) == [-2.0] * len(X)


def test_what_fails_when_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    use_loader(monkeypatch, "relu_loader:load_what_fails")
    exe = partita.compile(parse(), [Relu()])
    with pytest.raises(ArtifactError) as caught:
        run(exe)
    assert str(caught.value) == (
        "external @main_0 of target relu failed: ValueError: no such device"
    )


@dataclass(frozen=True)
class Linked(Relu):
    """Fails when it looks at all modules together."""

    result: object = field(default=None, repr=False)

    def link(
        self, modules: Mapping[str, ExternalModule], context: CodegenContext
    ) -> Any:
        if self.result is None:
            raise MemoryError("programs of 3 GB do not fit")
        return self.result


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (None, "MemoryError: programs of 3 GB do not fit"),
        ({}, "link returned modules of other functions"),
        (
            {"main_0": b"text"},
            "expected code generation to return an ExternalModule, got bytes",
        ),
    ],
)
def test_linking_fails(result: object, reason: str) -> None:
    with pytest.raises(CodegenError, match=f"@main_0: {reason}"):
        partita.compile(parse(), [Linked(result=result)], on_external_failure="error")
    with pytest.warns(ExternalFailureWarning, match=reason):
        exe = partita.compile(parse(), [Linked(result=result)])
    np.testing.assert_allclose(run(exe), EXPECTED, rtol=1e-6)


def test_what_fails_for_one_reason_is_told_once() -> None:
    lines = [
        "func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> attributes {partita.entry} {"
    ]
    value = "%x"
    for number in range(5):
        lines.append(f"  %r{number} = relay.relu {value} : tensor<4xf32>")
        lines.append(f"  %e{number} = relay.exp %r{number} : tensor<4xf32>")
        value = f"%e{number}"
    text = "\n".join([*lines, f"  func.return {value} : tensor<4xf32>", "}"])
    with pytest.warns(ExternalFailureWarning) as caught:
        partita.compile(parse(text), [Relu(refuse)])
    assert [str(each.message) for each in caught] == [
        "target relu cannot compile @main_0, @main_1, @main_2 and 2 more: no memory of that kind; the host runs them"
    ]


def test_only_what_fails_goes_to_the_host() -> None:
    """Of two regions, the one that can be compiled stays."""
    lines = MODULE.replace("relay.negative %1", "relay.relu %3").replace(
        "  %2 =", "  %3 = relay.exp %1 : tensor<4xf32>\n  %2 ="
    )

    def first_only(function: FuncOp) -> Any:
        if function.sym_name.data != "main_0":
            raise CodegenError("one is enough")
        return GOOD

    with pytest.warns(ExternalFailureWarning, match="@main_1: one is enough"):
        exe = partita.compile(parse(lines), [Relu(first_only)])
    assert set(exe.artifact.modules) == {"modules/relu/main_0/relu"}
    np.testing.assert_allclose(run(exe), np.exp(np.exp(X)), rtol=1e-6)
