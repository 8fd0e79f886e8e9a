"""Write LLVM text: values with a number of lanes, instructions, basic blocks, and functions made on demand."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute

FAST = "reassoc contract"
"""What float instructions may do: never assume away NaN, infinities or signed zeros."""

AS_WRITTEN = 0
"""The number of the metadata that keeps LLVM from unrolling or vectorizing a loop."""

AS_VECTORS = 1
"""The number of the metadata that keeps LLVM from unrolling a loop before it was vectorized."""

LOOP_METADATA = (
    f"!{AS_WRITTEN} = distinct !{{!{AS_WRITTEN}, !2, !3}}\n"
    f"!{AS_VECTORS} = distinct !{{!{AS_VECTORS}, !2, !4}}\n"
    '!2 = !{!"llvm.loop.unroll.disable"}\n'
    '!3 = !{!"llvm.loop.vectorize.enable", i1 false}\n'
    '!4 = !{!"llvm.loop.vectorize.followup_all"}\n'
)

_FLOAT_BYTES = {"half": 2, "float": 4, "double": 8}


def llvm_type(type: Attribute) -> str:
    """Return the LLVM type of a scalar; `KeyError` for one that has none here."""
    match type:
        case Float16Type():
            return "half"
        case Float32Type():
            return "float"
        case Float64Type():
            return "double"
        case IndexType():
            return "i64"
        case IntegerType():
            return f"i{type.width.data}"
        case _:
            raise KeyError(str(type))


def is_float_type(type: str) -> bool:
    """Say whether an LLVM scalar type is a floating-point one."""
    return type in _FLOAT_BYTES


def bytes_of(type: str) -> int:
    """Return the size in memory of an LLVM scalar type; an `i1` takes a byte."""
    return _FLOAT_BYTES.get(type) or max(1, int(type[1:]) // 8)


def memory_type(type: str) -> str:
    """Return the type as which a scalar is kept in memory: `i1` as a byte of 0 or 1."""
    return "i8" if type == "i1" else type


@dataclass(frozen=True)
class Value:
    """An LLVM value: one scalar that all lanes share, or a vector with one for each."""

    text: str
    """A name, or a constant."""

    type: str
    """The scalar type."""

    lanes: int = 1
    """Elements of the vector; 1 for a scalar."""

    @property
    def vector_type(self) -> str:
        """The type of the value as LLVM writes it."""
        return vector(self.type, self.lanes)

    def __str__(self) -> str:
        return f"{self.vector_type} {self.text}"


def vector(type: str, lanes: int) -> str:
    """Return the type of so many scalars."""
    return type if lanes == 1 else f"<{lanes} x {type}>"


def integer(value: int, type: str = "i64") -> Value:
    """Return an integer constant."""
    if type == "i1":
        return Value("true" if value else "false", type)
    return Value(str(value), type)


@dataclass
class Emitter:
    """The text of one function, and of the functions that it needs."""

    declarations: dict[str, str] = field(default_factory=dict[str, str])
    """Declarations and helper functions of the module, by name."""

    allocations: list[str] = field(default_factory=list[str])
    """Instructions that reserve stack memory, for the start of the function."""

    lines: list[str] = field(default_factory=list[str])

    block: str = "entry"
    """The basic block that instructions go to."""

    _count: int = 0

    def name(self, stem: str = "v") -> str:
        """Return a name that is not in use."""
        self._count += 1
        return f"%{stem}{self._count}"

    def line(self, text: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(f"  {text}")

    def emit(self, instruction: str, type: str, lanes: int = 1) -> Value:
        """Add an instruction, and return its result."""
        name = self.name()
        self.lines.append(f"  {name} = {instruction}")
        return Value(name, type, lanes)

    def start(self, label: str) -> None:
        """Begin a basic block; the one before must have ended."""
        self.lines.append(f"{label}:")
        self.block = label

    def label(self, stem: str) -> str:
        """Return a name for a basic block."""
        return self.name(stem)[1:]

    def jump(self, label: str) -> None:
        """End the basic block."""
        self.line(f"br label %{label}")

    def constant(self, value: int | float, type: str) -> Value:
        """Return a constant; floats are written exactly."""
        if not is_float_type(type):
            return integer(int(value), type)
        return Value(float_text(float(value), type), type)

    def splat(self, value: Value, lanes: int) -> Value:
        """Return the value in all lanes of a vector."""
        if value.lanes == lanes:
            return value
        assert value.lanes == 1
        one = self.emit(
            f"insertelement {vector(value.type, lanes)} poison, {value}, i64 0",
            value.type,
            lanes,
        )
        return self.emit(
            f"shufflevector {one}, {vector(value.type, lanes)} poison, <{lanes} x i32> zeroinitializer",
            value.type,
            lanes,
        )

    def same_lanes(self, *values: Value) -> tuple[Value, ...]:
        """Return the values, scalars spread to the lanes of the widest."""
        lanes = max(value.lanes for value in values)
        return tuple(self.splat(value, lanes) for value in values)

    def binary(
        self, opcode: str, lhs: Value, rhs: Value, type: str | None = None
    ) -> Value:
        """Add a two-operand instruction; the result has the operands' type unless stated."""
        lhs, rhs = self.same_lanes(lhs, rhs)
        return self.emit(f"{opcode} {lhs}, {rhs.text}", type or lhs.type, lhs.lanes)

    def convert(self, opcode: str, value: Value, type: str) -> Value:
        """Add a conversion."""
        return self.emit(
            f"{opcode} {value} to {vector(type, value.lanes)}", type, value.lanes
        )

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """Choose lane by lane, or for all lanes where the condition is a scalar."""
        if condition.lanes == 1:
            yes, no = self.same_lanes(yes, no)
        else:
            condition, yes, no = self.same_lanes(condition, yes, no)
        return self.emit(f"select {condition}, {yes}, {no}", yes.type, yes.lanes)

    def any_lane(self, mask: Value) -> Value:
        """Return whether a condition holds in any lane."""
        if mask.lanes == 1:
            return mask
        function = f"llvm.vector.reduce.or.v{mask.lanes}i1"
        self.declarations.setdefault(
            function, f"declare i1 @{function}({mask.vector_type})"
        )
        return self.emit(f"call i1 @{function}({mask})", "i1")

    def call(
        self, function: str, type: str, *arguments: Value, flags: str = ""
    ) -> Value:
        """Call a function that takes and gives values with the arguments' lanes; `flags` say what floats may do."""
        arguments = self.same_lanes(*arguments)
        lanes = arguments[0].lanes
        text = ", ".join(str(argument) for argument in arguments)
        call = f"call {flags}".rstrip()
        return self.emit(
            f"{call} {vector(type, lanes)} @{function}({text})", type, lanes
        )

    def intrinsic(
        self, name: str, *arguments: Value, result: str | None = None, flags: str = ""
    ) -> Value:
        """Call an LLVM intrinsic that is overloaded on the type of its first argument."""
        arguments = self.same_lanes(*arguments)
        first = arguments[0]
        suffix = ("" if first.lanes == 1 else f"v{first.lanes}") + {
            "half": "f16",
            "float": "f32",
            "double": "f64",
        }.get(first.type, first.type)
        function = f"llvm.{name}.{suffix}"
        type = result or first.type
        types = ", ".join(argument.vector_type for argument in arguments)
        self.declarations.setdefault(
            function, f"declare {vector(type, first.lanes)} @{function}({types})"
        )
        return self.call(function, type, *arguments, flags=flags)

    def helper(
        self, stem: str, value: Value, define: Callable[["Emitter", Value], Value]
    ) -> Value:
        """Call a function of one argument that `define` writes once for each type and number of lanes."""
        name = f"partita.{stem}.{value.type}.{value.lanes}"
        if name not in self.declarations:
            self.declarations[name] = ""
            inner = Emitter(self.declarations)
            result = define(inner, Value("%x", value.type, value.lanes))
            body = "\n".join(inner.lines)
            self.declarations[name] = (
                f"define internal {result.vector_type} @{name}({value.vector_type} %x) alwaysinline {{\n"
                f"entry:\n{body}\n  ret {result}\n}}"
            )
        return self.call(name, value.type, value)

    @contextmanager
    def loop(
        self, lower: Value, upper: Value, stem: str, hint: int | None
    ) -> Generator[Value]:
        """Emit a loop around what is emitted inside; `lower` is below `upper`.

        `hint` is the number of the metadata that tells LLVM what to do with it.
        """
        body, end = self.label(f"{stem}_body"), self.label(f"{stem}_end")
        before, index = self.block, self.name(stem)
        following = self.name(stem)
        self.jump(body)
        self.start(body)
        phi = len(self.lines)
        yield Value(index, "i64")
        self.lines.insert(
            phi,
            f"  {index} = phi i64 [ {lower.text}, %{before} ], [ {following}, %{self.block} ]",
        )
        self.line(f"{following} = add nuw nsw i64 {index}, 1")
        done = self.emit(f"icmp eq i64 {following}, {upper.text}", "i1")
        told = "" if hint is None else f", !llvm.loop !{hint}"
        self.line(f"br {done}, label %{end}, label %{body}{told}")
        self.start(end)

    @contextmanager
    def when(self, condition: Value, stem: str = "when") -> Generator[None]:
        """Emit a branch around what is emitted inside."""
        body, end = self.label(stem), self.label(f"{stem}_end")
        self.line(f"br {condition}, label %{body}, label %{end}")
        self.start(body)
        yield
        self.jump(end)
        self.start(end)


def float_text(value: float, type: str) -> str:
    """Write a float so that LLVM reads back the very same value, rounded to the type."""
    if type == "half":
        return f"0xH{int(np.float16(value).view(np.uint16)):04X}"
    rounded = np.float64(np.float32(value) if type == "float" else value)
    return f"0x{int(rounded.view(np.uint64)):016X}"
