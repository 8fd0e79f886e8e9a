"""Each scalar op of a block means the same in host code as in the interpreters, as lanes and alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from compiled import HOST, assemble, run
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    UnitAttr,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from partita.dialects import te
from partita.dialects.partita import ENTRY, KERNEL, RemainderOp
from partita.driver import context
from partita.interpreters import interpret
from partita.interpreters.scalar import SCALARS, Array, scalar_dtype
from partita.runtime import Machine
from partita.targets.host.scalar_ops import RULES
from partita.targets.host.schedule_host import ScheduleHostPass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass

COUNT = 75
"""Elements: whole vectors, and some that are left."""

HALF, SINGLE, DOUBLE = Float16Type(), Float32Type(), Float64Type()
FLOATS: tuple[Attribute, ...] = (SINGLE, DOUBLE, HALF)
WIDE: tuple[Attribute, ...] = (i8, i16, i32, i64)
INTEGERS: tuple[Attribute, ...] = (i1, *WIDE)

UNARY_FLOAT: tuple[type[Operation], ...] = tuple(
    op
    for op in SCALARS
    if op.__module__ == math.__name__
    and op.name
    not in (
        *("math.absi", "math.ipowi", "math.ctlz", "math.cttz", "math.ctpop"),
        *("math.copysign", "math.fma", "math.powf", "math.fpowi", "math.atan2"),
    )
)
BINARY_FLOAT = (
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.MaximumfOp),
    *(arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp),
    *(math.CopySignOp, math.PowFOp, math.Atan2Op, RemainderOp),
)
PLAIN_INTEGER = (
    *(arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp),
    *(arith.XOrIOp, arith.MinSIOp, arith.MaxSIOp, arith.MinUIOp, arith.MaxUIOp),
)
DIVISIONS = (
    *(arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp),
    *(arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp),
)
SHIFTS = (arith.ShLIOp, arith.ShRUIOp, arith.ShRSIOp)
UNARY_INTEGER = (
    *(math.AbsIOp, math.CountLeadingZerosOp, math.CountTrailingZerosOp, math.CtPopOp),
)


@dataclass(frozen=True)
class One:
    """An op on arrays."""

    op: type[Operation]
    operands: tuple[Attribute, ...]
    result: Attribute
    inputs: tuple[Array, ...]
    properties: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])

    def __str__(self) -> str:
        types = "-".join(map(str, (*self.operands, self.result)))
        return "-".join((self.op.name, types, *map(str, self.properties.values())))


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def floats(type: Attribute, low: float = -3, high: float = 3) -> Array:
    """Return random floats, and those at which functions are peculiar."""
    array = rng().uniform(low, high, COUNT).astype(scalar_dtype(type))
    array[:10] = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, -0.5, 2.5)
    return rng().permuted(array)


def integers(type: Attribute, low: int | None = None, high: int | None = None) -> Array:
    """Return random integers, and the ends of the range."""
    dtype = scalar_dtype(type)
    if dtype.kind == "b":
        return rng().random(COUNT) < 0.5
    info = np.iinfo(dtype.name)
    low, high = info.min if low is None else low, info.max if high is None else high
    array = rng().integers(low, high, COUNT, dtype, endpoint=True)
    ends = np.array([low, high], dtype)
    array[:2], array[2:8] = ends, np.clip((-3, -2, -1, 0, 1, 2), low, high)
    return array


def second(array: Array) -> Array:
    return np.roll(array, 7)


def rounded(array: Array) -> Array:
    """Return whole numbers, of which some are equal."""
    return np.rint(array.astype(np.float64)).astype(array.dtype)


def float_cases() -> list[One]:
    cases: list[One] = []
    for type in FLOATS:
        x = floats(type)
        for op in UNARY_FLOAT:
            cases.append(One(op, (type,), type, (x,)))
        cases.append(One(arith.NegfOp, (type,), type, (x,)))
        for op in BINARY_FLOAT:
            cases.append(One(op, (type, type), type, (x, second(x))))
        cases.append(
            One(math.FmaOp, (type,) * 3, type, (x, second(x), second(second(x))))
        )
        whole = integers(i32, -3, 4)
        cases.append(One(math.FPowIOp, (type, i32), type, (x, whole)))
        for predicate in range(16):
            cases.append(
                One(
                    arith.CmpfOp,
                    (type, type),
                    i1,
                    (rounded(x), rounded(second(x))),
                    {"predicate": IntegerAttr(predicate, i64)},
                )
            )
        cases.append(
            One(arith.SelectOp, (i1, type, type), type, (integers(i1), x, second(x)))
        )
    return cases


def integer_cases() -> list[One]:
    cases: list[One] = []
    for type in INTEGERS:
        x = integers(type)
        for op in PLAIN_INTEGER:
            cases.append(One(op, (type, type), type, (x, second(x))))
        for predicate in range(10):
            properties = {"predicate": IntegerAttr(predicate, i64)}
            cases.append(
                One(arith.CmpiOp, (type, type), i1, (x, second(x)), properties)
            )
        cases.append(
            One(arith.SelectOp, (i1, type, type), type, (integers(i1), x, second(x)))
        )
    for type in WIDE:
        x = integers(type)
        nonzero = np.where(second(x) == 0, np.asarray(3, x.dtype), second(x))
        nonzero[nonzero == -1] = 5  # The least integer by -1 overflows.
        for op in DIVISIONS:
            cases.append(One(op, (type, type), type, (x, nonzero)))
        amounts = integers(type, 0, x.dtype.itemsize * 8 - 1)
        for op in SHIFTS:
            cases.append(One(op, (type, type), type, (x, amounts)))
        for op in UNARY_INTEGER:
            cases.append(One(op, (type,), type, (x,)))
        cases.append(One(math.IPowIOp, (type, type), type, (x, integers(type, -3, 6))))
    return cases


def conversions() -> list[One]:
    cases: list[One] = []
    for narrow, wide in ((i1, i8), (i1, i64), (i8, i16), (i8, i64), (i16, i32)):
        for op in (arith.ExtSIOp, arith.ExtUIOp):
            cases.append(One(op, (narrow,), wide, (integers(narrow),)))
        cases.append(One(arith.TruncIOp, (wide,), narrow, (integers(wide),)))
    for type in FLOATS:
        for integer in INTEGERS:
            most = None if integer == i1 else 1000 if type == HALF else None
            least = None if most is None else -most
            x = integers(integer, least, most) if integer != i8 else integers(i8)
            for op in (arith.SIToFPOp, arith.UIToFPOp):
                if op is arith.UIToFPOp and type == HALF:
                    x = np.abs(x)
                cases.append(One(op, (integer,), type, (x,)))
        for integer in WIDE:
            x = floats(type, -100, 100)
            x = np.where(np.isfinite(x), x, np.asarray(7, x.dtype))
            cases.append(One(arith.FPToSIOp, (type,), integer, (x,)))
            cases.append(One(arith.FPToUIOp, (type,), integer, (np.abs(x),)))
    for narrow, wide in ((HALF, SINGLE), (HALF, DOUBLE), (SINGLE, DOUBLE)):
        cases.append(One(arith.ExtFOp, (narrow,), wide, (floats(narrow),)))
        cases.append(One(arith.TruncFOp, (wide,), narrow, (floats(wide),)))
    for one, other in ((SINGLE, i32), (DOUBLE, i64), (HALF, i16)):
        cases.append(One(arith.BitcastOp, (one,), other, (floats(one),)))
    return cases


CASES = (*float_cases(), *integer_cases(), *conversions())


def kernel(number: int, case: One) -> FuncOp:
    """Make a function that applies an op to each element."""
    inputs = [TensorType(type, (COUNT,)) for type in case.operands]
    function = FuncOp(f"k{number}", (inputs, ()), visibility="private")
    axis = Block(arg_types=(IndexType(),))
    values: list[SSAValue] = []
    for argument in function.args:
        read = te.ReadOp(argument, AffineMap.identity(1), axis.args)
        axis.add_op(read)
        values.append(read.result)
    op = case.op.create(
        operands=values, result_types=(case.result,), properties=dict(case.properties)
    )
    axis.add_ops((op, te.YieldOp(*op.results)))
    compute = te.ComputeOp("apply", Region(axis), (TensorType(case.result, (COUNT,)),))
    function.body.block.add_ops((compute, ReturnOp(*compute.results)))
    function.update_function_type()
    function.attributes[KERNEL] = UnitAttr()
    return function


def module_of(cases: Sequence[One]) -> ModuleOp:
    """Make an entry that calls a kernel for each case."""
    kernels = [kernel(number, case) for number, case in enumerate(cases)]
    types = [type for each in kernels for type in each.function_type.inputs]
    entry = FuncOp("main", (types, ()))
    arguments = iter(entry.args)
    calls = [
        CallOp(
            each.sym_name.data,
            [next(arguments) for _ in each.args],
            each.function_type.outputs.data,
        )
        for each in kernels
    ]
    results = [result for call in calls for result in call.results]
    entry.body.block.add_ops((*calls, ReturnOp(*results)))
    entry.update_function_type()
    entry.attributes[ENTRY] = UnitAttr()
    return ModuleOp([entry, *kernels])


EITHER_ZERO = (arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp)
"""numpy does not say which zero is the larger one."""


def check(case: One, got: Array, want: Array) -> None:
    """Compare integers exactly, floats to their precision, NaN, infinities and signs of zeros exactly."""
    assert got.dtype == want.dtype
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(got, want)
        return
    tolerance = {2: 2e-3, 4: 2e-6, 8: 1e-14}[want.dtype.itemsize]
    np.testing.assert_allclose(
        got.astype(np.float64),
        want.astype(np.float64),
        rtol=tolerance,
        atol=tolerance,
    )
    if case.op not in EITHER_ZERO:
        zero = want == 0
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize(
    "scheduled",
    [
        pytest.param(True, id="lanes"),
        pytest.param(False, id="alone", marks=pytest.mark.full),
    ],
)
def test_scalars(scheduled: bool) -> None:
    module = module_of(CASES)
    module.verify()
    inputs = [each for case in CASES for each in case.inputs]
    expected = interpret(module, inputs)
    machine = Machine.host()
    passes = list(HOST.pipeline(module, machine))
    names = [each.name for each in passes]
    for each in passes[names.index(LowerTeToTirPass.name) :]:
        if scheduled or not isinstance(each, ScheduleHostPass):
            each.apply(context(), module)
    failed: list[str] = []
    outputs = run(assemble(module, machine), inputs)
    for case, got, want in zip(CASES, outputs, expected, strict=True):
        try:
            check(case, got, want)
        except AssertionError as error:
            failed.append(f"{case}: {error}")
    assert not failed, "\n".join(failed)


def test_every_op_has_a_rule_and_a_case() -> None:
    assert set(RULES) == set(SCALARS)
    constant_and_index = {arith.ConstantOp, arith.IndexCastOp}
    assert {case.op for case in CASES} == set(RULES) - constant_and_index
