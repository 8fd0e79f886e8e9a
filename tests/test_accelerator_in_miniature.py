"""A machine with an instruction on tiles and small memories, and a convolution that is scheduled for it.

The machine multiplies a row of 16 numbers by a 16x16 matrix (int8, sums in int32) and
finishes rows of sums: it adds a bias, shifts, clips and narrows. Operands have to be in its memories.
The convolution has blocked layouts, padding, and the epilogue that the machine can do. Its
schedule tiles rows, loads tiles of the next channels while it computes with these, leaves out
taps in the padding, and replaces loops by the two instructions.
"""

import re
from dataclasses import dataclass
from math import prod

import numpy as np
import pytest
from compiled import assemble, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AllocOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from partita.analysis.loop_nests import loops_around
from partita.analysis.memory_scopes import scope_of
from partita.analysis.verification import verify
from partita.dialects import tir
from partita.dialects.sched import Schedule
from partita.driver import context
from partita.interpreters import interpret
from partita.runtime import Machine
from partita.transforms.apply_schedules import ApplySchedulesPass
from partita.transforms.inline_intrinsics import InlineIntrinsicsPass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.pipeline import Pipeline, Verifier
from partita.transforms.plan_memory import PlanMemoryPass
from partita.transforms.sample_schedules import SampleSchedulesPass
from partita.transforms.split_stages import SplitStagesPass
from partita.weights import Array

INSTRUCTIONS = """
func.func private @gemm_1x16x16(%acc: memref<1x16xi32, "acc">, %inp: memref<1x16xi8, "inp">, %wgt: memref<16x16xi8, "wgt">) attributes {tir.intrinsic} {
  tir.for %i = 0 to 1 {
    tir.for %j = 0 to 16 vectorized {
      tir.for %k = 0 to 16 {
        tir.block "gemm" spatial (%a in 1, %b in 16) reduce (%c in 16) at [%i, %j, %k] {
          %old = tir.load %acc[%a, %b] : memref<1x16xi32, "acc">
          %u = tir.load %inp[%a, %c] : memref<1x16xi8, "inp">
          %v = tir.load %wgt[%b, %c] : memref<16x16xi8, "wgt">
          %x = arith.extsi %u : i8 to i32
          %w = arith.extsi %v : i8 to i32
          %p = arith.muli %w, %x : i32
          %new = arith.addi %p, %old : i32
          tir.store %new, %acc[%a, %b] : memref<1x16xi32, "acc">
        }
      }
    }
  }
  func.return
}
func.func private @finish_1x16(%acc: tensor<16xi32> {tir.scope = "acc"}, %bias: tensor<16xi32> {tir.scope = "acc"}) -> (tensor<16xi8> {tir.scope = "inp"}) attributes {tir.intrinsic} {
  %out = te.compute "finish" (%b in 16) {
    %v = te.read %acc[%b] : tensor<16xi32>
    %c = te.read %bias[%b] : tensor<16xi32>
    %s = arith.addi %v, %c : i32
    %shift = arith.constant 6 : i32
    %low = arith.constant -20 : i32
    %high = arith.constant 100 : i32
    %q = arith.shrsi %s, %shift : i32
    %m = arith.maxsi %q, %low : i32
    %o = arith.minsi %m, %high : i32
    %t = arith.trunci %o : i32 to i8
    te.yield %t : i8
  } : tensor<16xi8>
  func.return %out : tensor<16xi8>
}
"""
"""What they do, as loops, and as a tensor expression."""

MEMORIES = {"inp": 4096, "wgt": 16384, "acc": 4096}
"""Bytes."""


@dataclass(frozen=True)
class Convolution:
    """A convolution of blocked int8 data; channels are counted in blocks of 16."""

    size: int = 5
    """Rows and columns of the input."""

    inputs: int = 2

    outputs: int = 2

    taps: int = 3

    padding: int = 1

    stride: int = 1

    @property
    def result(self) -> int:
        """Rows and columns of the output."""
        return (self.size + 2 * self.padding - self.taps) // self.stride + 1

    @property
    def text(self) -> str:
        """An entry function that calls one kernel of `te`."""
        n, m, q, k, r, p, s = (
            *(self.inputs, self.outputs, self.size, self.result),
            *(self.taps, self.padding, self.stride),
        )
        wide = q + 2 * p
        types = {
            "x": f"tensor<1x{n}x{q}x{q}x16xi8>",
            "w": f"tensor<{m}x{n}x{r}x{r}x16x16xi8>",
            "b": f"tensor<{m}x16xi32>",
            "z": f"tensor<1x{m}x{k}x{k}x16xi8>",
        }
        padded = f"tensor<1x{n}x{wide}x{wide}x16xi8>"
        sums = f"tensor<1x{m}x{k}x{k}x16xi32>"
        arguments = ", ".join(f"%{name}: {types[name]}" for name in "xwb")
        return f"""
func.func @main({arguments}) -> {types["z"]} attributes {{partita.entry}} {{
  %z = func.call @conv(%x, %w, %b) : ({types["x"]}, {types["w"]}, {types["b"]}) -> {types["z"]}
  func.return %z : {types["z"]}
}}
func.func private @conv({arguments}) -> {types["z"]} attributes {{partita.kernel}} {{
  %p = te.compute "pad" (%n in 1, %c in {n}, %h in {wide}, %v in {wide}, %i in 16) {{
    %zero = arith.constant 0 : i8
    %e = te.read %x[%n, %c, %h - {p}, %v - {p}, %i] else %zero : {types["x"]}
    te.yield %e : i8
  }} : {padded}
  %y = te.compute "conv2d" (%n in 1, %k in {m}, %h in {k}, %v in {k}, %j in 16) reduce (%c in {n}, %r in {r}, %s in {r}, %i in 16) init (0 : i32) {{
    %u = te.read %p[%n, %c, %h * {s} + %r, %v * {s} + %s, %i] : {padded}
    %t = te.read %w[%k, %c, %r, %s, %j, %i] : {types["w"]}
    %a = arith.extsi %u : i8 to i32
    %d = arith.extsi %t : i8 to i32
    %q = arith.muli %a, %d : i32
    te.yield %q : i32
  }} combine (%f: i32, %g: i32) {{
    %o = arith.addi %f, %g : i32
    te.yield %o : i32
  }} : {sums}
  %z = te.compute "requantize" (%n in 1, %k in {m}, %h in {k}, %v in {k}, %j in 16) {{
    %e = te.read %y[%n, %k, %h, %v, %j] : {sums}
    %c = te.read %b[%k, %j] : {types["b"]}
    %s = arith.addi %e, %c : i32
    %shift = arith.constant 6 : i32
    %low = arith.constant -20 : i32
    %high = arith.constant 100 : i32
    %q = arith.shrsi %s, %shift : i32
    %m = arith.maxsi %q, %low : i32
    %o = arith.minsi %m, %high : i32
    %t = arith.trunci %o : i32 to i8
    te.yield %t : i8
  }} : {types["z"]}
  func.return %z : {types["z"]}
}}
"""

    @property
    def data(self) -> list[Array]:
        """Inputs of the entry."""
        random = np.random.default_rng(self.size)
        n, m, q, r = self.inputs, self.outputs, self.size, self.taps
        return [
            random.integers(-128, 128, (1, n, q, q, 16), np.int8),
            random.integers(-128, 128, (m, n, r, r, 16, 16), np.int8),
            random.integers(-4000, 4000, (m, 16), np.int32),
        ]

    @property
    def expected(self) -> Array:
        """What it computes, by numpy alone."""
        x, w, b = (each.astype(np.int64) for each in self.data)
        p, s, k = self.padding, self.stride, self.result
        x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p), (0, 0)))
        sums = np.zeros((1, self.outputs, k, k, 16), np.int64)
        for i in range(self.taps):
            for j in range(self.taps):
                part = x[:, :, i : i + s * k : s, j : j + s * k : s]
                sums += np.einsum("ncyxi,kcji->nkyxj", part, w[:, :, i, j])
        finished = (sums + b[:, None, None, :]) >> 6
        return np.clip(finished, -20, 100).astype(np.int8)

    @property
    def valid_rows(self) -> int:
        """How many pairs of an output row and a row of taps lie inside the input; columns alike."""
        s, p = self.stride, self.padding
        return sum(
            0 <= y * s + r - p < self.size
            for y in range(self.result)
            for r in range(self.taps)
        )


def schedule(
    convolution: Convolution, rows: int | None = 2, slots: int = 2
) -> Schedule:
    """Return a schedule for tiles of some output rows; without a number it is left open."""
    s = Schedule()
    s.compute_inline(s.block("pad"))
    conv, last = s.block("conv2d"), s.block("requantize")
    data, weight = s.cache_read(conv, 0, "inp"), s.cache_read(conv, 1, "wgt")
    result = s.cache_write(last, "inp")
    s.set_scope(conv, "acc")
    n, k, y, x, j, c, r, t, i = s.loops(conv, tuple("nkyxjcrti"))
    factors = (
        s.sample_perfect_tile(y, 2)
        if rows is None
        else (None, min(rows, convolution.result))
    )
    yo, yi = s.split(y, *factors)
    s.reorder(n, k, yo, c, r, t, yi, x, j, i)
    s.reverse_compute_at(last, yo)
    s.reverse_compute_at(result, yo)
    s.decompose_reduction(conv, c)
    s.compute_at(data, c)
    s.compute_at(weight, c)
    s.compute_at(s.cache_read(last, 1, "acc"), k)
    if convolution.padding:
        s.split_reduction_by_padding(conv)
    if convolution.inputs > 1:
        s.pipeline(c, slots)
    s.tensorize(j, "gemm_1x16x16")
    (row,) = s.loops(last, ["row"], innermost=True)
    s.tensorize(row, "finish_1x16")
    return s


def module_of(
    convolution: Convolution,
    schedule: Schedule,
    instructions: str = INSTRUCTIONS,
    memories: dict[str, int] = MEMORIES,
) -> ModuleOp:
    """Return a machine and a convolution that is scheduled for it, as loops; nothing is carried out."""
    stated = "\n".join(
        f'tir.memory "{scope}" of {size} bytes' for scope, size in memories.items()
    )
    module = Parser(context(), stated + instructions + convolution.text).parse_module()
    LowerTeToTirPass().apply(context(), module)
    sequence = schedule.sequence("conv")
    assert sequence is not None
    module.body.block.add_op(sequence)
    return module


def kernel(module: ModuleOp) -> FuncOp:
    """Return the kernel of a module."""
    return next(
        op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "conv"
    )


def calls(function: FuncOp, intrinsic: str) -> int:
    """Return how often an instruction runs."""
    return sum(
        prod(loop.extent for loop in loops_around(op))
        for op in function.walk()
        if isinstance(op, tir.CallOp) and op.callee.root_reference.data == intrinsic
    )


def compiled(module: ModuleOp, data: list[Array]) -> Array:
    """Run a scheduled module on this machine, which has no such instructions."""
    passes = (InlineIntrinsicsPass(), SplitStagesPass(), PlanMemoryPass())
    Pipeline(passes, (Verifier(),)).apply(context(), module)
    (result,) = run(assemble(module, Machine.host()), data)
    return result


CONVOLUTIONS = {
    "3x3": Convolution(),
    "strided": Convolution(size=6, stride=2),
    "1x1": Convolution(size=4, taps=1, padding=0, inputs=3),
    "wide padding": Convolution(size=3, inputs=1, taps=5, padding=4),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution_is_exact(name: str) -> None:
    """Loops, instructions and machine code all give what numpy gives, and padding is never multiplied."""
    convolution = CONVOLUTIONS[name]
    module = module_of(convolution, schedule(convolution))
    (before,) = interpret(module, convolution.data)
    np.testing.assert_array_equal(before, convolution.expected)
    ApplySchedulesPass().apply(context(), module)
    verify(module)
    body = kernel(module)
    (found,) = interpret(module, convolution.data)
    np.testing.assert_array_equal(found, convolution.expected)
    tiles = convolution.inputs * convolution.outputs
    assert calls(body, "gemm_1x16x16") == tiles * convolution.valid_rows**2
    assert calls(body, "finish_1x16") == convolution.outputs * convolution.result**2
    left = {op.label.data for op in body.walk() if isinstance(op, tir.BlockOp)}
    assert all(
        "_init" in label or "_read" in label or "_copy" in label for label in left
    )
    result = compiled(module, convolution.data)
    np.testing.assert_array_equal(result, convolution.expected)


def test_tiles_are_loaded_ahead() -> None:
    """With three slots, two tiles are loaded before the loop over channels, which loads the third behind them."""
    convolution = Convolution(size=4, inputs=5, outputs=1)
    module = module_of(convolution, schedule(convolution, slots=3))
    ApplySchedulesPass().apply(context(), module)
    body = kernel(module)
    loops = [
        op
        for op in body.walk()
        if isinstance(op, tir.ForOp) and op.loop_kind is tir.LoopKind.PIPELINED
    ]
    assert {loop.extent for loop in loops} == {3}
    shapes = {
        tir.buffer_type(op.memref).get_shape()
        for op in body.walk()
        if isinstance(op, AllocOp) and scope_of(op) == "wgt"
    }
    assert shapes == {(3, 3, 3, 16, 16)}
    (found,) = interpret(module, convolution.data)
    np.testing.assert_array_equal(found, convolution.expected)


def test_what_does_not_fit_is_refused() -> None:
    """The message has the numbers, the blocks and the loops."""
    convolution = Convolution(size=4, inputs=8)
    memories = MEMORIES | {"inp": 8192}
    module = module_of(convolution, schedule(convolution, slots=8), memories=memories)
    with pytest.raises(PassFailedException) as error:
        ApplySchedulesPass().apply(context(), module)
    assert str(error.value) == (
        "sched.sequence of kernel @conv: expected wgt buffers of at most 16384 bytes, "
        'got 18432: block "conv2d_read1_head" fills 8x3x3x16x16xi8 = 18432 bytes in loop %k'
    )


def test_other_instructions_are_refused() -> None:
    """An instruction that does something else takes no part of the convolution."""
    other = INSTRUCTIONS.replace("arith.extsi %u", "arith.extui %u")
    convolution = CONVOLUTIONS["3x3"]
    module = module_of(convolution, schedule(convolution), other)
    with pytest.raises(
        PassFailedException, match=r"expected arith\.extui .*, got arith\.extsi"
    ):
        ApplySchedulesPass().apply(context(), module)


def test_one_text_is_a_space_of_schedules() -> None:
    """Whatever is chosen is exact or refused, and the text with decisions is the schedule that was chosen."""
    convolution = Convolution(size=6, inputs=1)
    memories = MEMORIES | {"acc": 2000}
    text = str(
        module_of(convolution, schedule(convolution, rows=None), memories=memories)
    )
    heights: set[str] = set()
    refused: list[str] = []
    for seed in range(6):
        module = Parser(context(), text).parse_module()
        try:
            SampleSchedulesPass(seed).apply(context(), module)
        except PassFailedException as error:
            refused.append(str(error))
            continue
        heights |= set(re.findall(r"decision (\[.*\])", str(module)))
        chosen = Parser(context(), str(module)).parse_module()
        ApplySchedulesPass().apply(context(), chosen)
        sampled = Parser(context(), text).parse_module()
        ApplySchedulesPass(seed).apply(context(), sampled)
        assert str(chosen) == str(sampled)
    assert len(heights) > 1
    assert refused
    assert all(
        "acc buffers of at most 2000 bytes, got 2368" in each for each in refused
    )
    with pytest.raises(PassFailedException, match="nothing is decided; run sample-sch"):
        ApplySchedulesPass().apply(context(), Parser(context(), text).parse_module())
