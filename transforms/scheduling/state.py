"""The kernel that is being scheduled, and what is to be done once all steps are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from partita.analysis.loop_nests import blocks_in
from partita.analysis.memory_scopes import GLOBAL, capacities
from partita.dialects.tir import INTRINSIC, BlockOp, ForOp, LoopKind
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

    unpadded: set[BlockOp] = field(default_factory=set[BlockOp])
    """Blocks that are not to run, in the end, where they read padding."""

    intrinsics: Mapping[str, FuncOp] = field(init=False)
    """Instructions that the module states, by name."""

    capacities: Mapping[str, int] = field(init=False)
    """Bytes of each memory scope that the module states, and of the stack."""

    def __post_init__(self) -> None:
        module = self.function.parent_op()
        ops = () if module is None else module.regions[0].block.ops
        self.intrinsics = {
            op.sym_name.data: op
            for op in ops
            if isinstance(op, FuncOp) and INTRINSIC in op.attributes
        }
        self.capacities = capacities(ops)

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

    def check_scope(self, scope: str) -> None:
        """Raise `ScheduleError` unless the module states a memory scope."""
        if scope != GLOBAL and scope not in self.capacities:
            raise ScheduleError(
                f'no memory scope "{scope}"'
                + (
                    did_you_mean(scope, self.capacities)
                    or "; there is " + ", ".join((GLOBAL, *self.capacities))
                )
            )

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


def require_plain(*loops: ForOp) -> None:
    """Raise `ScheduleError` if a loop has a kind or a note already."""
    require_serial(*loops)
    require_no_notes(*loops)


def require_no_notes(*loops: ForOp) -> None:
    """Raise `ScheduleError` if a loop has a note, which would be lost with it."""
    for loop in loops:
        if loop.attributes:
            noted = ", ".join(loop.attributes)
            raise ScheduleError(f"{name_of(loop)} has {noted} already")


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


def mark(loop: ForOp, name: str) -> None:
    """Note something on a loop that copies of it keep, until the schedule is done."""
    loop.attributes[name] = UnitAttr()


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
