"""Every opset an op has had: imported and interpreted, against onnxruntime, or numpy where that is too new."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx_cases.case import Case, interpreted, model_of, random_inputs
from onnx_cases.current import CASES
from onnx_cases.old import OLD


@pytest.mark.parametrize("case", CASES, ids=str)
def test_agrees_with_onnxruntime(case: Case) -> None:
    model = model_of(case.opset, case.inputs, case.body, case.weights, case.results)
    inputs = random_inputs(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    expected: list[Any] = [*session.run(None, inputs)]
    actual = interpreted(model, inputs)
    assert len(actual) == len(expected)
    for got, want in zip(actual, expected, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("case", "expect"), OLD, ids=[str(case) for case, _ in OLD])
def test_agrees_with_numpy(case: Case, expect: Callable[[Any], Any]) -> None:
    model = model_of(case.opset, case.inputs, case.body, case.weights, case.results)
    inputs = random_inputs(model)
    expected = expect(SimpleNamespace(**inputs))
    wanted: list[Any] = [*expected] if len(model.graph.output) > 1 else [expected]
    actual = interpreted(model, inputs)
    assert len(actual) == len(wanted)
    for got, want in zip(actual, wanted, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
