"""Fusion keeps results and limits, makes no cycles, and does not look at the order of a listing."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, UnitAttr, f32
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from partita.analysis.fusion import fusion_pattern, is_splat
from partita.analysis.structural_hash import Dataflow, Key, dataflow, function_dataflow
from partita.analysis.verification import verify
from partita.dialects import ALL_DIALECTS
from partita.dialects.partita import ENTRY, KERNEL
from partita.dialects.relay import (
    AddOp,
    ConcatenateOp,
    ConstantOp,
    Conv2dOp,
    FusionPattern,
    MaxPool2dOp,
    MultiplyOp,
    NegativeOp,
    ReluOp,
    ReshapeOp,
    SoftmaxOp,
    SplitOp,
    SumOp,
    TanhOp,
    TransposeOp,
)
from partita.interpreters import interpret
from partita.shapes import tensor_of
from partita.transforms.fuse_ops import FuseOpsPass, kernel_names

SHAPE = (1, 2, 4, 4)

examples = settings(max_examples=60, deadline=None)


class Graph:
    """A function under construction, all of whose values that later ops may use have one shape."""

    def __init__(self, random: Random):
        self.random = random
        self.block = Block(arg_types=[tensor_of(SHAPE, f32)] * 2)
        self.values: list[SSAValue] = list(self.block.args)

    def value(self) -> SSAValue:
        """Choose a value, more often a late one."""
        return self.random.choice(self.values[-self.random.randint(1, 8) :])

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, *values: float, shape: Sequence[int]) -> SSAValue:
        array = np.resize(np.array(values, np.float32), shape)
        return self.add(ConstantOp.of(array))

    def module(self) -> ModuleOp:
        results = [self.values[-1], self.value(), self.value()]
        self.block.add_op(ReturnOp(*results))
        types = tuple(each.type for each in results)
        function = FuncOp("main", (self.block.arg_types, types), Region(self.block))
        function.attributes[ENTRY] = UnitAttr()
        return ModuleOp([function])


def unary(graph: Graph) -> SSAValue:
    kind = graph.random.choice((ReluOp, TanhOp, NegativeOp))
    return graph.add(kind(graph.value()))


def binary(graph: Graph) -> SSAValue:
    return graph.add(AddOp(graph.value(), graph.value()))


def scale(graph: Graph) -> SSAValue:
    factor = graph.constant(graph.random.choice((0.5, 2.0)), shape=())
    return graph.add(MultiplyOp(factor, graph.value()))


def bias(graph: Graph) -> SSAValue:
    values = graph.constant(1, graph.random.choice((2, 3)), shape=(2, 1, 1))
    return graph.add(AddOp(graph.value(), values))


def convolution(graph: Graph) -> SSAValue:
    weight = graph.constant(0.5, -0.25, 0.125, shape=(2, 2, 1, 1))
    return graph.add(Conv2dOp(graph.value(), weight))


def pool(graph: Graph) -> SSAValue:
    op = MaxPool2dOp(graph.value(), kernel=(3, 3), padding=(1, 1, 1, 1))
    return graph.add(op)


def squeeze_and_excite(graph: Graph) -> SSAValue:
    data = graph.value()
    total = graph.add(TanhOp(graph.add(SumOp(data, (2, 3)))))
    return graph.add(MultiplyOp(data, total))


def reshape(graph: Graph) -> SSAValue:
    flat = graph.add(ReshapeOp(graph.value(), shape=(32,)))
    return graph.add(ReshapeOp(graph.add(ReluOp(flat)), shape=SHAPE))


def transpose(graph: Graph) -> SSAValue:
    return graph.add(TransposeOp(graph.value(), axes=(0, 1, 3, 2)))


def swap(graph: Graph) -> SSAValue:
    split = SplitOp(graph.value(), sizes=(1, 1), axis=1)
    graph.add(split)
    first, second = split.results
    return graph.add(ConcatenateOp((second, graph.add(ReluOp(first))), axis=1))


def softmax(graph: Graph) -> SSAValue:
    return graph.add(SoftmaxOp(graph.value()))


STEPS: Sequence[Callable[[Graph], SSAValue]] = (
    *(unary, unary, binary, binary, scale, bias, convolution, pool),
    *(squeeze_and_excite, reshape, transpose, swap, softmax),
)


@st.composite
def modules(draw: st.DrawFn) -> ModuleOp:
    random = draw(st.randoms(use_true_random=False))
    graph = Graph(random)
    for _ in range(draw(st.integers(1, 25))):
        graph.values.append(random.choice(STEPS)(graph))
    return graph.module()


def fused(module: ModuleOp, max_depth: int = 64, max_arguments: int = 32) -> ModuleOp:
    result = module.clone()
    FuseOpsPass(max_depth, max_arguments).apply(Context(), result)
    verify(result)
    return result


def functions(module: ModuleOp) -> tuple[FuncOp, list[FuncOp]]:
    """Return the entry and the kernels."""
    entry, *kernels = (each for each in module.ops if isinstance(each, FuncOp))
    assert all(KERNEL in each.attributes for each in kernels)
    return entry, kernels


def listed_differently(module: ModuleOp, random: Random) -> ModuleOp:
    """Return a copy whose entry lists its ops in another order."""
    result = module.clone()
    entry, _ = functions(result)
    block = entry.body.block
    *waiting, end = block.ops
    for op in waiting:
        op.detach()
    while waiting:
        ready = [
            op
            for op in waiting
            if not any(operand.owner in waiting for operand in op.operands)
        ]
        op = random.choice(ready)
        waiting.remove(op)
        block.insert_op_before(op, end)
    return result


def structure(module: ModuleOp) -> tuple[Key, dict[str, Key]]:
    """Say what a fused module computes, kernel by kernel."""
    entry, kernels = functions(module)
    return function_dataflow(entry).key, {
        each.sym_name.data: function_dataflow(each).key for each in kernels
    }


@examples
@given(modules(), st.integers(1, 12), st.integers(3, 8))
def test_results_are_kept(module: ModuleOp, max_depth: int, max_arguments: int) -> None:
    generator = np.random.default_rng(0)
    inputs = [generator.standard_normal(SHAPE).astype(np.float32) for _ in range(2)]
    before = interpret(module, inputs)
    after = interpret(fused(module, max_depth, max_arguments), inputs)
    for expected, got in zip(before, after, strict=True):
        np.testing.assert_array_equal(expected, got)


@examples
@given(modules(), st.integers(1, 12), st.integers(3, 8))
def test_kernels_obey_limits_and_patterns(
    module: ModuleOp, max_depth: int, max_arguments: int
) -> None:
    entry, kernels = functions(fused(module, max_depth, max_arguments))
    assert not any(fusion_pattern(op) < FusionPattern.OPAQUE for op in entry.body.ops)
    for kernel in kernels:
        *body, _ = kernel.body.ops
        ops = [op for op in body if not is_splat(op)]
        assert not any(isinstance(op, ConstantOp) for op in ops)
        kinds = [fusion_pattern(op) for op in ops]
        assert kinds.count(FusionPattern.OUT_FUSABLE) <= 1
        assert FusionPattern.OPAQUE not in kinds or len(ops) == 1
        type = kernel.function_type
        assert 1 <= len(ops) <= max_depth
        assert len(ops) == 1 or len(type.inputs) + len(type.outputs) <= max_arguments


@examples
@given(modules(), st.randoms(use_true_random=False), st.integers(1, 12))
def test_the_order_of_the_listing_does_not_matter(
    module: ModuleOp, random: Random, max_depth: int
) -> None:
    other = listed_differently(module, random)
    assert structure(fused(module, max_depth)) == structure(fused(other, max_depth))


@examples
@given(modules())
def test_fusing_again_changes_nothing(module: ModuleOp) -> None:
    once = fused(module)
    assert str(fused(once)) == str(once)


def chain(length: int) -> ModuleOp:
    graph = Graph(Random(0))
    value = graph.values[0]
    for _ in range(length):
        value = graph.add(ReluOp(value))
    graph.values.append(value)
    return graph.module()


def test_a_long_chain_is_cut_into_equal_kernels() -> None:
    _, kernels = functions(fused(chain(6400), max_depth=64))
    assert [len(each.body.block.ops) - 1 for each in kernels] == [64]


def test_names_that_collide_both_get_longer() -> None:
    """Kernels whose hashes start with the same digits are told apart by more of them."""
    x = Block(arg_types=[tensor_of(SHAPE, f32)]).args[0]
    flows: list[Dataflow] = []
    for value in range(200):
        constant = ConstantOp.of(np.full((), value, np.float32))
        add = AddOp(x, constant.result)
        flows.append(dataflow(add.results, lambda _: True))
    names = kernel_names(flows, digits=2)
    assert len(set(names.values())) == 200
    assert names == kernel_names(flows[::-1], digits=2)
    assert {len(each) for each in names.values()} > {len("add_00")}
    (plain,) = kernel_names(flows[:1]).values()
    (other,) = kernel_names(flows[:1], taken=[plain]).values()
    assert other.startswith(plain)
    assert other != plain


@pytest.mark.parametrize("option", ["max_depth", "max_arguments"])
def test_limits_below_one_are_refused(option: str) -> None:
    message = f"expected {option.replace('_', '-')} of at least 1, got 0"
    with pytest.raises(PassFailedException, match=message):
        FuseOpsPass(**{option: 0}).apply(Context(), chain(1))


def test_the_example_of_the_documentation_is_what_the_pass_does() -> None:
    text = (Path(__file__).parent.parent / "docs" / "fusion.md").read_text()
    ctx = Context()
    for dialect in (Builtin, Func, *ALL_DIALECTS):
        ctx.load_dialect(dialect)
    before, after = (
        Parser(ctx, each).parse_module()
        for each in re.findall(r"```mlir\n(.*?)```", text, re.DOTALL)
    )
    assert str(fused(before)) == str(after)
