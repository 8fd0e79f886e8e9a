"""Softmax and reductions of rows on the values where floats are no numbers, and what they are compiled to."""

import numpy as np
import pytest
from compiled import assemble, lower, run
from relay_cases import assert_close
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from partita.dialects.partita import KERNEL
from partita.driver import context
from partita.interpreters.scalar import Array
from partita.runtime import Machine
from partita.targets.host.kernel import emit_kernel
from partita.targets.host.processors import machine_named

ROWS = 24
COLUMNS = 150


def module_of(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


def unary(op: str, shape: str, result: str) -> str:
    return f"""
    func.func @main(%x: tensor<{shape}xf32>) -> tensor<{result}xf32> attributes {{partita.entry}} {{
      %0 = {op} : tensor<{shape}xf32>{"" if shape == result else f" -> tensor<{result}xf32>"}
      func.return %0 : tensor<{result}xf32>
    }}"""


SOFTMAX = unary(
    "relay.softmax %x {axis = 1 : i64}",
    f"{ROWS}x{COLUMNS}",
    f"{ROWS}x{COLUMNS}",
)
MAX = unary(
    "relay.max %x {axes = array<i64: 1>, keepdims = false}",
    f"{ROWS}x{COLUMNS}",
    f"{ROWS}",
)
TRANSPOSE = unary("relay.transpose %x {axes = array<i64: 1, 0>}", "64x48", "48x64")


def odd_rows() -> Array:
    """Return rows that hold NaN of both signs, infinities, zeros of both signs and numbers far from zero."""
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS), np.float32)
    x[1, 7] = np.nan
    x[2, 149] = -np.float32(np.nan)
    x[3] = np.nan
    x[4, 20] = np.inf
    x[5, 21] = -np.inf
    x[6] = -np.inf
    x[7] = 0
    x[8] = -0.0
    x[9, :] = -0.0
    x[9, 100] = 0.0
    x[10] *= 1e30
    x[11] -= 80
    x[12, 0], x[12, 149] = np.inf, np.nan
    return x


def compiled(text: str, machine: Machine, x: Array) -> tuple[Array, int]:
    """Return what a function gives, and how many steps its plan has."""
    module = module_of(text)
    lower(module, machine)
    artifact = assemble(module, machine)
    (result,) = run(artifact, [x], threads=2)
    return result, len(artifact.plan.steps)


MACHINES = [
    pytest.param(None, id="this"),
    pytest.param(
        "x86-64-v3",
        marks=pytest.mark.skipif(
            Machine.host().architecture != "x86_64", reason="runs code for x86-64"
        ),
    ),
]


@pytest.mark.parametrize("cpu", MACHINES)
def test_softmax_of_odd_rows(cpu: str | None) -> None:
    machine = Machine.host() if cpu is None else machine_named(cpu=cpu)
    x = odd_rows()
    result, steps = compiled(SOFTMAX, machine, x)
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        powers = np.exp(wide - wide.max(axis=1, keepdims=True))
        expected = powers / powers.sum(axis=1, keepdims=True)
    assert_close([result], [expected.astype(np.float32)])
    assert np.isnan(result).all(axis=1).tolist() == [
        row in (1, 2, 3, 4, 6, 12) for row in range(ROWS)
    ]
    assert steps == 1


@pytest.mark.parametrize("cpu", MACHINES)
def test_maxima_of_odd_rows_keep_nan_and_the_sign_of_zeros(cpu: str | None) -> None:
    machine = Machine.host() if cpu is None else machine_named(cpu=cpu)
    x = odd_rows()
    result, _ = compiled(MAX, machine, x)
    expected = x.max(axis=1)
    assert np.array_equal(result, expected, equal_nan=True)
    assert np.signbit(result[7:10]).tolist() == [False, True, False]


def test_a_transpose_reads_and_writes_whole_vectors() -> None:

    module = module_of(TRANSPOSE)
    lower(module, machine_named(triple="x86_64-unknown-linux-gnu", cpu="x86-64-v4"))
    (kernel,) = (
        op for op in module.ops if isinstance(op, FuncOp) and KERNEL in op.attributes
    )
    text = emit_kernel(kernel, "kernel").text
    assert text.count("load <16 x float>") == 16
    assert text.count("store <16 x float>") == 16
    assert text.count("= shufflevector") == 64
    assert "load float," not in text


@pytest.mark.parametrize("columns", [31, 47, 64])
def test_panels_of_a_deep_product_fit_on_a_stack(columns: int) -> None:
    """The last panel is narrower, and is a buffer of its own."""
    text = f"""
    func.func @main(%x: tensor<9x2047xf32>, %w: tensor<{columns}x2047xf32>) -> tensor<9x{columns}xf32>
        attributes {{partita.entry}} {{
      %0 = relay.dense %x, %w : (tensor<9x2047xf32>, tensor<{columns}x2047xf32>) -> tensor<9x{columns}xf32>
      func.return %0 : tensor<9x{columns}xf32>
    }}"""
    module = module_of(text)
    lower(module, Machine.host())
    rng = np.random.default_rng(0)
    x = rng.standard_normal((9, 2047), np.float32)
    w = rng.standard_normal((columns, 2047), np.float32)
    (result,) = run(assemble(module, Machine.host()), [x, w])
    assert_close([result], [(x.astype(np.float64) @ w.T).astype(np.float32)])
