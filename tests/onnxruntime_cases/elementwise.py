"""Ops that work element by element."""

from functools import partial

import numpy as np
from onnx import TensorProto

from onnxruntime_cases.case import Build, Case, F, rand, special
from partita.dialects import relay
from partita.shapes import element_type


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
