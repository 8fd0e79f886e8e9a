"""Say how a loop runs: on several threads, as lanes of vectors, or without a loop.

Iterations that run at the same time must not depend on each other. Part of this can
be told at once: no block inside is reduced along the loop. The rest is checked when the
schedule is complete, as later steps may move blocks into the loop: what an iteration
writes to a buffer that iterations share, no other one writes.
"""

from collections.abc import Sequence

from xdsl.ir import Operation

from partita.analysis.affine import Sum, joined, plus
from partita.analysis.iterations import determined
from partita.analysis.loop_nests import (
    accesses_in,
    block_of,
    blocks_in,
    is_inside,
    loops_around,
    loops_in,
)
from partita.analysis.regions import Space
from partita.dialects.tir import (
    BlockOp,
    ForOp,
    LoopKind,
    StoreOp,
    buffer_type,
)
from partita.transforms.scheduling.split import split
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    hint,
    name_of,
    require_serial,
)

CONCURRENT = (LoopKind.PARALLEL, LoopKind.VECTORIZED)


def reduced_along(loop: ForOp) -> tuple[BlockOp, str] | None:
    """Return a block with an axis that is reduced along a loop, and the axis' name."""
    for block in blocks_in(loop):
        rank = len(block.spatial_shape)
        for i, expr in enumerate(block.binding_exprs[rank:]):
            indices = (block.indices[position] for position in expr.used_dims())
            if loop.variable in indices:
                return block, hint(block.axes[rank + i], "?")
    return None


def _run_at_once(loop: ForOp, kind: LoopKind) -> None:
    require_serial(loop)
    if (found := reduced_along(loop)) is not None:
        block, axis = found
        raise ScheduleError(
            f"it carries the reduction over axis %{axis} of {name_of(block)}"
        )
    loop.loop_kind = kind


def parallel(state: State, loop: ForOp) -> None:
    """Run a loop's iterations on several threads."""
    _run_at_once(loop, LoopKind.PARALLEL)


def vectorize(state: State, loop: ForOp) -> None:
    """Run a loop's iterations as the lanes of vectors."""
    _run_at_once(loop, LoopKind.VECTORIZED)


def unroll(state: State, loop: ForOp, factor: int | None = None) -> None:
    """Run a loop's iterations without a loop, or `factor` of them at a time."""
    require_serial(loop)
    if factor is not None and factor < loop.extent:
        loop = split(state, loop, (None, factor), peel=True)[-1]
    loop.loop_kind = LoopKind.UNROLLED


def check_independent(state: State) -> None:
    """Raise `ScheduleError` if iterations that run at the same time may write the same element."""
    for loop in loops_in(state.function):
        if loop.loop_kind not in CONCURRENT:
            continue
        if (found := reduced_along(loop)) is not None:
            raise ScheduleError(
                f"it carries the reduction over axis %{found[1]} of {name_of(found[0])}",
                loop,
            )
        _check_writes(loop)


def _check_writes(loop: ForOp) -> None:
    space = Space()
    around = space.positions(loops_around(loop))
    mine = space.positions((loop,))
    for access in accesses_in(loop):
        owner = access.buffer.owner
        private = isinstance(owner, Operation) and is_inside(owner, loop)
        if not isinstance(access, StoreOp) or private:
            continue
        positions = space.access(access)
        known = [each for each in positions if each is not None]
        if len(known) == len(positions):
            known.append(_flat(known, access, space))
        if not determined(mine, known, space.ranges, around):
            block = block_of(access)
            raise ScheduleError(
                "cannot prove that its iterations write different elements of what "
                f"{name_of(block or loop)} writes; set_scope local, or move the block out of the loop",
                loop,
            )


def _flat(positions: Sequence[Sum], access: StoreOp, space: Space) -> Sum:
    """Return where in a buffer an access is, as one number, in which fused loops join again."""
    shape = buffer_type(access.buffer).get_shape()
    flat = Sum()
    for position, extent in zip(positions, shape, strict=True):
        flat = plus(position, flat, extent)
    return joined(flat, space.ranges)
