"""Square tiles that are read along one axis and used along the other."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from partita.analysis.affine import DIM, Sum, dimensions_of, joined, plus
from partita.analysis.regions import Space
from partita.dialects import tir
from partita.dialects.tir import LoopKind, buffer_type
from partita.targets.host.emitter import Emitter, Value


def transposable_loads(loop: tir.ForOp) -> tuple[tir.LoadOp, ...]:
    """Return the loads of an unrolled loop around lanes that go on from iteration to iteration, not from lane to lane.

    There are as many lanes as iterations, a power of two: so as many whole vectors can be read, one for each
    lane, and transposed in registers.
    """
    size = loop.extent
    match tuple(loop.body.block.ops):
        case (tir.ForOp(loop_kind=LoopKind.VECTORIZED) as lanes,):
            pass
        case _:
            return ()
    blocks = tuple(lanes.body.block.ops)
    if lanes.extent != size or size < 2 or size & (size - 1):
        return ()
    if not all(isinstance(each, tir.BlockOp) and each.guard is None for each in blocks):
        return ()
    written = {op.buffer for op in lanes.walk() if isinstance(op, tir.StoreOp)}
    return tuple(
        op
        for op in lanes.walk()
        if isinstance(op, tir.LoadOp)
        and op.otherwise is None
        and op.buffer not in written
        and _is_transposed(op, loop.variable, lanes.variable)
    )


def _is_transposed(load: tir.LoadOp, row: SSAValue, lane: SSAValue) -> bool:
    """Say whether a load goes on by one element from row to row, and by a larger distance from lane to lane."""
    space = Space()
    row_at, lane_at = space.position(row), space.position(lane)
    flat = Sum()
    shape = buffer_type(load.buffer).get_shape()
    for index, extent in zip(space.access(load), shape, strict=True):
        if index is None:
            return False
        flat = plus(index, flat, extent)
    flat = joined(flat, space.ranges)
    steps: dict[int | None, int] = {}
    for atom, factor in flat.terms:
        if atom.kind == DIM:
            steps[atom.number] = factor
        elif dimensions_of(atom.dividend) & {row_at, lane_at}:
            return False
    return steps.get(row_at) == 1 and abs(steps.get(lane_at, 0)) > 1


def transpose(emitter: Emitter, rows: Sequence[Value]) -> list[Value]:
    """Return the columns of a square of vectors, a power of two of them.

    Each round exchanges the off-diagonal blocks of pairs of rows, of half the size, a quarter, down to one element
    (J. O. Eklundh, A fast computer method for matrix transposing, 1972).
    """
    size = len(rows)
    square = list(rows)
    step = size // 2
    while step:
        low = [lane if not lane & step else size + lane - step for lane in range(size)]
        high = [lane + step if not lane & step else size + lane for lane in range(size)]
        for row in range(size):
            if row & step:
                continue
            pair = (square[row], square[row + step])
            square[row] = _shuffle(emitter, *pair, low)
            square[row + step] = _shuffle(emitter, *pair, high)
        step //= 2
    return square


def _shuffle(
    emitter: Emitter, first: Value, second: Value, lanes: Sequence[int]
) -> Value:
    pattern = ", ".join(f"i32 {lane}" for lane in lanes)
    return emitter.emit(
        f"shufflevector {first}, {second}, <{len(lanes)} x i32> <{pattern}>",
        first.type,
        len(lanes),
    )
