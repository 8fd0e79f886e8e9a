"""The plan of a host program: its entry function, read as a list of calls on buffers."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

from xdsl.dialects.builtin import (
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp, CopyOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from partita.analysis.buffer_constants import weight_of
from partita.dialects import tir
from partita.dialects.partita import (
    ARENA,
    NAME,
    OFFSET,
    SIGNATURE,
    origin_of,
)
from partita.dialects.tir import buffer_type
from partita.errors import CodegenError
from partita.runtime.plan import Buffer, CopyStep, KernelStep, Plan, Step, TensorSpec
from partita.shapes import dtype_of
from partita.targets.backend import Code
from partita.weights import Array


@dataclass(frozen=True)
class HostProgram:
    """A plan, and the weights that it names."""

    plan: Plan

    weights: Mapping[str, Array]
    """By digest."""


def build_plan(entry: FuncOp, code: Mapping[str, Code]) -> HostProgram:
    """Read the entry function, over planned buffers, as a plan.

    `code` tells for each kernel, by function name, what to call. Raises `CodegenError`
    where the function holds something else than buffers, constants, calls and copies, and
    `WeightsError` where a weight's content is not loaded.
    """
    return _Planner(entry, code).build()


class _Planner:
    """Where each buffer of the entry is, found in one walk."""

    def __init__(self, entry: FuncOp, code: Mapping[str, Code]):
        self.entry = entry
        self.code = code
        self.buffers: dict[SSAValue, Buffer] = {}
        self.weights: dict[str, Array] = {}
        self.positions: dict[str, int] = {}
        self.steps: list[Step] = []

    def build(self) -> HostProgram:
        signature = self.entry.attributes.get(SIGNATURE)
        arena = self.entry.attributes.get(ARENA)
        if not isinstance(signature, FunctionType) or not isa(
            arena, IntegerAttr[IntegerType]
        ):
            raise CodegenError(
                f"expected entry @{self.entry.sym_name.data} over planned buffers; "
                "run lower-te-to-tir,plan-memory first"
            )
        inputs = self._ends("input", signature.inputs.data, 0)
        outputs = self._ends("output", signature.outputs.data, len(inputs))
        for op in self.entry.body.block.ops:
            match op:
                case tir.ConstantOp():
                    self.buffers[op.result] = self._constant(op)
                case AllocOp():
                    offset = op.attributes[OFFSET]
                    assert isa(offset, IntegerAttr[IntegerType])
                    self.buffers[op.memref] = Buffer("arena", offset.value.data)
                case CallOp():
                    self.steps.append(self._call(op))
                case CopyOp():
                    self.steps.append(self._copy(op))
                case ReturnOp():
                    pass
                case _:
                    raise CodegenError(
                        f"expected buffers, constants, calls and copies in entry "
                        f"@{self.entry.sym_name.data}, got {op.name}"
                    )
        plan = Plan(
            inputs, outputs, tuple(self.steps), tuple(self.weights), arena.value.data
        )
        return HostProgram(plan, self.weights)

    def _ends(
        self,
        space: Literal["input", "output"],
        types: tuple[Attribute, ...],
        first: int,
    ) -> tuple[TensorSpec, ...]:
        """Describe arguments from number `first` on, which are inputs, or outputs."""
        specs: list[TensorSpec] = []
        for position, type in enumerate(types):
            argument = self.entry.body.block.args[first + position]
            self.buffers[argument] = Buffer(space, position)
            assert isa(type, TensorType[Attribute])
            specs.append(
                TensorSpec(
                    self._name(first + position) or f"{space}{position}",
                    dtype_of(type.element_type).name,
                    type.get_shape(),
                )
            )
        return tuple(specs)

    def _name(self, argument: int) -> str | None:
        attributes = self.entry.arg_attrs
        if attributes is None:
            return None
        each = attributes.data[argument]
        assert isinstance(each, DictionaryAttr)
        name = each.data.get(NAME)
        return name.data if isinstance(name, StringAttr) else None

    def _constant(self, op: tir.ConstantOp) -> Buffer:
        """Keep a constant as a weight, each content once."""
        held = weight_of(op)
        if held.digest not in self.positions:
            self.positions[held.digest] = len(self.positions)
            self.weights[held.digest] = held.content()
        return Buffer("weight", self.positions[held.digest])

    def _call(self, op: CallOp) -> KernelStep:
        name = op.callee.string_value()
        if name not in self.code:
            raise CodegenError(f"expected a kernel, got a call of @{name}")
        code = self.code[name]
        return KernelStep(
            code.symbol,
            code.member,
            tuple(self.buffers[argument] for argument in op.arguments),
            code.grid,
            origin_of(op) or "",
        )

    def _copy(self, op: CopyOp) -> CopyStep:
        type = buffer_type(op.source)
        return CopyStep(
            self.buffers[op.source],
            self.buffers[op.destination],
            prod(type.get_shape()) * dtype_of(type.element_type).itemsize,
        )
