"""Random schedules of random kernels change no value, interpreted or compiled, and a step that is refused changes nothing."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

import numpy as np
import pytest
from compiled import assemble, run
from hypothesis import HealthCheck, event, given, reject, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp
from xdsl.dialects.memref import MemRef
from xdsl.parser import Parser

from partita.analysis.loop_nests import blocks_in, loops_around, loops_in
from partita.dialects import ALL_DIALECTS
from partita.dialects.tir import BlockOp, ForOp
from partita.interpreters import interpret
from partita.runtime import Machine
from partita.shapes import shape_of
from partita.transforms.inline_intrinsics import InlineIntrinsicsPass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.pipeline import Pipeline, Verifier
from partita.transforms.plan_memory import PlanMemoryPass
from partita.transforms.scheduling.cache import cache_read, cache_write, set_scope
from partita.transforms.scheduling.compute_at import compute_at
from partita.transforms.scheduling.decompose import decompose_reduction
from partita.transforms.scheduling.finish import finish
from partita.transforms.scheduling.fuse import fuse
from partita.transforms.scheduling.inline import compute_inline
from partita.transforms.scheduling.kinds import parallel, unroll, vectorize
from partita.transforms.scheduling.padding import split_reduction_by_padding
from partita.transforms.scheduling.pipeline import pipeline
from partita.transforms.scheduling.reorder import reorder
from partita.transforms.scheduling.reverse_compute_at import reverse_compute_at
from partita.transforms.scheduling.split import split
from partita.transforms.scheduling.state import ScheduleError, State
from partita.transforms.scheduling.tensorize import tensorize
from partita.transforms.split_stages import SplitStagesPass
from partita.transforms.verify_dominance import VerifyDominancePass
from partita.weights import Array

Shape = tuple[int, ...]

T = TypeVar("T")

FACTORS: tuple[tuple[int | None, ...], ...] = (
    (None, 2),
    (None, 3),
    (2, None),
    (None, 2, 2),
    (3, 3),
)


@cache
def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, Func, Arith, MemRef, *ALL_DIALECTS):
        ctx.load_dialect(dialect)
    return ctx


def type_of(shape: Shape) -> str:
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + "i32>"


def axes_text(names: Sequence[str], shape: Shape) -> str:
    return ", ".join(f"%{n} in {e}" for n, e in zip(names, shape, strict=True))


@st.composite
def kernels(draw: st.DrawFn) -> str:
    """Draw a kernel: computes that read each other point by point, along windows, reshaped, reduced or repeated."""
    rank = draw(st.integers(1, 3))
    first: Shape = tuple(draw(st.sampled_from([1, 2, 3, 5, 8])) for _ in range(rank))
    tensors: list[tuple[str, Shape]] = [("x", first)]
    lines: list[str] = []
    count = draw(st.integers(1, 4))
    for number in range(count):
        name, shape = draw(st.sampled_from(tensors[-2:]))
        kinds = ["map", "map", "shift", "sum", "window", "taps", "flat", "spread"]
        kinds = kinds if shape else ["map"]
        kind = draw(st.sampled_from(kinds))
        axes = [f"a{i}" for i in range(len(shape))]
        index = [f"%{axis}" for axis in axes]
        otherwise, reduced, extents, inner = "", "", shape, ""
        if kind == "shift":
            dim = draw(st.integers(0, len(shape) - 1))
            index[dim] += draw(st.sampled_from([" - 1", " + 1", " * 2 - 1"]))
            otherwise = " else %minus"
        elif kind == "sum":
            dim = draw(st.integers(0, len(shape) - 1))
            reduced = f" reduce ({axes_text(['r'], (shape[dim],))}) init (3 : i32)"
            index[dim] = "%r"
            extents = tuple(e for i, e in enumerate(shape) if i != dim)
            axes = [a for i, a in enumerate(axes) if i != dim]
        elif kind == "window":
            dim = draw(st.integers(0, len(shape) - 1))
            size = draw(st.integers(1, shape[dim]))
            stride = draw(st.integers(1, 2))
            reduced = f" reduce ({axes_text(['r'], (size,))}) init (3 : i32)"
            index[dim] = f"%a{dim} * {stride} + %r"
            extents = tuple(
                (e - size) // stride + 1 if i == dim else e for i, e in enumerate(shape)
            )
        elif kind == "taps":
            dim = draw(st.integers(0, len(shape) - 1))
            size, before = draw(st.integers(1, 4)), draw(st.integers(0, 3))
            reduced = f" reduce ({axes_text(['r'], (size,))}) init (3 : i32)"
            index[dim] = f"%a{dim} + %r - {before}"
            otherwise = " else %zero"
        elif kind == "spread" and len(shape) < 3:
            axes = [*axes, "s"]
            extents = (*shape, draw(st.integers(1, 4)))
        elif kind == "flat" and len(shape) > 1:
            a, b = shape[-2:]
            extents = (*shape[:-2], a * b)
            axes = axes[:-1]
            last = f"%{axes[-1]}"
            index[-2:] = [f"{last} floordiv {b}", f"{last} mod {b}"]
        inner += (
            f"%v = te.read %{name}[{', '.join(index)}]{otherwise} : {type_of(shape)}\n"
        )
        same = [each for each in tensors if each[1] == extents]
        if same and draw(st.booleans()):
            other, other_shape = draw(st.sampled_from(same))
            at = ", ".join(f"%{axis}" for axis in axes)
            inner += f"%u = te.read %{other}[{at}] : {type_of(other_shape)}\n"
        else:
            inner += "%u = arith.constant 5 : i32\n"
        combine = (
            " combine (%acc : i32, %new : i32) {\n%t = arith.addi %acc, %new : i32\nte.yield %t : i32\n}"
            if reduced
            else ""
        )
        lines.append(
            f'%t{number} = te.compute "t{number}" ({axes_text(axes, extents)}){reduced} {{\n'
            "%minus = arith.constant -7 : i32\n%zero = arith.constant 0 : i32\n"
            f"{inner}%w = arith.muli %v, %u : i32\n%z = arith.addi %w, %minus : i32\n"
            f"te.yield %{'w' if kind == 'taps' else 'z'} : i32\n}}{combine} : {type_of(extents)}\n"
        )
        tensors.append((f"t{number}", extents))
    result, shape = tensors[-1]
    signature = f"(%x: {type_of(first)}) -> {type_of(shape)}"
    return (
        f"func.func @main{signature} attributes {{partita.entry}} {{\n"
        f"%y = func.call @k(%x) : ({type_of(first)}) -> {type_of(shape)}\n"
        f"func.return %y : {type_of(shape)}\n}}\n"
        f"func.func private @k{signature} attributes {{partita.kernel}} {{\n"
        + "".join(lines)
        + f"func.return %{result} : {type_of(shape)}\n}}\n"
        + MACHINE
    )


COPIES = [
    (extent, source, destination)
    for extent in (2, 3, 5, 8)
    for source, destination in (("", "fast"), ("fast", ""), ("", ""))
]
"""Instructions that copy so many numbers from a memory to another."""


def copy_text(extent: int, source: str, destination: str) -> str:
    """Return the text of such an instruction."""
    t, u = (
        f"memref<{extent}xi32" + (f', "{scope}">' if scope else ">")
        for scope in (destination, source)
    )
    return (
        f"func.func private @copy_{extent}_{source}_{destination}(%t: {t}, %u: {u}) attributes {{tir.intrinsic}} {{\n"
        f'tir.for %i = 0 to {extent} {{\ntir.block "copy" spatial (%a in {extent}) at [%i] {{\n'
        f"%v = tir.load %u[%a] : {u}\ntir.store %v, %t[%a] : {t}\n}}\n}}\nfunc.return\n}}\n"
    )


MACHINE = 'tir.memory "fast" of 2048 bytes\n' + "".join(
    copy_text(*each) for each in COPIES
)


class Draws:
    """Draws steps and what they apply to."""

    def __init__(self, state: State, data: st.DataObject):
        self.state = state
        self.data = data

    def loop(self) -> ForOp:
        loops = tuple(loops_in(self.state.function))
        if not loops:
            reject()
        return self.pick(*loops)

    def block(self) -> BlockOp:
        return self.pick(*blocks_in(self.state.function))

    def pick(self, *choices: T) -> T:
        # Hypothesis shows what is drawn, and would show a loop with all of the module.
        return choices[self.data.draw(st.sampled_from(range(len(choices))))]

    def chain(self) -> list[ForOp]:
        """Draw a loop and some of those directly below."""
        loops = [self.loop()]
        while isinstance(inner := loops[-1].body.block.first_op, ForOp):
            loops.append(inner)
        count = self.data.draw(st.integers(1, len(loops)))
        return loops[:count]

    def split(self) -> None:
        factors = self.pick(*FACTORS)
        split(self.state, self.loop(), factors, self.pick(True, False))

    def fuse(self) -> None:
        fuse(self.state, self.chain())

    def reorder(self) -> None:
        loops = self.chain()
        order = self.data.draw(st.permutations(range(len(loops))))
        reorder(self.state, [loops[place] for place in order])

    def compute_at(self) -> None:
        compute_at(self.state, self.block(), self.loop())

    def reverse_compute_at(self) -> None:
        reverse_compute_at(self.state, self.block(), self.loop())

    def inline(self) -> None:
        compute_inline(self.state, self.block())

    def cache_read(self) -> None:
        scope = self.pick("local", "global", "fast")
        cache_read(self.state, self.block(), self.pick(0, 1), scope)

    def cache_write(self) -> None:
        scope = self.pick("local", "global", "fast")
        cache_write(self.state, self.block(), scope)

    def set_scope(self) -> None:
        set_scope(self.state, self.block(), self.pick("local", "fast"))

    def decompose(self) -> None:
        decompose_reduction(self.state, self.block(), self.loop())

    def vectorize(self) -> None:
        vectorize(self.state, self.loop())

    def parallel(self) -> None:
        parallel(self.state, self.loop())

    def split_by_padding(self) -> None:
        split_reduction_by_padding(self.state, self.block())

    def pipeline(self) -> None:
        pipeline(self.state, self.loop(), self.pick(2, 3))

    def tensorize(self) -> None:
        loops = loops_around(self.block())
        if loops:
            copies = ["copy_{}_{}_{}".format(*each) for each in COPIES]
            tensorize(self.state, loops[-1], self.pick(*copies))

    def load_ahead(self) -> None:
        """Do together what a random choice of steps hardly finds: tiles that an instruction copies in a pipelined loop."""
        block = self.block()
        loops = loops_around(block)
        if not loops:
            return
        copy = cache_read(self.state, block, 0, self.pick("local", "fast", "fast"))
        if self.pick(True, True, False):
            compute_at(self.state, copy, loops[0])
        inner = loops_around(copy)[-1]
        name = f"copy_{inner.extent}__fast"
        if inner is not loops[0] and name in self.state.intrinsics:
            tensorize(self.state, inner, name)
        pipeline(self.state, loops[0], self.pick(2, 3))

    def unroll(self) -> None:
        unroll(self.state, self.loop(), self.pick(None, 2))


STEPS: tuple[Callable[[Draws], None], ...] = (
    Draws.split,
    Draws.fuse,
    Draws.reorder,
    Draws.compute_at,
    Draws.compute_at,
    Draws.reverse_compute_at,
    Draws.reverse_compute_at,
    Draws.inline,
    Draws.cache_read,
    Draws.cache_write,
    Draws.set_scope,
    Draws.decompose,
    Draws.decompose,
    Draws.split_by_padding,
    Draws.split_by_padding,
    Draws.pipeline,
    Draws.load_ahead,
    Draws.tensorize,
    Draws.vectorize,
    Draws.parallel,
    Draws.unroll,
)


def inputs_of(function: FuncOp, source: str) -> list[Array]:
    random = np.random.default_rng(len(source))
    shape = shape_of(function.args[0])
    return [random.integers(-9, 9, shape, np.int32)]


def scheduled(source: str, data: st.DataObject) -> tuple[ModuleOp, list[Array], Array]:
    """Return a kernel with a random schedule, which was carried out, inputs, and what it computed before."""
    module = Parser(context(), source).parse_module()
    function = next(
        op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "k"
    )
    inputs = inputs_of(function, source)
    (expected,) = interpret(module, inputs)
    LowerTeToTirPass().apply(context(), module)
    state = State(function)
    draws = Draws(state, data)
    steps = data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=12))
    if data.draw(st.booleans()):
        steps.insert(0, Draws.load_ahead)
    for step in steps:
        before = str(module)
        try:
            step(draws)
        except ScheduleError:
            assert step is Draws.load_ahead or str(module) == before
        else:
            event(f"{step.__name__} is legal")
            module.verify()
    try:
        finish(state)
    except ScheduleError:
        event("refused in the end")
        reject()
    module.verify()
    VerifyDominancePass().apply(context(), module)
    return module, inputs, expected


def examples(count: int) -> settings:
    """Try so many kernels, however long each takes."""
    return settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


@examples(60)
@given(source=kernels(), data=st.data())
def test_values_stay(source: str, data: st.DataObject) -> None:
    module, inputs, expected = scheduled(source, data)
    (found,) = interpret(module, inputs)
    np.testing.assert_array_equal(found, expected)


def check_code(source: str, data: st.DataObject) -> None:
    """Compile a kernel with a random schedule for this machine, and compare."""
    module, inputs, expected = scheduled(source, data)
    passes = (InlineIntrinsicsPass(), SplitStagesPass(), PlanMemoryPass())
    Pipeline(passes, (Verifier(),)).apply(context(), module)
    (found,) = run(assemble(module, Machine.host()), inputs)
    np.testing.assert_array_equal(found, expected)


@examples(12)
@given(source=kernels(), data=st.data())
def test_code_computes_the_same(source: str, data: st.DataObject) -> None:
    check_code(source, data)


@pytest.mark.full
@examples(200)
@given(source=kernels(), data=st.data())
def test_code_of_many_schedules_computes_the_same(
    source: str, data: st.DataObject
) -> None:
    check_code(source, data)
