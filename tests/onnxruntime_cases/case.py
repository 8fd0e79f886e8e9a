"""One ONNX node, and the relay op that should be the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import helper, numpy_helper
from xdsl.dialects import test as xdsl_test
from xdsl.ir import SSAValue

from partita.dialects.relay import RelayOp
from partita.interpreters import evaluate
from partita.shapes import element_type, tensor_of
from partita.weights import Array

OPSET = 20

Build = Callable[..., RelayOp]


@dataclass(frozen=True)
class Case:
    """One ONNX node and the relay op that should be the same."""

    onnx: str
    build: Build
    inputs: tuple[Array, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    constants: tuple[Array, ...] = ()
    """Further inputs of the ONNX node that relay has as attributes."""
    ulps: float = 0
    """Tolerance in units of the result's precision, of the largest result; 0 is exact."""

    def __str__(self) -> str:
        attributes = ",".join(f"{k}={v}" for k, v in self.attributes.items())
        shapes = ",".join(
            f"{each.dtype.name}{list(each.shape)}" for each in self.inputs
        )
        return f"{self.onnx}({shapes}){attributes}".replace(" ", "")


def from_relay(build: Build, inputs: Sequence[Array]) -> tuple[Array, ...]:
    types = [tensor_of(each.shape, element_type(each.dtype)) for each in inputs]
    values: Sequence[SSAValue] = xdsl_test.TestOp(result_types=types).results
    op = build(*values)
    op.verify()
    return evaluate(op, inputs)


def from_onnxruntime(case: Case, dtypes: Sequence[np.dtype[np.generic]]) -> list[Array]:
    names = [f"i{index}" for index in range(len(case.inputs))]
    constants = [f"c{index}" for index in range(len(case.constants))]
    results = [f"o{index}" for index in range(len(dtypes))]
    node = helper.make_node(
        case.onnx, [*names, *constants], results, **dict(case.attributes)
    )
    graph = helper.make_graph(
        [node],
        "one",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape
            )
            for name, each in zip(names, case.inputs, strict=True)
        ],
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(dtype), None
            )
            for name, dtype in zip(results, dtypes, strict=True)
        ],
        [
            numpy_helper.from_array(each, name)
            for name, each in zip(constants, case.constants, strict=True)
        ],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9
    )
    session = ort.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(zip(names, case.inputs, strict=True)))


GENERATOR = np.random.default_rng(7)

F = "float32"


def rand(*shape: int, dtype: str = F, low: float = -3, high: float = 3) -> Array:
    """Return random numbers, whole ones for integers."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return GENERATOR.uniform(low, high, shape).astype(kind)
    if kind.kind == "b":
        return GENERATOR.random(shape) < 0.5
    low = max(low, np.iinfo(kind).min)
    return GENERATOR.integers(int(low), int(high), shape, kind, endpoint=True)


def special(dtype: str = F) -> Array:
    """Return numbers at which functions are peculiar."""
    return np.array(
        [
            0.0,
            -0.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -2.5,
            1,
            -1,
            np.inf,
            -np.inf,
            np.nan,
            3e-5,
            20,
        ],
        dtype,
    )
