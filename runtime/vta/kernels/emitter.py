"""Write LLVM functions as nested loops over integers: llvmlite's builder, with operators and `with` blocks.

Scalars are 64-bit integers, whatever their width in memory; conditions are single bits. Vectors are left to llvmlite.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

ir: Any = import_module("llvmlite.ir")

WORD = ir.IntType(64)
POINTER = ir.PointerType()


def vector(lanes: int, bits: int) -> Any:
    """Return the type of a vector of integers."""
    return ir.VectorType(ir.IntType(bits), lanes)


class Value:
    """A 64-bit integer or a condition that code under construction computes."""

    __slots__ = ("builder", "raw")

    def __init__(self, builder: Any, raw: Any):
        self.builder = builder
        self.raw = raw

    def _with(self, make: Callable[[Any, Any], Any], other: "Value | int") -> "Value":
        right = (
            other.raw if isinstance(other, Value) else ir.Constant(self.raw.type, other)
        )
        return Value(self.builder, make(self.raw, right))

    def _compare(self, how: str, other: "Value | int") -> "Value":
        return self._with(lambda a, b: self.builder.icmp_signed(how, a, b), other)

    def __add__(self, other: "Value | int") -> "Value":
        return self._with(self.builder.add, other)

    def __sub__(self, other: "Value | int") -> "Value":
        return self._with(self.builder.sub, other)

    def __mul__(self, other: "Value | int") -> "Value":
        return self._with(self.builder.mul, other)

    def __and__(self, other: "Value | int") -> "Value":
        return self._with(self.builder.and_, other)

    def __or__(self, other: "Value | int") -> "Value":
        return self._with(self.builder.or_, other)

    def __xor__(self, other: "Value | int") -> "Value":
        return self._with(self.builder.xor, other)

    def __lshift__(self, other: "Value | int") -> "Value":
        return self._with(self.builder.shl, other)

    def __rshift__(self, other: "Value | int") -> "Value":
        """Shift right and fill with zeros."""
        return self._with(self.builder.lshr, other)

    def __lt__(self, other: "Value | int") -> "Value":
        return self._compare("<", other)

    def __le__(self, other: "Value | int") -> "Value":
        return self._compare("<=", other)

    def __gt__(self, other: "Value | int") -> "Value":
        return self._compare(">", other)

    def __ge__(self, other: "Value | int") -> "Value":
        return self._compare(">=", other)

    def equals(self, other: "Value | int") -> "Value":
        return self._compare("==", other)

    def differs(self, other: "Value | int") -> "Value":
        return self._compare("!=", other)

    def choose(self, yes: "Value | int", no: "Value | int") -> "Value":
        """Return one of two words, as this condition says."""
        words = [
            each.raw if isinstance(each, Value) else ir.Constant(WORD, each)
            for each in (yes, no)
        ]
        return Value(self.builder, self.builder.select(self.raw, *words))

    def larger(self, other: "Value | int") -> "Value":
        return (self > other).choose(self, other)


class Variable:
    """A 64-bit integer that code under construction may change."""

    def __init__(self, builder: Any, raw: Any):
        self._builder = builder
        self._raw = raw

    @property
    def value(self) -> Value:
        return Value(self._builder, self._builder.load(self._raw, typ=WORD))

    @value.setter
    def value(self, value: Value | int) -> None:
        raw = value.raw if isinstance(value, Value) else ir.Constant(WORD, value)
        self._builder.store(raw, self._raw)


class Array:
    """Integers in memory, each of so many bits."""

    def __init__(self, builder: Any, pointer: Any, bits: int, *, signed: bool = True):
        self._builder = builder
        self._pointer = pointer
        self._type = ir.IntType(bits)
        self._extend = builder.sext if signed else builder.zext

    def address(self, index: Value | int) -> Any:
        raw = index.raw if isinstance(index, Value) else ir.Constant(WORD, index)
        return self._builder.gep(self._pointer, [raw], source_etype=self._type)

    def __getitem__(self, index: Value | int) -> Value:
        loaded = self._builder.load(self.address(index), typ=self._type)
        if self._type.width < WORD.width:
            loaded = self._extend(loaded, WORD)
        return Value(self._builder, loaded)

    def __setitem__(self, index: Value | int, value: Value | int) -> None:
        raw = value.raw if isinstance(value, Value) else ir.Constant(WORD, value)
        if self._type.width < WORD.width:
            raw = self._builder.trunc(raw, self._type)
        self._builder.store(raw, self.address(index))


class Loop:
    """An endless loop under construction, which `stop_when` leaves."""

    def __init__(self, builder: Any, done: Any):
        self._builder = builder
        self._done = done

    def stop_when(self, condition: Value) -> None:
        following = self._builder.append_basic_block()
        self._builder.cbranch(condition.raw, self._done, following)
        self._builder.position_at_end(following)


class Function:
    """One LLVM function under construction; it returns a word."""

    def __init__(self, module: Any, name: str, parameters: Sequence[str]):
        """Start function `name`; parameters whose name ends with `_at` are pointers."""
        types = [POINTER if each.endswith("_at") else WORD for each in parameters]
        self.raw: Any = ir.Function(module, ir.FunctionType(WORD, types), name)
        self.builder: Any = ir.IRBuilder(self.raw.append_basic_block())
        self._given = dict(zip(parameters, self.raw.args, strict=True))

    def hide(self, *attributes: str) -> None:
        """Let only this module call the function."""
        self.raw.linkage = "internal"
        for each in attributes:
            self.raw.attributes.add(each)

    def pointer(self, name: str) -> Any:
        return self._given[name]

    def __getitem__(self, name: str) -> Value:
        return Value(self.builder, self._given[name])

    def word(self, value: int) -> Value:
        return Value(self.builder, ir.Constant(WORD, value))

    def variable(self, value: Value | int) -> Variable:
        with self.builder.goto_entry_block():
            variable = Variable(self.builder, self.builder.alloca(WORD))
        variable.value = value
        return variable

    def array(self, pointer: Any, bits: int, *, signed: bool = True) -> Array:
        return Array(self.builder, pointer, bits, signed=signed)

    @contextmanager
    def range(self, stop: Value | int, start: Value | int = 0) -> Generator[Value]:
        """Count from `start` to before `stop`."""
        builder = self.builder
        index = self.variable(start)
        head, body, done = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        value = index.value
        builder.cbranch((value < stop).raw, body, done)
        builder.position_at_end(body)
        yield value
        if not builder.block.is_terminated:
            index.value = value + 1
            builder.branch(head)
        builder.position_at_end(done)

    @contextmanager
    def loop(self) -> Generator[Loop]:
        """Repeat until something stops the loop."""
        builder = self.builder
        head, done = (builder.append_basic_block() for _ in range(2))
        builder.branch(head)
        builder.position_at_end(head)
        yield Loop(builder, done)
        if not builder.block.is_terminated:
            builder.branch(head)
        builder.position_at_end(done)

    @contextmanager
    def when(self, condition: Value, *, likely: bool | None = None) -> Generator[None]:
        with self.builder.if_then(condition.raw, likely=likely):
            yield

    @contextmanager
    def cases(self, value: Value) -> Generator["Cases"]:
        """Go on with the case that a value selects; with none, go on after the block."""
        builder = self.builder
        done = builder.append_basic_block()
        switch = builder.switch(value.raw, done)
        yield Cases(builder, switch, done)
        builder.position_at_end(done)

    def leave(self, value: Value | int) -> None:
        """Return from the function."""
        raw = value.raw if isinstance(value, Value) else ir.Constant(WORD, value)
        self.builder.ret(raw)

    def call(self, function: "Function", *arguments: Any) -> Value:
        """Call a function with words, plain integers and pointers."""
        raw = [
            each.raw
            if isinstance(each, Value)
            else ir.Constant(WORD, each)
            if isinstance(each, int)
            else each
            for each in arguments
        ]
        return Value(self.builder, self.builder.call(function.raw, raw))


class Cases:
    """The cases of one switch under construction."""

    def __init__(self, builder: Any, switch: Any, done: Any):
        self._builder = builder
        self._switch = switch
        self._done = done

    @contextmanager
    def case(self, value: int) -> Generator[None]:
        block = self._builder.append_basic_block()
        self._switch.add_case(ir.Constant(WORD, value), block)
        self._builder.position_at_end(block)
        yield
        if not self._builder.block.is_terminated:
            self._builder.branch(self._done)
