"""The relay interpreter gives what onnxruntime gives, wherever ONNX has the op."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects import test as xdsl_test
from xdsl.ir import SSAValue

from partita.dialects import relay
from partita.dialects.relay import RelayOp
from partita.interpreters import evaluate
from partita.interpreters.relay import RELAY
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


def unary() -> list[Case]:
    plain: list[tuple[str, Build, float]] = [
        ("Relu", relay.ReluOp, 0),
        ("Neg", relay.NegativeOp, 0),
        ("Abs", relay.AbsOp, 0),
        ("Sign", relay.SignOp, 0),
        ("Exp", relay.ExpOp, 4),
        ("Log", relay.LogOp, 4),
        ("Sqrt", relay.SqrtOp, 1),
        ("Reciprocal", relay.ReciprocalOp, 1),
        ("Tanh", relay.TanhOp, 8),
        ("Sigmoid", relay.SigmoidOp, 8),
        ("Erf", relay.ErfOp, 8),
        ("Floor", relay.FloorOp, 0),
        ("Ceil", relay.CeilOp, 0),
        ("Round", relay.RoundOp, 0),
        ("Sin", relay.SinOp, 4),
        ("Cos", relay.CosOp, 4),
        ("Tan", relay.TanOp, 4),
        ("Asin", relay.AsinOp, 4),
        ("Acos", relay.AcosOp, 4),
        ("Atan", relay.AtanOp, 4),
        ("Sinh", relay.SinhOp, 4),
        ("Cosh", relay.CoshOp, 4),
        ("Asinh", relay.AsinhOp, 4),
        ("Acosh", relay.AcoshOp, 4),
        ("Atanh", relay.AtanhOp, 4),
        ("IsNaN", relay.IsNanOp, 0),
    ]
    finite = special()[np.isfinite(special())]
    # onnxruntime's vectorized functions do not agree with themselves on infinities and NaN.
    bounded = {"Tanh", "Sigmoid", "Erf", "Sign", "Exp"}
    cases = [
        Case(name, build, (finite if name in bounded else special(),), ulps=ulps)
        for name, build, ulps in plain
    ]
    cases += [
        Case(name, build, (rand(3, 4, 5),), ulps=ulps) for name, build, ulps in plain
    ]
    cases += [
        Case(name, build, (rand(4, 3, dtype=dtype, low=-100, high=100),))
        for name, build in (("Neg", relay.NegativeOp), ("Abs", relay.AbsOp))
        for dtype in ("int8", "int32", "int64")
    ]
    cases += [
        Case("Not", relay.LogicalNotOp, (rand(3, 4, dtype="bool"),)),
        Case("BitwiseNot", relay.BitwiseNotOp, (rand(9, dtype="int32", high=99),)),
        Case("BitwiseNot", relay.BitwiseNotOp, (rand(9, dtype="uint8", high=99),)),
    ]
    cases += [
        Case(
            "IsInf",
            partial(relay.IsInfOp, positive=positive, negative=negative),
            (special(),),
            {"detect_positive": int(positive), "detect_negative": int(negative)},
        )
        for positive in (False, True)
        for negative in (False, True)
    ]
    cases += [
        Case(
            "LeakyRelu",
            partial(relay.LeakyReluOp, alpha=0.25),
            (rand(3, 4),),
            {"alpha": 0.25},
        ),
        Case(
            "HardSigmoid",
            partial(relay.HardSigmoidOp, alpha=0.25, beta=0.5),
            (rand(3, 4),),
            {"alpha": 0.25, "beta": 0.5},
            ulps=1,
        ),
        Case("Trunc", relay.TruncOp, ()),
    ]
    for dtype in (F, "float64", "int8", "uint8", "int32", "int64"):
        low, high = np.array(1, dtype), np.array(2, dtype)
        cases.append(
            Case(
                "Clip",
                partial(relay.ClipOp, minimum=1, maximum=2),
                (rand(20, dtype=dtype),),
                constants=(low, high),
            )
        )
    types = {
        "float32": TensorProto.FLOAT,
        "float16": TensorProto.FLOAT16,
        "float64": TensorProto.DOUBLE,
        "int8": TensorProto.INT8,
        "uint8": TensorProto.UINT8,
        "int16": TensorProto.INT16,
        "int32": TensorProto.INT32,
        "int64": TensorProto.INT64,
        "bool": TensorProto.BOOL,
    }
    cases += [
        Case(
            "Cast",
            partial(relay.CastOp, element_type=element_type(np.dtype(target))),
            (rand(15, dtype=source, low=0 if "u" in source + target else -9, high=99),),
            {"to": types[target]},
        )
        for source in types
        for target in types
    ]
    return [case for case in cases if case.inputs]


def binary() -> list[Case]:
    shapes = [((3, 4), (3, 4)), ((2, 3, 4), (4,)), ((3, 1), (1, 4)), ((), (3,))]
    cases = [
        Case(name, build, (rand(*lhs), rand(*rhs)))
        for name, build in (
            ("Add", relay.AddOp),
            ("Sub", relay.SubtractOp),
            ("Mul", relay.MultiplyOp),
            ("Div", relay.DivideOp),
            ("Max", relay.MaximumOp),
            ("Min", relay.MinimumOp),
            ("Less", relay.LessOp),
            ("LessOrEqual", relay.LessEqualOp),
            ("Greater", relay.GreaterOp),
            ("GreaterOrEqual", relay.GreaterEqualOp),
            ("Equal", relay.EqualOp),
        )
        for lhs, rhs in shapes
    ]
    for dtype in ("int32", "int64", "uint8", "int8", "int16", "uint32", "uint64"):
        lhs = rand(40, dtype=dtype, low=-100, high=100)
        rhs = rand(40, dtype=dtype, low=1, high=9)
        if lhs.dtype.kind == "i":
            rhs = np.multiply(rhs, np.where(np.arange(40) % 2, 1, -1).astype(dtype))
        cases.append(Case("Div", relay.DivideOp, (lhs, rhs)))
        cases.append(Case("Mod", relay.ModOp, (lhs, rhs), {"fmod": 0}))
        cases.append(
            Case("Mod", partial(relay.ModOp, fmod=True), (lhs, rhs), {"fmod": 1})
        )
        for name, build in (
            ("BitwiseAnd", relay.BitwiseAndOp),
            ("BitwiseOr", relay.BitwiseOrOp),
            ("BitwiseXor", relay.BitwiseXorOp),
        ):
            cases.append(Case(name, build, (lhs, rhs)))
    cases += [
        Case(
            "Add", relay.AddOp, (np.array([2**31 - 1], "int32"), np.array(1, "int32"))
        ),
        Case("Mul", relay.MultiplyOp, (rand(9, dtype="int32", high=2**30),) * 2),
        Case("Mod", partial(relay.ModOp, fmod=True), (rand(9), rand(9)), {"fmod": 1}),
        Case("Max", relay.MaximumOp, (special(), np.full((1,), 1, F))),
        Case("Min", relay.MinimumOp, (special(), np.full((1,), 1, F))),
        Case("Pow", relay.PowerOp, (rand(9, low=0), rand(9)), ulps=8),
        Case("Pow", relay.PowerOp, (rand(9), np.full((1,), 3, "int64")), ulps=8),
        Case("Pow", relay.PowerOp, (rand(9), np.full((), 2, F)), ulps=8),
        Case(
            "Pow",
            relay.PowerOp,
            (rand(9, dtype="int32"), rand(9, dtype="int32", low=0)),
        ),
        Case("Pow", relay.PowerOp, (rand(9, dtype="int64", low=1), np.array(2.0, F))),
        Case(
            "And", relay.LogicalAndOp, (rand(3, 4, dtype="bool"), rand(4, dtype="bool"))
        ),
        Case(
            "Or", relay.LogicalOrOp, (rand(3, 4, dtype="bool"), rand(4, dtype="bool"))
        ),
        Case(
            "Xor", relay.LogicalXorOp, (rand(3, 4, dtype="bool"), rand(4, dtype="bool"))
        ),
        Case(
            "Where", relay.WhereOp, (rand(3, 1, dtype="bool"), rand(4), rand(2, 3, 1))
        ),
    ]
    for dtype in ("uint8", "uint32", "uint64"):
        value, amount = (
            rand(20, dtype=dtype, high=200),
            rand(20, dtype=dtype, low=0, high=7),
        )
        cases.append(
            Case("BitShift", relay.LeftShiftOp, (value, amount), {"direction": "LEFT"})
        )
        cases.append(
            Case(
                "BitShift", relay.RightShiftOp, (value, amount), {"direction": "RIGHT"}
            )
        )
    return cases


def reductions() -> list[Case]:
    cases: list[Case] = []
    for name, build, ulps in (
        ("ReduceSum", relay.SumOp, 8),
        ("ReduceMean", relay.MeanOp, 8),
        ("ReduceMax", relay.MaxOp, 0),
        ("ReduceMin", relay.MinOp, 0),
        ("ReduceProd", relay.ProdOp, 16),
    ):
        for axes in ((0,), (1,), (-1,), (0, 2), (0, 1, 2)):
            for keepdims in (False, True):
                cases.append(
                    Case(
                        name,
                        partial(build, axes=axes, keepdims=keepdims),
                        (rand(3, 4, 5),),
                        {"keepdims": int(keepdims)},
                        (np.array(axes, np.int64),),
                        ulps=ulps,
                    )
                )
        cases.append(Case(name, build, (rand(3, 4),), ulps=ulps))
        cases.append(Case(name, build, (rand(3, 4, dtype="int32", low=-9, high=9),)))
    for name, build in (("ArgMax", relay.ArgmaxOp), ("ArgMin", relay.ArgminOp)):
        for axis in (0, 1, -1):
            for last in (False, True):
                cases.append(
                    Case(
                        name,
                        partial(
                            build, axis=axis, keepdims=last, select_last_index=last
                        ),
                        (rand(3, 4, 5, dtype="int32").astype(F),),
                        {
                            "axis": axis,
                            "keepdims": int(last),
                            "select_last_index": int(last),
                        },
                    )
                )
    for name, build in (
        ("Softmax", relay.SoftmaxOp),
        ("LogSoftmax", relay.LogSoftmaxOp),
    ):
        for axis in (0, 1, -1):
            cases.append(
                Case(
                    name,
                    partial(build, axis=axis),
                    (rand(3, 4, 5),),
                    {"axis": axis},
                    ulps=8,
                )
            )
    return cases


def normalizations() -> list[Case]:
    cases = [
        Case(
            "BatchNormalization",
            partial(relay.BatchNormOp, epsilon=1e-3),
            (rand(*shape), rand(3), rand(3), rand(3), rand(3, low=0.1)),
            {"epsilon": 1e-3},
            ulps=32,
        )
        for shape in ((2, 3, 4, 5), (2, 3), (2, 3, 4))
    ]
    cases += [
        Case(
            "LayerNormalization",
            partial(relay.LayerNormOp, axis=axis),
            (rand(2, 3, 4), rand(*(2, 3, 4)[axis:]), rand(*(2, 3, 4)[axis:])),
            {"axis": axis},
            ulps=32,
        )
        for axis in (1, 2, -1)
    ]
    cases += [
        Case(
            "LRN",
            partial(relay.LrnOp, size=size, alpha=0.1, beta=0.6, bias=1.5),
            (rand(2, 7, 3, 4),),
            {"size": size, "alpha": 0.1, "beta": 0.6, "bias": 1.5},
            ulps=16,
        )
        for size in (1, 3, 5, 9)
    ]
    return cases


def products() -> list[Case]:
    cases: list[Case] = []
    for dtype in (F, "float64", "int32", "int64"):
        for lhs, rhs in (
            ((3, 4), (4, 5)),
            ((2, 3, 4), (4, 5)),
            ((2, 1, 3, 4), (5, 4, 6)),
            ((4,), (4, 5)),
            ((3, 4), (4,)),
            ((4,), (4,)),
            ((2, 3, 4), (4,)),
        ):
            inputs = (rand(*lhs, dtype=dtype), rand(*rhs, dtype=dtype))
            ulps = 16 if "float" in dtype else 0
            cases.append(Case("MatMul", relay.MatmulOp, inputs, ulps=ulps))
    cases.append(
        Case("Gemm", relay.DenseOp, (rand(3, 4), rand(5, 4)), {"transB": 1}, ulps=16)
    )
    for data, weight, strides, padding, dilation, groups in (
        ((1, 3, 8, 8), (4, 3, 3, 3), (1, 1), (0, 0, 0, 0), (1, 1), 1),
        ((2, 3, 8, 9), (4, 3, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
        ((1, 3, 9, 8), (4, 3, 3, 2), (2, 1), (1, 0, 2, 3), (1, 1), 1),
        ((1, 3, 9, 9), (4, 3, 3, 3), (1, 1), (2, 2, 2, 2), (2, 2), 1),
        ((1, 4, 9, 9), (6, 2, 3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 2),
        ((2, 4, 7, 7), (8, 1, 3, 3), (1, 1), (1, 1, 1, 1), (1, 2), 4),
        ((1, 5, 6, 6), (3, 5, 1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 1),
        ((1, 5, 6, 6), (3, 5, 1, 1), (2, 3), (0, 0, 0, 0), (1, 1), 1),
    ):
        cases.append(
            Case(
                "Conv",
                partial(
                    relay.Conv2dOp,
                    strides=strides,
                    padding=padding,
                    dilation=dilation,
                    groups=groups,
                ),
                (rand(*data), rand(*weight)),
                {
                    "strides": strides,
                    "pads": padding,
                    "dilations": dilation,
                    "group": groups,
                },
                ulps=32,
            )
        )
    return cases


def pools() -> list[Case]:
    cases: list[Case] = []
    for kernel, strides, padding, dilation in (
        ((2, 2), (2, 2), (0, 0, 0, 0), (1, 1)),
        ((3, 3), (2, 2), (0, 0, 0, 0), (1, 1)),
        ((3, 2), (2, 3), (1, 0, 1, 1), (1, 1)),
        ((3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
        ((3, 3), (3, 3), (1, 1, 1, 1), (1, 1)),
        ((2, 3), (2, 2), (0, 1, 1, 2), (2, 1)),
        ((8, 9), (1, 1), (0, 0, 0, 0), (1, 1)),
    ):
        for ceil in (False, True):
            keywords = {
                "kernel": kernel,
                "strides": strides,
                "padding": padding,
                "dilation": dilation,
                "ceil_mode": ceil,
            }
            attributes: dict[str, Any] = {
                "kernel_shape": kernel,
                "strides": strides,
                "pads": padding,
                "dilations": dilation,
                "ceil_mode": int(ceil),
            }
            cases.append(
                Case(
                    "MaxPool",
                    partial(relay.MaxPool2dOp, **keywords),
                    (rand(2, 3, 8, 9),),
                    attributes,
                )
            )
            cases.append(
                Case(
                    "MaxPool",
                    partial(relay.MaxPool2dOp, **keywords),
                    (rand(1, 2, 8, 9, dtype="uint8", high=200),),
                    attributes,
                )
            )
            for include in (False, True):
                cases.append(
                    Case(
                        "AveragePool",
                        partial(
                            relay.AvgPool2dOp, **keywords, count_include_pad=include
                        ),
                        (rand(2, 3, 8, 9),),
                        {**attributes, "count_include_pad": int(include)},
                        ulps=16,
                    )
                )
    return cases


def tensors() -> list[Case]:
    i64 = partial(np.array, dtype=np.int64)
    data = rand(3, 4, 5)
    cases = [
        Case(
            "Reshape",
            partial(relay.ReshapeOp, shape=(5, 12)),
            (data,),
            {},
            (i64([5, 12]),),
        ),
        Case(
            "Transpose",
            partial(relay.TransposeOp, axes=(2, 0, 1)),
            (data,),
            {"perm": (2, 0, 1)},
        ),
        Case(
            "Squeeze",
            partial(relay.SqueezeOp, axes=(0, -1)),
            (rand(1, 3, 1),),
            {},
            (i64([0, -1]),),
        ),
        Case(
            "Unsqueeze",
            partial(relay.ExpandDimsOp, axes=(-1, 0)),
            (data,),
            {},
            (i64([-1, 0]),),
        ),
        Case(
            "Expand",
            partial(relay.BroadcastToOp, shape=(2, 3, 4)),
            (rand(3, 1),),
            {},
            (i64([2, 3, 4]),),
        ),
        Case(
            "Tile",
            partial(relay.TileOp, repeats=(2, 1, 3)),
            (data,),
            {},
            (i64([2, 1, 3]),),
        ),
        Case(
            "Concat",
            lambda *inputs: relay.ConcatenateOp(inputs, axis=-2),
            (rand(2, 3, 4), rand(2, 1, 4), rand(2, 2, 4)),
            {"axis": -2},
        ),
        Case(
            "Split",
            partial(relay.SplitOp, sizes=(1, 3), axis=1),
            (data,),
            {"axis": 1},
            (i64([1, 3]),),
        ),
    ]
    for axis in (0, 1, 2):
        indices = rand(2, 3, dtype="int64", low=-3, high=2)
        cases.append(
            Case(
                "Gather",
                partial(relay.GatherOp, axis=axis),
                (data, indices),
                {"axis": axis},
            )
        )
    for begin, sizes, strides in (
        ((1, 0, 2), (2, 4, 3), (1, 1, 1)),
        ((2, 3, 4), (3, 2, 5), (-1, -2, -1)),
        ((0, 1, 0), (2, 1, 2), (2, 3, 4)),
    ):
        ends = tuple(b + n * s for b, n, s in zip(begin, sizes, strides, strict=True))
        ends = tuple(-100 if end < 0 else end for end in ends)
        cases.append(
            Case(
                "Slice",
                partial(
                    relay.StridedSliceOp, begin=begin, sizes=sizes, strides=strides
                ),
                (data,),
                {},
                (i64(begin), i64(ends), i64([0, 1, 2]), i64(strides)),
            )
        )
    for mode in ("constant", "edge", "reflect", "wrap"):
        before, after = (1, 0, 2), (2, 3, 0)
        cases.append(
            Case(
                "Pad",
                partial(relay.PadOp, before=before, after=after, mode=mode, value=7),
                (data,),
                {"mode": mode},
                (i64([*before, *after]), np.array(7, F)),
            )
        )
    before, after = (-1, 0, 2), (2, -3, -1)
    cases.append(
        Case(
            "Pad",
            partial(relay.PadOp, before=before, after=after, value=-7),
            (rand(3, 4, 5, dtype="int64"),),
            {},
            (i64([*before, *after]), i64(-7)),
        )
    )
    return cases


CASES = [
    *unary(),
    *binary(),
    *reductions(),
    *normalizations(),
    *products(),
    *pools(),
    *tensors(),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_agrees_with_onnxruntime(case: Case) -> None:
    results = from_relay(case.build, case.inputs)
    expected = from_onnxruntime(case, [each.dtype for each in results])
    for got, wanted in zip(results, expected, strict=True):
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
        if case.ulps:
            finite = wanted[np.isfinite(wanted)]
            scale = np.max(np.abs(finite), initial=1e-30)
            limit = case.ulps * np.finfo(wanted.dtype.name).eps * scale
            np.testing.assert_allclose(
                got.astype(np.float64), wanted.astype(np.float64), rtol=0, atol=limit
            )
        else:
            np.testing.assert_array_equal(got, wanted)


def test_every_op_has_a_meaning() -> None:
    assert set(RELAY) == set(relay.ALL_OPS)
