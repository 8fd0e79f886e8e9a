"""Move a consumer into a loop of its producers."""

from collections.abc import Sequence
from itertools import combinations

from xdsl.dialects.memref import AllocOp
from xdsl.ir import SSAValue

from partita.analysis.affine import DIM, Sum, dimensions_of, joined, plus
from partita.analysis.coverage import fills_box
from partita.analysis.loop_nests import (
    accesses_of,
    is_inside,
    loads_of,
    loops_around,
    loops_of,
    read_by,
    step_in,
    stores_of,
    writers_of,
    written_by,
)
from partita.analysis.regions import Space, Span, hull_of, span
from partita.dialects.tir import BlockOp, ForOp, LoadOp, StoreOp, buffer_type
from partita.transforms.scheduling.inline import axes_of_result
from partita.transforms.scheduling.move import (
    check_movable,
    insides,
    move,
    whole,
)
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    hint,
    name_of,
)


def reverse_compute_at(state: State, block: BlockOp, loop: ForOp) -> None:
    """Consume in each iteration of a loop what is complete there, behind all that the loop holds."""
    check_movable(block, loop)
    around = (*loops_around(loop), loop)
    produced = _produced(state, block, around)
    space = Space()
    outer = space.positions(around)
    spans: dict[int, Span] = {}
    for buffer in produced:
        written = _written_spans(buffer, space, outer)
        _check_filled(buffer, written, space, outer, loop)
        for load in loads_of(block):
            if load.buffer is buffer:
                _constrain(block, load, written, spans)
    rank = len(block.spatial_shape)
    for axis in range(rank, len(block.extents)):
        if axis in spans:
            raise ScheduleError(
                f"{name_of(block)} reduces over axis %{hint(block.axes[axis], '?')}, "
                f"of which only a part is complete in {name_of(loop)}"
            )
    full = [spans.get(i, whole(extent)) for i, extent in enumerate(block.extents)]
    for buffer in written_by(block):
        if isinstance(buffer.owner, AllocOp):
            _hoist(state, buffer.owner)
    guards = [
        guard
        for buffer in produced
        for writer in writers_of(buffer)
        for guard in _runs(writer, space, outer)
    ]
    move(block, full, space, loop.body.block, None, guards)


def _produced(
    state: State, block: BlockOp, around: tuple[ForOp, ...]
) -> list[SSAValue]:
    """Return what a block reads that is written, and complete, in the innermost of these loops.

    All else that it reads must be complete before the outermost one.
    """
    loop = around[-1]
    produced: list[SSAValue] = []
    for buffer in read_by(block):
        writers = writers_of(buffer)
        inside = [writer for writer in writers if is_inside(writer, loop)]
        for writer in writers:
            if writer in inside:
                _check_complete(writer, around)
            elif inside or not _is_done(state, writer, around[0]):
                raise ScheduleError(
                    f"{name_of(writer)}, which it reads, is not complete in {name_of(loop)}"
                )
        if inside:
            produced.append(buffer)
    if not produced:
        raise ScheduleError(
            f"{name_of(block)} reads nothing that is written in {name_of(loop)}"
        )
    return produced


def _runs(writer: BlockOp, space: Space, outer: set[int]) -> list[Sum]:
    """Return what is not negative where a writer runs for some iteration of inner loops."""
    found = space.guards(writer)
    inner = set(range(len(space.values))) - outer
    most = [span(guard, space, inner) for guard in found]
    return [plus(each.base, Sum(each.size - 1)) for each in most]


def _hoist(state: State, alloc: AllocOp) -> None:
    """Allocate a buffer before everything else, as what writes it moves up."""
    top = state.function.body.block
    alloc.detach()
    assert top.first_op is not None
    top.insert_op_before(alloc, top.first_op)


def _check_complete(writer: BlockOp, around: tuple[ForOp, ...]) -> None:
    rank = len(writer.spatial_shape)
    for each in around:
        if each in loops_of(writer, writer.binding_exprs[rank:]):
            raise ScheduleError(
                f"the reduction of {name_of(writer)} is not complete there: {name_of(each)} carries it"
            )


def _is_done(state: State, writer: BlockOp, nest: ForOp) -> bool:
    """Say whether a writer stands in front of a nest."""
    top = tuple(state.function.body.block.ops)
    step = step_in(writer, state.function)
    return step is not None and top.index(step) < top.index(nest)


def _written_spans(buffer: SSAValue, space: Space, outer: set[int]) -> list[Span]:
    """Return what is written of each dimension of a buffer while outer loops stand still."""
    writes = [
        space.access(each) for each in accesses_of(buffer) if isinstance(each, StoreOp)
    ]
    inner = set(range(len(space.values))) - outer
    spans: list[Span] = []
    for dim in range(len(buffer_type(buffer).get_shape())):
        written = hull_of([position[dim] for position in writes], space, inner)
        if written is None:
            raise ScheduleError(
                f"cannot tell which part of dimension {dim} of %{hint(buffer, '?')} is complete"
            )
        spans.append(written)
    return spans


def _check_filled(
    buffer: SSAValue,
    written: Sequence[Span],
    space: Space,
    outer: set[int],
    loop: ForOp,
) -> None:
    """Raise `ScheduleError` unless each writer writes all of what is written, as far as it is inside the buffer."""
    inner = set(range(len(space.values))) - outer
    for writer in writers_of(buffer):
        for store in stores_of(writer):
            if store.buffer is buffer and not _fills(
                writer, store, written, space, inner
            ):
                raise ScheduleError(
                    f"what {name_of(writer)} writes in one iteration of {name_of(loop)} has gaps, "
                    "or cannot be told from what it writes in others"
                )


def _fills(
    writer: BlockOp,
    store: StoreOp,
    written: Sequence[Span],
    space: Space,
    inner: set[int],
) -> bool:
    """Say whether a store is known to write all of what is written, as far as it is inside the buffer."""
    positions = [each for each in space.access(store) if each is not None]
    guards = [each for each in space.guards(writer) if dimensions_of(each) & inner]
    return (
        [span(each, space, inner) for each in positions] == list(written)
        and fills_box(positions, space.ranges, inner)
        and (not guards or _is_of_axes(writer, store))
        and (insides(writer, space) | _fused_insides(writer, space)).issuperset(guards)
    )


def _fused_insides(block: BlockOp, space: Space) -> set[Sum]:
    """Return what is not negative where axes that follow each other are inside, as one number that fused loops count."""
    bindings, extents = space.bindings(block), block.extents
    found: set[Sum] = set()
    for first, last in combinations(range(len(extents)), 2):
        flat, count = Sum(), 1
        for axis in range(first, last + 1):
            flat = plus(bindings[axis], flat, extents[axis])
            count *= extents[axis]
        found.add(plus(Sum(count - 1), joined(flat, space.ranges), -1))
    return found


def _is_of_axes(writer: BlockOp, store: StoreOp) -> bool:
    """Say whether what a writer's axes are inside of is the buffer."""
    try:
        axes_of_result(writer, store)
    except ScheduleError:
        return False
    return True


def _constrain(
    block: BlockOp, load: LoadOp, written: list[Span], spans: dict[int, Span]
) -> None:
    """Restrict a block's axes to where a read lies in what is written."""
    axes = Space(through_blocks=False)
    shape = buffer_type(load.buffer).get_shape()
    for dim, (position, each) in enumerate(
        zip(axes.access(load), written, strict=True)
    ):
        if each.base == Sum(0) and each.size >= shape[dim]:
            continue
        axis = None
        if position is not None and len(position.terms) == 1:
            atom, factor = position.terms[0]
            if atom.kind == DIM and factor == 1 and load.otherwise is None:
                axis = block.axes.index(axes.values[atom.number])
        if position is None or axis is None:
            raise ScheduleError(
                f"{name_of(block)} reads dimension {dim} of %{hint(load.buffer, '?')} "
                "at an index that is not an axis plus a constant"
            )
        needed = Span(plus(each.base, Sum(position.constant), -1), each.size)
        if spans.setdefault(axis, needed) != needed:
            raise ScheduleError(
                f"{name_of(block)} reads several parts along axis %{hint(block.axes[axis], '?')}"
            )
