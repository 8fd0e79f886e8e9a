"""What a rule wants to know of a kernel: its blocks in order, and how each reads and writes along its axes."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects import arith, math
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from partita.analysis.affine import linear_form, simplify
from partita.analysis.loop_nests import loops_around
from partita.dialects import tir
from partita.dialects.tir import buffer_type
from partita.shapes import Shape

COSTLY = (
    *(math.ExpOp, math.LogOp, math.TanhOp, math.ErfOp, math.PowFOp, math.SqrtOp),
    *(math.RsqrtOp, math.SinOp, math.CosOp, math.TanOp, math.AsinOp, math.AcosOp),
    *(math.AtanOp, math.SinhOp, math.CoshOp, math.AsinhOp, math.AcoshOp, math.AtanhOp),
    *(arith.DivfOp, arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp),
)
"""Ops that should not be computed twice."""


@dataclass(frozen=True)
class Access:
    """A load or store of a block, in terms of the block's axes."""

    buffer: SSAValue

    exprs: tuple[AffineExpr, ...] | None
    """An index for each axis of the buffer; `None` if one depends on data."""

    guarded: bool
    """Whether it may lie outside the buffer."""

    extents: Shape
    """Of the block's axes."""

    @cached_property
    def position(self) -> AffineExpr | None:
        """Elements from the start of the buffer."""
        if self.exprs is None:
            return None
        shape = buffer_type(self.buffer).get_shape()
        total: AffineExpr = AffineExpr.constant(0)
        for axis, expr in enumerate(self.exprs):
            total = total + expr * prod(shape[axis + 1 :])
        return simplify(total, [(0, extent - 1) for extent in self.extents])

    def stride(self, axis: int) -> int | None:
        """Return elements from one value of a block's axis to the next, `None` if it varies."""
        if self.position is None:
            return None
        if not _mentions(self.position, axis):
            return 0
        total = 0
        for term in _terms(self.position):
            if not _mentions(term, axis):
                continue
            form = linear_form(term, len(self.extents))
            if form is None:
                return None
            total += form[0][axis]
        return total

    def period_of(self, axis: int) -> int | None:
        """Return `b` where an axis occurs, and only as `axis floordiv b`."""
        if self.block_of(axis) is None or self.position is None:
            return None
        if any(
            isinstance(part, AffineBinaryOpExpr)
            and part.kind is AffineBinaryOpKind.Mod
            and _mentions(part, axis)
            for part in self.position.dfs()
        ):
            return None
        return self.block_of(axis)

    def block_of(self, axis: int) -> int | None:
        """Return `b` where an axis occurs only as `axis floordiv b` and `axis mod b`, the latter with stride 1."""
        if self.position is None:
            return None
        found: int | None = None
        for term in _terms(self.position):
            if not _mentions(term, axis):
                continue
            factor = 1
            if (
                isinstance(term, AffineBinaryOpExpr)
                and term.kind is AffineBinaryOpKind.Mul
                and isinstance(term.rhs, AffineConstantExpr)
            ):
                term, factor = term.lhs, term.rhs.value
            match term:
                case AffineBinaryOpExpr(
                    kind=AffineBinaryOpKind.Mod | AffineBinaryOpKind.FloorDiv,
                    lhs=AffineDimExpr(),
                    rhs=AffineConstantExpr(value=size),
                ) if found in (None, size):
                    if term.kind is AffineBinaryOpKind.Mod and factor != 1:
                        return None
                    found = size
                case _:
                    return None
        return found


def _terms(expr: AffineExpr) -> list[AffineExpr]:
    todo, found = [expr], list[AffineExpr]()
    while todo:
        term = todo.pop()
        match term:
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
                todo += (lhs, rhs)
            case _:
                found.append(term)
    return found


def _mentions(expr: AffineExpr, axis: int) -> bool:
    return any(
        isinstance(part, AffineDimExpr) and part.position == axis for part in expr.dfs()
    )


@dataclass(frozen=True)
class Stage:
    """A block before any schedule: its axes are its loops."""

    block: tir.BlockOp

    loads: tuple[Access, ...]
    """What it reads, but for what it accumulates to."""

    stores: tuple[Access, ...]

    @property
    def label(self) -> str:
        """What the block is called."""
        return self.block.label.data

    @property
    def spatial(self) -> Shape:
        """Extents of spatial axes."""
        return self.block.spatial_shape

    @property
    def reduction(self) -> Shape:
        """Extents of reduction axes."""
        return self.block.reduction_shape

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each loop around the block."""
        return tuple(
            axis.name_hint or f"i{number}"
            for number, axis in enumerate(self.block.axes)
        )

    @property
    def work(self) -> int:
        """How often its body runs."""
        return prod(self.block.extents)

    @property
    def is_bare(self) -> bool:
        """Whether no schedule has touched it: a serial loop for each axis, and nothing else in them."""
        loops = loops_around(self.block)
        variables = tuple(loop.variable for loop in loops)
        axes = [AffineExpr.dimension(number) for number in range(len(loops))]
        return (
            all(
                loop.loop_kind is tir.LoopKind.SERIAL and len(loop.body.block.ops) == 1
                for loop in loops
            )
            and self.block.guard is None
            and tuple(self.block.indices) == variables
            and list(self.block.binding_exprs) == axes
            and bool(self.reduction) == bool(self.block.init.blocks)
        )

    @cached_property
    def is_costly(self) -> bool:
        """Whether its body holds ops that should not be repeated."""
        return any(isinstance(op, COSTLY) for op in self.block.body.block.ops)

    @property
    def bits(self) -> int:
        """The width of what it stores, at least 8."""
        element = buffer_type(self.stores[0].buffer).element_type
        return max(8, getattr(element, "bitwidth", 64))


@dataclass(frozen=True)
class Nest:
    """A kernel before any schedule: blocks in program order, each in loops of its own."""

    stages: tuple[Stage, ...]

    @staticmethod
    def of(function: FuncOp) -> "Nest":
        """Read a kernel."""
        return Nest(
            tuple(_stage(op) for op in function.walk() if isinstance(op, tir.BlockOp))
        )

    def producer(self, buffer: SSAValue) -> Stage | None:
        """Return the stage that writes a buffer."""
        for stage in self.stages:
            if any(store.buffer is buffer for store in stage.stores):
                return stage
        return None

    def readers(self, stage: Stage) -> tuple[Stage, ...]:
        """Return the stages that read what a stage writes."""
        written = {store.buffer for store in stage.stores}
        return tuple(
            each
            for each in self.stages
            if each is not stage and any(load.buffer in written for load in each.loads)
        )


def is_temporary(buffer: SSAValue) -> bool:
    """Say whether a buffer belongs to the kernel."""
    return isinstance(buffer.owner, AllocOp)


def _stage(block: tir.BlockOp) -> Stage:
    loads: list[Access] = []
    stores: list[Access] = []
    extents = block.extents
    position = {axis: number for number, axis in enumerate(block.axes)}

    def access(op: tir.LoadOp | tir.StoreOp, guarded: bool) -> Access:
        exprs = None
        if all(index in position for index in op.indices):
            dims = [AffineExpr.dimension(position[index]) for index in op.indices]
            exprs = tuple(
                each.replace_dims_and_symbols(dims, ()) for each in op.access.results
            )
        return Access(op.buffer, exprs, guarded, extents)

    for op in block.body.block.ops:
        match op:
            case tir.StoreOp():
                stores.append(access(op, False))
            case tir.LoadOp():
                loads.append(access(op, op.otherwise is not None))
            case _:
                pass
    written = {store.buffer for store in stores}
    return Stage(
        block,
        tuple(load for load in loads if load.buffer not in written),
        tuple(stores),
    )
