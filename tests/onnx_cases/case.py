"""What a case is: a model of a few nodes, in ONNX's text syntax, and its inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx.parser
from numpy.typing import NDArray

from partita.frontends.onnx import import_onnx
from partita.interpreters import interpret

Array = NDArray[Any]


def model_of(
    opset: int, inputs: str, body: str, weights: str = "", results: str = "float[] y"
) -> onnx.ModelProto:
    """Make a model in ONNX's text syntax."""
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]> case ({inputs}) => ({results}) <{weights}> {{ {body} }}'
        if weights
        else f'<ir_version: 8, opset_import: ["" : {opset}]> case ({inputs}) => ({results}) {{ {body} }}'
    )


def random_inputs(model: onnx.ModelProto) -> dict[str, Array]:
    """Make inputs of the types that the model declares, dynamic dimensions 2."""
    rng = np.random.default_rng(0)
    made: dict[str, Array] = {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        shape = [
            dim.dim_value if dim.HasField("dim_value") else 2
            for dim in tensor.shape.dim
        ]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if dtype == np.bool_:
            made[value.name] = rng.integers(0, 2, shape).astype(np.bool_)
        elif dtype.kind in "iu":
            made[value.name] = rng.integers(0, 9, shape).astype(dtype)
        else:
            made[value.name] = rng.standard_normal(shape).astype(dtype)
    return made


def interpreted(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    module = import_onnx(model)
    module.verify()
    return list(interpret(module, inputs).values())


@dataclass(frozen=True)
class Case:
    """A model of a few nodes."""

    opset: int
    inputs: str
    body: str
    weights: str = ""
    results: str = "float[] y"

    def __str__(self) -> str:
        return f"{self.opset}: {self.body}"
