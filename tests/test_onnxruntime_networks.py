"""Whole networks, divided between the host and onnxruntime, give what the host alone gives."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import pytest
from numpy.typing import NDArray
from test_networks import assert_close

import partita
from networks import light, random_inputs
from partita.runtime import ExternalStep
from partita.targets import C, OnnxRuntime

MOST_OF_THE_REST = 1 << 20
"""Bytes of an artifact beside the weights, each of which is there once."""

Arrays = dict[str, NDArray[Any]]

QUICK = ("shufflenet", "onnxruntime")
"""What is compiled for every change; the others in `make test-full`."""

FULL = pytest.mark.full

NETWORKS = ("resnet50", "densenet121", "inception_v2", "shufflenet")

TARGETS: dict[str, Sequence[OnnxRuntime | C]] = {
    "onnxruntime": (OnnxRuntime(),),
    "convolutions": (OnnxRuntime(ops=("relay.conv2d", "relay.batch_norm")),),
    "c": (C(ops=("relay.conv2d", "relay.batch_norm")),),
    "onnxruntime, c": (OnnxRuntime(ops=("relay.conv2d", "relay.relu")), C()),
}


@cache
def by_host(name: str) -> tuple[onnx.ModelProto, Arrays, Arrays]:
    """Return a network, inputs, and what the host gives on them."""
    model = light(name)
    inputs = random_inputs(model)
    return model, inputs, partita.compile(model, threads=2).run(inputs)


@pytest.mark.parametrize(
    ("name", "targets"),
    [
        pytest.param(name, targets, marks=() if (name, targets) == QUICK else FULL)
        for name in NETWORKS
        for targets in TARGETS
    ],
)
def test_light_graph(name: str, targets: str, tmp_path: Path) -> None:
    model, inputs, expected = by_host(name)
    partita.compile(model, TARGETS[targets], threads=2).save(tmp_path / "m.partita")
    executable = partita.load(tmp_path / "m.partita", threads=2)
    assert any(
        isinstance(step, ExternalStep) for step in executable.artifact.plan.steps
    )
    artifact = executable.artifact
    weights = sum(each.nbytes for each in artifact.weights.values())
    size = (tmp_path / "m.partita").stat().st_size
    assert size <= 1.02 * weights + MOST_OF_THE_REST
    results = executable.run(inputs)
    assert_close(list(results.values()), list(expected.values()))
