"""Which element types onnxruntime's processor kernels take, and which types can stand in for others.

ONNX allows more types than there are kernels for; a model with such a type does not load. `f16` is
in no list: where a kernel lacks it, onnxruntime itself computes in `f32` and rounds.
"""

from collections.abc import Mapping

import numpy as np

DType = np.dtype[np.generic]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FLOAT = _names("float32")
_FLOATS = _names("float32 float64")
_SUMS = _names("float32 float64 int32 int64")
_EXTREMES = _names("float32 float64 int32 int64 int8 uint8 bool")
_LIMITS = _names("float32 float64 int32 int64 int8 uint8 uint32 uint64")

KERNELS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("Erf", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh"), _FLOAT),
    **dict.fromkeys(("Asinh", "Acosh", "Atanh"), _FLOAT),
    **dict.fromkeys(("LRN", "Conv", "AveragePool", "LeakyRelu", "HardSigmoid"), _FLOAT),
    **dict.fromkeys(("Relu", "BatchNormalization", "LayerNormalization"), _FLOATS),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Gemm"), _FLOATS),
    **dict.fromkeys(("Exp", "Log", "Sqrt", "Reciprocal", "Tanh", "Sigmoid"), _FLOATS),
    **dict.fromkeys(("Floor", "Ceil", "Round", "Sin", "Cos"), _FLOATS),
    **dict.fromkeys(("ReduceSum", "ReduceProd", "Pow"), _SUMS),
    **dict.fromkeys(("ReduceMax", "ReduceMin"), _EXTREMES),
    **dict.fromkeys(("ArgMax", "ArgMin"), _EXTREMES - {"bool"}),
    **dict.fromkeys(("Max", "Min", "Clip"), _LIMITS),
    "MatMul": _names("float32 float64 int32 int64 uint32 uint64"),
    "MaxPool": _names("float32 float64 int8 uint8"),
    "Neg": _names("float32 float64 int8 int16 int32 int64"),
    "Pad": _LIMITS | {"bool"},
    "Where": _names("float32 float64 int8 int32 int64 uint8 uint32"),
}
"""For each operator, the element types of its kernels; an operator that is not listed takes all."""

STAND_INS: Mapping[str, tuple[str, ...]] = {
    "int8": ("int32", "int64"),
    "uint8": ("int32", "int64"),
    "int16": ("int32", "int64"),
    "uint16": ("int32", "int64"),
    "uint32": ("int64",),
    "uint64": ("int64",),
    "bool": ("uint8", "int32"),
}
"""Types that hold every value of a type; for `uint64`, which no type holds, one that has as many values.

Sums and products in them are right modulo the width of the narrower type. Only the order of
`uint64` is lost.
"""


def has_kernel(op_type: str, dtype: DType) -> bool:
    """Say whether a kernel takes elements of a type."""
    kernels = KERNELS.get(op_type)
    return kernels is None or dtype.name in kernels or dtype.name == "float16"


def stand_in(op_type: str, dtype: DType) -> DType | None:
    """Return the type in which an operator is computed: its own if a kernel has it, `None` if nothing will do."""
    if has_kernel(op_type, dtype):
        return dtype
    for name in STAND_INS.get(dtype.name, ()):
        if name in KERNELS[op_type]:
            return np.dtype(name)
    return None
