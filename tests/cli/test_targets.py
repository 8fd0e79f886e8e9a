"""Targets of other packages on the command line: used, failing, broken, and missing where a model runs."""

from collections.abc import Generator
from pathlib import Path

import pytest
from cli_cases import MODEL, Run, refused
from installed import installed, write_package

BACKEND = """
from dataclasses import dataclass
from typing import ClassVar
from partita.dialects.relay import NegativeOp
from partita.errors import CodegenError
from partita.targets.backend import Accept, ExternalBackend, ExternalModule, Reject

@dataclass(frozen=True)
class Minus(ExternalBackend):
    name: ClassVar[str] = "minus"
    fail: bool = False

    def supports(self, op):
        return Accept() if isinstance(op, NegativeOp) else Reject("only minus")

    def codegen(self, function, context):
        if self.fail:
            raise CodegenError("no chip of that size")
        return ExternalModule({})
"""

LOADER = """
import numpy

def load(files, inputs, outputs, weights, options, context):
    return lambda arguments, results: numpy.negative(arguments[0], out=results[0])
"""

COMPILE = ["compile", "m.onnxtxt", "--shape", "N=3", "-o", "m.partita"]


@pytest.fixture(autouse=True)
def _package(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    folder = tmp_path_factory.mktemp("package")
    write_package(
        folder,
        "minus-pack",
        {"minus_backend.py": BACKEND, "minus_loader.py": LOADER},
        {
            "partita.targets": {"minus": "minus_backend:Minus", "plus": "plus:Plus"},
            "partita.loaders": {"minus": "minus_loader:load"},
        },
    )
    with installed(folder):
        yield


def test_a_model_is_divided(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    code, _, err = run(*COMPILE, "--target", "minus")
    assert (code, err) == (0, "")
    assert "modules  0, 0 B" in run("inspect", "m.partita")[1]
    code, out, err = run("inspect", "m.partita", "--steps")
    assert "@small_0 of minus" in out
    host = ["compile", "m.onnxtxt", "--shape", "N=3", "-o", "host.partita"]
    assert run(*host)[0] == 0
    inputs = ["--random-inputs", "3"]
    assert run("run", "m.partita", *inputs) == run("run", "host.partita", *inputs)


def test_what_runs_where(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    code, out, err = run("explain", "m.onnxtxt", "--shape", "N=3", "--target", "minus")
    assert (code, err) == (0, "")
    assert out == (
        "op              from    target  part of  why not minus\n"
        "relay.add       Add_0   host             only minus\n"
        "relay.relu      Relu_1  host             only minus\n"
        "relay.negative  Neg_2   minus   small_0\n"
        "\n"
        "region   target  ops  MACs    in   out\n"
        "small_0  minus     1     0  16 B  16 B\n"
        "\n"
        "target  ops  of ops  MACs  of MACs\n"
        "minus     1   33.3%     0     0.0%\n"
        "host      2   66.7%     0     0.0%\n"
        "\n"
        "2 transfers of 32 B between host and regions\n"
    )


def test_a_failure_is_an_error_or_made_up_for(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    fails = [*COMPILE, "--target", "minus{fail=true}"]
    failure = "target minus cannot compile @small_0: no chip of that size; "
    message = refused(run(*fails, "--on-external-failure", "error"))
    assert (
        message
        == "in codegen-externals: "
        + failure
        + "set --on-external-failure=host to let the host run it"
    )
    assert not Path("m.partita").exists()
    code, _, err = run(*fails)
    assert code == 0
    assert err == f"partita: warning: {failure}the host runs it\n"
    assert "minus" not in run("inspect", "m.partita", "--steps")[1].partition("step")[2]


@pytest.mark.parametrize("command", ["compile", "explain"])
def test_a_broken_package_is_told_of_where_it_is_asked_for(
    run: Run, command: str
) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    output = ["-o", "m.partita"] if command == "compile" else []
    arguments = [command, "m.onnxtxt", "--shape", "N=3", *output, "--target"]
    assert refused(run(*arguments, "plus")) == (
        "target plus of package minus-pack cannot be imported: "
        "ModuleNotFoundError: No module named 'plus'"
    )
    assert run(*arguments, "minus")[0] == 0


def test_passes_of_targets_are_dumped(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    code, _, err = run(*COMPILE, "--target", "c", "--dump-ir", "ir")
    assert (code, err) == (0, "")
    names = [each.name.partition("-")[2] for each in sorted(Path("ir").iterdir())]
    inner = [each for each in names if each.startswith("for-each-external-")]
    assert "for-each-external-simplify-inference.mlir" in inner
    end = names.index("for-each-external.mlir")
    assert names[end - len(inner) : end] == inner
    text = next(Path("ir").glob("*-for-each-external-dce.mlir")).read_text()
    assert "byoc.call" not in text
    assert "relay." in text


def test_a_machine_without_the_loader(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    assert run(*COMPILE, "--target", "minus")[0] == 0
    fallback = ["--keep-host-fallback", "-o", "both.partita"]
    assert run(*COMPILE[:-2], "--target", "minus", *fallback)[0] == 0
    monkeypatch.setattr("partita.runtime.loaders.ENTRY_POINTS", "none")
    message = "cannot load external @small_0 of target minus: no loader for this target is installed"
    refusal = refused(run("run", "m.partita", "--random-inputs", "0"))
    assert refusal == f"m.partita: {message}"
    code, out, err = run("run", "both.partita", "--random-inputs", "0")
    assert code == 0
    assert "file" in out
    assert message in err
