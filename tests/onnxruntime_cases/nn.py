"""Products and pools."""

from functools import partial
from typing import Any

from onnxruntime_cases.case import Case, F, rand
from partita.dialects import relay


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
