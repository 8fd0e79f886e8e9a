"""From a kernel to a C function: loops as loops, blocks as assignments."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float16Type, IndexType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp, CopyOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from partita.analysis.affine import simplify
from partita.analysis.buffer_constants import elements_of
from partita.analysis.local_layout import axis_order
from partita.dialects import tir
from partita.dialects.access import Interval, interval
from partita.dialects.partita import WeightAttr, origin_of
from partita.dialects.tir import buffer_type
from partita.errors import CodegenError
from partita.shapes import dtype_of
from partita.targets.c.buffers import Buffer
from partita.targets.c.expressions import (
    Affine,
    Level,
    Value,
    both,
    choice,
    infix,
    integer,
)
from partita.targets.c.names import Names, comment
from partita.targets.c.scalar_ops import RULES
from partita.targets.c.support import Support
from partita.targets.c.types import BOOL, I64, table
from partita.targets.c.writer import Writer, declaration

STACK_LIMIT = 256 * 1024
"""Bytes of stack that the local buffers of one kernel may take."""

LONG = 64
"""Characters of an expression that gets a name, so that statements stay readable."""

COMMENT = re.compile(r"/\*.*?\*/")

ANY: Interval = (-(1 << 62), 1 << 62)
"""The range of an index that is computed from data."""


@dataclass(frozen=True)
class Kernel:
    """A function that computes."""

    name: str
    """In C."""

    declaration: str
    """Without a semicolon."""

    text: str
    """Its definition."""

    reads: tuple[bool, ...]
    """For each parameter, whether it is only read."""

    def is_like(self, other: "Kernel") -> bool:
        """Say whether both are the same function but for comments."""
        return COMMENT.sub("", self.text) == COMMENT.sub("", other.text)


def emit_kernel(function: FuncOp, name: str, support: Support, static: bool) -> Kernel:
    """Write a function over buffers in C; a static one is for this file alone.

    Raises `CodegenError` for what C cannot be made for.
    """
    return _Kernel(function, name, support, static).emit()


def reads_only(value: SSAValue) -> bool:
    """Say whether a buffer is never written by its function."""
    return not any(
        isinstance(use.operation, tir.StoreOp)
        or (isinstance(use.operation, CopyOp) and use.index == 1)
        for use in value.uses
    )


class _Kernel:
    """The state of one walk."""

    def __init__(self, function: FuncOp, name: str, support: Support, static: bool):
        self.function = function
        self.support = support
        self.static = static
        self.name = name
        self.names = Names()
        self.writer = Writer()
        self.buffers: dict[SSAValue, Buffer] = {}
        self.values: dict[SSAValue, Value] = {}
        self.dimensions: list[Value] = []
        self.ranges: list[Interval] = []
        self.expressions: dict[SSAValue, AffineExpr] = {}
        self.stack = 0
        self.blocks = sum(isinstance(op, tir.BlockOp) for op in function.walk())

    def emit(self) -> Kernel:
        block = self.function.body.block
        for argument in block.args:
            fallback = "x" if reads_only(argument) else "y"
            hint = self.names.unique(argument.name_hint, fallback)
            self.buffers[argument] = self.buffer(hint, argument)
        reads = tuple(map(reads_only, block.args))
        parameters = [
            self.buffers[each].parameter(constant)
            for each, constant in zip(block.args, reads, strict=True)
        ]
        opening = declaration(self.name, parameters, self.static)
        names = [self.buffers[each].name for each in block.args]
        with self.writer.braces(opening), self.writer.parameters(names):
            self.body(block)
        return Kernel(self.name, opening, self.writer.text, reads)

    def buffer(self, name: str, value: SSAValue, order: tuple[int, ...] = ()) -> Buffer:
        type = buffer_type(value)
        try:
            return Buffer.of(name, type, order)
        except KeyError:
            raise CodegenError(
                f"function @{self.function.sym_name.data}: "
                f"C has no type for elements of {type.element_type}"
            ) from None

    def fail(self, op: Operation, reason: str) -> CodegenError:
        """Return the error that tells where and why."""
        origin = origin_of(op)
        where = f" (from {origin})" if origin else ""
        return CodegenError(f"function @{self.function.sym_name.data}{where}: {reason}")

    def body(self, block: Block) -> None:
        for op in block.ops:
            match op:
                case tir.ForOp():
                    self.loop(op)
                case tir.BlockOp():
                    self.block(op)
                case AllocOp():
                    self.allocate(op)
                case tir.ConstantOp():
                    self.constant(op)
                case CopyOp():
                    self.copy(op)
                case ReturnOp():
                    pass
                case _:
                    raise self.fail(
                        op, f"expected loops, blocks and local buffers, got {op.name}"
                    )

    def loop(self, op: tir.ForOp) -> None:
        lower, upper = op.lower.value.data, op.upper.value.data
        if op.extent == 1:
            self.expressions[op.variable] = AffineExpr.constant(lower)
            self.body(op.body.block)
            return
        name = self.names.inner().unique(op.variable.name_hint, "i")
        header = f"for (int64_t {name} = {lower}; {name} < {upper}; {name}++)"
        with self.braces(header):
            self.names.unique(name, name)
            self.expressions[op.variable] = self.dimension(
                Value(name, I64), (lower, upper - 1)
            )
            self.body(op.body.block)

    @contextmanager
    def braces(self, header: str) -> Generator[None]:
        """Put what is written inside in braces; names that it gives are its own."""
        outer, self.names = self.names, self.names.inner()
        with self.writer.braces(header), self.scope():
            yield
        self.names = outer

    def allocate(self, op: AllocOp) -> None:
        name = self.names.unique(op.memref.name_hint, "local")
        buffer = self.buffer(name, op.memref, axis_order(op))
        element = dtype_of(buffer_type(op.memref).element_type)
        self.stack += prod(buffer.shape) * element.itemsize
        if self.stack > STACK_LIMIT:
            raise self.fail(
                op,
                f"expected local buffers of at most {STACK_LIMIT} bytes, got {self.stack}; "
                "run split-stages first, or move the computation into an inner loop",
            )
        self.buffers[op.memref] = buffer
        if buffer.count and op.memref.first_use is not None:
            self.writer.line(f"{buffer.local()};")

    def constant(self, op: tir.ConstantOp) -> None:
        if isinstance(op.value, WeightAttr):
            raise self.fail(op, "expected weights to be arguments of a kernel")
        name = self.names.unique(op.result.name_hint, "constant")
        buffer = self.buffers[op.result] = self.buffer(name, op.result)
        if buffer.count:
            content = table(elements_of(op), buffer.type)
            self.writer.line(f"static const {buffer.local()} = {content};")

    def copy(self, op: CopyOp) -> None:
        source, target = self.buffers[op.source], self.buffers[op.destination]
        if target.count:
            self.writer.line(f"memcpy({target.name}, {source.name}, {target.size});")

    # Indices.

    def dimension(self, value: Value, range: Interval) -> AffineExpr:
        """Add what index expressions are made of, and return the expression that stands for it."""
        self.dimensions.append(value)
        self.ranges.append(range)
        return AffineExpr.dimension(len(self.dimensions) - 1)

    @contextmanager
    def scope(self) -> Generator[None]:
        """Forget, at the end, dimensions that were added inside."""
        count = len(self.dimensions)
        yield
        del self.dimensions[count:], self.ranges[count:]

    def compose(
        self, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]
    ) -> tuple[AffineExpr, ...]:
        """Return expressions of operands as expressions of dimensions, simplified."""
        dims = [self.expressions[operand] for operand in operands]
        return tuple(
            simplify(expr.replace_dims_and_symbols(dims, ()), self.ranges)
            for expr in exprs
        )

    def index(self, expr: AffineExpr) -> Value:
        """Write an index."""
        return Affine(self.support, self.dimensions, self.ranges).write(expr)

    def range(self, expr: AffineExpr) -> Interval:
        """Return bounds of an index."""
        return interval(expr, self.ranges)

    def compared(self, expr: AffineExpr, operator: str, bound: int) -> Value:
        """Compare an index with a constant; constants of the index go to the other side."""
        offset = _offset(expr)
        if offset:
            expr = simplify(expr - offset, self.ranges)
        return infix(
            self.index(expr), operator, integer(bound - offset), Level.ORDER, BOOL
        )

    # Blocks.

    def block(self, op: tir.BlockOp) -> None:
        """Write a block where its guards hold, its init first where it is due."""
        bindings = self.compose(op.binding_exprs, op.indices)
        origin = origin_of(op)
        if self.blocks > 1 or origin:
            label = comment(op.label.data)
            self.writer.comment(f"{label}: {comment(origin)}" if origin else label)
        rank = len(op.spatial_shape)
        with self.branch(self.guards(op)):
            if op.init.blocks and self.may_be_first(bindings[rank:]):
                with self.branch(self.is_first(bindings[rank:])):
                    self.scalars(op.init.block, bindings[:rank])
            self.scalars(op.body.block, bindings)

    def guards(self, op: tir.BlockOp) -> Value | None:
        """Return what must hold for the block to run, `None` if that is known."""
        condition: Value | None = None
        for expr in self.compose(op.guard_exprs, op.indices):
            if self.range(expr)[0] < 0:
                condition = both(condition, self.compared(expr, ">=", 0))
        return condition

    def may_be_first(self, exprs: Sequence[AffineExpr]) -> bool:
        """Say whether all reduction axes can be at 0 here."""
        return all(low <= 0 <= high for low, high in map(self.range, exprs))

    def is_first(self, exprs: Sequence[AffineExpr]) -> Value | None:
        """Return whether all reduction axes are at 0, `None` if they always are."""
        condition: Value | None = None
        for expr in exprs:
            if self.range(expr) != (0, 0):
                test = infix(self.index(expr), "==", integer(0), Level.EQUAL, BOOL)
                condition = both(condition, test)
        return condition

    @contextmanager
    def branch(self, condition: Value | None) -> Generator[None]:
        """Write what is written inside so that it runs only where a condition holds."""
        if condition is None:
            yield
            return
        with self.braces(f"if ({condition.text})"):
            yield

    def scalars(self, block: Block, axes: Sequence[AffineExpr]) -> None:
        """Write the loads, stores and arithmetic of a block.

        A value that is used once is written where it is used, as long as that stays short;
        what is loaded before several stores, or before others, gets a name first.
        """
        for axis, expr in zip(block.args, axes, strict=True):
            self.expressions[axis] = expr
        stores = [op for op in block.ops if isinstance(op, tir.StoreOp)]
        movable = len(stores) == 1 and stores[0] is block.last_op
        sum = _sum_of(stores[0]) if movable else None
        with self.scope(), self.writer.without_unused():
            for op in block.ops:
                match op:
                    case _ if sum and op in (sum, sum.lhs.owner):
                        pass
                    case tir.LoadOp():
                        self.define(op, self.load(op), named=not movable)
                    case tir.StoreOp() if sum:
                        self.writer.line(
                            f"{self.target(op)} += {self.operand(sum.rhs).text};"
                        )
                    case tir.StoreOp():
                        stored = self.buffers[op.buffer].stored(
                            self.operand(op.value), self.support
                        )
                        self.writer.line(f"{self.target(op)} = {stored};")
                    case _:
                        self.define(op, self.scalar(op))

    def define(self, op: Operation, value: Value, named: bool = False) -> None:
        """Remember an expression, or give it a name where it is used often, or long."""
        result = op.results[0]
        is_index = isinstance(result.type, IndexType)
        named |= is_index or not _is_written_in_place(result, value)
        if named and value.number is None and not value.is_simple:
            name = self.names.unique(result.name_hint, "v")
            self.writer.define(name, f"const {value.type.name} {name} = {value.text};")
            value = Value(name, value.type)
        self.values[result] = value
        if is_index:
            self.expressions[result] = (
                self.dimension(value, ANY)
                if value.number is None
                else AffineExpr.constant(int(value.number))
            )

    def scalar(self, op: Operation) -> Value:
        rule = RULES.get(type(op))
        if rule is None:
            raise self.fail(op, f"C has no counterpart of {op.name}")
        try:
            return rule(self.support, op, tuple(map(self.operand, op.operands)))
        except KeyError:
            types = ", ".join(str(each.type) for each in op.operands)
            raise self.fail(
                op, f"C has no counterpart of {op.name} on {types}"
            ) from None

    def operand(self, value: SSAValue) -> Value:
        """Return a scalar, an index as an `int64_t`."""
        made = self.values.get(value)
        return self.index(self.expressions[value]) if made is None else made

    def load(self, op: tir.LoadOp) -> Value:
        """Read an element; where the index may lie outside, choose."""
        buffer = self.buffers[op.buffer]
        exprs = self.compose(op.access.results, op.indices)
        loaded = buffer.loaded(self.place(buffer, exprs), self.support)
        otherwise = op.otherwise
        if otherwise is None:
            return loaded
        inside = self.inside(exprs, buffer)
        return (
            loaded
            if inside is None
            else choice(inside, loaded, self.operand(otherwise))
        )

    def target(self, op: tir.StoreOp) -> str:
        """Write the place that a store writes."""
        exprs = self.compose(op.access.results, op.indices)
        return self.place(self.buffers[op.buffer], exprs)

    def place(self, buffer: Buffer, exprs: Sequence[AffineExpr]) -> str:
        return buffer.element(tuple(self.index(expr).text for expr in exprs))

    def inside(self, exprs: Sequence[AffineExpr], buffer: Buffer) -> Value | None:
        """Return whether an element exists, `None` if it is known to."""
        condition: Value | None = None
        for expr, extent in zip(exprs, buffer.shape, strict=True):
            low, high = self.range(expr)
            if low < 0:
                condition = both(condition, self.compared(expr, ">=", 0))
            if high >= extent:
                condition = both(condition, self.compared(expr, "<", extent))
        return condition


def _is_written_in_place(result: SSAValue, value: Value) -> bool:
    """Say whether a value is written where it is used, once, rather than given a name."""
    if not result.has_one_use():
        return False
    (use,) = result.uses
    if isinstance(use.operation, tir.StoreOp):
        return True
    return len(value.text) <= LONG and value.level is not Level.CHOICE


def _offset(expr: AffineExpr) -> int:
    """Return the constant term of a simplified expression."""
    last = getattr(expr, "rhs", None)
    kind = getattr(expr, "kind", None)
    if isinstance(last, AffineConstantExpr) and kind is not None and kind.name == "Add":
        return last.value
    return 0


def _sum_of(op: tir.StoreOp) -> arith.AddfOp | None:
    """Return the addition of a float to what a store replaces, if that is what it does."""
    add = op.value.owner
    if not isinstance(add, arith.AddfOp) or not op.value.has_one_use():
        return None
    if isinstance(add.result.type, Float16Type):
        return None
    old = add.lhs.owner
    if not isinstance(old, tir.LoadOp) or not add.lhs.has_one_use():
        return None
    same = (
        old.buffer is op.buffer
        and old.access == op.access
        and tuple(old.indices) == tuple(op.indices)
    )
    return add if same else None
