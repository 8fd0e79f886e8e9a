"""Runs a function of a module, op by op, on numpy arrays."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    AnyTensorType,
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from partita.dialects.byoc import external_modules
from partita.dialects.partita import ENTRY, NAME
from partita.errors import InputError, IRError
from partita.shapes import DYNAMIC, dtype_of, shape_text
from partita.weights import Array

Impl = Callable[[Operation, tuple[Array, ...], "Interpreter"], tuple[Array, ...]]
"""An op, its operands' arrays and the interpreter, which runs the op's regions, to its results' arrays."""


class Interpreter:
    """Evaluates ops by a table, functions block by block."""

    def __init__(self, module: ModuleOp, table: Mapping[type[Operation], Impl]):
        self.table = table
        self.functions = {
            each.sym_name.data: each
            for each in module.ops
            if isinstance(each, func.FuncOp)
        }
        self.externals = {
            (target, name): each
            for target, external in external_modules(module).items()
            for name, each in external.functions.items()
        }
        self.frames: list[dict[SSAValue, Array]] = []
        """The arrays of values that are in scope, of each function that is running."""

    def value(self, value: SSAValue) -> Array:
        """Return the array of a value that is in scope."""
        return self.frames[-1][value]

    def call(
        self, function: func.FuncOp, arguments: Sequence[Array]
    ) -> tuple[Array, ...]:
        """Run a function; arrays of memref arguments are changed in place."""
        body = body_of(function)
        self.frames.append({})
        try:
            return self.run(body, arguments)
        finally:
            self.frames.pop()

    def run(self, block: Block, arguments: Sequence[Array]) -> tuple[Array, ...]:
        """Run a block that is in scope, and return the operands of its terminator.

        The array of a value that only ops of this very block use is dropped after its last use.
        """
        frame = self.frames[-1]
        left: dict[SSAValue, int] = {}

        def define(values: Sequence[SSAValue], arrays: Sequence[Array]) -> None:
            for value, array in zip(values, arrays, strict=True):
                users = [use.operation.parent for use in value.uses]
                if not users:
                    continue
                frame[value] = array
                if all(user is block for user in users):
                    left[value] = len(users)

        define(block.args, arguments)
        for op in block.ops:
            operands = tuple(frame[value] for value in op.operands)
            if op.has_trait(IsTerminator):
                return operands
            define(op.results, self.evaluate(op, operands))
            for value in op.operands:
                if value in left:
                    left[value] -= 1
                    if not left[value]:
                        del frame[value], left[value]
        return ()

    def evaluate(self, op: Operation, operands: tuple[Array, ...]) -> tuple[Array, ...]:
        """Evaluate one op."""
        if isinstance(op, func.CallOp):
            return self.call(self.function(op.callee), operands)
        impl = self.table.get(type(op))
        if impl is None:
            raise IRError(f"expected an op that can be interpreted, got {op.name}")
        return impl(op, operands, self)

    def function(self, symbol: SymbolRefAttr) -> func.FuncOp:
        """Return the function that a symbol names; raise `IRError` if there is none."""
        name = symbol.string_value()
        if name not in self.functions:
            raise IRError(f"expected function @{name}, got {listed(self.functions)}")
        return self.functions[name]

    def external(self, symbol: SymbolRefAttr) -> func.FuncOp:
        """Return the function of another target that a symbol names; raise `IRError` if it is not there as IR."""
        names = [each.data for each in symbol.nested_references]
        found = self.externals.get((symbol.root_reference.data, "".join(names)))
        if not isinstance(found, func.FuncOp):
            got = "none" if found is None else "a binary"
            raise IRError(f"expected function {symbol}, got {got}")
        return found

    def entry(self, name: str | None = None) -> func.FuncOp:
        """Return the function of this name, or else the one that is marked, or the only public one.

        Raises `IRError`, which lists the candidates, if that does not settle it.
        """
        if name is not None:
            return self.function(SymbolRefAttr(name))
        public = [
            each
            for each in self.functions.values()
            if each.sym_visibility is None or each.sym_visibility.data != "private"
        ]
        found = [each for each in public if ENTRY in each.attributes] or public
        if len(found) != 1:
            names = listed(each.sym_name.data for each in found or public)
            raise IRError(f"expected one entry function, got {names}; set entry")
        return found[0]


def body_of(function: func.FuncOp) -> Block:
    """Return the body of a function; raise `IRError` if it is only declared."""
    if function.is_declaration:
        name = function.sym_name.data
        raise IRError(f"expected a body of @{name}, got a declaration")
    return function.body.block


def listed(names: Iterable[str]) -> str:
    """Return names as a message shows them."""
    return ", ".join(f"@{name}" for name in names) or "none"


def names_of(
    attributes: ArrayAttr[DictionaryAttr] | None, hints: Sequence[str | None]
) -> tuple[str, ...]:
    """Return what users call arguments or results: `partita.name`, else the name in the text, else the position."""
    names: list[str] = []
    for index, hint in enumerate(hints):
        given = None if attributes is None else attributes.data[index].data.get(NAME)
        names.append(
            given.data if isinstance(given, StringAttr) else hint or str(index)
        )
    return tuple(names)


def checked(array: Array, type: Attribute, name: str) -> Array:
    """Return an array as an input of this type; unsigned integers may stand for signless ones.

    Raises `InputError` if dtype or shape do not fit.
    """
    assert isinstance(type, TensorType | MemRefType)
    type = cast("AnyTensorType | MemRefType[Attribute]", type)
    dtype, shape = dtype_of(type.element_type), type.get_shape()
    if isinstance(type, MemRefType) and array.dtype.kind == "u":
        array = array.view(f"i{array.dtype.itemsize}")
    if array.dtype != dtype:
        raise InputError(
            f"expected input {name} of dtype {dtype.name}, got {array.dtype.name}"
        )
    if len(shape) != array.ndim or any(
        extent not in (DYNAMIC, given)
        for extent, given in zip(shape, array.shape, strict=True)
    ):
        raise InputError(
            f"expected input {name} of shape {shape_text(shape)}, got {shape_text(array.shape)}"
        )
    return array


def run_function(
    interpreter: Interpreter, function: func.FuncOp, inputs: Sequence[Array]
) -> tuple[Array, ...]:
    """Call a function on checked inputs and return its results.

    A function in destination-passing form may be called without its last arguments, its outputs:
    they are allocated, full of ones in every bit, and returned.
    """
    names = argument_names(function)
    missing = function.args[len(inputs) :]
    if len(inputs) > len(names) or not all(
        isinstance(each.type, MemRefType) for each in missing
    ):
        raise InputError(
            f"expected {len(names)} inputs, {', '.join(names) or 'none'}, got {len(inputs)}"
        )
    arrays = [
        checked(array, argument.type, name)
        for array, argument, name in zip(inputs, function.args, names, strict=False)
    ]
    outputs = [garbage(each.type) for each in missing]
    results = interpreter.call(function, (*arrays, *outputs))
    return (*results, *outputs)


def argument_names(function: func.FuncOp) -> tuple[str, ...]:
    """Return what users call the arguments of a function."""
    arguments = body_of(function).args
    return names_of(function.arg_attrs, [each.name_hint for each in arguments])


def garbage(type: Attribute) -> Array:
    """Make a buffer that shows it when it is read before it is written."""
    assert isinstance(type, MemRefType)
    type = cast("MemRefType[Attribute]", type)
    dtype = dtype_of(type.element_type)
    raw = np.full((*type.get_shape(), dtype.itemsize), 255, np.uint8)
    return raw.view(dtype).reshape(type.get_shape())
