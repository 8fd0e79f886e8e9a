"""Write a schedule: each method adds a step to a `sched.sequence` and returns the new handles."""

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from partita.dialects import sched


class Steps:
    """The steps for one kernel, under construction."""

    def __init__(self) -> None:
        self._block = Block()

    def sequence(self, kernel: str) -> sched.SequenceOp | None:
        """Return the schedule of a kernel, `None` if there is nothing to do."""
        if self._block.is_empty:
            return None
        return sched.SequenceOp(f"{kernel}_schedule", kernel, Region(self._block))

    def block(self, label: str) -> SSAValue:
        """Find a block."""
        return self._add(sched.FindBlockOp(label)).results[0]

    def loops(self, block: SSAValue, names: Sequence[str]) -> tuple[SSAValue, ...]:
        """Give the loops around a block, which should be as many as these names for them."""
        loops = tuple(self._add(sched.LoopsOp(block, len(names))).results)
        for loop, name in zip(loops, names, strict=True):
            loop.name_hint = name
        return loops

    def split(
        self, loop: SSAValue, *factors: int | None, tail: str | None = None
    ) -> tuple[SSAValue, ...]:
        """Split a loop; `None` is the factor that follows from the others."""
        loops = tuple(self._add(sched.SplitOp(loop, factors, tail)).results)
        for each, suffix in zip(loops, ("o", "m", "i")[-len(loops) :], strict=True):
            each.name_hint = f"{loop.name_hint or 'l'}{suffix}"
        if len(loops) == 2:
            loops[0].name_hint = f"{loop.name_hint or 'l'}o"
        return loops

    def fuse(self, *loops: SSAValue) -> SSAValue:
        """Make one loop of several; of one, nothing is to be made."""
        if len(loops) == 1:
            return loops[0]
        fused = self._add(sched.FuseOp(*loops)).results[0]
        fused.name_hint = "f"
        return fused

    def reorder(self, *loops: SSAValue) -> None:
        """Put loops into this order."""
        if len(loops) > 1:
            self._add(sched.ReorderOp(*loops))

    def compute_at(self, block: SSAValue, loop: SSAValue) -> None:
        """Move a producer into a loop."""
        self._add(sched.ComputeAtOp(block, loop))

    def reverse_compute_at(self, block: SSAValue, loop: SSAValue) -> None:
        """Move a consumer into a loop."""
        self._add(sched.ReverseComputeAtOp(block, loop))

    def inline(self, block: SSAValue) -> None:
        """Compute a producer where it is read."""
        self._add(sched.ComputeInlineOp(block))

    def cache_write(self, block: SSAValue, scope: str = "local") -> SSAValue:
        """Let a block write a new buffer, and return the block that copies it."""
        return self._add(sched.CacheWriteOp(block, scope)).results[0]

    def set_scope(self, block: SSAValue, scope: str = "local") -> None:
        """Keep what a block writes in a memory scope."""
        self._add(sched.SetScopeOp(block, scope))

    def decompose_reduction(self, block: SSAValue, loop: SSAValue) -> SSAValue:
        """Write first values before a loop, and return the block that does."""
        return self._add(sched.DecomposeReductionOp(block, loop)).results[0]

    def vectorize(self, loop: SSAValue) -> None:
        """Run a loop as lanes."""
        self._add(sched.VectorizeOp(loop))

    def parallel(self, loop: SSAValue) -> None:
        """Run a loop on threads."""
        self._add(sched.ParallelOp(loop))

    def unroll(self, loop: SSAValue, factor: int | None = None) -> None:
        """Run a loop without a loop, or so many iterations at a time."""
        self._add(sched.UnrollOp(loop, factor))

    def _add(self, op: Operation) -> Operation:
        self._block.add_op(op)
        return op
