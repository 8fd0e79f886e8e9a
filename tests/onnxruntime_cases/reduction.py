"""Ops that reduce and normalize."""

from functools import partial

import numpy as np

from onnxruntime_cases.case import Case, F, rand
from partita.dialects import relay


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
