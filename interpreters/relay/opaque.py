"""What operators mean that relay does not model: what onnxruntime says."""

from collections.abc import Sequence

import numpy as np
from onnx import helper

from partita.dialects.relay import OnnxNodeOp
from partita.errors import IRError
from partita.shapes import dtype_of, element_of, shape_of
from partita.weights import Array


def run_node(op: OnnxNodeOp, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Run an operator on arrays; raise `IRError` if onnxruntime is not installed, or cannot run it."""
    try:
        import onnxruntime
    except ImportError:
        raise IRError(
            f"{op.name} is run by onnxruntime, which is not installed; install partita[onnxruntime]"
        ) from None
    inputs = [f"input{index}" for index in range(len(arrays))]
    outputs = [f"output{index}" for index in range(len(op.results))]
    types = [
        *((each.dtype, each.shape) for each in arrays),
        *((dtype_of(element_of(each)), shape_of(each)) for each in op.results),
    ]
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(dtype), shape
        )
        for name, (dtype, shape) in zip((*inputs, *outputs), types, strict=True)
    ]
    graph = helper.make_graph(
        [op.node(inputs, outputs)], "node", infos[: len(inputs)], infos[len(inputs) :]
    )
    opset = helper.make_opsetid(op.domain.data, op.version.value.data)
    model = helper.make_model(
        graph,
        opset_imports=[opset],
        ir_version=helper.find_min_ir_version_for([opset], ignore_unknown=True),
    )
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
        raise IRError(f"onnxruntime cannot run {op.op_type.data}: {reason}") from None
