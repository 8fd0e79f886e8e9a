"""The plan of a host program: its entry function, read as a list of calls on buffers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

from xdsl.dialects.builtin import (
    ArrayAttr,
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
from partita.dialects import byoc, tir
from partita.dialects.byoc import BinaryOp
from partita.dialects.partita import (
    ARENA,
    NAME,
    OFFSET,
    SIGNATURE,
    WEIGHTS,
    WeightAttr,
    origin_of,
)
from partita.dialects.tir import buffer_type
from partita.errors import CodegenError
from partita.runtime.external import ExternalStep
from partita.runtime.plan import Buffer, CopyStep, KernelStep, Plan, Step, TensorSpec
from partita.shapes import dtype_of
from partita.targets.backend import Code
from partita.weights import Array, Weight


@dataclass(frozen=True)
class HostProgram:
    """A plan, and the weights that it names."""

    plan: Plan

    weights: Mapping[str, Array]
    """By digest."""


def build_plan(
    entry: FuncOp,
    code: Mapping[str, Code],
    binaries: Mapping[tuple[str, str], BinaryOp] | None = None,
    host_code: Mapping[str, FuncOp] | None = None,
) -> HostProgram:
    """Read the entry function, over planned buffers, as a plan.

    `code` tells for each kernel, by function name, what to call; `binaries` are the external
    functions by target and name, and `host_code` functions that can take their place, by
    name. Raises `CodegenError` where the function holds something else than buffers,
    constants, calls and copies, and `WeightsError` where a weight's content is not loaded.
    """
    program = Program(code, binaries or {}, host_code or {})
    return _Planner(entry, program).build()


@dataclass(frozen=True)
class Program:
    """What steps may call."""

    code: Mapping[str, Code]
    binaries: Mapping[tuple[str, str], BinaryOp]
    host_code: Mapping[str, FuncOp]


class _Planner:
    """Where each buffer of the entry is, found in one walk."""

    def __init__(self, entry: FuncOp, program: Program):
        self.entry = entry
        self.program = program
        self.weights: dict[str, Array] = {}
        self.positions: dict[str, int] = {}
        self.modules: dict[tuple[str, str], str] = {}
        """The first function with given files, by target and digest."""
        self.arena = 0

    def build(self) -> HostProgram:
        signature = self.entry.attributes.get(SIGNATURE)
        if not isinstance(signature, FunctionType):
            raise _unplanned(self.entry)
        module = self.entry.parent_op()
        collected = None if module is None else module.attributes.get(WEIGHTS)
        if isa(collected, ArrayAttr[WeightAttr]):
            for handle in collected:
                self._weight(handle.data)
        self.arena = _arena_of(self.entry)
        buffers: dict[SSAValue, Buffer] = {}
        inputs = self._ends("input", signature.inputs.data, 0, buffers)
        outputs = self._ends("output", signature.outputs.data, len(inputs), buffers)
        steps = self._steps(self.entry, buffers, 0)
        plan = Plan(inputs, outputs, steps, tuple(self.weights), self.arena)
        return HostProgram(plan, self.weights)

    def _steps(
        self, function: FuncOp, buffers: dict[SSAValue, Buffer], base: int
    ) -> tuple[Step, ...]:
        """Read a function whose arguments have buffers, and whose arena starts at `base`."""
        steps: list[Step] = []
        for op in function.body.block.ops:
            match op:
                case tir.ConstantOp():
                    buffers[op.result] = self._weight(weight_of(op))
                case AllocOp():
                    offset = op.attributes[OFFSET]
                    assert isa(offset, IntegerAttr[IntegerType])
                    buffers[op.memref] = Buffer("arena", base + offset.value.data)
                case CallOp():
                    steps.append(self._call(op, buffers))
                case byoc.CallOp():
                    steps.append(self._external(op, buffers))
                case CopyOp():
                    steps.append(_copy(op, buffers))
                case ReturnOp():
                    pass
                case _:
                    raise CodegenError(
                        f"expected buffers, constants, calls and copies in entry "
                        f"@{function.sym_name.data}, got {op.name}"
                    )
        return tuple(steps)

    def _ends(
        self,
        space: Literal["input", "output"],
        types: tuple[Attribute, ...],
        first: int,
        buffers: dict[SSAValue, Buffer],
    ) -> tuple[TensorSpec, ...]:
        """Describe arguments from number `first` on, which are inputs, or outputs."""
        specs: list[TensorSpec] = []
        for position, type in enumerate(types):
            argument = self.entry.body.block.args[first + position]
            buffers[argument] = Buffer(space, position)
            name = self._name(first + position) or f"{space}{position}"
            specs.append(_spec(name, type))
        return tuple(specs)

    def _name(self, argument: int) -> str | None:
        attributes = self.entry.arg_attrs
        if attributes is None:
            return None
        each = attributes.data[argument]
        assert isinstance(each, DictionaryAttr)
        name = each.data.get(NAME)
        return name.data if isinstance(name, StringAttr) else None

    def _weight(self, held: Weight) -> Buffer:
        """Keep a constant as a weight, each content once."""
        if held.digest not in self.positions:
            self.positions[held.digest] = len(self.positions)
            self.weights[held.digest] = held.content()
        return Buffer("weight", self.positions[held.digest])

    def _call(self, op: CallOp, buffers: Mapping[SSAValue, Buffer]) -> KernelStep:
        name = op.callee.string_value()
        if name not in self.program.code:
            raise CodegenError(f"expected a kernel, got a call of @{name}")
        code = self.program.code[name]
        return KernelStep(
            code.symbol,
            code.member,
            tuple(buffers[argument] for argument in op.arguments),
            code.grid,
            origin_of(op) or "",
            code.work,
        )

    def _external(
        self, op: byoc.CallOp, buffers: Mapping[SSAValue, Buffer]
    ) -> ExternalStep:
        binary = self.program.binaries.get((op.target, op.function))
        if binary is None:
            raise CodegenError(
                f"expected a binary, got a call of {op.callee}; run codegen-externals first"
            )
        arguments = tuple(buffers[argument] for argument in op.arguments)
        inputs, outputs = binary.function_type.inputs, binary.function_type.outputs
        options: dict[str, object] = json.loads(binary.options.data)
        key = (op.target, binary.files.data.digest)
        return ExternalStep(
            function=op.function,
            target=op.target,
            module=self.modules.setdefault(key, op.function),
            inputs=arguments[: len(inputs)],
            outputs=arguments[len(inputs) :],
            input_specs=tuple(
                _spec(f"input{i}", each) for i, each in enumerate(inputs)
            ),
            output_specs=tuple(
                _spec(f"output{i}", each) for i, each in enumerate(outputs)
            ),
            weights=tuple(self._weight(each.data).position for each in binary.weights),
            options=options,
            origin=origin_of(op) or "",
            fallback=self._fallback(op, arguments),
        )

    def _fallback(
        self, op: byoc.CallOp, arguments: tuple[Buffer, ...]
    ) -> tuple[Step, ...]:
        """Return the host's steps that do the same as a call; they use memory behind the entry's."""
        if op.host_code is None:
            return ()
        name = op.host_code.string_value()
        if name not in self.program.host_code:
            raise CodegenError(f"expected a function of the host, got @{name}")
        function = self.program.host_code[name]
        base = _arena_of(self.entry)
        self.arena = max(self.arena, base + _arena_of(function))
        buffers = dict(zip(function.body.block.args, arguments, strict=True))
        return self._steps(function, {**buffers}, base)


def _copy(op: CopyOp, buffers: Mapping[SSAValue, Buffer]) -> CopyStep:
    type = buffer_type(op.source)
    return CopyStep(
        buffers[op.source],
        buffers[op.destination],
        prod(type.get_shape()) * dtype_of(type.element_type).itemsize,
    )


def _spec(name: str, type: Attribute) -> TensorSpec:
    assert isa(type, TensorType[Attribute])
    return TensorSpec(name, dtype_of(type.element_type).name, type.get_shape())


def _arena_of(function: FuncOp) -> int:
    arena = function.attributes.get(ARENA)
    if not isa(arena, IntegerAttr[IntegerType]):
        raise _unplanned(function)
    return arena.value.data


def _unplanned(function: FuncOp) -> CodegenError:
    return CodegenError(
        f"expected entry @{function.sym_name.data} over planned buffers; "
        "run lower-te-to-tir,plan-memory first"
    )
