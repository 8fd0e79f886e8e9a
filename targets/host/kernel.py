"""From a scheduled kernel to LLVM text: one structured walk, loops as loops, blocks as straight code."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from math import prod
from re import fullmatch

from xdsl.dialects.builtin import IndexType, IntAttr, IntegerAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from partita.analysis.buffer_constants import elements_of
from partita.analysis.local_layout import axis_order
from partita.dialects import tir
from partita.dialects.partita import WeightAttr, origin_of
from partita.dialects.tir import LoopKind, buffer_type
from partita.errors import CodegenError
from partita.targets.host.emitter import (
    AS_VECTORS,
    AS_WRITTEN,
    LOOP_METADATA,
    Emitter,
    Value,
    bytes_of,
    integer,
)
from partita.targets.host.indices import ANY, Dimension, Indices
from partita.targets.host.memory import Buffer, Memory, buffer_of
from partita.targets.host.scalar_ops import RULES
from partita.targets.host.transposes import transposable_loads
from partita.transforms.scheduling.kinds import reduced_along

STACK_LIMIT = 256 * 1024
"""Bytes of stack that the local buffers of one kernel may take."""

ALIGNMENT = 64

LONG_SUM = 128
"""Iterations from which on LLVM does not unroll a sum as a whole."""


@dataclass(frozen=True)
class KernelText:
    """A kernel as LLVM text, `void symbol(ptr arguments, i64 begin, i64 end)`."""

    symbol: str

    functions: str
    """The kernel, and the constants that it reads."""

    needed: Mapping[str, str]
    """Helpers and declarations by name, which kernels in one text share."""

    grid: int
    """Iterations of the outermost loop that threads may share; 1 if they may not."""

    @property
    def text(self) -> str:
        """All that LLVM needs to make an object of the kernel."""
        return join_texts((self,))


ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="512" }'
"""What functions marked `#0` are."""


def join_texts(kernels: Sequence[KernelText]) -> str:
    """Return one LLVM text of kernels whose symbols differ."""
    needed: dict[str, str] = {}
    for each in kernels:
        needed |= each.needed
    texts = (*needed.values(), *(each.functions for each in kernels), ATTRIBUTES)
    return "\n".join(texts) + f"\n{LOOP_METADATA}"


def symbol_of(function: FuncOp) -> str:
    """Return what the code of a kernel is called: its name, or a hash of it where that is no plain identifier."""
    name = function.sym_name.data
    if fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return name
    return f"kernel_{blake2b(name.encode(), digest_size=8).hexdigest()}"


def emit_kernel(function: FuncOp, symbol: str) -> KernelText:
    """Write the LLVM text of a kernel over buffers.

    Every argument is a buffer; the generated function finds their addresses in an array,
    and runs iterations `[begin, end)` of the outermost loop if that is parallel.
    Raises `CodegenError` for what host code cannot be made for.
    """
    return _Kernel(function, symbol).emit()


def grid_loop(function: FuncOp) -> tir.ForOp | None:
    """Return the parallel loop that is all that a kernel does, if there is one."""
    ops = [
        op
        for op in function.body.block.ops
        if not isinstance(op, AllocOp | ReturnOp | tir.ConstantOp)
    ]
    match ops:
        case [tir.ForOp(loop_kind=LoopKind.PARALLEL) as loop]:
            return loop
        case _:
            return None


class _Kernel:
    """The state of one walk."""

    def __init__(self, function: FuncOp, symbol: str):
        self.function = function
        self.symbol = symbol
        self.grid = grid_loop(function)
        self.emitter = Emitter()
        self.indices = Indices(self.emitter)
        self.memory = Memory(self.emitter, self.indices)
        self.buffers: dict[SSAValue, Buffer] = {}
        self.values: dict[SSAValue, Value] = {}
        self.constants: list[str] = []
        self.mask: Value | None = None
        self.transposed: dict[Operation, list[Value] | None] = {}
        self.turn = 0
        self.vectorized = False
        self.stack = 0

    def emit(self) -> KernelText:
        arguments = self.function.body.block.args
        for position, argument in enumerate(arguments):
            self.buffers[argument] = buffer_of(f"%a{position}", buffer_type(argument))
        self.body(self.function.body.block)
        emitter = self.emitter
        if self.symbol in emitter.declarations:
            raise CodegenError(
                f"kernel @{self.symbol} has the name of a function that it calls"
            )
        parameters = "".join(
            f", ptr noalias noundef %a{position}" for position in range(len(arguments))
        )
        name = f"{self.symbol}.body"
        lines = [
            f"define internal void @{name}(i64 %begin, i64 %end{parameters}) alwaysinline {{",
            "entry:",
            *emitter.allocations,
            *emitter.lines,
            "  ret void",
            "}",
            "",
            f"define void @{self.symbol}(ptr %arguments, i64 %begin, i64 %end) #0 {{",
        ]
        for position in range(len(arguments)):
            lines += (
                f"  %p{position} = getelementptr inbounds ptr, ptr %arguments, i64 {position}",
                f"  %a{position} = load ptr, ptr %p{position}, align 8",
            )
        passed = "".join(f", ptr %a{position}" for position in range(len(arguments)))
        lines += (
            f"  call void @{name}(i64 %begin, i64 %end{passed})",
            "  ret void",
            "}",
        )
        return KernelText(
            self.symbol,
            "\n".join((*self.constants, *lines)),
            emitter.declarations,
            1 if self.grid is None else self.grid.extent,
        )

    def fail(self, op: Operation, reason: str) -> CodegenError:
        """Return the error that tells where and why."""
        origin = origin_of(op)
        where = f" (from {origin})" if origin else ""
        return CodegenError(f"kernel @{self.function.sym_name.data}{where}: {reason}")

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
                case ReturnOp():
                    pass
                case _:
                    raise self.fail(
                        op, f"expected loops, blocks and local buffers, got {op.name}"
                    )

    def loop(self, op: tir.ForOp) -> None:
        lower, upper = op.lower.value.data, op.upper.value.data
        kind = op.loop_kind
        if kind is LoopKind.VECTORIZED and op.extent > 1 and not self.vectorized:
            self.lanes(op)
        elif kind in (LoopKind.UNROLLED, LoopKind.VECTORIZED) or op.extent == 1:
            self.unrolled(op)
        else:
            begin, end = integer(lower), integer(upper)
            if op is self.grid:
                begin, end = Value("%begin", "i64"), Value("%end", "i64")
                if lower:
                    begin = self.emitter.binary("add", begin, integer(lower))
                    end = self.emitter.binary("add", end, integer(lower))
            with (
                self.indices.scope(),
                self.emitter.loop(begin, end, "i", self.hint(op)) as index,
            ):
                variable = self.indices.dimension(Dimension(index, (lower, upper - 1)))
                self.indices.expressions[op.variable] = variable
                with self.memory.fetching(variable, self.prefetch(op)):
                    self.body(op.body.block)

    def prefetch(self, op: tir.ForOp) -> int:
        """Return how many iterations ahead a loop is asked to fetch what it reads, 0 if it is not."""
        match op.attributes.get("prefetch"):
            case None:
                return 0
            case IntegerAttr(value=IntAttr(data=distance)) if distance > 0:
                return distance
            case other:
                raise self.fail(op, f"expected prefetch of at least 1, got {other}")

    def unrolled(self, op: tir.ForOp) -> None:
        """Run a loop's iterations one after the other, without a loop."""
        loads = transposable_loads(op)
        self.transposed.update(dict.fromkeys(loads))
        lower = op.lower.value.data
        for self.turn in range(op.extent):
            self.indices.expressions[op.variable] = AffineExpr.constant(
                lower + self.turn
            )
            self.body(op.body.block)
        for each in loads:
            del self.transposed[each]

    def hint(self, op: tir.ForOp) -> int | None:
        """Return what LLVM is told about a loop.

        Iterations that threads share must not depend on which of them run in one call, and what a schedule made
        vectors of is good as it is. A short sum would be unrolled, one addition after the other, instead of
        vectorized; a long one has several vectors of sums if nothing is said.
        """
        inside = [each for each in op.walk() if isinstance(each, tir.ForOp)]
        if op is self.grid or any(
            each.loop_kind is LoopKind.VECTORIZED for each in inside
        ):
            return AS_WRITTEN
        short = inside == [op] and op.extent < LONG_SUM
        return AS_VECTORS if short and reduced_along(op) else None

    def lanes(self, op: tir.ForOp) -> None:
        """Run a loop's iterations as lanes."""
        count = op.extent
        numbers = ", ".join(f"i64 {lane}" for lane in range(count))
        dimension = Dimension(
            Value(f"<{numbers}>", "i64", count), (0, count - 1), is_lane=True
        )
        with self.indices.scope():
            self.indices.expressions[op.variable] = (
                self.indices.dimension(dimension) + op.lower.value.data
            )
            self.vectorized = True
            self.body(op.body.block)
            self.vectorized = False

    def allocate(self, op: AllocOp) -> None:
        buffer = buffer_of(
            self.emitter.name("local"), buffer_type(op.memref), axis_order(op)
        )
        count = prod(buffer.shape)
        self.stack += count * bytes_of(buffer.type)
        if self.stack > STACK_LIMIT:
            raise self.fail(
                op,
                f"expected local buffers of at most {STACK_LIMIT} bytes, got {self.stack}; "
                "run split-stages first, or move the computation into an inner loop",
            )
        self.emitter.allocations.append(
            f"  {buffer.pointer} = alloca [{count} x {buffer.element}], align {ALIGNMENT}"
        )
        self.buffers[op.memref] = buffer

    def constant(self, op: tir.ConstantOp) -> None:
        buffer = buffer_of(
            f"@{self.symbol}.constant{len(self.constants)}", buffer_type(op.result)
        )
        if isinstance(op.value, WeightAttr):
            raise self.fail(op, "expected weights to be arguments of a kernel")
        values = elements_of(op).reshape(-1).tolist()
        elements = ", ".join(
            str(
                integer(int(value), "i8")
                if buffer.type == "i1"
                else self.emitter.constant(value, buffer.type)
            )
            for value in values
        )
        self.constants.append(
            f"{buffer.pointer} = private unnamed_addr constant "
            f"[{len(values)} x {buffer.element}] [{elements}], align {ALIGNMENT}"
        )
        self.buffers[op.result] = buffer

    def block(self, op: tir.BlockOp) -> None:
        """Emit a block where its guards hold, its init first where it is due."""
        bindings = self.indices.compose(op.binding_exprs, op.indices)
        condition, mask = self.guards(op)
        before = self.mask
        with self.branch(condition):
            if mask is not None:
                self.mask = self.both(self.mask, mask)
            rank = len(op.spatial_shape)
            if op.init.blocks and self.may_be_first(bindings[rank:]):
                self.bind(op.init.block, bindings[:rank])
                with self.branch(self.is_first(bindings[rank:])):
                    self.scalars(op.init.block)
            self.bind(op.body.block, bindings)
            self.scalars(op.body.block)
        self.mask = before

    def guards(self, op: tir.BlockOp) -> tuple[Value | None, Value | None]:
        """Return what must hold for the block to run at all, and in which lanes."""
        condition: Value | None = None
        mask: Value | None = None
        for expr in self.indices.compose(op.guard_exprs, op.indices):
            if self.indices.range(expr)[0] >= 0:
                continue
            value = self.indices.value(expr)
            test = self.emitter.binary("icmp sge", value, integer(0), "i1")
            if test.lanes == 1:
                condition = self.both(condition, test)
            else:
                mask = self.both(mask, test)
        return condition, mask

    def both(self, one: Value | None, other: Value) -> Value:
        return other if one is None else self.emitter.binary("and", one, other)

    def may_be_first(self, exprs: Sequence[AffineExpr]) -> bool:
        """Say whether all reduction axes can be at 0 here."""
        ranges = [self.indices.range(expr) for expr in exprs]
        return all(low <= 0 <= high for low, high in ranges)

    def is_first(self, exprs: Sequence[AffineExpr]) -> Value | None:
        """Return whether all reduction axes are at 0, `None` if they always are."""
        condition: Value | None = None
        for expr in exprs:
            if self.indices.range(expr) == (0, 0):
                continue
            value = self.indices.value(expr)
            test = self.emitter.binary("icmp eq", value, integer(0), "i1")
            condition = self.both(condition, test)
        return condition

    @contextmanager
    def branch(self, condition: Value | None) -> Generator[None]:
        """Emit what is emitted inside so that it runs only where a condition holds."""
        if condition is None:
            yield
            return
        if condition.lanes > 1:
            raise CodegenError(
                f"kernel @{self.function.sym_name.data}: expected reduction axes outside vectors"
            )
        with self.emitter.when(condition), self.indices.scope():
            yield

    def bind(self, block: Block, exprs: Sequence[AffineExpr]) -> None:
        for axis, expr in zip(block.args, exprs, strict=True):
            self.indices.expressions[axis] = expr

    def scalars(self, block: Block) -> None:
        """Emit the loads, stores and arithmetic of a block."""
        for op in block.ops:
            match op:
                case tir.LoadOp() if op in self.transposed:
                    columns = self.transposed[op]
                    if columns is None:
                        buffer = self.buffers[op.buffer]
                        columns = self.memory.load_transposed(buffer, op)
                        self.transposed[op] = columns
                    self.values[op.result] = columns[self.turn]
                case tir.LoadOp():
                    otherwise = op.otherwise
                    self.values[op.result] = self.memory.load(
                        self.buffers[op.buffer],
                        op,
                        self.mask,
                        None if otherwise is None else self.operand(otherwise),
                    )
                case tir.StoreOp():
                    self.memory.store(
                        self.operand(op.value),
                        self.buffers[op.buffer],
                        op,
                        self.mask,
                    )
                case _:
                    self.scalar(op)

    def scalar(self, op: Operation) -> None:
        rule = RULES.get(type(op))
        if rule is None:
            raise self.fail(op, f"no host code can be made for {op.name}")
        operands = tuple(self.operand(operand) for operand in op.operands)
        value = rule(self.emitter, op, operands)
        result = op.results[0]
        self.values[result] = value
        if isinstance(result.type, IndexType):
            self.indices.expressions[result] = (
                AffineExpr.constant(int(value.text))
                if value.text.lstrip("-").isdigit()
                else self.indices.dimension(Dimension(value, ANY))
            )

    def operand(self, value: SSAValue) -> Value:
        """Return a scalar, an index as an `i64`."""
        made = self.values.get(value)
        if made is not None:
            return made
        return self.indices.value(self.indices.expression(value))
