"""`tir` means what `te` and `relay` mean, before and after the host's schedules are carried out."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from relay_cases import CASES, Case, assert_close
from relay_cases.graphs import graphs
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.math import Math
from xdsl.dialects.memref import MemRef
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from partita.analysis.verification import verify
from partita.dialects import ALL_DIALECTS
from partita.interpreters import interpret, tir
from partita.targets.host.schedule_host import ScheduleHostPass
from partita.transforms.apply_schedules import ApplySchedulesPass
from partita.transforms.lower_relay_to_te import LowerRelayToTePass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.weights import Array


def lowered(case: Case) -> ModuleOp:
    module = case.module(kernel=True)
    for each in (LowerRelayToTePass(), LowerTeToTirPass()):
        each.apply(Context(), module)
    verify(module)
    return module


def scheduled(case: Case) -> ModuleOp:
    module = lowered(case)
    for each in (ScheduleHostPass(vector=256), ApplySchedulesPass()):
        each.apply(Context(), module)
    verify(module)
    return module


def results(
    module: ModuleOp, inputs: Sequence[Array], like: Sequence[Array]
) -> tuple[Array, ...]:
    """Run a module, and give unsigned results the dtype that signless buffers do not tell."""
    found = interpret(module, inputs)
    return tuple(
        array.view(wanted.dtype) if wanted.dtype.kind == "u" else array
        for array, wanted in zip(found, like, strict=True)
    )


@pytest.mark.parametrize(
    "each",
    [
        pytest.param(case, marks=[pytest.mark.full] if i % 3 else [], id=str(case))
        for i, case in enumerate(CASES)
    ],
)
def test_loops_give_the_same(each: Case) -> None:
    inputs = each.inputs()
    expected = each.expected(inputs)
    for module in (lowered(each), scheduled(each)):
        assert_close(results(module, inputs, expected), expected)


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(graphs())
def test_random_graphs_give_the_same(each: Case) -> None:
    inputs = each.inputs()
    expected = each.expected(inputs)
    found = results(scheduled(each), inputs, expected)
    assert_close(found, expected, each.slack(inputs))


@pytest.mark.parametrize("each", CASES[::25], ids=str)
def test_few_iterations_at_once_give_the_same(
    each: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A nest that runs piece by piece gives what it gives at once."""
    monkeypatch.setattr(tir, "POINTS", 20)
    inputs = each.inputs()
    expected = each.expected(inputs)
    assert_close(results(lowered(each), inputs, expected), expected)


def run(text: str, *inputs: Array) -> tuple[Array, ...]:
    ctx = Context()
    for dialect in (Arith, Builtin, Func, Math, MemRef, *ALL_DIALECTS):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    verify(module)
    return interpret(module, inputs)


def test_constants_copies_and_scalars() -> None:
    (found,) = run(
        """
        func.func @f(%y: memref<3xi32>) {
          %c = tir.constant dense<[1, 2, 3]> : tensor<3xi32> -> memref<3xi32>
          %t = memref.alloc() : memref<3xi32>
          "memref.copy"(%c, %t) : (memref<3xi32>, memref<3xi32>) -> ()
          "memref.copy"(%t, %y) : (memref<3xi32>, memref<3xi32>) -> ()
          tir.block "last" {
            %v = tir.load %t[0] : memref<3xi32>
            tir.store %v, %y[2] : memref<3xi32>
          }
          func.return
        }
        """
    )
    assert found.tolist() == [1, 2, 1]


def test_guards_leave_lanes_out() -> None:
    """A block runs where its guards hold, for lanes and for loops that run one by one alike."""
    (found,) = run(
        """
        func.func @f(%x: memref<10xi32>, %y: memref<10xi32>) {
          tir.for %o = 0 to 3 {
            tir.for %i = 0 to 4 {
              tir.block "copy" spatial (%a in 10) at [%o * 4 + %i] where [9 - %o * 4 - %i, %o * 4 + %i - 2] {
                %v = tir.load %x[%a] : memref<10xi32>
                tir.store %v, %y[%a] : memref<10xi32>
              }
            }
          }
          func.return
        }
        """,
        np.arange(10, dtype=np.int32),
    )
    assert found.tolist() == [-1, -1, *range(2, 10)]


def test_indices_from_data() -> None:
    (found,) = run(
        """
        func.func @f(%x: memref<4xi32>, %at: memref<3xi64>, %y: memref<3xi32>) {
          tir.for %i = 0 to 3 {
            tir.block "gather" spatial (%a in 3) at [%i] {
              %zero = arith.constant 0 : i32
              %p = tir.load %at[%a] : memref<3xi64>
              %q = arith.index_cast %p : i64 to index
              %v = tir.load %x[%q] else %zero : memref<4xi32>
              tir.store %v, %y[%a] : memref<3xi32>
            }
          }
          func.return
        }
        """,
        np.arange(1, 5, dtype=np.int32),
        np.array([3, -1, 0], np.int64),
    )
    assert found.tolist() == [4, 0, 1]


def test_iterations_that_depend_on_each_other_show() -> None:
    """Parallel iterations run backwards: a prefix sum along one comes out wrong."""
    text = """
        func.func @f(%x: memref<5xi32>) {
          tir.for %i = 0 to 4 KIND {
            tir.block "scan" spatial (%a in 4) at [%i] {
              %u = tir.load %x[%a] : memref<5xi32>
              %v = tir.load %x[%a + 1] : memref<5xi32>
              %s = arith.addi %u, %v : i32
              tir.store %s, %x[%a + 1] : memref<5xi32>
            }
          }
          func.return
        }
        """
    for kind, expected in (("", [1, 2, 3, 4, 5]), ("parallel", [1, 2, 2, 2, 2])):
        array = np.ones(5, np.int32)
        run(text.replace("KIND", kind), array)
        assert array.tolist() == expected


def test_what_was_not_written_shows() -> None:
    """A buffer is new in each iteration of its loop."""
    (found,) = run(
        """
        func.func @f(%y: memref<2xi32>) {
          tir.for %i = 0 to 2 {
            %t = memref.alloc() : memref<i32, "local">
            tir.block "read" spatial (%a in 2) at [%i] {
              %v = tir.load %t[] : memref<i32, "local">
              tir.store %v, %y[%a] : memref<2xi32>
            }
            tir.block "write" {
              %c = arith.constant 5 : i32
              tir.store %c, %t[] : memref<i32, "local">
            }
          }
          func.return
        }
        """
    )
    assert found.tolist() == [-1, -1]


@pytest.mark.parametrize(
    "index", ["%a * %b", "%a floordiv %b", "%a mod 0", "%a floordiv 0", "3 ceildiv 0"]
)
def test_indices_that_are_not_affine(index: str) -> None:
    with pytest.raises(ParseError, match="expected products with and divisions by"):
        run(
            f"""
func.func @f(%x : memref<4x4xf32>, %y : memref<4x4xf32>) {{
  tir.for %i = 0 to 4 {{
    tir.for %j = 0 to 4 {{
      tir.block "copy" spatial (%a in 4, %b in 4) at [%i, %j] {{
        %v = tir.load %x[%a, {index}] : memref<4x4xf32>
        tir.store %v, %y[%a, %b] : memref<4x4xf32>
      }}
    }}
  }}
  func.return
}}
"""
        )


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ("memref<4xi8>, memref<4xi8>", "expected 1 types, got 2"),
        ("i8", "expected a memref type, got i8"),
    ],
)
def test_tiles_that_are_no_buffers(types: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        run(
            f"""
func.func @f(%x : memref<4xi8>) {{
  tir.call "b" @f(%x[0][4]) : {types}
  func.return
}}
"""
        )
