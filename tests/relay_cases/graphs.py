"""Random small graphs, as cases: `@given(graphs())`; allow `assert_close` their `slack(inputs)`."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from partita.dialects import relay
from partita.shapes import Shape, element_of, is_float, shape_of
from relay_cases.case import Case, Input

Choices = Callable[[int], int]
"""Give a number below another, which is positive."""

Step = Callable[[SSAValue, Choices], relay.RelayOp | None]
"""Make an op on a value; `None` if none fits."""

SHAPES: tuple[Shape, ...] = ((2, 3, 4, 6), (4, 6), (12,), (1, 2, 8, 8), (3, 1, 5))

LARGEST = 2000
"""Values of more elements than this are not made larger."""


def _elementwise(x: SSAValue, choose: Choices) -> relay.RelayOp:
    if not is_float(element_of(x)):
        return (relay.ReluOp, relay.NegativeOp, relay.AbsOp)[choose(3)](x)
    return (
        relay.ReluOp,
        relay.NegativeOp,
        relay.TanhOp,
        relay.SigmoidOp,
        relay.ErfOp,
        relay.HardSigmoidOp,
    )[choose(6)](x)


def _reduce(x: SSAValue, choose: Choices) -> relay.RelayOp:
    op = (relay.SumOp, relay.MaxOp, relay.MinOp)[choose(3)]
    axes = [axis for axis in range(len(shape_of(x))) if choose(2)]
    return op(x, axes=axes, keepdims=bool(choose(2)))


def _softmax(x: SSAValue, choose: Choices) -> relay.RelayOp | None:
    rank = len(shape_of(x))
    if not rank or not is_float(element_of(x)):
        return None
    return relay.SoftmaxOp(x, axis=choose(rank))


def _reshape(x: SSAValue, choose: Choices) -> relay.RelayOp:
    rest, shape = prod(shape_of(x)), list[int]()
    for factor in (2, 3, 4, 5, 7):
        if rest % factor == 0 and choose(2):
            shape.append(factor)
            rest //= factor
    shape.insert(choose(len(shape) + 1), rest)
    return relay.ReshapeOp(x, shape=shape)


def _transpose(x: SSAValue, choose: Choices) -> relay.RelayOp:
    rest = list(range(len(shape_of(x))))
    return relay.TransposeOp(x, axes=[rest.pop(choose(len(rest))) for _ in list(rest)])


def _slice(x: SSAValue, choose: Choices) -> relay.RelayOp:
    begin: list[int] = []
    sizes: list[int] = []
    strides: list[int] = []
    for extent in shape_of(x):
        stride = choose(2) + 1
        size = choose(-(-extent // stride)) + 1
        start = choose(extent - (size - 1) * stride)
        if choose(2):
            start, stride = start + (size - 1) * stride, -stride
        begin.append(start)
        sizes.append(size)
        strides.append(stride)
    return relay.StridedSliceOp(x, begin=begin, sizes=sizes, strides=strides)


def _pad(x: SSAValue, choose: Choices) -> relay.RelayOp | None:
    shape = shape_of(x)
    if prod(shape) > LARGEST:
        return None
    mode = ("constant", "edge", "reflect", "wrap")[choose(4)]
    most = [min(2, extent - (mode == "reflect")) for extent in shape]
    return relay.PadOp(
        x,
        before=[choose(each + 1) for each in most],
        after=[choose(each + 1) for each in most],
        mode=mode,
        value=choose(3) - 1,
    )


def _gather(x: SSAValue, choose: Choices) -> relay.RelayOp | None:
    shape = shape_of(x)
    if not shape:
        return None
    axis = choose(len(shape))
    extent = shape[axis]
    picked = [choose(2 * extent) - extent for _ in range(choose(4) + 1)]
    indices = relay.ConstantOp.of(np.array(picked, np.int64)).result
    return relay.GatherOp(x, indices, axis=axis)


def _combine(x: SSAValue, choose: Choices) -> relay.RelayOp:
    """Combine a value with a part of itself that broadcasts."""
    part = relay.MaxOp(x, axes=[a for a in range(len(shape_of(x))) if choose(2)])
    op = (relay.AddOp, relay.SubtractOp, relay.MultiplyOp, relay.MinimumOp)[choose(4)]
    return op(x, part.result) if choose(2) else op(part.result, x)


def _double(x: SSAValue, choose: Choices) -> relay.RelayOp | None:
    if not shape_of(x) or prod(shape_of(x)) > LARGEST:
        return None
    return relay.ConcatenateOp(
        (x, relay.NegativeOp(x).result), axis=choose(len(shape_of(x)))
    )


def _product(x: SSAValue, choose: Choices) -> relay.RelayOp | None:
    """Multiply a value by its transpose, which is large only if the value is."""
    rank = len(shape_of(x))
    if rank < 2 or prod(shape_of(x)) > LARGEST:
        return None
    axes = (*range(rank - 2), rank - 1, rank - 2)
    return relay.MatmulOp(x, relay.TransposeOp(x, axes=axes).result)


def _image(x: SSAValue, choose: Choices) -> relay.RelayOp | None:
    """Pool or convolve a value as an image."""
    shape = shape_of(x)
    if len(shape) != 4 or min(shape[2:]) < 2 or prod(shape) > LARGEST:
        return None
    strides = (choose(2) + 1, choose(2) + 1)
    padding = [choose(2) for _ in range(4)]
    pool = partial(
        relay.MaxPool2dOp, x, kernel=(2, 2), strides=strides, padding=padding
    )
    match choose(3):
        case 0:
            return pool(ceil_mode=bool(choose(2)))
        case 1 if element_of(x) == f32:
            return relay.AvgPool2dOp(x, kernel=(2, 2), strides=strides, padding=padding)
        case 2 if element_of(x) == f32:
            values = np.linspace(-1, 1, 3 * shape[1] * 4, dtype=np.float32)
            weight = relay.ConstantOp.of(values.reshape(3, shape[1], 2, 2))
            return relay.Conv2dOp(x, weight.result, strides=strides, padding=padding)
        case _:
            return pool()


STEPS: tuple[Step, ...] = (
    _elementwise,
    _combine,
    _reduce,
    _softmax,
    _reshape,
    _transpose,
    _slice,
    _pad,
    _gather,
    _double,
    _product,
    _image,
)


def build(choices: Sequence[int], *inputs: SSAValue) -> relay.RelayOp:
    """Make a graph: each step takes one of the last values; the last one is the result."""
    remaining = list(choices)

    def choose(bound: int) -> int:
        return remaining.pop() % bound if remaining else 0

    values, last = list(inputs), relay.NegativeOp(inputs[0])
    while remaining:
        source = values[-1 - choose(min(3, len(values)))]
        op = STEPS[choose(len(STEPS))](source, choose)
        if op is not None:
            last = op
            values.extend(op.results)
    return last


@st.composite
def graphs(draw: st.DrawFn, length: int = 40) -> Case:
    """Draw a graph on one or two inputs of one type; `length` bounds the choices, several for each op."""
    dtype = draw(st.sampled_from(("float32", "int32", "int8", "uint8")))
    shape = draw(st.sampled_from(SHAPES))
    count = draw(st.integers(1, 2))
    steps = draw(st.integers(0, length))
    choices = draw(st.lists(st.integers(0, 59), min_size=steps, max_size=steps))
    name = f"graph-{dtype}-{shape}-{count}-{choices}"
    return Case(
        name, tuple(Input(shape, dtype) for _ in range(count)), partial(build, choices)
    )
