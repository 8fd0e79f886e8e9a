"""Ops that move and pick elements."""

from functools import partial

import numpy as np

from onnxruntime_cases.case import Case, F, rand
from partita.dialects import relay


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
