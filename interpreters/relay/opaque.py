"""What operators mean that relay does not model: what onnxruntime says."""

from collections.abc import Sequence

import numpy as np
from onnx import helper

from partita.dialects.relay import CarriedOp
from partita.errors import IRError
from partita.shapes import dtype_of, element_of, shape_of
from partita.weights import Array


def run_carried(op: CarriedOp, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Run an op on arrays; raise `IRError` if onnxruntime is not installed, or cannot run it."""
    try:
        import onnxruntime
    except ImportError:
        raise IRError(
            f"{op.name} is run by onnxruntime, which is not installed; install partita[onnxruntime]"
        ) from None
    model = op.model()
    inputs = [each.name for each in model.graph.input]
    outputs = [each.name for each in model.graph.output]
    types = [
        *((each.dtype, each.shape) for each in arrays),
        *((dtype_of(element_of(each)), shape_of(each)) for each in op.results),
    ]
    for info, (dtype, shape) in zip(
        (*model.graph.input, *model.graph.output), types, strict=True
    ):
        code = helper.np_dtype_to_tensor_dtype(dtype)
        info.CopyFrom(helper.make_tensor_value_info(info.name, code, shape))
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), settings, ["CPUExecutionProvider"]
        )
        feed = {
            name: np.ascontiguousarray(array).reshape(array.shape)
            for name, array in zip(inputs, arrays, strict=True)
        }
        return tuple(session.run(outputs, feed))
    except Exception as error:  # onnxruntime raises a dozen types that share no base
        reason = " ".join(str(error).split())
        what = ", ".join(op.operators)
        raise IRError(f"onnxruntime cannot run {what}: {reason}") from None
