"""ONNX nodes in many variants, each with the relay op that should be the same."""

from onnxruntime_cases.case import Case, from_onnxruntime, from_relay
from onnxruntime_cases.elementwise import binary, unary
from onnxruntime_cases.nn import pools, products
from onnxruntime_cases.reduction import normalizations, reductions
from onnxruntime_cases.tensor import tensors

CASES: tuple[Case, ...] = (
    *unary(),
    *binary(),
    *reductions(),
    *normalizations(),
    *products(),
    *pools(),
    *tensors(),
)
"""All nodes, on inputs that are the same in every run."""

__all__ = ["CASES", "Case", "from_onnxruntime", "from_relay"]
