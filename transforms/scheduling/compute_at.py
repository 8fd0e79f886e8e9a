"""Move a producer into a loop of its consumers."""

from xdsl.ir import SSAValue

from partita.analysis.affine import Sum
from partita.analysis.loop_nests import (
    accesses_of,
    block_of,
    is_inside,
    loops_around,
    readers_of,
    step_in,
    stores_of,
    written_by,
)
from partita.analysis.regions import Space, Span, hull, hull_of
from partita.dialects.tir import BlockOp, ForOp, LoadOp, buffer_type
from partita.transforms.scheduling.cache import own_buffer
from partita.transforms.scheduling.inline import axes_of_result
from partita.transforms.scheduling.move import check_movable, move, whole
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    name_of,
)


def compute_at(state: State, block: BlockOp, loop: ForOp) -> None:
    """Compute in each iteration of a loop just what is read there, in front of the first reader."""
    check_movable(block, loop)
    buffers = written_by(block)
    readers: list[BlockOp] = []
    for buffer in buffers:
        own_buffer(block, buffer)
        readers.extend(readers_of(buffer))
    if not readers:
        raise ScheduleError(f"nothing reads what {name_of(block)} writes")
    for reader in readers:
        if not is_inside(reader, loop):
            raise ScheduleError(
                f"{name_of(reader)}, which reads it, does not stand in {name_of(loop)}"
            )

    space = Space()
    outer = space.positions((*loops_around(loop), loop))
    spans: list[Span | None] = [None] * len(block.axes)
    for store in stores_of(block):
        read = _read_spans(block, store.buffer, space, outer)
        for each, axis in zip(read, axes_of_result(block, store), strict=True):
            if axis is None:
                continue
            known = spans[axis]
            both = each if known is None else hull(known, each)
            spans[axis] = both or whole(block.extents[axis])
    steps = {step_in(reader, loop) for reader in readers}
    body = loop.body.block
    before = next(op for op in body.ops if op in steps)
    full = [
        whole(extent) if each is None else each
        for each, extent in zip(spans, block.extents, strict=True)
    ]
    move(block, full, space, body, before)


def _read_spans(
    block: BlockOp, buffer: SSAValue, space: Space, outer: set[int]
) -> list[Span]:
    """Return what others read of each dimension of what a block writes while outer loops stand still."""
    reads = [
        space.access(each)
        for each in accesses_of(buffer)
        if isinstance(each, LoadOp) and block_of(each) is not block
    ]
    inner = set(range(len(space.values))) - outer
    spans: list[Span] = []
    for dim, extent in enumerate(buffer_type(buffer).get_shape()):
        read = hull_of([position[dim] for position in reads], space, inner)
        if read is None or read.size >= extent:
            read = whole(extent)
        spans.append(_clipped(read, extent, space))
    return spans


def _clipped(read: Span, extent: int, space: Space) -> Span:
    """Leave out what lies before or behind a buffer, where that is the same in all iterations."""
    if read.base.terms:
        return read
    low = max(read.base.constant, 0)
    high = min(read.base.constant + read.size, extent)
    return Span(Sum(low), high - low) if low < high else whole(1)
