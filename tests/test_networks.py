"""Whole networks give what onnxruntime gives: compiled, and interpreted on small images."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

import partita
from networks import LIGHT, light, mobilenet, random_inputs, resnet18, transformer
from networks.statistics import run_onnxruntime
from partita.interpreters import interpret

TOLERANCE = 1e-4
"""Of the range of an output."""

SMALL_IMAGES = {"bvlc_alexnet": 128, "zfnet512": 128}

QUICK = ("squeezenet", "shufflenet")
"""Networks that are compiled for every change; the others in `make test-full`."""

MADE: dict[str, Callable[[], onnx.ModelProto]] = {
    "resnet18": resnet18,
    "mobilenet": mobilenet,
    "transformer": transformer,
}


def assert_close(actual: list[NDArray[Any]], expected: list[NDArray[Any]]) -> None:
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        spread = max(float(np.ptp(theirs)), 1e-30)
        assert float(np.abs(ours - theirs).max()) <= TOLERANCE * spread


def compiled(model: onnx.ModelProto, threads: int) -> None:
    inputs = random_inputs(model)
    expected = run_onnxruntime(model, inputs)
    executable = partita.compile(model, threads=threads)
    assert_close(list(executable.run(inputs).values()), expected)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.full)
        for name in LIGHT
    ],
)
def test_light_graph_compiled(name: str) -> None:
    compiled(light(name), threads=2)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.full), 2])
def test_made_network_compiled(name: str, threads: int) -> None:
    compiled(MADE[name](), threads)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.full)
        for name in LIGHT
    ],
)
def test_light_graph_interpreted(name: str) -> None:
    model = light(name, SMALL_IMAGES.get(name, 64))
    inputs = random_inputs(model)
    results = interpret(partita.load_onnx(model), inputs)
    assert_close(list(results.values()), run_onnxruntime(model, inputs))
