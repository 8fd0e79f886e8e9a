"""The node tests of the `onnx` package, and the lists of those that pass, compiled.

`passing.txt` is what the host runs, `passing_onnxruntime.txt` what is run with onnxruntime as well. Both are enforced by
`tests/test_onnx_nodes.py`. After an op has been added,

```console
$ PYTHONPATH=tests .venv/bin/python -m onnx_nodes
```

runs all of them and writes the lists anew.
"""

import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from partita.tools.onnx_backend import PartitaBackend

FOLDER = Path(__file__).parent

HOST, ONNXRUNTIME = FOLDER / "passing.txt", FOLDER / "passing_onnxruntime.txt"

TARGETS: Mapping[Path, Sequence[str]] = {HOST: (), ONNXRUNTIME: ("onnxruntime",)}
"""What is compiled for, by the list of what passes."""


def listed(passing: Path) -> tuple[str, ...]:
    """Return the names of the tests that must pass."""
    return tuple(passing.read_text().split())


@cache
def node_tests() -> Mapping[str, TestCase]:
    """Make the node tests, which takes some seconds; numpy warns of some on the way."""
    os.environ.setdefault("ONNX_HOME", tempfile.gettempdir())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {each.name: each for each in load_model_tests(kind="node")}


def run(test: TestCase, targets: Sequence[str] = ()) -> None:
    """Compile a model and run it on the inputs of its test; raises where results are not those expected."""
    assert test.model is not None
    assert test.data_sets is not None
    prepared = PartitaBackend.prepare(test.model, targets=targets)
    for inputs, expected in test.data_sets:
        outputs = prepared.run([_array(each) for each in inputs])
        Runner.assert_similar_outputs(
            [_array(each) for each in expected],
            outputs,
            rtol=test.rtol,
            atol=test.atol,
        )


def _array(value: NDArray[np.generic] | onnx.TensorProto) -> NDArray[np.generic]:
    """Return an array; the tests hold tensors too, whatever their types say."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value
