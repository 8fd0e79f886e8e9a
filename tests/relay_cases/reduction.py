"""Reductions, softmax and normalizations."""

from collections.abc import Iterator
from itertools import product

from partita.dialects import relay
from relay_cases.case import FLOATS, NUMBERS, Case, Input, case

CUBE = (3, 4, 5)


def reductions() -> Iterator[Case]:
    """Reduce: sums, means, extremes and products."""
    ops = (relay.SumOp, relay.MeanOp, relay.MaxOp, relay.MinOp, relay.ProdOp)
    for op in ops:
        for dtype in NUMBERS:
            yield case(op, dtype, Input(CUBE, dtype, -3, 3), axes=(1,))
        for keepdims, axes in product((False, True), (None, (0, 2), (-1,), ())):
            name = "all" if axes is None else "_".join(map(str, axes)) or "none"
            yield case(
                op,
                f"{name}-{'keep' if keepdims else 'drop'}",
                Input(CUBE),
                axes=axes,
                keepdims=keepdims,
            )
        yield case(op, "scalar", Input(()), axes=None)
        yield case(op, "special", Input((9, 4), special=True), axes=(1,))
    for op in (relay.MaxOp, relay.MinOp):
        yield case(op, "bool", Input(CUBE, "bool"), axes=(1,))
    yield case(relay.SumOp, "long", Input((3, 5000), low=0), axes=(1,))
    yield case(relay.SumOp, "empty", Input((3, 0)), axes=(1,))


def arguments() -> Iterator[Case]:
    """Find the indices of extremes."""
    for op in (relay.ArgmaxOp, relay.ArgminOp):
        for dtype in NUMBERS:
            yield case(op, dtype, Input(CUBE, dtype, -2, 2), axis=1)
        for axis, keepdims, last in product((0, -1), (False, True), (False, True)):
            yield case(
                op,
                f"{axis}-{keepdims:d}-{last:d}",
                Input(CUBE, "int32", -2, 2),
                axis=axis,
                keepdims=keepdims,
                select_last_index=last,
            )
            yield case(
                op,
                f"special-{axis}-{keepdims:d}-{last:d}",
                Input((6, 7), special=True),
                axis=axis,
                keepdims=keepdims,
                select_last_index=last,
            )


def softmax() -> Iterator[Case]:
    """Softmax along each axis."""
    for op in (relay.SoftmaxOp, relay.LogSoftmaxOp):
        for dtype in FLOATS:
            yield case(op, dtype, Input(CUBE, dtype, -5, 5), axis=-1)
        for axis in (0, 1):
            yield case(op, f"{axis}", Input(CUBE, low=-50, high=50), axis=axis)
        yield case(op, "vector", Input((7,)), axis=0)
        yield case(op, "rows", Input((5, 9, 130), low=-9, high=9), axis=2)


def normalizations() -> Iterator[Case]:
    """Batch, layer and local response normalization."""
    for dtype in FLOATS:
        channel = Input((4,), dtype)
        variance = Input((4,), dtype, 0.5, 2)
        yield case(
            relay.BatchNormOp,
            dtype,
            Input((2, 4, 3, 5), dtype),
            *(channel,) * 3,
            variance,
        )
        yield case(
            relay.LayerNormOp,
            dtype,
            Input((2, 3, 8), dtype),
            *(Input((8,), dtype),) * 2,
        )
        yield case(relay.LrnOp, dtype, Input((2, 6, 3, 3), dtype), size=3)
    positive = Input((5,), low=0.5)
    yield case(
        relay.BatchNormOp,
        "axis",
        Input((2, 3, 5)),
        *(Input((5,)),) * 3,
        positive,
        axis=-1,
        epsilon=0.01,
    )
    for axis, shape in ((1, (3, 4)), (0, (2, 3, 4)), (1, (4,)), (2, (1,))):
        yield case(
            relay.LayerNormOp,
            f"{axis}-{len(shape)}",
            Input((2, 3, 4)),
            *(Input(shape),) * 2,
            axis=axis,
            epsilon=0.1,
        )
    for size, beta, bias in ((5, 0.75, 1.0), (4, 0.5, 2.0), (1, 0.6, 1.0), (3, 1.0, 1)):
        yield case(
            relay.LrnOp,
            f"{size}-{beta}",
            Input((2, 6, 4)),
            size=size,
            alpha=0.5,
            beta=beta,
            bias=bias,
        )


REDUCTION_CASES: tuple[Case, ...] = (
    *reductions(),
    *arguments(),
    *softmax(),
    *normalizations(),
)
