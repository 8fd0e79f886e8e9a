"""`partita compile`, `run` and `inspect`: what they print and write."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from cli_cases import MODEL, Run, arrays, refused, write_ir

from partita.tools import opt
from partita.tools.arrays import write_npz


def test_compile_prints_what_it_wrote(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    code, out, err = run("compile", "m.onnxtxt", "-o", "m.partita", "--shape", "N=3")
    assert (code, err) == (0, "")
    assert re.fullmatch(
        r"m\.partita: \d kernels, 0 B of weights, \d+ B of intermediate memory; compiled in \d\.\d s\n",
        out,
    )
    assert sorted(os.listdir()) == ["m.onnxtxt", "m.partita"]
    assert run("compile", "-q", "m.onnxtxt", "-o", "n.partita", "--shape", "N=3") == (
        (0, "", "")
    )
    assert Path("m.partita").read_bytes() == Path("n.partita").read_bytes()


def test_run_prints_a_table_and_writes_outputs(run: Run, compiled: Path) -> None:
    inputs = arrays()
    np.save("x.npy", inputs["x"])
    write_npz(Path("some.npz"), {"a/b": inputs["a/b"]})
    given = ["--input", "x=x.npy", "--input", "some.npz"]
    code, out, err = run("run", compiled, *given, "-o", "out.npz", "--threads", "1")
    assert (code, err) == (0, "")
    assert out == (
        "output  dtype    shape  min      mean  max\n"
        "y       float32  3x4      0  0.545455    2\n"
        "file    int64    2       -5       0.5    6\n"
    )
    with np.load("out.npz") as outputs:
        np.testing.assert_array_equal(outputs["y"], np.maximum(2 * inputs["x"], 0))
        np.testing.assert_array_equal(outputs["file"], -inputs["a/b"])
    assert sorted(os.listdir()) == ["out.npz", "some.npz", "x.npy"]


def test_inputs_of_one_file(run: Run, compiled: Path) -> None:
    """A file gives all that it has; with a name, what it has under that name or alone; in any byte order."""
    inputs = arrays()
    swapped = {
        name: each.astype(each.dtype.newbyteorder()) for name, each in inputs.items()
    }
    write_npz(Path("all.npz"), swapped)
    write_npz(Path("one.npz"), {"other": inputs["x"]})
    expected = run("run", compiled, "--input", "all.npz")
    assert expected[0] == 0
    for given in (
        ["--input", "x=all.npz", "--input", "a/b=all.npz"],
        ["--input", "x=one.npz", "--input", "a/b=all.npz"],
    ):
        assert run("run", compiled, *given) == expected


def test_random_inputs_follow_from_the_seed(run: Run, compiled: Path) -> None:
    one = run("run", compiled, "--random-inputs", "1")
    assert one[0] == 0
    assert run("run", compiled, "--random-inputs", "1") == one
    assert run("run", compiled, "--random-inputs", "2") != one
    np.save("x.npy", arrays()["x"])
    mixed = run("run", compiled, "--random-inputs", "1", "--input", "x=x.npy")[1]
    rows = [line.split() for line in mixed.splitlines()]
    assert rows[1][3:] == ["0", "0.545455", "2"]
    assert rows[2] == one[1].splitlines()[2].split()


def test_repeat_prints_latency(run: Run, compiled: Path) -> None:
    _, out, _ = run(
        "run", compiled, "--random-inputs", "0", "--repeat", "3", "--threads", "1"
    )
    head, row = out.splitlines()[-2:]
    assert head.split() == ["latency", "in", "ms", "min", "median", "max"]
    assert row.startswith("3 runs, 1 thread  ")
    least, middle, most = map(float, row.split()[-3:])
    assert 0 < least <= middle <= most


def test_quiet_run_prints_nothing(run: Run, compiled: Path) -> None:
    assert run("run", "-q", compiled, "--random-inputs", "0") == (0, "", "")


def test_inspect(run: Run, compiled: Path) -> None:
    code, out, err = run("inspect", compiled, "--steps")
    assert (code, err) == (0, "")
    facts = dict(re.findall(r"^(\w+) +(.*)$", out, re.MULTILINE))
    assert facts["entry"] == "small"
    assert facts["inputs"] == "x: float32[3, 4], a/b: int64[2]"
    assert facts["outputs"] == "y: float32[3, 4], file: int64[2]"
    assert facts["targets"] == "host"
    assert facts["weights"] == "0, 0 B"
    assert re.search(r"^0 +1 +add_relu_[0-9a-f]{8} +Add_0, Relu_1$", out, re.MULTILINE)


def test_pipeline_can_be_pasted(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """What `--print-pipeline` prints is what `partita-opt -p` takes."""
    Path("m.onnxtxt").write_text(MODEL)
    extra = [
        "--shape",
        "N=3",
        "--host-cpu",
        "x86-64-v2",
        "--host-triple",
        "x86_64-linux-gnu",
    ]
    insert = ["--insert", "after=dce:canonicalize,cse"]
    code, out, _ = run("compile", "m.onnxtxt", "--print-pipeline", *extra, *insert)
    assert code == 0
    lines = out.splitlines()
    assert "schedule-host{vector=128 accumulators=12}," in lines
    last = max(number for number, line in enumerate(lines) if line == "dce,")
    assert lines[last + 1 : last + 3] == ["canonicalize,", "cse,"]
    assert opt.main(["m.onnxtxt", "--shape", "N=3", "-p", out]) == 0
    assert "partita.arena" in capsys.readouterr().out


def test_ir_is_dumped_and_goes_on_from_there(run: Run) -> None:
    """Each file is IR that can be compiled on, with the weights beside them."""
    write_ir()
    code, _, _ = run(
        "compile", "m.mlir", "--entry", "f", "--dump-ir", "ir", "-o", "m.partita"
    )
    assert code == 0
    names = sorted(os.listdir("ir"))
    assert names[0] == "00-import.mlir"
    assert names[1] == "01-simplify-inference.mlir"
    assert names[-2].endswith("-plan-memory.mlir")
    assert names[-1] == "weights.safetensors"
    (fused,) = Path("ir").glob("*-fuse-ops.mlir")
    weights = ["--weights", "ir/weights.safetensors"]
    assert run("compile", "ir/00-import.mlir", *weights, "-o", "again.partita")[0] == 0
    assert opt.main([str(fused), *weights, "-p", "lower-relay-to-te"]) == 0
    assert Path("again.partita").read_bytes() == Path("m.partita").read_bytes()


def test_time_passes(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    _, _, err = run(
        "compile", "m.onnxtxt", "--shape", "N=3", "-o", "m.partita", "--time-passes"
    )
    steps = [line.split()[0] for line in err.splitlines()]
    assert steps[:3] == ["step", "(read)", "simplify-inference"]
    assert steps[-4:] == ["plan-memory", "(code)", "(write)", "total"]


def test_ir_with_weights_beside_it(run: Run) -> None:
    write_ir()
    assert run("compile", "m.mlir", "--entry", "f", "-o", "m.partita")[0] == 0
    x = np.ones(24, np.float32)
    np.save("x.npy", x)
    assert run("run", "m.partita", "--input", "x.npy", "-o", "out.npz")[0] == 0
    with np.load("out.npz") as outputs:
        (result,) = outputs.values()
        np.testing.assert_array_equal(result, 1 + np.arange(24))


def test_code_for_another_machine(run: Run) -> None:
    """It is compiled and inspected here, and run elsewhere."""
    Path("m.onnxtxt").write_text(MODEL)
    where = ["--host-triple", "aarch64-unknown-linux-gnu"]
    if os.uname().machine == "aarch64":
        where = ["--host-triple", "x86_64-unknown-linux-gnu"]
    model = ["m.onnxtxt", "--shape", "N=3"]
    assert run("compile", *model, *where, "-o", "m.partita")[0] == 0
    assert where[1] in run("inspect", "m.partita")[1]
    message = refused(run("run", "m.partita", "--random-inputs", "0"))
    assert re.fullmatch(
        r"m\.partita: compiled for \w+ linux, but this machine is \w+ linux", message
    )


def test_help(run: Run) -> None:
    for arguments in (
        [],
        ["--help"],
        ["compile", "-h"],
        ["run", "-h"],
        ["inspect", "-h"],
    ):
        code, out, _ = run(*arguments)
        assert code == (0 if arguments else 2)
        assert "Usage: partita" in out
    assert run("--version")[1].startswith("partita ")
