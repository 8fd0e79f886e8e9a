"""Graph passes keep what graphs compute: random ones, before and after, through the interpreter."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f32,
    f64,
)
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.passes import ModulePass, PassPipeline
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.universe import Universe

from partita.analysis.verification import verify
from partita.analysis.weights import weights_of
from partita.dialects import ALL_DIALECTS
from partita.dialects.partita import ENTRY, PARAM, WeightAttr
from partita.dialects.relay import (
    AddOp,
    AvgPool2dOp,
    BatchNormOp,
    ConcatenateOp,
    ConstantOp,
    Conv2dOp,
    DenseOp,
    DivideOp,
    DropoutOp,
    MatmulOp,
    MaxPool2dOp,
    MultiplyOp,
    NegativeOp,
    PadOp,
    PowerOp,
    ReluOp,
    ReshapeOp,
    SubtractOp,
    TanhOp,
    TransposeOp,
)
from partita.interpreters import interpret
from partita.shapes import shape_of, tensor_of
from partita.transforms.bind_parameters import BindParametersPass
from partita.transforms.block_layouts import BlockLayoutsPass
from partita.transforms.fold_constants import FoldConstantsPass
from partita.transforms.fold_padding import FoldPaddingPass
from partita.transforms.fold_scale_axis import FoldScaleAxisPass
from partita.transforms.matmul_to_dense import MatmulToDensePass
from partita.transforms.merge_equal_ops import MergeEqualOpsPass
from partita.transforms.pack_weights import PackWeightsPass
from partita.transforms.pad_channels import PadChannelsPass
from partita.transforms.reduce_strength import ReduceStrengthPass
from partita.transforms.simplify_inference import SimplifyInferencePass
from partita.transforms.sink_reshapes import SinkReshapesPass
from partita.weights import Array

ALL: tuple[ModulePass, ...] = (
    SimplifyInferencePass(),
    FoldConstantsPass(),
    ReduceStrengthPass(),
    MergeEqualOpsPass(),
    SinkReshapesPass(),
    FoldScaleAxisPass(),
    FoldConstantsPass(),
    FoldPaddingPass(),
    MatmulToDensePass(),
    SinkReshapesPass(),
    CanonicalizePass(),
    PadChannelsPass(block=8),
    BlockLayoutsPass(block=8),
    PackWeightsPass(block=8),
    FoldConstantsPass(),
    DeadCodeElimination(),
)
"""Everything that happens to a graph before fusion."""


class RandomGraph:
    """A graph of the ops that these passes know, whose values stay of moderate size."""

    def __init__(self, seed: int, element: type[np.floating] = np.float32):
        self.random = np.random.default_rng(seed)
        self.element = element
        self.type = f32 if element is np.float32 else f64
        channels, height = (int(n) for n in self.random.integers((1, 5), (9, 10)))
        self.block = Block(
            arg_types=[tensor_of((2, channels, height, height), self.type)]
        )
        self.images: list[SSAValue] = list(self.block.args)

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def pick(self, values: Sequence[SSAValue]) -> SSAValue:
        return values[self.number(max(0, len(values) - 3), len(values) - 1)]

    def constant(self, *shape: int, scale: float = 1.0) -> SSAValue:
        """Add a constant, or an expression on constants."""
        array = (self.random.standard_normal(shape) * scale).astype(self.element)
        if self.chance(0.1):
            return self.add(
                ConstantOp.of(np.broadcast_to(self.element(scale / 2), shape))
            )
        value = self.add(ConstantOp.of(array))
        if self.chance(0.2):
            value = self.add(NegativeOp(value))
        if self.chance(0.1) and len(shape) == 2:
            value = self.add(
                TransposeOp(self.add(TransposeOp(value, axes=(1, 0))), axes=(1, 0))
            )
        return value

    def factor(self, value: SSAValue, axis: int) -> SSAValue:
        """Add a constant that broadcasts to a value: a scalar, one element per channel, or any."""
        shape = shape_of(value)
        kind = self.number(0, 5)
        if kind == 0:
            return self.constant()
        if kind == 1:
            return self.constant(*(self.number(0, 1) * (n - 1) + 1 for n in shape[1:]))
        along = [1] * len(shape)
        along[axis] = shape[axis]
        return self.constant(*along[self.number(0, axis) :])

    def arithmetic(self, value: SSAValue, axis: int) -> SSAValue:
        operands = [value, self.factor(value, axis)]
        if self.chance(0.3):
            operands.reverse()
        kinds = (AddOp, AddOp, MultiplyOp, MultiplyOp, SubtractOp)
        return self.add(kinds[self.number(0, 4)](*operands))

    def quotient(self, value: SSAValue) -> SSAValue:
        """Divide by a constant, or square."""
        if self.chance(0.5):
            two = self.add(ConstantOp.of(np.array(2, self.element)))
            return self.add(PowerOp(self.add(TanhOp(value)), two))
        array = self.random.uniform(0.5, 2, shape_of(value)[-1]).astype(self.element)
        return self.add(DivideOp(value, self.add(ConstantOp.of(array))))

    def convolution(self, image: SSAValue) -> SSAValue:
        _, channels, height, width = shape_of(image)
        groups = [g for g in (1, 1, 2, 4, channels) if channels % g == 0]
        group = groups[self.number(0, len(groups) - 1)]
        features = group * self.number(1, 3) * (4 if self.chance(0.3) else 1)
        kernel = [min(self.number(1, 3), height), min(self.number(1, 3), width)]
        weight = self.constant(
            features,
            channels // group,
            *kernel,
            scale=(channels // group * kernel[0] * kernel[1]) ** -0.5,
        )
        return self.add(
            Conv2dOp(
                image,
                weight,
                padding=[self.number(0, 1) for _ in range(4)],
                strides=(self.number(1, 2), 1),
                groups=group,
            )
        )

    def normalization(self, image: SSAValue) -> SSAValue:
        channels = shape_of(image)[1]
        variance = self.random.uniform(0.1, 2, channels).astype(self.element)
        return self.add(
            BatchNormOp(
                image,
                self.constant(channels),
                self.constant(channels),
                self.constant(channels),
                self.add(ConstantOp.of(variance)),
            )
        )

    def padding(self, image: SSAValue) -> SSAValue:
        value = (0.0, 0.0, 1.0, -np.inf)[self.number(0, 3)]
        padded = self.add(
            PadOp(
                image,
                before=(0, int(self.chance(0.1)), self.number(0, 1), self.number(0, 1)),
                after=(0, 0, self.number(0, 2), self.number(0, 1)),
                value=value,
            )
        )
        if value == -np.inf:
            return self.add(MaxPool2dOp(padded, kernel=(3, 3), strides=(1, 2)))
        return padded

    def pool(self, image: SSAValue) -> SSAValue:
        kernel = [min(2, extent) for extent in shape_of(image)[2:]]
        padding = [self.number(0, k - 1) for k in (*kernel, *kernel)]
        if self.chance(0.3):
            return self.add(MaxPool2dOp(image, kernel=kernel, padding=padding))
        return self.add(
            AvgPool2dOp(
                image,
                kernel=kernel,
                padding=padding,
                strides=(self.number(1, 2), 2),
                ceil_mode=self.chance(0.5),
                count_include_pad=self.chance(0.5),
            )
        )

    def reshaping(self, image: SSAValue) -> SSAValue:
        """Add pointwise ops on other shapes of an image, and go back to four axes."""
        count, channels, height, width = shape = shape_of(image)
        others = (
            (count, channels, height * width),
            (count * channels, height, width),
            (count, channels, 1, height, width),
            (count, width, channels, height),
        )
        value = self.add(ReshapeOp(image, shape=others[self.number(0, 3)]))
        for _ in range(self.number(1, 3)):
            value = self.arithmetic(value, self.number(0, len(shape_of(value)) - 1))
        value = self.add(MultiplyOp(value, self.add(TanhOp(value))))
        return self.add(ReshapeOp(value, shape=shape))

    def image(self) -> SSAValue:
        """Add one op on images."""
        image = self.pick(self.images)
        if min(shape_of(image)[2:]) < 3:
            return self.add(TanhOp(image))
        rows: list[Callable[[SSAValue], SSAValue]] = [
            self.convolution,
            self.convolution,
            self.normalization,
            self.padding,
            self.pool,
            lambda each: self.add(TanhOp(each)),
            lambda each: self.add(ReluOp(each)),
            lambda each: self.add(DropoutOp(each)),
            self.quotient,
            self.reshaping,
            self.reshaping,
            lambda each: self.add(
                ConcatenateOp([each, self.add(TanhOp(each))], axis=1)
            ),
            *(partial(self.arithmetic, axis=1) for _ in range(5)),
        ]
        return rows[self.number(0, len(rows) - 1)](image)

    def matrix(self, rows: SSAValue) -> SSAValue:
        """Add one op on matrices, or stacks of them."""
        shape = shape_of(rows)
        inner, features = shape[-1], self.number(1, 4) * self.number(1, 4)
        kind = self.number(0, 6)
        if kind == 0 and len(shape) == 2:
            return self.add(
                DenseOp(rows, self.constant(features, inner, scale=inner**-0.5))
            )
        if kind <= 2:
            return self.add(
                MatmulOp(rows, self.constant(inner, features, scale=inner**-0.5))
            )
        if kind == 3:
            return self.add(TanhOp(rows))
        return self.arithmetic(rows, len(shape) - 1)

    def build(self, count: int) -> ModuleOp:
        for _ in range(count):
            self.images.append(self.image())
        shape = shape_of(self.images[-1])
        rows = self.add(
            ReshapeOp(
                self.add(TanhOp(self.images[-1])),
                shape=(shape[0], int(np.prod(shape[1:])))
                if self.chance(0.5)
                else (*shape[:2], int(np.prod(shape[2:]))),
            )
        )
        matrices = [rows]
        for _ in range(count // 2):
            matrices.append(self.matrix(self.pick(matrices)))
        results = [matrices[-1], self.images[-1], self.pick(self.images)]
        self.block.add_op(ReturnOp(*results))
        return entry(self.block)


def entry(block: Block) -> ModuleOp:
    """Make a module of one function, which returns what its block does."""
    last = block.last_op
    assert last is not None
    function = FuncOp("main", (block.arg_types, last.operand_types), Region(block))
    function.attributes[ENTRY] = UnitAttr()
    return ModuleOp([function])


def run(module: ModuleOp) -> tuple[Array, ...]:
    """Interpret a module on a random image."""
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    random = np.random.default_rng(0)
    arrays = [
        random.standard_normal(shape_of(argument)).astype(
            np.float32 if argument.type == tensor_of(shape_of(argument), f32) else "f8"
        )
        for argument in function.args
    ]
    return interpret(module, arrays)


def assert_close(before: tuple[Array, ...], after: tuple[Array, ...]) -> None:
    for old, new in zip(before, after, strict=True):
        assert old.dtype == new.dtype
        assert old.shape == new.shape
        expected, got = old.astype(np.float64), new.astype(np.float64)
        finite = np.isfinite(expected)
        scale = float(np.max(np.abs(expected), where=finite, initial=1e-30))
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize("seed", range(60))
def test_random_graph_keeps_its_results(seed: int) -> None:
    module = RandomGraph(seed, np.float64 if seed % 4 == 3 else np.float32).build(14)
    verify(module)
    before = run(module)
    for each in ALL:
        each.apply(Context(), module)
        verify(module)
        assert_close(before, run(module))


def chain(count: int) -> ModuleOp:
    """Make a function of that many ops, one after another, a third of them on constants."""
    block = Block(arg_types=[tensor_of((2, 8, 3, 3), f32)])
    value: SSAValue = block.args[0]
    known: NegativeOp | None = None
    weight = np.random.default_rng(0).standard_normal((8, 8, 1, 1)).astype(np.float32)
    for index in range(count // 6):
        constant = ConstantOp.of(np.full((8, 1, 1), 1 + index, np.float32))
        filters = ConstantOp.of(weight)
        known = NegativeOp(constant.result if known is None else known.result)
        convolution = Conv2dOp(value, filters.result)
        scale = MultiplyOp(convolution.result, constant.result)
        shift = AddOp(scale.result, known.result)
        block.add_ops((constant, filters, known, convolution, scale, shift))
        value = shift.result
    block.add_op(ReturnOp(value))
    return entry(block)


def test_long_chain_does_not_recurse() -> None:
    module = chain(3_000)
    for each in ALL:
        each.apply(Context(), module)
    verify(module)


SPECIAL = (0.0, -0.0, 1.0, -3.5, 1e-30, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("number", [2.0, 3.0, -1.0, 0.5, 0.0])
def test_powers_of_special_values(number: float) -> None:
    """What replaces a power or a quotient gives zeros, infinities and NaN where that does, signs included."""
    block = Block(arg_types=[tensor_of((len(SPECIAL),), f32)])
    constant = ConstantOp.of(np.array(number, np.float32))
    ops = [
        kind(block.args[0], constant.result) for kind in (PowerOp, DivideOp, SubtractOp)
    ]
    block.add_ops((constant, *ops, ReturnOp(*(op.result for op in ops))))
    module = entry(block)
    inputs = (np.array(SPECIAL, np.float32),)
    with np.errstate(all="ignore"):
        before = interpret(module, inputs)
        ReduceStrengthPass().apply(Context(), module)
        after = interpret(module, inputs)
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(np.signbit(new), np.signbit(old))
        expected, got = old.astype(np.float64), new.astype(np.float64)
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_equal_weights_share_one_array() -> None:
    random = np.random.default_rng(0)
    array = random.standard_normal((8, 8)).astype(np.float32)
    weight = ConstantOp.of(array)
    once = [NegativeOp(weight.result) for _ in range(2)]
    twice = [NegativeOp(op.result) for op in once]
    block = Block()
    block.add_ops((weight, *once, *twice))
    block.add_op(ReturnOp(*(op.result for op in twice), weight.result))
    module = entry(block)
    FoldConstantsPass().apply(Context(), module)
    weights = weights_of(module)
    assert isinstance(weight.value, WeightAttr)
    assert [each.digest for each in weights] == [weight.value.data.digest]
    arrays = {id(op.array()) for op in module.walk() if isinstance(op, ConstantOp)}
    assert len(arrays) == 1


def test_parameters_from_python() -> None:
    block = Block(arg_types=[tensor_of((8, 8), f32)])
    block.add_op(ReturnOp(block.args[0]))
    module = entry(block)
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    function.arg_attrs = ArrayAttr([DictionaryAttr({PARAM: StringAttr("w")})])
    array = np.arange(64, dtype=np.float32).reshape(8, 8)
    BindParametersPass(values={"w": array}).apply(Context(), module)
    verify(module)
    (weight,) = weights_of(module)
    assert np.shares_memory(weight.content(), array)
    (result,) = interpret(module, ())
    np.testing.assert_array_equal(result, array)


def test_the_page_for_relay_users_shows_what_happens() -> None:
    root = Path(__file__).parent.parent
    text = (root / "docs" / "from-relay.md").read_text()
    before, after = re.findall(r"```mlir\n(.*?)```", text, re.DOTALL)
    (pattern,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (pipeline,) = re.findall(r"After `(.*?)`:", text)
    context = Context()
    for dialect in (Builtin, Func, *ALL_DIALECTS):
        context.load_dialect(dialect)
    module = Parser(context, before).parse_module()
    available = Universe.get_multiverse().all_passes
    PassPipeline.parse_spec(available, pipeline).apply(context, module)
    assert str(module) == str(Parser(context, after).parse_module())
    assert pattern in (root / "transforms" / "simplify_inference.py").read_text()
