"""Layers that are no convolution or product, beside onnxruntime.

`python benchmarks/kernels.py [--threads 1] [--rounds 30] [--seconds 0.02] [--only softmax]`

Each is a model of its own. Both engines run it in turn on the same input; times are the fastest of `rounds` bursts of
`seconds`, GB/s count input and output once. Error is the largest difference, over the range of the output.
"""

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
from bursts import fastest
from onnx import TensorProto, helper
from rich.console import Console
from rich.table import Table

import partita

Shape = tuple[int, ...]
Layer = tuple[str, Shape, Mapping[str, Any]]

LAYERS: tuple[Layer, ...] = (
    ("Softmax", (12, 128, 128), {}),
    ("Softmax", (1, 1000), {}),
    ("Softmax", (8, 512, 512), {}),
    ("Softmax", (1, 21, 64, 64), {"axis": 1}),
    ("LogSoftmax", (64, 1000), {}),
    ("LayerNormalization", (128, 384), {}),
    ("LayerNormalization", (128, 1024), {}),
    ("ReduceMean", (128, 384), {"axes": [1]}),
    ("ReduceSum", (64, 4096), {"axes": [1]}),
    ("ReduceMax", (64, 4096), {"axes": [1]}),
    ("ReduceMax", (64, 4096), {"axes": [0]}),
    ("ReduceMean", (1, 256, 56, 56), {"axes": [2, 3]}),
    ("ReduceL2", (64, 4096), {"axes": [1]}),
    ("ArgMax", (64, 1000), {"axis": 1}),
    ("GlobalAveragePool", (1, 1024, 7, 7), {}),
    (
        "MaxPool",
        (1, 64, 112, 112),
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4},
    ),
    (
        "AveragePool",
        (1, 256, 28, 28),
        {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1] * 4},
    ),
    ("Transpose", (512, 512), {"perm": [1, 0]}),
    ("Transpose", (1000, 37), {"perm": [1, 0]}),
    ("Transpose", (128, 12, 32), {"perm": [1, 0, 2]}),
    ("Transpose", (128, 12, 32), {"perm": [1, 2, 0]}),
    ("Transpose", (1, 64, 56, 56), {"perm": [0, 2, 3, 1]}),
    ("Transpose", (1, 56, 56, 64), {"perm": [0, 3, 1, 2]}),
    ("Transpose", (1, 4, 60, 28, 28), {"perm": [0, 2, 1, 3, 4]}),
    ("Relu", (1, 64, 112, 112), {}),
    ("Gelu", (128, 1536), {}),
    ("Sigmoid", (1, 64, 56, 56), {}),
    ("Tanh", (128, 1536), {}),
)


def model(layer: Layer) -> onnx.ModelProto:
    """Return a graph of one node."""
    op, shape, attributes = layer
    names, weights = ["x"], list[onnx.TensorProto]()
    attributes = dict(attributes)
    if op == "LayerNormalization":
        for name in ("scale", "bias"):
            names.append(name)
            values = np.linspace(0.5, 1.5, shape[-1], dtype=np.float32)
            weights.append(onnx.numpy_helper.from_array(values, name))
    if "axes" in attributes:
        names.append("axes")
        axes = np.array(attributes.pop("axes"), np.int64)
        weights.append(onnx.numpy_helper.from_array(axes, "axes"))
    type = TensorProto.INT64 if op == "ArgMax" else TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], name="layer", **attributes)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", type, None)],
        weights,
    )
    opset = helper.make_opsetid("", 20)
    made = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    return onnx.shape_inference.infer_shapes(made)


def name_of(layer: Layer) -> str:
    """Return how the table calls a layer."""
    op, shape, attributes = layer
    which = " ".join(
        f"{key}={attributes[key]}"
        for key in ("axes", "axis", "perm")
        if key in attributes
    )
    return f"{op} {'x'.join(map(str, shape))} {which}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.02)
    parser.add_argument("--only", default="", help="part of the layers' names")
    arguments = parser.parse_args()
    table = Table(
        title=f"single layers, float32, threads: {arguments.threads}; times in µs"
    )
    table.add_column("layer")
    for column in ("partita", "onnxruntime", "ratio", "GB/s", "error"):
        table.add_column(column, justify="right")
    for layer in LAYERS:
        if arguments.only.lower() not in name_of(layer).lower():
            continue
        made = model(layer)
        x = np.random.default_rng(0).standard_normal(layer[1], dtype=np.float32)
        inputs = {"x": x}
        exe = partita.compile(made, ["host"])
        exe.set_threads(arguments.threads)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = arguments.threads
        session = onnxruntime.InferenceSession(
            made.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        ours: Any = exe.run(inputs)["y"]
        theirs: Any = session.run(None, inputs)[0]
        times = fastest(
            {
                "partita": lambda exe=exe, inputs=inputs: exe.run(inputs),
                "onnxruntime": lambda session=session, inputs=inputs: session.run(
                    None, inputs
                ),
            },
            arguments.rounds,
            arguments.seconds,
            arguments.threads,
        )
        error = np.abs(ours - theirs).max() / max(float(np.ptp(theirs)), 1e-30)
        table.add_row(
            name_of(layer),
            *(f"{time * 1e6:.1f}" for time in times.values()),
            f"{times['partita'] / times['onnxruntime']:.2f}",
            f"{(x.nbytes + ours.nbytes) / times['partita'] / 1e9:.1f}",
            f"{error:.0e}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
