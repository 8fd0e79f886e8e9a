"""Ops that move elements."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from xdsl.ir import SSAValue

from partita.dialects import relay
from relay_cases.case import NUMBERS, Case, Input, case

CUBE = Input((2, 3, 4))


def views() -> Iterator[Case]:
    """Move elements: each comes from one place."""
    for dtype in (*NUMBERS, "bool"):
        yield case(relay.TransposeOp, dtype, Input((2, 3, 4), dtype), axes=(2, 0, 1))
    for dtype in ("float32", "float16", "int8", "int64", "bool"):
        yield case(
            relay.TransposeOp,
            f"tiles-{dtype}",
            Input((2, 37, 21), dtype),
            axes=(0, 2, 1),
        )
    yield case(relay.TransposeOp, "far", Input((19, 5, 33)), axes=(1, 2, 0))
    yield case(relay.TransposeOp, "narrow", Input((6, 5, 4, 5)), axes=(0, 2, 3, 1))
    yield case(relay.TransposeOp, "identity", CUBE, axes=(0, 1, 2))
    yield case(relay.TransposeOp, "scalar", Input(()), axes=())
    for source, target in (
        ((2, 3, 4), (24,)),
        ((2, 3, 4), (6, 4)),
        ((2, 3, 4), (4, 3, 2)),
        ((2, 3, 4), (2, 12)),
        ((2, 3, 4), (1, 2, 1, 3, 4, 1)),
        ((1, 6, 1, 4), (6, 4)),
        ((6, 4), (3, 8)),
        ((5, 4, 6), (5, 8, 3)),
        ((1,), ()),
        ((), (1, 1)),
        ((0, 3), (3, 0)),
    ):
        name = "-".join("x".join(map(str, shape)) for shape in (source, target))
        yield case(relay.ReshapeOp, name, Input(source), shape=target)
    yield case(relay.SqueezeOp, "", Input((1, 3, 1, 4)), axes=(0, 2))
    yield case(relay.ExpandDimsOp, "", Input((3, 4)), axes=(0, 2, 4))
    yield case(relay.BroadcastToOp, "", Input((3, 1)), shape=(2, 3, 4))
    yield case(relay.BroadcastToOp, "scalar", Input(()), shape=(2, 3))
    yield case(relay.TileOp, "", CUBE, repeats=(2, 1, 3))
    yield case(relay.TileOp, "none", CUBE, repeats=(1, 0, 1))


def layouts() -> Iterator[Case]:
    """Layouts: axes split into blocks and back."""
    for source, target, shape in (
        ("OIHW", "OIHW4o", (8, 3, 2, 5)),
        ("OIHW4o", "OIHW", (2, 3, 2, 5, 4)),
        ("OI", "OI2o", (6, 5)),
        ("NCHW", "NHWC", (2, 3, 4, 5)),
        ("NCHW2c", "NCHW4c", (1, 4, 2, 3, 2)),
        ("OIHW", "OIHW2i4o", (8, 4, 2, 3)),
        ("OIHW2i4o", "HWIO", (2, 2, 2, 3, 2, 4)),
    ):
        yield case(
            relay.LayoutTransformOp,
            f"{source}-{target}",
            Input(shape),
            source=source,
            target=target,
        )


def concatenate(*inputs: SSAValue, axis: int) -> relay.ConcatenateOp:
    """Take inputs as arguments of their own."""
    return relay.ConcatenateOp(inputs, axis=axis)


def parts() -> Iterator[Case]:
    """Parts of tensors, and tensors of parts."""
    for axis, shapes in (
        (0, ((2, 3), (4, 3))),
        (1, ((2, 3), (2, 1), (2, 5), (2, 2))),
        (-1, ((2, 3),)),
        (0, ((2, 3), (0, 3), (1, 3))),
    ):
        yield Case(
            f"concatenate-{axis}-{len(shapes)}",
            tuple(Input(shape) for shape in shapes),
            partial(concatenate, axis=axis),
        )
    yield Case(
        "concatenate-uint8",
        (Input((3,), "uint8", 0, 255), Input((2,), "uint8", 0, 255)),
        partial(concatenate, axis=0),
    )
    yield Case(
        "concatenate-splat",
        (Input((3,)), np.ones((2,), np.float32), Input((1,))),
        partial(concatenate, axis=0),
    )
    yield case(relay.SplitOp, "0", Input((6, 2)), sizes=(1, 2, 3), axis=0)
    yield case(relay.SplitOp, "1", Input((2, 6, 2)), sizes=(3, 3), axis=1)
    for name, begin, sizes, strides in (
        ("forward", (1, 0), (3, 6), (1, 1)),
        ("strided", (0, 1), (2, 3), (3, 2)),
        ("backward", (4, 5), (5, 2), (-1, -3)),
        ("empty", (0, 0), (0, 6), (1, 1)),
    ):
        yield case(
            relay.StridedSliceOp,
            name,
            Input((5, 6)),
            begin=begin,
            sizes=sizes,
            strides=strides,
        )


def gathers() -> Iterator[Case]:
    """Elements picked by data."""
    for dtype in ("int32", "int64"):
        yield case(
            relay.GatherOp, dtype, Input((5, 4)), Input((3,), dtype, -5, 4), axis=0
        )
    yield case(
        relay.GatherOp, "axis", Input((2, 5, 4)), Input((3, 2), "int64", -5, 4), axis=1
    )
    yield case(
        relay.GatherOp, "scalar", Input((5, 4)), Input((), "int64", 0, 4), axis=0
    )
    yield case(
        relay.GatherOp, "last", Input((5, 4)), np.array([-1, 0], np.int64), axis=-1
    )
    yield case(relay.GatherOp, "splat", Input((5, 4)), np.array([2, 2]), axis=0)
    yield case(
        relay.GatherOp,
        "uint8",
        Input((5, 4), "uint8", 0, 255),
        Input((3,), "int64", -5, 4),
        axis=0,
    )


def pads() -> Iterator[Case]:
    """Pad in every mode."""
    for dtype in NUMBERS:
        yield case(
            relay.PadOp,
            dtype,
            Input((3, 4), dtype),
            before=(1, 0),
            after=(0, 2),
            value=3,
        )
    yield case(relay.PadOp, "negative", Input((4, 5)), before=(-1, 2), after=(1, -3))
    yield case(relay.PadOp, "cropped", Input((4, 5)), before=(-1, 0), after=(-2, -3))
    yield case(relay.PadOp, "scalar", Input(()), before=(), after=())
    for mode in ("edge", "reflect", "wrap"):
        for name, before, after in (
            ("both", (2, 0), (1, 3)),
            ("most", (2, 3), (2, 3)),
            ("none", (0, 0), (0, 0)),
        ):
            yield case(
                relay.PadOp,
                f"{mode}-{name}",
                Input((3, 4)),
                before=before,
                after=after,
                mode=mode,
            )
        yield case(
            relay.PadOp,
            f"{mode}-uint8",
            Input((5,), "uint8", 0, 255),
            before=(2,),
            after=(1,),
            mode=mode,
        )


TENSOR_CASES: tuple[Case, ...] = (
    *views(),
    *layouts(),
    *parts(),
    *gathers(),
    *pads(),
)
