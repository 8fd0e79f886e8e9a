"""Whatever goes wrong on the command line is told in one sentence, with exit code 1, and leaves nothing behind."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from cli_cases import IR, MODEL, Run, arrays, refused, write_ir

from partita.tools import opt
from partita.tools.arrays import write_npz


@pytest.mark.parametrize(
    "arguments",
    [
        ["compil"],
        ["compile"],
        ["compile", "m.onnx"],
        ["run", "m", "--repeat", "0"],
        ["run", "m", "--no"],
    ],
)
def test_usage_errors(run: Run, arguments: Sequence[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: partita")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--target", "hots"],
            "unknown target hots; did you mean host?; choose from host, c, onnxruntime, onednn",
        ),
        (
            ["--target", "host{cach=a}"],
            'target host has no option cach; did you mean cache?; its options are cache: str = ""',
        ),
        (
            ["--target", "host{cache=1}"],
            "expected option cache of target host to be of type str, got 1",
        ),
        (
            ["--target", "host{"],
            "cannot read target 'host{': expected argument name here",
        ),
        (
            ["--target", "host", "--target", "host"],
            "expected each target once, got host twice",
        ),
        (
            ["--insert", "after=fuse-opps:dce"],
            "expected a pass of the pipeline to insert after, got fuse-opps; did you mean fuse-ops?",
        ),
        (["--insert", "after=fuse-ops:csee"], "unknown pass csee; did you mean cse?"),
        (
            ["--insert", "fuse-ops:dce"],
            "expected passes to insert as after=PASS:PIPELINE, got 'fuse-ops:dce'",
        ),
        (
            ["--shape", "N"],
            "expected a shape such as x=1x3x224x224, or an extent such as N=1, got 'N'",
        ),
        (
            ["--shape", "M=1"],
            "expected an input or a symbolic dimension of the model (a/b, x, N), got M",
        ),
        (["--shape", "x=1x5"], "input x: expected a shape of the form ?x4, got 1x5"),
        (["--entry", "g"], "expected entry function @g, got @small; set entry"),
        (
            ["--weights", "w"],
            "--weights is for IR, and m.onnxtxt has weights of its own",
        ),
        (["-o", "nowhere/m"], "cannot write nowhere/m: there is no folder nowhere"),
        (["-o", "."], "cannot write .: it is a folder"),
        (["--dump-ir", "m.onnxtxt"], "cannot access m.onnxtxt: File exists"),
        (
            ["--host-cpu", "x86-64-v7", "--host-triple", "x86_64-linux-gnu"],
            "LLVM knows no processor x86-64-v7 for triple x86_64-linux-gnu; did you mean x86-64-v4?",
        ),
        (
            [],
            "in specialize-shapes: expected static shapes, got x of type tensor<?x4xf32>; set shapes",
        ),
    ],
)
def test_wrong_arguments_of_compile(
    run: Run, arguments: Sequence[str], message: str
) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    result = run("compile", "m.onnxtxt", "-o", "m.partita", *arguments)
    assert refused(result) == message
    assert os.listdir() == ["m.onnxtxt"]


def graph(body: str) -> bytes:
    """Make the bytes of a model of one input and one output."""
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float[4] x) => (float[4] y) {{{body}}}'
    return onnx.parser.parse_model(text).SerializeToString()


GOOD = graph("y = Relu(x)")

BROKEN: dict[str, tuple[str, bytes, str]] = {
    "foreign model": (
        "m.onnx",
        b"\x7fELF" * 9,
        "m.onnx is not an ONNX model, or is truncated",
    ),
    "empty model": ("m.onnx", b"", "m.onnx is not an ONNX model, or is truncated"),
    "truncated model": (
        "m.onnx",
        GOOD[:-9],
        "m.onnx is not an ONNX model, or is truncated",
    ),
    "cycle": ("m.onnx", graph("a = Add(x, b) b = Relu(a) y = Relu(b)"), "cycle"),
    "missing initializer": ("m.onnx", graph("y = Add(x, w)"), "w"),
    "wrong type of attribute": (
        "m.onnx",
        graph("y = LeakyRelu <alpha = 1> (x)"),
        "alpha",
    ),
    "unknown op": ("m.onnx", graph("y = NoSuchOp(x)"), "NoSuchOp"),
    "foreign text": ("m.onnxtxt", b"\xff\xfe\x00", "m.onnxtxt is not UTF-8 text"),
    "truncated text": ("m.onnxtxt", MODEL[:90].encode(), "m.onnxtxt is not ONNX text"),
    "foreign IR": (
        "m.mlir",
        b"PK\x03\x04\xff\xfe",
        "expected m.mlir to be UTF-8 text, got byte 0xff at 4",
    ),
    "truncated IR": ("m.mlir", IR[:300].encode(), "m.mlir:"),
    "wrong IR": ("m.mlir", IR.replace("%w", "%x", 1).encode(), "m.mlir:"),
    "suffix": ("m.bin", GOOD, "expected "),
}


@pytest.mark.parametrize("tool", ["partita", "partita-opt"])
@pytest.mark.parametrize("name", BROKEN)
def test_broken_models(
    run: Run, capsys: pytest.CaptureFixture[str], tool: str, name: str
) -> None:
    file, content, part = BROKEN[name]
    Path(file).write_bytes(content)
    if tool == "partita":
        code, out, err = run("compile", file, "-o", "out")
    else:
        code = opt.main([file, "-o", "out"])
        out, err = capsys.readouterr()
    sentence, *excerpt = err.splitlines(keepends=True)
    assert part in refused((code, out, sentence))
    assert not excerpt or file == "m.mlir"
    assert os.listdir() == [file]


@pytest.mark.parametrize("tool", ["partita", "partita-opt"])
@pytest.mark.parametrize("model", ["m.onnx", "m.mlir"])
def test_missing_models(
    run: Run, capsys: pytest.CaptureFixture[str], tool: str, model: str
) -> None:
    if tool == "partita":
        result = run("compile", model, "-o", "out")
    else:
        code = opt.main([model, "-o", "out"])
        out, err = capsys.readouterr()
        result = (code, out, err)
    assert refused(result).endswith(f"{model}: No such file or directory")
    assert os.listdir() == []


def test_broken_weights(run: Run) -> None:
    """Weights that are missing, truncated, changed or of another kind stop the compilation, not the reading, of IR."""
    write_ir()
    side = Path("m.weights.safetensors")
    content = side.read_bytes()
    compile = ("compile", "m.mlir", "--entry", "f", "-o", "m.partita")
    for broken in (content[:-4], content[:20], b"", b"PK\x03\x04"):
        side.write_bytes(broken)
        assert refused(run(*compile)).startswith(f"cannot read weights from {side}: ")
    side.write_bytes(content[:-1] + b"\x01")
    assert refused(run(*compile)).endswith("does not match its name")
    side.unlink()
    assert "is not loaded; pass --weights FILE" in refused(run(*compile))
    assert refused(run(*compile, "--weights", "w")).startswith(
        "cannot read weights from w: "
    )
    assert os.listdir() == ["m.mlir"]


def test_entry_must_be_settled(run: Run) -> None:
    write_ir()
    message = refused(run("compile", "m.mlir", "-o", "m.partita"))
    assert message == "expected one entry function, got @f, @g; set entry"


def test_broken_artifacts(run: Run, compiled: Path) -> None:
    content = compiled.read_bytes()
    for broken in (b"", b"PK\x03\x04", content[:-1], content[:1000], GOOD):
        Path("m.partita").write_bytes(broken)
        for command in (["run", "--random-inputs", "0", "-o", "out.npz"], ["inspect"]):
            message = refused(run(command[0], "m.partita", *command[1:]))
            assert message == "m.partita: not an artifact, or a damaged one"
    assert refused(run("run", "no.partita")) == (
        "no.partita: cannot be read: No such file or directory"
    )
    assert os.listdir() == ["m.partita"]


SIGNATURE = "expected 'x': float32[3, 4], 'a/b': int64[2]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], f"input 'x' is missing; {SIGNATURE}"),
        (
            ["--input", "y=good.npz"],
            "expected one array in good.npz, or one named y, got x, a/b",
        ),
        (["--input", "z=shape.npy"], f"no input is named 'z'; {SIGNATURE}"),
        (
            ["--input", "x=shape.npy"],
            "expected input 'x' as float32[3, 4], got float32[4, 4]",
        ),
        (
            ["--input", "x=dtype.npy"],
            "expected input 'x' as float32[3, 4], got float64[3, 4]",
        ),
        (
            ["--input", "shape.npy"],
            "expected --input NAME=FILE with one of x, a/b, got shape.npy",
        ),
        (
            ["--input", "good.npz", "--input", "x=good.npz"],
            "expected input 'x' once, got it twice",
        ),
        (["--input", "x=none.npy"], "cannot read none.npy: No such file or directory"),
        *(
            (
                ["--input", f"x={name}"],
                f"{name} is no .npy or .npz file of numbers, or is truncated",
            )
            for name in (
                "foreign.npy",
                "empty.npy",
                "short.npy",
                "short.npz",
                "objects.npy",
            )
        ),
        (
            ["--random-inputs", "0", "--threads", "0"],
            "expected 1 to 1024 threads, got 0",
        ),
        (
            ["--random-inputs", "0", "-o", "no/out"],
            "cannot write no/out: No such file or directory",
        ),
    ],
)
def test_wrong_inputs(
    run: Run, compiled: Path, arguments: Sequence[str], message: str
) -> None:
    good = arrays()
    write_npz(Path("good.npz"), good)
    np.save("good.npy", good["x"])
    np.save("shape.npy", arrays(4)["x"])
    np.save("dtype.npy", good["x"].astype(np.float64))
    np.save("objects.npy", np.array([{}, print], object), allow_pickle=True)
    Path("foreign.npy").write_bytes(b"\x7fELF" * 99)
    Path("empty.npy").write_bytes(b"")
    for suffix in ("npy", "npz"):
        content = Path(f"good.{suffix}").read_bytes()
        Path(f"short.{suffix}").write_bytes(content[:-9])
    before = sorted(os.listdir())
    output = [] if "-o" in arguments else ["-o", "out.npz"]
    assert refused(run("run", compiled, *arguments, *output)) == message
    assert sorted(os.listdir()) == before
