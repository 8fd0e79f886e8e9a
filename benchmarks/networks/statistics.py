"""Batch-norm statistics, measured layer by layer in one run of onnxruntime, and random inputs."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array = NDArray[np.generic]

LEAST_VARIANCE = 0.1
"""Of the layer's mean variance: a channel that few pixels make look constant would otherwise be blown up."""


def random_inputs(model: onnx.ModelProto, seed: int = 0) -> dict[str, Array]:
    """Return one standard-normal float32 array per input that is not an initializer; dynamic dimensions become 1."""
    rng = np.random.default_rng(seed)
    weights = {initializer.name for initializer in model.graph.initializer}
    return {
        value.name: rng.standard_normal(
            [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for value in model.graph.input
        if value.name not in weights
    }


def run_onnxruntime(
    model: onnx.ModelProto, inputs: dict[str, Array], threads: int = 0
) -> list[Array]:
    """Run a model once in onnxruntime on the CPU; results in the order of the model's outputs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs)


def measure_batch_norms(model: onnx.ModelProto, seed: int = 1) -> None:
    """Set mean and variance of each batch norm to those of its input, when the model runs on a random input.

    Every batch norm is replaced by arithmetic that measures as it normalizes, so one run gives all of them,
    each in the presence of those before it. Needs opset 9 to 12, where reductions have an `axes` attribute.
    """
    norms = [node for node in model.graph.node if node.op_type == "BatchNormalization"]
    if not norms:
        return
    measuring = onnx.ModelProto()
    measuring.CopyFrom(model)
    del measuring.graph.node[:], measuring.graph.output[:]
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            measuring.graph.node.extend(_measuring(node))
            for kind in ("mean", "variance"):
                name = f"{node.output[0]}_{kind}"
                measuring.graph.output.append(
                    helper.make_tensor_value_info(
                        name, onnx.TensorProto.FLOAT, [1, None, 1, 1]
                    )
                )
        else:
            measuring.graph.node.append(node)
    results = iter(run_onnxruntime(measuring, random_inputs(model, seed)))
    measured: dict[str, Array] = {}
    for node in norms:
        measured[node.input[3]] = next(results).reshape(-1)
        variance = next(results).reshape(-1).astype(np.float32)
        measured[node.input[4]] = np.maximum(variance, LEAST_VARIANCE * variance.mean())
    _replace(model, measured)


def copy_batch_norms(source: onnx.ModelProto, target: onnx.ModelProto) -> None:
    """Give the batch norms of a model the statistics that another one has under the same names."""
    names = {
        name
        for node in target.graph.node
        if node.op_type == "BatchNormalization"
        for name in node.input[3:]
    }
    arrays = {
        each.name: numpy_helper.to_array(each)
        for each in source.graph.initializer
        if each.name in names
    }
    _replace(target, arrays)


def _replace(model: onnx.ModelProto, arrays: dict[str, Array]) -> None:
    for initializer in model.graph.initializer:
        if initializer.name in arrays:
            array = arrays[initializer.name]
            initializer.CopyFrom(numpy_helper.from_array(array, initializer.name))


def _measuring(node: onnx.NodeProto) -> Iterable[onnx.NodeProto]:
    """Make the nodes that normalize by the statistics of what they get, and output both."""
    data, scale, bias, *_ = node.input
    out = node.output[0]
    epsilon = next((a.f for a in node.attribute if a.name == "epsilon"), 1e-5)

    def named(suffix: str) -> str:
        return f"{out}_{suffix}"

    def make(op: str, inputs: list[str], suffix: str, **attributes: Any):
        return helper.make_node(op, inputs, [named(suffix)], **attributes)

    axes = [0, 2, 3]
    yield make("ReduceMean", [data], "mean", axes=axes, keepdims=1)
    yield make("Sub", [data, named("mean")], "centred")
    yield make("Mul", [named("centred"), named("centred")], "squares")
    yield make("ReduceMean", [named("squares")], "variance", axes=axes, keepdims=1)
    value = helper.make_tensor("", onnx.TensorProto.FLOAT, [], [epsilon])
    yield make("Constant", [], "epsilon", value=value)
    yield make("Add", [named("variance"), named("epsilon")], "shifted")
    yield make("Sqrt", [named("shifted")], "deviation")
    yield make("Div", [named("centred"), named("deviation")], "normal")
    yield make("Unsqueeze", [scale], "scale", axes=[0, 2, 3])
    yield make("Unsqueeze", [bias], "bias", axes=[0, 2, 3])
    yield make("Mul", [named("normal"), named("scale")], "scaled")
    yield helper.make_node("Add", [named("scaled"), named("bias")], [out])
