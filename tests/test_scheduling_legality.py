"""Schedules that would change a result are refused, with the block and the loop; their legal neighbours are not.

Each was accepted once, or is the next thing to try for somebody who wants a wrong result.
"""

import numpy as np
import pytest
from compiled import assemble, run
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.memref import MemRef
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from partita.analysis.verification import verify
from partita.dialects import ALL_DIALECTS
from partita.interpreters import interpret
from partita.runtime import Machine
from partita.transforms.apply_schedules import ApplySchedulesPass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.pipeline import Pipeline, Verifier
from partita.transforms.plan_memory import PlanMemoryPass
from partita.transforms.split_stages import SplitStagesPass

SUM = """
%s = te.compute "sum" (%i in 7) reduce (%r in 6) init (5 : i32) {
  %v = te.read %x[%i, %r] : tensor<7x6xi32>
  te.yield %v : i32
} combine (%a: i32, %b: i32) {
  %t = arith.addi %a, %b : i32
  te.yield %t : i32
} : tensor<7xi32>
"""

SPREAD = """
%u = te.compute "use" (%i in 7, %j in 4) {
  %v = te.read %s[%i] : tensor<7xi32>
  te.yield %v : i32
} : tensor<7x4xi32>
"""

LAST = """
%l = te.compute "last" (%i in 7, %j in 4) {
  %v = te.read %u[%i, %j] : tensor<7x4xi32>
  te.yield %v : i32
} : tensor<7x4xi32>
"""

NEIGHBOURS = """
%u = te.compute "use" (%i in 6) {
  %v = te.read %s[%i] : tensor<7xi32>
  %w = te.read %s[%i + 1] : tensor<7xi32>
  %p = arith.muli %v, %w : i32
  te.yield %p : i32
} : tensor<6xi32>
"""

POINTS = """
%b = te.compute "first" (%i in 7, %j in 6) {
  %v = te.read %x[%i, %j] : tensor<7x6xi32>
  te.yield %v : i32
} : tensor<7x6xi32>
%c = te.compute "second" (%i in 7, %j in 6) {
  %v = te.read %b[%i, %j] : tensor<7x6xi32>
  te.yield %v : i32
} : tensor<7x6xi32>
"""

TWICE = POINTS, "c", "7x6"

FIRST = """
%b = sched.block "first"
%c = sched.block "second"
sched.set_scope %b, "local"
%i, %j = sched.loops %b -> 2
"""

FLAT = FIRST + "%f = sched.fuse %i, %j\n"

SUMS = SUM, "s", "7"
ROWS = SUM + SPREAD, "u", "7x4"
COPIED = SUM + SPREAD + LAST, "l", "7x4"
PAIRS = SUM + NEIGHBOURS, "u", "6"

Kernel = tuple[str, str, str]
"""The computes, the result's name, and its shape."""

FUSED = """
%s = sched.block "sum"
%i, %r = sched.loops %s -> 2
%f = sched.fuse %i, %r
"""

IN_ROWS = """
%s = sched.block "sum"
%u = sched.block "use"
%i, %j = sched.loops %u -> 2
sched.compute_at %s, %j
"""

IN_PAIRS = """
%s = sched.block "sum"
%u = sched.block "use"
%i = sched.loops %u -> 1
%o, %n = sched.split %i [?, 2]
sched.compute_at %s, %o
%oo, %p, %r = sched.loops %s -> 3
"""


def module_of(kernel: Kernel, schedule: str = "") -> ModuleOp:
    """Return a kernel, and its schedule if there is one."""
    computes, result, shape = kernel
    type = f"tensor<{shape}xi32>"
    text = (
        f"func.func @main(%x: tensor<7x6xi32>) -> {type} attributes {{partita.entry}} {{\n"
        f"%y = func.call @k(%x) : (tensor<7x6xi32>) -> {type}\nfunc.return %y : {type}\n}}\n"
        f"func.func private @k(%x: tensor<7x6xi32>) -> {type} attributes {{partita.kernel}} {{\n"
        f"{computes}\nfunc.return %{result} : {type}\n}}\n"
    )
    if schedule:
        text += f"sched.sequence @schedule for @k {{\n{schedule}\n}}\n"
    ctx = Context()
    for dialect in (Arith, Builtin, Func, MemRef, *ALL_DIALECTS):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    verify(module)
    return module


def applied(kernel: Kernel, schedule: str) -> ModuleOp:
    module = module_of(kernel, schedule)
    LowerTeToTirPass().apply(Context(), module)
    ApplySchedulesPass().apply(Context(), module)
    verify(module)
    return module


@pytest.mark.parametrize(
    ("kernel", "schedule", "message"),
    [
        pytest.param(
            ROWS,
            IN_ROWS + "%z = sched.decompose_reduction %s, %j",
            'of block "sum", loop %j of kernel @k: loop %j computes elements of block "sum" again',
            id="init in front of a loop that repeats the sum",
        ),
        pytest.param(
            PAIRS,
            IN_PAIRS + "%z = sched.decompose_reduction %s, %o",
            'of block "sum", loop %io of kernel @k: loop %io computes elements of block "sum" again',
            id="init in front of tiles that overlap",
        ),
        pytest.param(
            COPIED,
            IN_ROWS
            + "sched.compute_inline %u\n%a, %b, %c = sched.loops %s -> 3\nsched.reorder %a, %c, %b",
            'of loop %i, loop %r, loop %j of kernel @k: loop %j repeats the reduction of block "sum"',
            id="a loop that repeats the sum inside that of the sum",
        ),
        pytest.param(
            SUMS,
            FUSED + "%o, %n = sched.split %f [?, 4]\nsched.reorder %n, %o",
            "of loop %iri, loop %iro of kernel @k: loop %iri runs over reduction and spatial axes",
            id="parts of a fused loop in another order",
        ),
        pytest.param(
            SUMS,
            FUSED
            + "%o, %m, %n = sched.split %f [2, 7, 3] peel\nsched.reorder %o, %n, %m",
            "runs over reduction and spatial axes of block",
            id="inner parts of a fused loop in another order",
        ),
        pytest.param(
            SUMS,
            FUSED + "%z = sched.decompose_reduction %s, %f",
            "loop %ir runs over reduction and spatial axes at once",
            id="init in front of a fused loop",
        ),
    ],
)
def test_a_sum_is_never_torn_apart(kernel: Kernel, schedule: str, message: str) -> None:
    with pytest.raises(PassFailedException) as refused:
        applied(kernel, schedule)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "schedule",
    [
        pytest.param(
            FIRST
            + "%o, %n = sched.split %i [?, 2]\nsched.reorder %n, %o\nsched.reverse_compute_at %c, %n",
            id="every other row",
        ),
        pytest.param(
            FIRST
            + "%o, %n = sched.split %i [?, 4]\n%p, %q = sched.split %n [2, 3]\nsched.reverse_compute_at %c, %o",
            id="tiles whose parts reach beyond them",
        ),
        pytest.param(
            FLAT + "%o, %n = sched.split %f [?, 5]\nsched.reverse_compute_at %c, %o",
            id="pieces of rows",
        ),
        pytest.param(
            FLAT + "%o, %n = sched.split %f [?, 9]\nsched.reverse_compute_at %c, %o",
            id="rows and pieces of rows",
        ),
    ],
)
def test_what_is_consumed_is_complete(schedule: str) -> None:
    with pytest.raises(PassFailedException) as refused:
        applied(TWICE, schedule)
    message = str(refused.value)
    assert 'sched.reverse_compute_at of block "second", loop %' in message
    assert 'what block "first" writes in one iteration of loop %' in message


@pytest.mark.parametrize(
    ("kernel", "schedule"),
    [
        pytest.param(
            ROWS,
            IN_ROWS
            + "%a, %b, %c = sched.loops %s -> 3\n%z = sched.decompose_reduction %s, %c",
            id="init inside the loop that repeats the sum",
        ),
        pytest.param(
            PAIRS,
            IN_PAIRS + "sched.reorder %r, %p\n%z = sched.decompose_reduction %s, %r",
            id="loops of one tile in another order",
        ),
        pytest.param(
            PAIRS,
            IN_PAIRS + "%z = sched.decompose_reduction %s, %p",
            id="init in front of one tile",
        ),
        pytest.param(
            SUMS,
            '%s = sched.block "sum"\n%i, %r = sched.loops %s -> 2\n'
            "%ro, %ri = sched.split %r [?, 4]\nsched.reorder %ri, %ro, %i",
            id="parts of a sum in another order",
        ),
        pytest.param(
            COPIED,
            '%s = sched.block "sum"\n%u = sched.block "use"\n%l = sched.block "last"\n'
            "sched.compute_inline %u\n%i, %j = sched.loops %l -> 2\n%f = sched.fuse %i, %j\n"
            "%o, %n = sched.split %f [?, 5]\nsched.reorder %n, %o",
            id="parts of a fused loop without sum in another order",
        ),
        pytest.param(
            TWICE,
            FIRST + "%o, %n = sched.split %i [?, 4]\nsched.reverse_compute_at %c, %o",
            id="tiles of rows, and a rest",
        ),
        pytest.param(
            TWICE,
            FLAT + "%o, %n = sched.split %f [?, 12]\nsched.reverse_compute_at %c, %o",
            id="pairs of rows of a fused loop, and a rest",
        ),
        pytest.param(
            TWICE,
            FLAT + "%o, %n = sched.split %f [?, 3]\nsched.reverse_compute_at %c, %o",
            id="halves of rows of a fused loop",
        ),
    ],
)
def test_legal_neighbours_compute_the_same(kernel: Kernel, schedule: str) -> None:
    inputs = [np.arange(42, dtype=np.int32).reshape(7, 6)]
    (expected,) = interpret(module_of(kernel), inputs)
    module = applied(kernel, schedule)
    (found,) = interpret(module, inputs)
    np.testing.assert_array_equal(found, expected)
    passes = (SplitStagesPass(), PlanMemoryPass())
    Pipeline(passes, (Verifier(),)).apply(Context(), module)
    (compiled,) = run(assemble(module, Machine.host()), inputs)
    np.testing.assert_array_equal(compiled, expected)
