"""Cut loops where guards change, and drop guards that hold and iterations that do nothing.

A guard `27 - 4 * o - i` of a nest `o` in 7, `i` in 4 holds for all `i` while `o` is
below 6. If the split asked for it, `o` is cut there: whole tiles come first, without
guard, then what is left, whose `i` loop just ends earlier. Where a guard is of several
loops on both sides, as for padding, each iteration that is not whole becomes a case of its own.
"""

from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir.affine import AffineExpr

from partita.analysis.affine import DIM, Atom, Sum, dimensions_of
from partita.analysis.loop_nests import blocks_in, loops_in
from partita.analysis.regions import Space
from partita.dialects.access import INDEX, Interval
from partita.dialects.tir import BlockOp, ForOp
from partita.transforms.scheduling.indices import substitute
from partita.transforms.scheduling.state import State, mark, remove

PEEL = "sched.peel"
"""Marks loops to be cut, so that copies of them are cut too."""

CASES = "sched.cases"
"""Marks loops that are cut too, of which each iteration that is not whole becomes a part of its own."""

TENSORIZE = "sched.tensorize"
"""Marks what is to be replaced by an intrinsic, in the end, with its name."""


@dataclass
class Cut:
    """Iterations of a loop at which guards of the blocks inside are decided."""

    alive: Interval
    """Outside, nothing runs."""

    whole: Interval
    """Inside, all guards hold."""


class Labels:
    """Labels in use."""

    def __init__(self, used: set[str]):
        self.used = used

    def copy_of(self, label: str, suffix: str = "tail") -> str:
        """Return a new label for a copy of a block."""
        stem = label if label.endswith(f"_{suffix}") else f"{label}_{suffix}"
        new, count = stem, 1
        while new in self.used:
            count += 1
            new = f"{stem}{count}"
        self.used.add(new)
        return new


def partition(state: State) -> None:
    """Cut loops that are to be peeled; shorten all; remove loops of one iteration."""
    for loop in state.peeled:
        if state.holds(loop):
            mark(loop, PEEL)
    labels = Labels(state.labels())
    # A stack, as cutting a loop puts new ones in its place.
    pending = [op for op in state.function.body.block.ops if isinstance(op, ForOp)]
    while pending:
        for loop in _cut(pending.pop(), labels):
            if loop.extent == 1:
                pending.extend(unwrapped(loop))
            else:
                loop.attributes.pop(PEEL, None)
                loop.attributes.pop(CASES, None)
                pending.extend(
                    op for op in loop.body.block.ops if isinstance(op, ForOp)
                )


def unwrapped(loop: ForOp) -> list[ForOp]:
    """Replace a loop of one iteration by its body, which keeps notes on the loop; return the loops there."""
    value = AffineExpr.constant(loop.lower.value.data)
    ops = tuple(loop.body.block.ops)
    substitute(loop.variable, value, ())
    parent = loop.parent_block()
    assert parent is not None
    for op in ops:
        op.detach()
        parent.insert_op_before(op, loop)
        if TENSORIZE in loop.attributes:
            op.attributes[TENSORIZE] = loop.attributes[TENSORIZE]
    loop.detach()
    loop.erase()
    return [op for op in ops if isinstance(op, ForOp)]


def _cut(loop: ForOp, labels: Labels) -> list[ForOp]:
    """Replace a loop by the parts that do something; return them."""
    first, last = loop.lower.value.data, loop.upper.value.data - 1
    cut = _guards_along(loop)
    first, last = max(first, cut.alive[0]), min(last, cut.alive[1])
    if first > last:
        remove(loop)
        return []
    parts = [(first, last)]
    low, high = max(first, cut.whole[0]), min(last, cut.whole[1])
    main = 0
    cases = CASES in loop.attributes
    if low > high:
        parts = _singles(first, last) if cases else parts
    elif cases or PEEL in loop.attributes:
        before, after = [(first, low - 1)], [(high + 1, last)]
        if cases:
            before, after = _singles(first, low - 1), _singles(high + 1, last)
        parts = [*before, (low, high), *after]
        parts = [part for part in parts if part[0] <= part[1]]
        main = parts.index((low, high))
    copies = [loop if i == main else loop.clone() for i in range(len(parts))]
    parent = loop.parent_block()
    assert parent is not None
    for copy in copies[:main]:
        parent.insert_op_before(copy, loop)
    for copy in reversed(copies[main + 1 :]):
        parent.insert_op_after(copy, loop)
    for copy, (low, high) in zip(copies, parts, strict=True):
        restrict(copy, low, high)
        if copy is not loop:
            for block in blocks_in(copy):
                block.properties["label"] = StringAttr(labels.copy_of(block.label.data))
                _drop_init(block)
    return copies


def _singles(first: int, last: int) -> list[Interval]:
    """Return each value as an interval."""
    return [(value, value) for value in range(first, last + 1)]


def restrict(loop: ForOp, first: int, last: int) -> None:
    """Let a loop run from `first` to `last`, counting from 0."""
    if (first, last + 1) == (0, loop.upper.value.data) and not loop.lower.value.data:
        return
    loop.properties["lower"] = IntegerAttr(0, INDEX)
    loop.properties["upper"] = IntegerAttr(last - first + 1, INDEX)
    # Guards are checked against the new range even where the variable stays as it is.
    shifted = AffineExpr.dimension(0) + first
    substitute(loop.variable, shifted, (loop.variable,))


def _drop_init(block: BlockOp) -> None:
    """Drop an init that no iteration reaches."""
    if not block.init.blocks:
        return
    space = Space()
    rank = len(block.spatial_shape)
    if any(space.bounds(each)[0] > 0 for each in space.bindings(block)[rank:]):
        body = block.init.detach_block(block.init.block)
        body.erase()


def _guards_along(loop: ForOp) -> Cut:
    """Return where a loop does something, and where it does all of it."""
    space = Space()
    own = space.positions((loop,))
    inner = own | space.positions(loops_in(loop))
    first, last = loop.lower.value.data, loop.upper.value.data - 1
    alive: Interval | None = None
    whole: Interval = (first, last)
    for block in blocks_in(loop):
        runs: Interval = (first, last)
        for guard in space.guards(block):
            found = _decided(guard, own, inner, space)
            if found is None:
                continue
            maybe, surely = found
            runs = max(runs[0], maybe[0]), min(runs[1], maybe[1])
            whole = max(whole[0], surely[0]), min(whole[1], surely[1])
        if alive is None:
            alive = runs
        elif runs[0] <= runs[1]:
            alive = min(alive[0], runs[0]), max(alive[1], runs[1])
    return Cut(alive or (first, last), whole)


ALWAYS: Interval = (-(1 << 62), 1 << 62)


def _decided(
    guard: Sum, own: set[int], inner: set[int], space: Space
) -> tuple[Interval, Interval] | None:
    """Return for which values of a loop variable a guard may hold, and for which it does whatever inner loops do.

    `None` if the guard is not linear in the variable, or outer loops have a say.
    """
    used = dimensions_of(guard)
    if not used & own or not used <= inner:
        return None
    (position,) = own
    atom = Atom(DIM, position)
    factor = dict(guard.terms).get(atom, 0)
    rest = Sum(guard.constant, tuple(term for term in guard.terms if term[0] != atom))
    if factor == 0 or dimensions_of(rest) & own:
        return None
    low, high = space.bounds(rest)
    if factor < 0:
        return (ALWAYS[0], high // -factor), (ALWAYS[0], low // -factor)
    return (-(high // factor), ALWAYS[1]), (-(low // factor), ALWAYS[1])


def never_runs(block: BlockOp) -> bool:
    """Say whether a guard of a block never holds."""
    space = Space()
    return any(space.bounds(guard)[1] < 0 for guard in space.guards(block))
