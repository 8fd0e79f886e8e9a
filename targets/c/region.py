"""From a function that calls kernels to a C function: memory between kernels, weights, calls in order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp, CopyOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from partita.analysis.buffer_constants import elements_of, weight_of
from partita.dialects import tir
from partita.dialects.partita import (
    ARENA,
    NAME,
    OFFSET,
    SIGNATURE,
    WeightAttr,
    origin_of,
)
from partita.dialects.tir import buffer_type
from partita.errors import CodegenError
from partita.shapes import dtype_of
from partita.targets.c.buffers import Buffer
from partita.targets.c.kernel import Kernel
from partita.targets.c.names import Names, comment
from partita.targets.c.types import table
from partita.targets.c.writer import Writer, declaration
from partita.weights import Weight

SMALL = 16
"""Elements of a constant that stands in the source whatever becomes of weights."""


class Weights:
    """The weights of a program: passed by who calls a function of it, or tables in its source."""

    def __init__(self, as_tables: bool, names: Names):
        self.as_tables = as_tables
        self.names = names
        """Those of the file."""
        self.passed: list[Weight] = []
        """Of the present function, in the order in which the caller passes them."""
        self.tables: list[str] = []
        """Definitions."""
        self._tables: dict[str, str] = {}
        self._passed: dict[str, str] = {}

    def begin(self) -> None:
        """Begin a function."""
        self.passed = []
        self._passed = {}

    def expression(self, op: tir.ConstantOp, buffer: Buffer) -> str:
        """Return what stands for a constant; `buffer` is for a table."""
        weight = weight_of(op)
        small = buffer.count <= SMALL and not isinstance(op.value, WeightAttr)
        passed = not (self.as_tables or small)
        known = self._passed if passed else self._tables
        if weight.digest not in known:
            if passed:
                expression = f"weights[{len(self.passed)}]"
                self.passed.append(weight)
            else:
                expression = buffer.name
                content = table(elements_of(op), buffer.type)
                self.tables.append(f"static const {buffer.local()} = {content};")
            known[weight.digest] = expression
        return known[weight.digest]


@dataclass(frozen=True)
class Parameter:
    """A buffer that the outside passes."""

    buffer: Buffer

    label: str
    """What users call it."""

    dtype: str
    """The name of its numpy dtype."""


@dataclass(frozen=True)
class Region:
    """A function that the outside calls."""

    name: str
    """In C."""

    symbol: str
    """In the IR."""

    inputs: tuple[Parameter, ...]

    outputs: tuple[Parameter, ...]

    weights: tuple[Weight, ...]
    """What its last parameter points to, in this order; there is no such parameter if there is none."""

    declaration: str
    """Without a semicolon."""

    text: str
    """Its definition."""

    @property
    def runner(self) -> str:
        """The function that calls it with arrays of pointers."""
        return f"{self.name}_run"

    @property
    def runner_declaration(self) -> str:
        """The declaration of that function, without a semicolon."""
        names = ("inputs", "outputs", "weights")
        return declaration(self.runner, [f"void *const *{each}" for each in names])


def is_region(function: FuncOp) -> bool:
    """Say whether a function calls others, or holds what only such functions do."""
    return ARENA in function.attributes or any(
        isinstance(op, CallOp) for op in function.body.block.ops
    )


def arena_size(function: FuncOp) -> int:
    """Return how many bytes a function needs for the buffers between kernels."""
    size = function.attributes.get(ARENA)
    return size.value.data if isa(size, IntegerAttr[IntegerType]) else 0


ARENA_NAME = "arena"
"""The memory of buffers between kernels, which the functions of a file share."""


def arena(functions: Iterable[FuncOp]) -> str:
    """Reserve the memory of the buffers between kernels; functions of one file do not run at the same time."""
    size = max(map(arena_size, functions), default=0)
    if not size:
        return ""
    return (
        f"/* What kernels hand on, {size} bytes. */\n"
        f"static union {{ uint8_t bytes[{size}]; double aligned; int64_t too; }} {ARENA_NAME};"
    )


def emit_region(
    function: FuncOp, name: str, kernels: Mapping[str, Kernel], weights: Weights
) -> Region:
    """Write a function over planned buffers; `kernels` are those that it may call, by name in the IR.

    Raises `CodegenError` where it holds something else than buffers, constants, calls and copies.
    """
    return _Region(function, name, kernels, weights).emit()


class _Region:
    """The state of one walk."""

    def __init__(
        self,
        function: FuncOp,
        name: str,
        kernels: Mapping[str, Kernel],
        weights: Weights,
    ):
        self.function = function
        self.name = name
        self.kernels = kernels
        self.weights = weights
        self.writer = Writer()
        self.buffers: dict[SSAValue, Buffer] = {}
        self.expressions: dict[SSAValue, str] = {}

    def emit(self) -> Region:
        function = self.function
        signature = function.attributes.get(SIGNATURE)
        if not isinstance(signature, FunctionType):
            raise CodegenError(
                f"expected function @{function.sym_name.data} over buffers; "
                "run lower-te-to-tir,plan-memory first"
            )
        self.weights.begin()
        for op in function.body.block.ops:
            if isinstance(op, tir.ConstantOp):
                self.constant(op)
        self.names = self.weights.names.inner()
        self.names.unique("weights", "weights")
        self.input_count = count = len(signature.inputs)
        types = (*signature.inputs, *signature.outputs)
        parameters = [
            self.parameter(position, type) for position, type in enumerate(types)
        ]
        self.outputs = function.body.block.args[count:]
        declared = [
            each.buffer.parameter(constant=position < count)
            for position, each in enumerate(parameters)
        ]
        if self.weights.passed:
            declared.append("void *const *weights")
        opening = declaration(self.name, declared)
        names = [each.buffer.name for each in parameters]
        with self.writer.braces(opening), self.writer.parameters(names):
            for op in function.body.block.ops:
                self.step(op)
        self.writer.line()
        region = Region(
            self.name,
            function.sym_name.data,
            tuple(parameters[:count]),
            tuple(parameters[count:]),
            tuple(self.weights.passed),
            opening,
            "",
        )
        self.runner(region)
        return replace(region, text=self.writer.text)

    def parameter(self, position: int, type: Attribute) -> Parameter:
        argument = self.function.body.block.args[position]
        label = self.label(position)
        fallback = "x" if position < self.input_count else "y"
        name = self.names.unique(argument.name_hint or label, fallback)
        buffer = self.buffers[argument] = Buffer.of(name, buffer_type(argument))
        self.expressions[argument] = name
        assert isa(type, TensorType[Attribute])
        return Parameter(buffer, label or name, dtype_of(type.element_type).name)

    def label(self, position: int) -> str:
        """Return what users call an argument, nothing if that is not known."""
        attributes = self.function.arg_attrs
        if attributes is None:
            return ""
        name = attributes.data[position].data.get(NAME)
        return name.data if isinstance(name, StringAttr) else ""

    def constant(self, op: tir.ConstantOp) -> None:
        name = self.weights.names.unique(op.result.name_hint, "weight")
        buffer = Buffer.of(name, buffer_type(op.result))
        self.buffers[op.result] = buffer
        self.expressions[op.result] = self.weights.expression(op, buffer)

    def step(self, op: Operation) -> None:
        match op:
            case tir.ConstantOp() | ReturnOp():
                pass
            case AllocOp():
                self.allocate(op)
            case CallOp():
                self.call(op)
            case CopyOp():
                buffer = self.buffers[op.destination]
                source, target = (
                    self.expressions[each] for each in (op.source, op.destination)
                )
                if buffer.count:
                    self.writer.line(f"memcpy({target}, {source}, {buffer.size});")
            case _:
                raise CodegenError(
                    "expected buffers, constants, calls and copies in function "
                    f"@{self.function.sym_name.data}, got {op.name}"
                )

    def allocate(self, op: AllocOp) -> None:
        offset = op.attributes.get(OFFSET)
        if not isa(offset, IntegerAttr[IntegerType]):
            raise CodegenError(
                f"expected planned buffers in function @{self.function.sym_name.data}; "
                "run plan-memory first"
            )
        name = self.names.unique(op.memref.name_hint, "buffer")
        self.buffers[op.memref] = buffer = Buffer.of(name, buffer_type(op.memref))
        self.expressions[op.memref] = name
        shape = "x".join((*map(str, buffer.shape), buffer.type.memory))
        place = f"{ARENA_NAME}.bytes + {offset.value.data}" if buffer.count else "0"
        self.writer.line(f"void *const {name} = {place}; /* {shape} */")

    def call(self, op: CallOp) -> None:
        name = op.callee.string_value()
        if name not in self.kernels:
            raise CodegenError(f"expected a kernel with a body, got a call of @{name}")
        kernel = self.kernels[name]
        if (origin := origin_of(op)) is not None:
            self.writer.comment(comment(origin))
        arguments = [
            self.argument(value, constant)
            for value, constant in zip(op.arguments, kernel.reads, strict=True)
        ]
        self.writer.line(f"{kernel.name}({', '.join(arguments)});")

    def argument(self, value: SSAValue, constant: bool) -> str:
        """Write a buffer that is passed on; C lets no array of arrays become one of constants."""
        text = self.expressions[value]
        if constant and value in self.outputs and len(self.buffers[value].shape) > 1:
            return f"(void *){text}"
        return text

    def runner(self, region: Region) -> None:
        """Write the function that takes arrays of pointers."""
        arguments = [
            *(f"inputs[{position}]" for position in range(len(region.inputs))),
            *(f"outputs[{position}]" for position in range(len(region.outputs))),
            *(["weights"] if region.weights else []),
        ]
        with (
            self.writer.braces(region.runner_declaration),
            self.writer.parameters(("inputs", "outputs", "weights")),
        ):
            self.writer.line(f"{region.name}({', '.join(arguments)});")
