"""Shrink buffers in memory scopes to what is alive at a time, and lay out local ones as they are written.

A buffer moves into the innermost loop that holds all its accesses; loops that
run without being loops, vectorized and unrolled ones, do not count. There it keeps only
the region that one iteration touches. In local scope each dimension falls apart into the loops that
write it, and these are put in the order of the loops, the vectorized one last, so that
lanes are neighbours in memory: `acc[k, x]` written by `x`, `kv`, `ki` becomes
`acc[x, kv * 16 + ki]`.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.memref import AllocOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from partita.analysis.affine import (
    DIM,
    Sum,
    as_expr,
    plus,
    quotient,
    remainder,
)
from partita.analysis.loop_nests import (
    Access,
    accesses_of,
    block_of,
    loops_around,
    loops_of,
    writers_of,
)
from partita.analysis.memory_scopes import GLOBAL, scope_of
from partita.analysis.regions import Space, Span, hull_of
from partita.dialects.tir import (
    LOCAL,
    BlockOp,
    ForOp,
    LoadOp,
    LoopKind,
    StoreOp,
    buffer_type,
)
from partita.transforms.scheduling.indices import drop_otherwise, set_access
from partita.transforms.scheduling.state import State

NO_LOOPS = (LoopKind.VECTORIZED, LoopKind.UNROLLED)
"""Kinds of loops that are none when they run."""


@dataclass(frozen=True)
class Digit:
    """A part of a dimension's index: `index floordiv stride`, modulo `extent` unless it is the first part."""

    dim: int
    stride: int
    extent: int
    place: int
    """Where in the new order it stands."""

    first: bool

    def of(self, index: Sum, space: Space) -> Sum:
        """Return the digit of an index."""
        part = quotient(index, self.stride, space.ranges)
        return part if self.first else remainder(part, self.extent, space.ranges)


def compact(state: State) -> None:
    """Move and shrink all buffers that are not in global scope."""
    for op in tuple(state.function.body.block.ops):
        if isinstance(op, AllocOp) and scope_of(op) != GLOBAL:
            _compact(state, op)


def _home(buffer: SSAValue) -> ForOp | None:
    """Return the innermost loop that holds all accesses, of those that run as loops and carry no sum."""
    accesses = accesses_of(buffer)
    carrying = {
        loop
        for writer in writers_of(buffer)
        for loop in loops_of(writer, writer.binding_exprs[len(writer.spatial_shape) :])
    }
    paths = [loops_around(access) for access in accesses]
    home = None
    for level in zip(*paths, strict=False):
        loop = level[0]
        if any(each is not loop for each in level[1:]):
            break
        if loop in carrying or loop.loop_kind in NO_LOOPS:
            break
        home = loop
    return home


def _compact(state: State, alloc: AllocOp) -> None:
    accesses = accesses_of(alloc.memref)
    if not accesses:
        return
    home = _home(alloc.memref)
    if home is None:
        return
    space = Space()
    outer = space.positions((*loops_around(home), home))
    positions = {access: space.access(access) for access in accesses}
    inner = set(range(len(space.values))) - outer
    shape = buffer_type(alloc.memref).get_shape()
    spans = [
        _touched(dim, extent, positions, space, inner, state.unpadded)
        for dim, extent in enumerate(shape)
    ]
    digits = _layout(alloc.memref, spans, space, outer)

    old = buffer_type(alloc.memref)
    type = MemRefType(
        old.element_type,
        [digit.extent for digit in digits],
        memory_space=old.memory_space,
    )
    new = AllocOp((), (), type)
    new.memref.name_hint = alloc.memref.name_hint
    body = home.body.block
    assert body.first_op is not None
    body.insert_op_before(new, body.first_op)
    for access, position in positions.items():
        _readdress(access, position, new.memref, spans, digits, space)
    alloc.detach()
    alloc.erase()


def _touched(
    dim: int,
    extent: int,
    positions: dict[Access, tuple[Sum | None, ...]],
    space: Space,
    inner: set[int],
    inside: Container[BlockOp | None],
) -> Span | None:
    """Return what accesses touch of a dimension, `None` where it must stay as it is; some blocks read inside only."""
    found = [position[dim] for position in positions.values()]
    for access, position in positions.items():
        index = position[dim]
        if index is None:
            return None
        if (
            isinstance(access, LoadOp)
            and access.otherwise is not None
            and block_of(access) not in inside
        ):
            low, high = space.bounds(index)
            if low < 0 or high >= extent:
                return None
    touched = hull_of(found, space, inner)
    if touched is None:
        bounds = [space.bounds(each) for each in found if each is not None]
        low, high = min(each[0] for each in bounds), max(each[1] for each in bounds)
        return Span(Sum(low), high - low + 1)
    return touched


def _strides(
    index: Sum | None, size: int, space: Space, outer: set[int]
) -> list[tuple[int, int]] | None:
    """Return loops that make up an index, as position and stride, the longest stride first, if it falls apart."""
    if index is None:
        return None
    terms = [
        (atom, factor)
        for atom, factor in index.terms
        if not (atom.kind == DIM and atom.number in outer)
    ]
    if any(atom.kind != DIM or factor < 1 for atom, factor in terms):
        return None
    terms.sort(key=lambda term: -term[1])
    if not terms or terms[-1][1] != 1:
        return None
    for (_, longer), (atom, factor) in pairwise(terms):
        low, high = space.ranges[atom.number]
        if longer % factor or longer < factor * (high - low + 1):
            return None
    return [(atom.number, factor) for atom, factor in terms]


def _layout(
    buffer: SSAValue, spans: Sequence[Span | None], space: Space, outer: set[int]
) -> list[Digit]:
    """Choose the dimensions of a buffer of which only spans are kept: in the order in which it is written."""
    shape = buffer_type(buffer).get_shape()
    stores = [each for each in accesses_of(buffer) if isinstance(each, StoreOp)]
    writer = _main_writer(buffer)
    store = next(each for each in stores if block_of(each) is writer)
    position = space.access(store)
    places: dict[int, int] = {}
    loops = loops_around(store)
    for place, loop in enumerate(loops):
        dim = space.position(loop.variable)
        assert dim is not None
        vectorized = loop.loop_kind is LoopKind.VECTORIZED
        places[dim] = place + len(loops) * vectorized

    digits: list[Digit] = []
    for dim, (extent, each) in enumerate(zip(shape, spans, strict=True)):
        if each is None:
            digits.append(Digit(dim, 1, extent, -1, True))
            continue
        if each.size == 1:
            continue
        strides = _strides(position[dim], each.size, space, outer)
        if strides is None or buffer_type(buffer).memory_space != LOCAL:
            digits.append(Digit(dim, 1, each.size, -1, True))
            continue
        above = None
        for loop, stride in strides:
            extent = -(-each.size // stride) if above is None else above // stride
            digits.append(Digit(dim, stride, extent, places[loop], above is None))
            above = stride
    digits.sort(key=lambda digit: digit.place)
    return _merged(digits)


def _main_writer(buffer: SSAValue) -> BlockOp:
    """Return the block whose loops decide the layout: the one that updates rather than initializes."""
    writers = writers_of(buffer)
    return next((each for each in writers if each.reduction_shape), writers[0])


def _merged(digits: Sequence[Digit]) -> list[Digit]:
    """Join neighbours that are parts of one dimension, the finer one behind the coarser one."""
    merged: list[Digit] = []
    for digit in digits:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.dim == digit.dim
            and last.stride == digit.stride * digit.extent
            and not digit.first
        ):
            extent = last.extent * digit.extent
            merged[-1] = Digit(digit.dim, digit.stride, extent, digit.place, last.first)
        else:
            merged.append(digit)
    return merged


def _readdress(
    access: Access,
    position: Sequence[Sum | None],
    buffer: SSAValue,
    spans: Sequence[Span | None],
    digits: Sequence[Digit],
    space: Space,
) -> None:
    """Let an access find its element in the new buffer."""
    indices = tuple(access.indices)
    kept = len(indices)
    dims = [AffineExpr.dimension(kept + i) for i in range(len(space.values))]
    exprs: list[AffineExpr] = []
    for digit in digits:
        span, index = spans[digit.dim], position[digit.dim]
        if span is None or index is None:
            exprs.append(access.access.results[digit.dim])
            continue
        part = digit.of(plus(index, span.base, -1), space)
        exprs.append(as_expr(part).replace_dims_and_symbols(dims, ()))
    if None not in spans and isinstance(access, LoadOp):
        drop_otherwise(access)
    set_access(access, exprs, (*indices, *space.values), buffer)
