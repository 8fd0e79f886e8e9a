"""Every scalar op means in C what it means in the interpreter, on every type that it is for."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    IndexType,
    MemRefType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.utils.test_value import create_ssa_value

from partita.dialects import tir
from partita.dialects.partita import RemainderOp
from partita.interpreters.scalar import (
    SCALARS,
    Array,
    evaluate_scalar,
    quiet,
    scalar_dtype,
)
from partita.runtime import Machine
from partita.targets.c.compiler import Compiler
from partita.targets.c.program import emit_c
from partita.targets.c.scalar_ops import RULES

COUNT = 96

INTEGERS = (i8, i16, i32, i64)

FLOATS = (f16, f32, f64)

SHIFTS = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)

NOT_ON_BOOL = (
    *(arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp, arith.CeilDivSIOp),
    *(arith.CeilDivUIOp, arith.RemSIOp, arith.RemUIOp, *SHIFTS, math.AbsIOp),
    *(math.IPowIOp, math.CountLeadingZerosOp, math.CountTrailingZerosOp, math.CtPopOp),
)

UNARY_INTEGER = (
    math.AbsIOp,
    math.CountLeadingZerosOp,
    math.CountTrailingZerosOp,
    math.CtPopOp,
)

BINARY_INTEGER = (
    *(arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.DivSIOp, arith.DivUIOp),
    *(arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp, arith.RemSIOp),
    *(arith.RemUIOp, arith.MinSIOp, arith.MaxSIOp, arith.MinUIOp, arith.MaxUIOp),
    *(arith.AndIOp, arith.OrIOp, arith.XOrIOp, *SHIFTS, math.IPowIOp),
)

BINARY_FLOAT = (
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.MaximumfOp),
    *(arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp, math.CopySignOp),
    *(math.PowFOp, math.Atan2Op, RemainderOp),
)

UNARY_FLOAT = (
    *(arith.NegfOp, math.AbsFOp, math.FloorOp, math.CeilOp, math.TruncOp),
    *(math.RoundEvenOp, math.RoundOp, math.SqrtOp, math.RsqrtOp, math.CbrtOp),
    *(math.ExpOp, math.Exp2Op, math.ExpM1Op, math.LogOp, math.Log1pOp, math.Log2Op),
    *(math.Log10Op, math.ErfOp, math.SinOp, math.CosOp, math.TanOp, math.AsinOp),
    *(math.AcosOp, math.AtanOp, math.SinhOp, math.CoshOp, math.TanhOp),
    *(math.AsinhOp, math.AcoshOp, math.AtanhOp),
)

CONVERSIONS = (
    *((arith.ExtSIOp, a, b) for a in (i1, i8, i16, i32) for b in (i32, i64)),
    *((arith.ExtUIOp, a, b) for a in (i1, i8, i16, i32) for b in (i32, i64)),
    *((arith.TruncIOp, a, b) for a in (i32, i64) for b in (i1, i8, i16)),
    *((arith.SIToFPOp, a, b) for a in (i1, *INTEGERS) for b in (f32, f64)),
    *((arith.UIToFPOp, a, b) for a in (i1, *INTEGERS) for b in (f32, f64)),
    *((arith.FPToSIOp, a, b) for a in FLOATS for b in INTEGERS),
    *((arith.FPToUIOp, a, b) for a in FLOATS for b in INTEGERS),
    *((arith.ExtFOp, a, b) for a, b in ((f16, f32), (f16, f64), (f32, f64))),
    *((arith.TruncFOp, a, b) for a, b in ((f32, f16), (f64, f16), (f64, f32))),
    *((arith.BitcastOp, a, b) for a, b in ((f16, i16), (i16, f16))),
    *((arith.BitcastOp, a, b) for a, b in ((f32, i32), (i32, f32), (f64, i64))),
)


@dataclass(frozen=True)
class Trial:
    """An op on types of operands, and the type of its result."""

    make: partial[Operation]
    operands: tuple[Attribute, ...]
    result: Attribute

    @property
    def op(self) -> Operation:
        """The op, on operands of its own."""
        return self.make(*(create_ssa_value(type) for type in self.operands))

    def __str__(self) -> str:
        return f"{self.op.name} {self.make.keywords} {' '.join(map(str, self.operands))} to {self.result}"


def of_one_type() -> Iterator[Trial]:
    for kinds, types in (
        (UNARY_INTEGER, INTEGERS),
        (BINARY_INTEGER, (*INTEGERS, i1)),
        (UNARY_FLOAT, FLOATS),
        (BINARY_FLOAT, FLOATS),
    ):
        count = 2 if kinds in (BINARY_INTEGER, BINARY_FLOAT) else 1
        for kind, type in product(kinds, types):
            if type != i1 or kind not in NOT_ON_BOOL:
                yield Trial(partial(kind), (type,) * count, type)


def of_several_types() -> Iterator[Trial]:
    for each, type in product(arith.CMPI_COMPARISON_OPERATIONS, (*INTEGERS, i1)):
        yield Trial(partial(arith.CmpiOp, arg=each), (type, type), i1)
    for each, type in product(arith.CMPF_COMPARISON_OPERATIONS, FLOATS):
        yield Trial(partial(arith.CmpfOp, arg=each), (type, type), i1)
    for type in (*INTEGERS, i1, *FLOATS):
        yield Trial(partial(arith.SelectOp), (i1, type, type), type)
    for type in FLOATS:
        yield Trial(partial(math.FmaOp), (type,) * 3, type)
        yield Trial(partial(math.FPowIOp), (type, i32), type)
    for kind, source, target in CONVERSIONS:
        yield Trial(partial(kind, target_type=target), (source,), target)


TRIALS = (*of_one_type(), *of_several_types())


def kernel(name: str, trial: Trial) -> FuncOp:
    """Make a function that applies an op to elements of buffers."""
    types = [MemRefType(type, (COUNT,)) for type in (*trial.operands, trial.result)]
    function = FuncOp(name, (types, ()))
    *inputs, output = function.body.block.args
    loop = tir.ForOp.empty(COUNT, "i")
    block = Block(arg_types=(IndexType(),))
    identity = AffineMap.identity(1)
    with ImplicitBuilder(block):
        values: list[SSAValue] = [
            tir.LoadOp(each, identity, block.args).result for each in inputs
        ]
        result = trial.make(*values).results[0]
        tir.StoreOp(result, output, identity, block.args)
    loop.body.block.add_op(
        tir.BlockOp("op", (loop.variable,), identity, (COUNT,), (), Region(block))
    )
    function.body.block.add_ops((loop, ReturnOp()))
    return function


def operand(
    trial: Trial, position: int, type: Attribute, rng: np.random.Generator
) -> Array:
    """Make up numbers, special ones among them, for which the op is defined."""
    dtype = scalar_dtype(type)
    if dtype.kind == "b":
        return rng.random(COUNT) < 0.5
    if dtype.kind == "i":
        info = np.iinfo(dtype.name)
        if position and isinstance(trial.op, SHIFTS):
            return rng.integers(0, info.bits, COUNT, dtype)
        if position and isinstance(trial.op, math.IPowIOp | math.FPowIOp):
            return rng.integers(-4, 9, COUNT, dtype)
        values = rng.integers(info.min, info.max, COUNT, dtype, endpoint=True)
        values[: COUNT // 2] = rng.integers(-9, 9, COUNT // 2, dtype)
        values[:8] = np.array([info.min, info.max, 0, -1] * 2, dtype)
        return rng.permutation(values)
    numbers = rng.standard_normal(COUNT) * 3
    if isinstance(trial.op, arith.FPToSIOp):
        return (numbers * 10).astype(dtype)
    if isinstance(trial.op, arith.FPToUIOp):
        return np.abs(numbers * 10).astype(dtype)
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 2.5, -1.5, 65519.0, 6e-8]
    numbers[: len(special)] = special
    return rng.permutation(numbers.astype(dtype))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Compile all trials at once, with all warnings."""
    functions = [kernel(f"op{each}", trial) for each, trial in enumerate(TRIALS)]
    compiler = Compiler("cc", "-O1 -Wall -Wextra -pedantic -Werror")
    content = compiler.compile(emit_c(functions).source, Machine.host())
    path: Path = tmp_path_factory.mktemp("scalars") / "ops.so"
    path.write_bytes(content)
    return ctypes.CDLL(str(path))


def test_every_op_is_tried() -> None:
    assert set(RULES) == set(SCALARS)
    tried = {type(trial.op) for trial in TRIALS}
    assert set(SCALARS) - tried == {arith.ConstantOp, arith.IndexCastOp}


@pytest.mark.parametrize(
    "number", range(len(TRIALS)), ids=[str(each) for each in TRIALS]
)
def test_op(number: int, library: ctypes.CDLL) -> None:
    trial, rng = TRIALS[number], np.random.default_rng(number)
    with np.errstate(all="ignore"):
        operands = [
            operand(trial, position, type, rng)
            for position, type in enumerate(trial.operands)
        ]
    with quiet():
        expected = evaluate_scalar(trial.op, tuple(operands))
    result: Array = np.empty(COUNT, scalar_dtype(trial.result))
    buffers: list[Array] = [*operands, result]
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in buffers]
    library[f"op{number}"](*pointers)
    if result.dtype.kind != "f" or isinstance(trial.op, arith.BitcastOp):
        np.testing.assert_array_equal(result, expected)
        return
    np.testing.assert_allclose(
        result.astype(np.float64),
        expected.astype(np.float64),
        rtol={2: 1e-3, 4: 1e-6, 8: 1e-14}[result.dtype.itemsize],
        atol={2: 6e-8, 4: 1e-37, 8: 1e-300}[result.dtype.itemsize],
    )
