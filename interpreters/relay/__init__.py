"""What relay means, on numpy arrays: the oracle that every lower level is compared with.

ONNX semantics: integers wrap, their quotients are truncated, NaN propagates through maxima, halves
round to even. f16 is computed in f32 and rounded once; sums of f32 are accumulated in f32 or better.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from partita.dialects.relay import CarriedOp, RelayOp
from partita.interpreters.relay.elementwise import ELEMENTWISE, RelayImpl
from partita.interpreters.relay.nn import NN
from partita.interpreters.relay.opaque import run_carried
from partita.interpreters.relay.reduction import REDUCTIONS
from partita.interpreters.relay.tensor import TENSORS
from partita.shapes import dtype_of, element_of
from partita.weights import Array

RELAY: Mapping[type[RelayOp], RelayImpl] = {
    **ELEMENTWISE,
    **REDUCTIONS,
    **NN,
    **TENSORS,
}
"""What each op means that relay models."""

_HALF = np.dtype(np.float16)


def evaluate(op: RelayOp, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the results of an op on arrays, which may share memory with them.

    Raises `WeightsError` for a constant whose weight is not loaded.
    """
    if isinstance(op, CarriedOp):
        return run_carried(op, arrays)
    if any(array.dtype == _HALF for array in arrays):
        arrays = [
            array.astype(np.float32) if array.dtype == _HALF else array
            for array in arrays
        ]
    with np.errstate(all="ignore"):
        results = RELAY[type(op)](op, *arrays)
        if not isinstance(results, tuple):
            results = (results,)
        return tuple(
            np.asarray(result, dtype_of(element_of(value)))
            for result, value in zip(results, op.results, strict=True)
        )


__all__ = ["RELAY", "RelayImpl", "evaluate"]
