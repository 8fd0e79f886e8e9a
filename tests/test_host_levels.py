"""Every level gives the same values, on random graphs: relay, te, tir, scheduled tir, compiled code, and onnxruntime."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from compiled import HOST, assemble, run
from hypothesis import given, settings
from numpy.typing import NDArray
from onnx_graphs import random_model
from relay_cases import Case
from relay_cases.graphs import graphs
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import partita
from partita.analysis.verification import verify
from partita.driver import context
from partita.interpreters import interpret
from partita.interpreters.scalar import Array
from partita.runtime import Artifact, Machine
from partita.transforms.lower_relay_to_te import LowerRelayToTePass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.split_stages import SplitStagesPass

Doubles = NDArray[np.float64]

SHOWN: Mapping[type[ModulePass], str] = {
    LowerRelayToTePass: "te",
    LowerTeToTirPass: "tir",
    SplitStagesPass: "scheduled tir",
}
"""After which passes a module is interpreted, and what that level is called."""

NOISE = 1e-6
"""How far inputs are moved to see how results depend on rounding."""


def sensitivity(module: ModuleOp, inputs: Sequence[Array]) -> list[Doubles]:
    """Return by how much results change if inputs change by about ten roundings."""
    moved = [
        np.multiply(each, 1 + NOISE, dtype=each.dtype)
        if each.dtype.kind == "f"
        else each
        for each in inputs
    ]
    return [
        np.abs(after.astype(np.float64) - before.astype(np.float64))
        for after, before in zip(
            interpret(module, moved), interpret(module, inputs), strict=True
        )
    ]


def compare(
    level: str, got: Sequence[Array], want: Sequence[Array], noise: Sequence[Doubles]
) -> None:
    """Compare integers exactly, floats to 1e-5 of the range and what rounding of inputs does."""
    assert len(got) == len(want)
    for one, other, moves in zip(got, want, noise, strict=True):
        assert one.shape == other.shape, level
        assert one.dtype == other.dtype, level
        if other.dtype.kind != "f":
            np.testing.assert_array_equal(one, other, level)
            continue
        wide = other.astype(np.float64)
        finite = np.abs(wide[np.isfinite(wide)])
        allowed = 1e-5 * max(1.0, float(finite.max(initial=0)))
        allowed += 10 * float(moves[np.isfinite(moves)].max(initial=0))
        np.testing.assert_allclose(
            one.astype(np.float64), wide, rtol=0, atol=allowed, err_msg=level
        )


def run_on_threads(artifact: Artifact, inputs: Sequence[Array]) -> list[Array]:
    """Run on one thread and on two, which must not matter at all."""
    alone, together = (run(artifact, inputs, threads) for threads in (1, 2))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
    return alone


def levels(
    module: ModuleOp, inputs: Sequence[Array]
) -> Iterator[tuple[str, Sequence[Array]]]:
    """Lower a module; give the results at each level and of compiled code."""
    machine = Machine.host()
    for each in HOST.pipeline(module, machine):
        each.apply(context(), module)
        verify(module)
        if type(each) in SHOWN:
            yield SHOWN[type(each)], interpret(module, inputs)
    yield "compiled", run_on_threads(assemble(module, machine), inputs)


def check_levels(case: Case) -> None:
    inputs = case.inputs()
    expected = case.expected(inputs)
    noise = sensitivity(case.module(), inputs)
    for level, results in levels(case.module(), inputs):
        # Buffers do not tell unsigned integers from signed ones.
        seen = [
            each.view(other.dtype) if other.dtype.kind == "u" else each
            for each, other in zip(results, expected, strict=True)
        ]
        compare(level, seen, expected, noise)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(graphs(30))
def test_relay_graphs(case: Case) -> None:
    check_levels(case)


@pytest.mark.full
@settings(max_examples=400, deadline=None)
@given(graphs(60))
def test_many_relay_graphs(case: Case) -> None:
    check_levels(case)


def check_model(model: onnx.ModelProto) -> None:
    """Compare the interpreter and compiled code with onnxruntime."""
    rng = np.random.default_rng(0)
    inputs = {
        each.name: rng.uniform(
            -2, 2, [dim.dim_value for dim in each.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for each in model.graph.input
    }
    session = ort.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    expected = session.run(None, inputs)
    module = partita.load_onnx(model)
    given = list(inputs.values())
    noise = sensitivity(module, given)
    compare("relay", interpret(module, given), expected, noise)
    artifact = partita.compile_artifact(module, [HOST])
    compare("compiled", run_on_threads(artifact, given), expected, noise)


@pytest.mark.parametrize("seed", range(25))
def test_onnx_graphs(seed: int) -> None:
    check_model(random_model(seed))


@pytest.mark.parametrize("seed", range(5))
def test_large_onnx_graphs(seed: int) -> None:
    check_model(random_model(seed, large=True))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_large_onnx_graphs(seed: int) -> None:
    check_model(random_model(seed, large=True))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_onnx_graphs(seed: int) -> None:
    check_model(random_model(seed))
