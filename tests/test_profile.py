"""Where the time of a run goes: what kernels do, when steps ran, and what the machine can do."""

import json

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import parser

import partita
from partita.errors import OptionError
from partita.runtime import KernelStep
from partita.runtime.json_reader import Node
from partita.runtime.peaks import measure_peaks
from partita.runtime.plan import NO_WORK, CopyStep
from partita.runtime.profiler import profile

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[64, 32] x, float[32, 48] w, float[4, 4] z) => (float[64, 48] y, float[4, 4] same) {
    [matmul] p = MatMul(x, w)
    [relu] y = Relu(p)
    [copy] same = Identity(z)
}
"""


@pytest.fixture(scope="module")
def executable() -> partita.Executable:
    return partita.compile(parser.parse_model(MODEL))


def inputs() -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(0)
    shapes = {"x": (64, 32), "w": (32, 48), "z": (4, 4)}
    return {name: rng.standard_normal(shape, "f") for name, shape in shapes.items()}


def test_work_of_a_product(executable: partita.Executable) -> None:
    """A product and a maximum for each result; every buffer moves once, whatever loops do in between."""
    kernels = [s for s in executable.artifact.plan.steps if isinstance(s, KernelStep)]
    product = [each for each in kernels if "matmul" in each.origin]
    operations = sum(each.work.operations for each in product)
    assert operations == 2 * 64 * 32 * 48 + 64 * 48
    nbytes = sum(each.work.nbytes for each in product)
    assert nbytes >= 4 * (64 * 32 + 32 * 48 + 64 * 48)


def test_steps_have_times_in_order(executable: partita.Executable) -> None:
    found = profile(executable, inputs(), runs=3)
    assert found.runs == 3
    assert len(found.steps) == len(executable.artifact.plan.steps) == len(found.moments)
    begins, ends = found.moments.T
    assert begins[0] == 0
    assert (ends >= begins).all()
    assert (begins[1:] >= ends[:-1]).all()
    for each in found.steps:
        assert 0 < each.fastest <= each.seconds <= found.seconds * found.runs
    assert any(isinstance(step, CopyStep) for step in executable.steps)


@pytest.mark.parametrize("threads", [1, 2])
def test_timed_runs_compute_the_same(
    executable: partita.Executable, threads: int
) -> None:
    timed = partita.Executable(executable.artifact, threads=threads, timed=True)
    given = inputs()
    np.testing.assert_array_equal(timed.run(given)["y"], executable.run(given)["y"])
    first = timed.step_times()
    timed.run(given)
    assert (timed.step_times()[:, 0] >= first[-1, 1]).all()
    timed.close()


def test_layers_put_stages_together(executable: partita.Executable) -> None:
    found = profile(executable, inputs(), runs=1)
    layers = found.layers()
    assert len({(each.origin or each.name, each.target) for each in layers}) == len(
        layers
    )
    for what in ("seconds", "operations", "nbytes"):
        total = sum(getattr(each, what) for each in found.steps)
        assert sum(getattr(each, what) for each in layers) == pytest.approx(total)


def test_external_steps_are_timed() -> None:
    pytest.importorskip("onnxruntime")
    divided = partita.compile(parser.parse_model(MODEL), targets=["onnxruntime"])
    found = partita.profile(divided, inputs(), runs=2)
    outside = [each for each in found.steps if each.target == "onnxruntime"]
    assert outside
    assert all(each.seconds > 0 and not each.operations for each in outside)


def test_what_cannot_be_profiled(executable: partita.Executable) -> None:
    with pytest.raises(OptionError, match="expected at least 1 run, got 0"):
        profile(executable, inputs(), runs=0)
    with pytest.raises(OptionError, match="expected an executable that is timed"):
        executable.step_times()


def test_peaks_are_those_of_a_machine() -> None:
    peaks = measure_peaks(1)
    assert 1e8 < peaks.operations < 1e13
    assert 1e8 < peaks.nbytes < 1e13


def test_plans_without_work_are_read(executable: partita.Executable) -> None:
    step = next(s for s in executable.artifact.plan.steps if isinstance(s, KernelStep))
    assert step.work != NO_WORK
    data = step.json()
    assert KernelStep.read(Node.parse(json.dumps(data).encode(), "plan")) == step
    del data["work"]
    old = KernelStep.read(Node.parse(json.dumps(data).encode(), "plan"))
    assert old.work == NO_WORK
