"""`partita-opt`: what it writes, and that whatever goes wrong is told in one message."""

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
from xdsl.universe import Universe
from xdsl.xdsl_opt_main import xDSLOptMain

from partita.tools.opt import main
from partita.transforms import ALL_PASSES
from partita.weights import WeightFile, weight, write_weights

GOOD = """\
func.func @f(%x : tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
"""

WEIGHT = weight(np.arange(24, dtype=np.float32))

WITH_WEIGHT = f"""\
func.func @f() -> (tensor<24xf32>, tensor<24xf32>) {{
  %w = relay.constant #partita.weight<"{WEIGHT.digest}"> : tensor<24xf32>
  %v = relay.constant #partita.weight<"{WEIGHT.digest}"> : tensor<24xf32>
  func.return %w, %v : tensor<24xf32>, tensor<24xf32>
}}
"""

Refusal = Callable[[str | bytes, Sequence[str]], str]


@pytest.fixture
def refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refusal:
    """Run on this text, expect failure, and return the message."""

    def run(text: str | bytes, arguments: Sequence[str] = ()) -> str:
        source, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
        source.write_bytes(text if isinstance(text, bytes) else text.encode())
        assert main([str(source), "-o", str(output), *arguments]) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert sorted(tmp_path.iterdir()) == [source]
        message = captured.err.removesuffix("\n")
        assert "Traceback" not in message
        return message.replace(str(source), "in.mlir")

    return run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "nothing-like-it"], "unknown pass nothing-like-it"),
        (["-p", "fuse-opps"], "unknown pass fuse-opps; did you mean fuse-ops?"),
        (["-p", "dce{a=1}"], "pass dce has no option a; it has none"),
        (
            ["-p", "fuse-ops{max-depth=deep}"],
            "expected option max-depth of pass fuse-ops to be of type int, got deep",
        ),
        (
            ["-p", "fuse-ops{max-depth}"],
            "expected option max-depth of pass fuse-ops to be of type int, got no value",
        ),
        (["-p", "dce{"], "cannot read pipeline 'dce{': expected argument name here"),
        (
            ["-p", "cse", "--print-ir-after", "fuse-ops"],
            "expected --print-ir-after to name passes of the pipeline, got fuse-ops",
        ),
        (["--no-such-flag"], "unrecognized arguments: --no-such-flag; see --help"),
        (["--shape", "x=1"], "--shape is for models; on IR, run specialize-shapes"),
        (["-t", "{"], "expected pass name here"),
    ],
)
def test_wrong_arguments(
    refusal: Refusal, arguments: Sequence[str], message: str
) -> None:
    assert refusal(GOOD, arguments) == f"partita-opt: error: {message}"


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["-t", "mlri"], "unknown target mlri; did you mean mlir?; choose from "),
        (["-f", "mlri"], "unknown frontend mlri; did you mean mlir?; choose from "),
        (["-p", "fuse-ops{max-dept=3}"], "pass fuse-ops has no option max-dept; did"),
        (["--weights", "no-such-file"], "cannot read weights from no-such-file: "),
        (["--weights", __file__], f"cannot read weights from {__file__}: "),
    ],
)
def test_wrong_arguments_with_details(
    refusal: Refusal, arguments: Sequence[str], start: str
) -> None:
    message = refusal(GOOD, arguments)
    assert message.startswith(f"partita-opt: error: {start}")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @f() {\n  %c = arith.constant : i32\n}",
            "in.mlir:2:23: attribute expected\n"
            "  %c = arith.constant : i32\n"
            "                      ^",
        ),
        (
            'func.func @f() {\n  %c = "test.op"(%x) : (i32) -> i32\n  func.return\n}\n',
            "in.mlir:5:1: values used but not defined: [%x]",
        ),
        (
            '// a "comment\n#a = "closed \\" here // ", "x\n"and never closed '
            + "a" * 99,
            "in.mlir:2:28: expected a string that is closed on its line\n"
            '  #a = "closed \\" here // ", "x\n'
            "                             ^",
        ),
        (b"func.func @f\xff", "expected in.mlir to be UTF-8 text, got byte 0xff at 12"),
        (
            "func.func @f(%x : tensor<4xf32>) -> tensor<5xf32> {\n"
            "  func.return %x : tensor<4xf32>\n}",
            "expected arguments to have the same types as the function output types: "
            "expected [tensor<5xf32>], got [tensor<4xf32>]\n"
            '  "func.return"(%x) : (tensor<4xf32>) -> ()\n'
            "  ^^^^^^^^^^^^^",
        ),
        (
            'func.func @f() {\n  %0 = "test.op"(%1) : (i32) -> i32\n'
            '  %1 = "test.op"(%0) : (i32) -> i32\n  func.return\n}',
            "expected operand 0 of test.op to be defined before its use, got result 0 of test.op\n"
            '  %0 = "test.op"(%1) : (i32) -> i32\n'
            "  ^^^^^^^^^^^^^^",
        ),
    ],
)
def test_bad_ir(refusal: Refusal, text: str | bytes, message: str) -> None:
    assert refusal(text, ()) == f"partita-opt: error: {message}"


def test_long_lines_are_cut(refusal: Refusal) -> None:
    shape = "x".join(["7"] * 400)
    message = refusal(f'"test.op"() {{a = tensor<{shape}x>}} : () -> ()', ())
    assert all(len(line) < 200 for line in message.splitlines())
    _, source, carets = message.splitlines()
    assert source[carets.index("^")] == ">"


def test_missing_and_foreign_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "missing.mlir")]) == 1
    (tmp_path / "model.xyz").write_bytes(b"")
    assert main([str(tmp_path / "model.xyz")]) == 1
    assert main([str(tmp_path)]) == 1
    missing, foreign, folder = capsys.readouterr().err.splitlines()
    assert missing.endswith("missing.mlir: No such file or directory")
    assert "model.xyz" in foreign
    assert foreign.endswith("; set -f")
    assert folder.startswith("partita-opt: error: expected an input")


def test_output_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.mlir").write_text(GOOD)
    output = tmp_path / "nowhere" / "out.mlir"
    assert main([str(tmp_path / "in.mlir"), "-o", str(output)]) == 1
    assert capsys.readouterr().err == (
        f"partita-opt: error: cannot write {output}: No such file or directory\n"
    )


def test_old_output_survives_failure(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text("func.func @f(")
    (tmp_path / "out.mlir").write_text("old")
    assert main([str(tmp_path / "in.mlir"), "-o", str(tmp_path / "out.mlir")]) == 1
    assert (tmp_path / "out.mlir").read_text() == "old"


def test_weights_lie_beside_text(tmp_path: Path) -> None:
    """Weights are found beside the input, or where `--weights` says, and written once."""
    (tmp_path / "in.mlir").write_text(WITH_WEIGHT)
    write_weights(tmp_path / "in.weights.safetensors", [WEIGHT])
    assert main([str(tmp_path / "in.mlir"), "-o", str(tmp_path / "out.mlir")]) == 0
    written = WeightFile(tmp_path / "out.weights.safetensors")
    assert list(written) == [WEIGHT.digest]
    np.testing.assert_array_equal(written[WEIGHT.digest], WEIGHT.content())

    (tmp_path / "in.weights.safetensors").rename(tmp_path / "elsewhere")
    again = ["-o", str(tmp_path / "again.mlir")]
    assert main([str(tmp_path / "in.mlir"), *again]) == 0
    assert not (tmp_path / "again.weights.safetensors").exists()
    elsewhere = ["--weights", str(tmp_path / "elsewhere")]
    assert main([str(tmp_path / "in.mlir"), *elsewhere, *again]) == 0
    assert (tmp_path / "again.weights.safetensors").exists()
    assert (tmp_path / "again.mlir").read_text() == (tmp_path / "out.mlir").read_text()


def test_broken_weights_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, weights = tmp_path / "in.mlir", tmp_path / "in.weights.safetensors"
    source.write_text(WITH_WEIGHT)
    write_weights(weights, [WEIGHT])
    content = weights.read_bytes()
    weights.write_bytes(content[:-4])
    assert main([str(source)]) == 1
    weights.write_bytes(content[:-1] + b"\x01")
    assert main([str(source)]) == 1
    truncated, changed = capsys.readouterr().err.splitlines()
    assert truncated.startswith("partita-opt: error: cannot read weights from ")
    assert changed.endswith("does not match its name")


def test_output_to_a_device_stays_a_device(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(GOOD)
    assert main([str(tmp_path / "in.mlir"), "-o", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()


def test_stock_driver_has_the_same_passes() -> None:
    """`xdsl-opt` finds our passes through the entry point, and no name is taken twice."""
    assert "partita" in {each.name for each in entry_points(group="xdsl.universe")}
    stock = xDSLOptMain(args=[]).available_passes
    for each in ALL_PASSES:
        assert stock[each.name]() is each
    assert Universe.get_multiverse().all_passes.keys() == stock.keys()
