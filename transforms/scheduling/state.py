"""The kernel that is being scheduled, and what is to be done once all steps are."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from partita.analysis.loop_nests import blocks_in
from partita.dialects.tir import BlockOp, ForOp, LoopKind
from partita.errors import did_you_mean


class ScheduleError(Exception):
    """A step is not legal, for the reason given."""

    def __init__(self, reason: str, at: Operation | None = None):
        super().__init__(reason)
        self.at = at
        """The loop or block that it is about, if not one that the step names."""


@dataclass
class State:
    """A kernel between steps."""

    function: FuncOp

    peeled: set[ForOp] = field(default_factory=set[ForOp])
    """Loops to be cut, in the end, where guards change from true to false."""

    def block(self, label: str) -> BlockOp:
        """Return the block of a label."""
        found = {block.label.data: block for block in blocks_in(self.function)}
        if label not in found:
            raise ScheduleError(
                "no such block; there is " + (", ".join(found) or "none")
                if not (near := did_you_mean(label, found))
                else "no such block" + near
            )
        return found[label]

    def labels(self) -> set[str]:
        """Return the labels in use."""
        return {block.label.data for block in blocks_in(self.function)}

    def holds(self, op: Operation) -> bool:
        """Say whether an op still stands in the kernel."""
        parent = op.parent_op()
        while parent is not None and parent is not self.function:
            parent = parent.parent_op()
        return parent is not None


def name_of(op: Operation) -> str:
    """Return how messages call a loop or a block."""
    match op:
        case ForOp(variable=variable):
            return f"loop %{variable.name_hint or '?'}"
        case BlockOp(label=label):
            return f'block "{label.data}"'
        case _:
            return op.name


def require_serial(*loops: ForOp) -> None:
    """Raise `ScheduleError` if a loop has a kind already, which splitting or fusing would spread."""
    for loop in loops:
        if loop.loop_kind is not LoopKind.SERIAL:
            raise ScheduleError(f"{name_of(loop)} is {loop.loop_kind} already")


def only_child(loop: ForOp) -> Operation | None:
    """Return the op that a loop's body consists of, `None` if there are several."""
    ops = loop.body.block.ops
    return ops.first if ops.first is ops.last else None


def chain(loops: Sequence[ForOp]) -> tuple[ForOp, ...]:
    """Return the loops from the outermost of these to the innermost, which must hold nothing else."""
    wanted = set(loops)
    if len(wanted) < len(loops):
        raise ScheduleError("the same loop is named twice")

    def depth(loop: ForOp) -> int:
        count, parent = 0, loop.parent_op()
        while parent is not None:
            count, parent = count + 1, parent.parent_op()
        return count

    ordered = sorted(loops, key=depth)
    found = [ordered[0]]
    while not wanted <= set(found):
        child = only_child(found[-1])
        if not isinstance(child, ForOp):
            missing = next(loop for loop in ordered if loop not in found)
            raise ScheduleError(
                f"{name_of(missing)} is not perfectly nested in {name_of(found[-1])}"
            )
        found.append(child)
    return tuple(found)


def loop_before(op: Operation, extent: int, name: str | None) -> ForOp:
    """Insert an empty loop in front of an op."""
    loop = ForOp.empty(extent, name)
    parent = op.parent_block()
    assert parent is not None
    parent.insert_op_before(loop, op)
    return loop


def remove(op: Operation) -> None:
    """Take an op out of its block for good, and loops that it leaves empty."""
    parent = op.parent_op()
    op.detach()
    op.erase()
    if isinstance(parent, ForOp) and parent.body.block.is_empty:
        remove(parent)


def hint(value: SSAValue, default: str) -> str:
    """Return a value's name."""
    return value.name_hint or default
