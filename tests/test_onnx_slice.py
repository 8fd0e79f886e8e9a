"""Slices whose bounds lie anywhere take what onnxruntime takes."""

from itertools import product
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx_cases.case import interpreted

FAR = 2**63 - 1

STARTS = (-FAR - 1, -(2**31), -6, -5, -1, 0, 2, 4, 5, 9, FAR)
ENDS = (-FAR - 1, -(2**31), -100, -6, -5, -1, 0, 3, 5, 100)
STEPS = (1, 2, -1, -3)
BOUNDS = tuple(product(STARTS, ENDS, STEPS))


def test_bounds_are_cut_to_the_data() -> None:
    """An end before the first element leaves nothing forward, and all backward."""
    x = np.arange(5, dtype=np.float32)
    constants = {"axis": 0} | {
        f"{name}{i}": value
        for i, bounds in enumerate(BOUNDS)
        for name, value in zip(("start", "end", "step"), bounds, strict=True)
    }
    nodes = [
        helper.make_node(
            "Slice", ["x", f"start{i}", f"end{i}", "axis", f"step{i}"], [f"y{i}"]
        )
        for i in range(len(BOUNDS))
    ]
    graph = helper.make_graph(
        nodes,
        "slices",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5])],
        [
            helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, ["n"])
            for node in nodes
        ],
        [
            numpy_helper.from_array(np.array([value]), name)
            for name, value in constants.items()
        ],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    expected: list[Any] = [*session.run(None, {"x": x})]
    found = interpreted(model, {"x": x})
    for bounds, got, want in zip(BOUNDS, found, expected, strict=True):
        np.testing.assert_array_equal(got, want, err_msg=f"start, end, step: {bounds}")
