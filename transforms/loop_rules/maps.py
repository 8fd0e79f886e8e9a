"""Blocks without reduction: vectors along the last axes, threads along the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from partita.transforms.loop_rules.lanes import SHORTEST
from partita.transforms.loop_rules.nest import Access, Stage
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiles import PARALLEL_WORK, Registers


def schedule_map(steps: Steps, stage: Stage, registers: Registers) -> None:
    """Vectorize along the last axes on which all accesses are regular; share the others among threads."""
    extents = stage.spatial
    if not extents:
        return
    loops = steps.loops(steps.block(stage.label), stage.names)
    parts = vectorize_last(steps, stage, loops, range(len(extents)), registers)
    outer = list(parts.outer)
    count = prod(extents[: len(outer)])
    if parts.chunks is not None:
        if count == 1:
            outer = [parts.chunks]
    elif parts.inner is not None and (not outer or count < 8):
        outer.append(parts.inner)
    if stage.work < PARALLEL_WORK or not outer:
        return
    steps.parallel(steps.fuse(*outer))


@dataclass(frozen=True)
class Parts:
    """The loops of a block without reduction, after its last ones were made lanes."""

    outer: tuple[SSAValue, ...]
    """Those that stay as they were."""

    chunks: SSAValue | None = None
    """From vector to vector, if there are several."""

    inner: SSAValue | None = None
    """The last loops as one, if they are no lanes."""


def vectorize_last(
    steps: Steps,
    stage: Stage,
    loops: Sequence[SSAValue],
    axes: Sequence[int],
    registers: Registers,
) -> Parts:
    """Make lanes of the last loops on which all accesses go on in steps; `axes` are those that loops are of."""
    accesses = (*stage.loads, *stage.stores)
    extents = [stage.spatial[axis] for axis in axes]
    first = len(axes) - 1
    regular = all(access.stride(axes[first]) is not None for access in accesses)
    while (
        regular
        and first
        and all(
            joins(access, axes[first - 1], axes[first], extents[first])
            for access in accesses
        )
    ):
        first -= 1
    extent = prod(extents[first:])
    inner = steps.fuse(*loops[first:])
    outer = tuple(loops[:first])
    lanes = min(extent, registers.lanes(stage.bits))
    if not regular or lanes < SHORTEST:
        return Parts(outer, inner=inner)
    chunks: SSAValue | None = None
    if extent > lanes:
        chunks, inner = steps.split(inner, None, lanes, tail="peel")
    steps.vectorize(inner)
    return Parts(outer, chunks)


def joins(access: Access, outer: int, inner: int, extent: int) -> bool:
    """Say whether an access goes on along an axis where it ends on the next one."""
    far, near = access.stride(outer), access.stride(inner)
    if access.guarded:
        return False
    return far is not None and near is not None and far == near * extent
