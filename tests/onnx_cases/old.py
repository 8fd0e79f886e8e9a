"""Opsets that onnxruntime is too new or too old for, with what numpy says of inputs by name."""

from collections.abc import Callable
from typing import Any

import numpy as np

from onnx_cases.case import Case

X = "float[2,3,4] x"


def _softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


OLD: tuple[tuple[Case, Callable[[Any], Any]], ...] = (
    (
        Case(1, f"{X}, float[3] z", "y = Add <broadcast = 1, axis = 1> (x, z)"),
        lambda v: v.x + v.z[:, None],
    ),
    (
        Case(6, f"{X}, float[3,4] z", "y = Mul <broadcast = 1> (x, z)"),
        lambda v: v.x * v.z,
    ),
    (
        Case(6, f"{X}, float[2,3] z", "y = Sub <broadcast = 1, axis = 0> (x, z)"),
        lambda v: v.x - v.z[..., None],
    ),
    (Case(1, f"{X}, {X.replace(' x', ' z')}", "y = Div (x, z)"), lambda v: v.x / v.z),
    (
        Case(1, X, "y = Less <broadcast = 1> (x, t)", "float t = {0}", "bool[] y"),
        lambda v: v.x < 0,
    ),
    (Case(1, X, "y = Clip <max = 0.5> (x)"), lambda v: np.minimum(v.x, 0.5)),
    (Case(1, X, "y = Relu <consumed_inputs = [0]> (x)"), lambda v: np.maximum(v.x, 0)),
    (
        Case(1, X, "y = Pad <paddings = [0, 1, 0, 0, 0, 2]> (x)"),
        lambda v: np.pad(v.x, ((0, 0), (1, 0), (0, 2))),
    ),
    (Case(1, X, "y = Reshape <shape = [0, -1]> (x)"), lambda v: v.x.reshape(2, 12)),
    (
        Case(1, X, 'y = Cast <to = "INT32"> (x)', results="int32[] y"),
        lambda v: v.x.astype(np.int32),
    ),
    (
        Case(1, X, "y = Tile (x, t, a)", "float t = {2}, float a = {1}"),
        lambda v: np.tile(v.x, (1, 2, 1)),
    ),
    (
        Case(1, f"{X}, float[2,2,4] z", "y = Concat (x, z)"),
        lambda v: np.concatenate((v.x, v.z), 1),
    ),
    (
        Case(
            1,
            X,
            "y, z = Split <axis = 2> (x, s)",
            "float[2] s = {1, 3}",
            "float[] y, float[] z",
        ),
        lambda v: (v.x[..., :1], v.x[..., 1:]),
    ),
    (
        Case(
            1,
            "float[2,3,2,2] x, float[3] s, float[3] b, float[3] m, float[3] v",
            "a = Abs (v) y = BatchNormalization <consumed_inputs = [0, 0, 0, 1, 1], is_test = 1> (x, s, b, m, a)",
        ),
        lambda v: (
            (v.x - v.m[:, None, None])
            / np.sqrt(np.abs(v.v) + np.float32(1e-5))[:, None, None]
            * v.s[:, None, None]
            + v.b[:, None, None]
        ),
    ),
    (
        Case(
            7,
            "float[2,3,2] x, float[3,2] s, float[3,2] b, float[3,2] m, float[3,2] v",
            "a = Abs (v) y = BatchNormalization <spatial = 0> (x, s, b, m, a)",
        ),
        lambda v: (v.x - v.m) / np.sqrt(np.abs(v.v) + np.float32(1e-5)) * v.s + v.b,
    ),
    (Case(6, X, "y = Dropout <is_test = 1> (x)"), lambda v: v.x),
    (
        Case(6, "float[2,3,4] x, float[3] s", "y = PRelu (x, s)"),
        lambda v: v.x * np.where(v.x < 0, v.s[:, None], 1),
    ),
    (
        Case(
            6,
            "float[2,3] a, float[3,4] b, float[4] c",
            "y = Gemm <broadcast = 1> (a, b, c)",
        ),
        lambda v: v.a @ v.b + v.c,
    ),
    (Case(6, "float[2,3] x", "y = Softmax (x)"), lambda v: _softmax(v.x)),
    (
        Case(1, X, "y = GlobalLpPool <p = 1.0> (x)"),
        lambda v: np.abs(v.x).sum(2, keepdims=True),
    ),
    (
        Case(6, f"{X}, {X.replace(' x', ' z')}", "y = Max (x, z)"),
        lambda v: np.maximum(v.x, v.z),
    ),
    (
        Case(28, X, "y = Swish <alpha = 2.0> (x)"),
        lambda v: v.x / (1 + np.exp(-2 * v.x)),
    ),
    (
        Case(28, f"{X}, float[4] s", "y = RMSNormalization (x, s)"),
        lambda v: v.x / np.sqrt((v.x * v.x).mean(-1, keepdims=True) + 1e-5) * v.s,
    ),
    (
        Case(28, X, "y = Softmax <axis = 1> (x)"),
        lambda v: _softmax(v.x),
    ),
)
