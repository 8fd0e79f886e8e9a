"""The relay interpreter gives what onnxruntime gives, and what ONNX has no op for."""

import numpy as np
import pytest
from onnxruntime_cases import CASES, Case, from_onnxruntime, from_relay

from partita.dialects import relay
from partita.interpreters.relay import RELAY


@pytest.mark.parametrize("case", CASES, ids=str)
def test_agrees_with_onnxruntime(case: Case) -> None:
    results = from_relay(case.build, case.inputs)
    expected = from_onnxruntime(case, [each.dtype for each in results])
    for got, wanted in zip(results, expected, strict=True):
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
        if case.ulps:
            finite = wanted[np.isfinite(wanted)]
            scale = np.max(np.abs(finite), initial=1e-30)
            limit = case.ulps * np.finfo(wanted.dtype.name).eps * scale
            np.testing.assert_allclose(
                got.astype(np.float64), wanted.astype(np.float64), rtol=0, atol=limit
            )
        else:
            np.testing.assert_array_equal(got, wanted)


def test_every_op_has_a_meaning() -> None:
    assert set(RELAY) == set(relay.ALL_OPS)
