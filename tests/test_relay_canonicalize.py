"""Canonicalization gives the same elements, bit by bit, and ends."""

import re
from collections.abc import Callable
from math import prod
from pathlib import Path

import numpy as np
import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, f32
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.parser import Parser
from xdsl.transforms.canonicalize import CanonicalizePass

from partita.dialects import ALL_DIALECTS, relay
from partita.interpreters import interpret
from partita.shapes import element_of, shape_of, tensor_of

Rng = np.random.Generator
Step = Callable[[SSAValue, Rng], relay.RelayOp]


def factored(count: int, rng: Rng) -> tuple[int, ...]:
    """Split a number of elements into extents."""
    shape: list[int] = []
    for factor in (2, 3, 5):
        while count % factor == 0:
            shape.append(factor)
            count //= factor
    shape = [1] * int(rng.integers(0, 3)) + shape
    rng.shuffle(shape)
    while len(shape) > 2 and rng.random() < 0.6:
        shape[:2] = [shape[0] * shape[1]]
    return tuple(shape) or (1,)


def reshape(x: SSAValue, rng: Rng) -> relay.RelayOp:
    return relay.ReshapeOp(x, shape=factored(prod(shape_of(x)), rng))


def transpose(x: SSAValue, rng: Rng) -> relay.RelayOp:
    return relay.TransposeOp(x, axes=rng.permutation(len(shape_of(x))).tolist())


def squeeze(x: SSAValue, rng: Rng) -> relay.RelayOp:
    ones = [axis for axis, extent in enumerate(shape_of(x)) if extent == 1]
    return relay.SqueezeOp(x, axes=[axis for axis in ones if rng.random() < 0.7])


def expand_dims(x: SSAValue, rng: Rng) -> relay.RelayOp:
    return relay.ExpandDimsOp(x, axes=[int(rng.integers(0, len(shape_of(x)) + 1))])


def strided_slice(x: SSAValue, rng: Rng) -> relay.RelayOp:
    shape = shape_of(x)
    backward = [extent > 1 and rng.random() < 0.2 for extent in shape]
    return relay.StridedSliceOp(
        x,
        begin=[e - 1 if b else 0 for e, b in zip(shape, backward, strict=True)],
        sizes=shape,
        strides=[-1 if b else 1 for b in backward],
    )


def pad(x: SSAValue, rng: Rng) -> relay.RelayOp:
    shift = [int(rng.integers(-1, 2)) if rng.random() < 0.2 else 0 for _ in shape_of(x)]
    return relay.PadOp(x, before=shift, after=[-each for each in shift])


def clip(x: SSAValue, rng: Rng) -> relay.RelayOp:
    limits = [None, -1.0, -0.0, 0.0, 1.0, 2.0]
    low, high = (limits[int(rng.integers(0, 6))] for _ in range(2))
    return relay.ClipOp(x, minimum=low, maximum=high)


def arithmetic(x: SSAValue, rng: Rng) -> relay.RelayOp:
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.0], np.float32)
    shape = shape_of(x)[int(rng.integers(0, len(shape_of(x)) + 1)) :]
    constant = relay.ConstantOp.of(np.full(shape, rng.choice(values), np.float32))
    build = (relay.AddOp, relay.SubtractOp, relay.MultiplyOp, relay.DivideOp)
    return build[int(rng.integers(0, 4))](x, constant.result)


def layout(x: SSAValue, rng: Rng) -> relay.RelayOp:
    if len(shape_of(x)) != 2 or shape_of(x)[0] % 2:
        return relay.NegativeOp(x)
    first = relay.LayoutTransformOp(x, source="NC", target="CN2n")
    target = ("NC", "CN", "CN2n")[int(rng.integers(0, 3))]
    return relay.LayoutTransformOp(first.result, source="CN2n", target=target)


STEPS: tuple[Step, ...] = (
    reshape,
    transpose,
    squeeze,
    expand_dims,
    strided_slice,
    pad,
    clip,
    arithmetic,
    layout,
    lambda x, _: relay.NegativeOp(x),
    lambda x, _: relay.ReluOp(x),
    lambda x, _: relay.CastOp(x, element_type=element_of(x)),
    lambda x, _: relay.TileOp(x, repeats=[1] * len(shape_of(x))),
    lambda x, _: relay.BroadcastToOp(x, shape=shape_of(x)),
    lambda x, _: relay.ConcatenateOp([x], axis=-1),
)


def chain(rng: Rng, length: int) -> ModuleOp:
    """Make a function of random ops in a row, that returns some of their results."""
    function = FuncOp("main", ((tensor_of((2, 1, 4, 3), f32),), ()))
    value: SSAValue = function.body.block.args[0]
    kept: list[SSAValue] = []
    with ImplicitBuilder(function.body.block):
        for _ in range(length):
            value = STEPS[int(rng.integers(0, len(STEPS)))](value, rng).results[0]
            if rng.random() < 0.2 or not kept:
                kept.append(value)
        ReturnOp(*kept, value)
    function.update_function_type()
    return ModuleOp([function])


@pytest.mark.parametrize("seed", range(150))
def test_elements_stay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    module = chain(rng, 12)
    data = rng.choice(
        np.array([-3, -1, -0.0, 0.0, 0.5, 1, 2, np.inf, -np.inf, np.nan], np.float32),
        (2, 1, 4, 3),
    )
    before = interpret(module, [data])
    CanonicalizePass().apply(Context(), module)
    module.verify()
    for expected, got in zip(before, interpret(module, [data]), strict=True):
        np.testing.assert_array_equal(got, expected)
        signs = ~np.isnan(expected)
        np.testing.assert_array_equal(
            np.signbit(got)[signs], np.signbit(expected)[signs]
        )


def test_the_page_shows_what_happens() -> None:
    text = (Path(__file__).parent.parent / "docs" / "relay.md").read_text()
    before, after = re.findall(r"```mlir\n(.*?)```", text, re.DOTALL)
    context = Context()
    for dialect in (Builtin, Func, *ALL_DIALECTS):
        context.load_dialect(dialect)
    module = Parser(context, before).parse_module()
    CanonicalizePass().apply(context, module)
    assert str(module) == str(Parser(context, after).parse_module())
