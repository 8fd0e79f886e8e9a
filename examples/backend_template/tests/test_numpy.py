"""The target is found, takes what it says that it takes, and computes what the host does."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

import partita

MODEL = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
layer (float[2, 3] x) => (float[2, 4] y)
<float[4, 3] w = {1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1}, float[4] b = {0, 1, 2, 3}> {
    t = Gemm <transB = 1> (x, w, b)
    u = Tanh (t)
    v = Relu (u)
    y = Exp (v)
}
""")

X = np.array([[0, 1, -1], [-0.5, 0.25, 2]], np.float32)


def test_results_are_the_hosts() -> None:
    expected = partita.compile(MODEL).run({"x": X})["y"]
    actual = partita.compile(MODEL, ["numpy"]).run({"x": X})["y"]
    np.testing.assert_allclose(actual, expected, rtol=1e-5)


def test_what_runs_where() -> None:
    explanation = partita.explain(MODEL, ["numpy"])
    placed = {each.op: each for each in explanation.ops}
    assert placed["relay.tanh"].target == "numpy"
    assert placed["relay.dense"].composite == "numpy.linear"
    assert placed["relay.relu"].rejections == {
        "numpy": "numpy has no function for relay.relu"
    }
    assert placed["relay.exp"].rejections["numpy"].startswith("a region of 1 op,")


def test_errors_are_raised_where_asked_for(tmp_path: Path) -> None:
    big = np.full((2, 3), 3e38, np.float32)
    partita.compile(MODEL, ["numpy"]).run({"x": big})
    exe = partita.compile(MODEL, ["numpy{checked=true}"])
    with pytest.raises(partita.PartitaError, match="overflow"):
        exe.run({"x": big})


def test_running_needs_no_compiler(tmp_path: Path) -> None:
    partita.compile(MODEL, ["numpy"]).save(tmp_path / "m.partita")
    program = (
        "import sys, numpy, partita; exe = partita.load(sys.argv[1]);"
        "exe.run({'x': numpy.zeros((2, 3), numpy.float32)});"
        "sys.exit(bool({'xdsl', 'onnx'} & {each.partition('.')[0] for each in sys.modules}))"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "m.partita"], check=True)
