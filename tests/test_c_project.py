"""A model as a folder of C: it builds with `make`, runs on files, and nothing is left of what failed."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.parser import Parser

from partita.dialects import relay
from partita.dialects.partita import NAME, ORIGIN
from partita.driver import context
from partita.errors import CodegenError
from partita.interpreters import interpret
from partita.interpreters.scalar import Array
from partita.shapes import element_type, tensor_of
from partita.targets.c import C

RNG = np.random.default_rng(0)

WEIGHT = RNG.standard_normal((4, 3, 3, 3), np.float32)


def convolution() -> FuncOp:
    """Make a function of two inputs and two outputs, with names that C has no use for."""
    types = [
        tensor_of((1, 3, 8, 8), element_type(np.dtype("float32"))),
        tensor_of((), element_type(np.dtype("uint8"))),
    ]
    function = FuncOp("main", (types, ()))
    image, number = function.body.block.args
    with ImplicitBuilder(function.body.block):
        weight = relay.ConstantOp.of(WEIGHT).result
        conv = relay.Conv2dOp(image, weight, padding=(1, 0, 0, 1))
        conv.attributes[ORIGIN] = StringAttr("conv */ 1")
        positive = relay.ReluOp(conv.results[0])
        double = relay.AddOp(number, number)
        ReturnOp(positive.results[0], double.results[0])
    function.update_function_type()
    names = ("image/0", "count"), ("features:0", "features.0")
    for key, group in zip(("arg_attrs", "res_attrs"), names, strict=True):
        function.properties[key] = ArrayAttr(
            [DictionaryAttr({NAME: StringAttr(each)}) for each in group]
        )
    return function


def inputs() -> tuple[Array, Array]:
    return RNG.standard_normal((1, 3, 8, 8), np.float32), np.array(200, np.uint8)


def expected(function: FuncOp, given: tuple[Array, ...]) -> tuple[Array, ...]:
    return interpret(ModuleOp([function.clone()]), given)


def make(folder: Path) -> None:
    subprocess.run(["make", "--quiet"], cwd=folder, check=True)


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [folder / "model", *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "c"
    flags = "-O1 -Wall -Wextra -pedantic -Werror"
    C(flags=flags).write_project(convolution(), folder)
    make(folder)
    return folder


@pytest.mark.parametrize("weights", ["arguments", "table"])
def test_it_builds_and_runs(weights: str, tmp_path: Path) -> None:
    function, folder = convolution(), tmp_path / "deep" / "c"
    before = str(function)
    C(weights=weights).write_project(function, folder)
    assert str(function) == before
    assert (folder / "weights.bin").exists() == (weights == "arguments")
    make(folder)
    given = inputs()
    np.save(tmp_path / "x.npy", given[0])
    (tmp_path / "n.raw").write_bytes(given[1].tobytes())
    out = tmp_path / "out"
    out.mkdir()
    arguments = (f"count={tmp_path}/n.raw", f"{tmp_path}/x.npy", "--output", str(out))
    done = run(folder, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [f"{out}/features_0.npy", f"{out}/features_0_1.npy"]
    for name, want in zip(done.stdout.split(), expected(function, given), strict=True):
        got = np.load(name)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want.astype(np.float64), rtol=0, atol=1e-5)


def test_what_is_in_it(built: Path) -> None:
    source = (built / "model.c").read_text()
    assert "/* conv * / 1 */" in source
    assert {each.name for each in built.iterdir()} >= {
        *("README.md", "Makefile", "main.c", "model.c", "model.h"),
        *("npy.c", "npy.h", "signature.h", "weights.bin"),
    }
    readme = (built / "README.md").read_text()
    assert "| input | `image/0` | float32 | 1x3x8x8 |" in readme
    assert "| output | `features:0` | float32 | 1x4x7x7 |" in readme
    assert run(built, "--help").stdout.startswith("usage: ")


def save(array: Array) -> Callable[[Path], None]:
    return lambda path: np.save(path, array)


def raw(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def nothing(path: Path) -> None:
    """Let there be no file."""


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (
            save(np.zeros((1, 3, 8, 8), np.float64)),
            "expected image/0 of type <f4 and shape (1, 3, 8, 8) in C order, got {'descr': '<f8'",
        ),
        (
            save(np.zeros((1, 3, 8, 9), np.float32)),
            "expected image/0 of type <f4 and shape (1, 3, 8, 8) in C order, got",
        ),
        (
            save(np.asfortranarray(np.zeros((1, 3, 8, 8), np.float32))),
            "in C order, got {'descr': '<f4', 'fortran_order': True",
        ),
        (raw(bytes(7)), "expected 768 bytes, got fewer"),
        (raw(bytes(769)), "expected 768 bytes, got more"),
        (
            raw(b"\x93NUMPY\1\0\xff\0{'descr'"),
            "its header is cut off",
        ),
        (nothing, "No such file or directory"),
    ],
)
def test_input_that_is_wrong(
    write: Callable[[Path], None], reason: str, built: Path, tmp_path: Path
) -> None:
    path = tmp_path / "x.npy"
    write(path)
    done = run(built, str(path))
    assert done.returncode == 1
    assert done.stderr.startswith(f"cannot read {path}: ")
    assert reason in done.stderr


def test_arguments_that_are_wrong(built: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", inputs()[0])
    x = str(tmp_path / "x.npy")
    assert run(built, x).stderr == "input count is missing; ask for --help\n"
    assert "got --fast" in run(built, "--fast").stderr
    np.save(tmp_path / "n.npy", inputs()[1])
    three = run(built, x, str(tmp_path / "n.npy"), x)
    assert three.stderr == f"expected 2 inputs, got one more: {x}\n"
    short = tmp_path / "w"
    short.write_bytes(b"")
    lost = run(built, x, str(tmp_path / "n.npy"), "--weights", str(short))
    assert lost.stderr == f"cannot read {short}: expected 448 bytes, got fewer\n"
    nowhere = run(built, x, str(tmp_path / "n.npy"), "--output", str(short / "no"))
    assert nowhere.stderr.startswith("cannot write ")


def test_nothing_is_left_of_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "mine").touch()
    with pytest.raises(CodegenError, match="to be a new or empty folder"):
        C().write_project(convolution(), folder)
    assert [each.name for each in folder.iterdir()] == ["mine"]

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(CodegenError, match=r"cannot write .*: No space left on device"):
        C().write_project(convolution(), tmp_path / "new")
    assert [each.name for each in tmp_path.iterdir()] == ["c"]


def test_the_page_shows_what_is_written() -> None:
    page = (Path(__file__).parent.parent / "docs" / "c.md").read_text()
    module, code = (
        page.partition(f"```{language}\n")[2].partition("```")[0]
        for language in ("mlir", "c")
    )
    (function,) = Parser(context(), module).parse_module().ops
    assert isinstance(function, FuncOp)
    source = C().program(function).source
    for part in code.split("\n\n"):
        assert part.strip() in source
