"""Write schedules in Python: each method adds the step of its name to a sequence."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from partita.dialects.sched.blocks import (
    CacheReadOp,
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    DecomposeReductionOp,
    ReverseComputeAtOp,
    SetScopeOp,
    SplitReductionByPaddingOp,
)
from partita.dialects.sched.loops import (
    AnnotateOp,
    Factor,
    FuseOp,
    ParallelOp,
    PipelineOp,
    ReorderOp,
    SplitOp,
    TensorizeOp,
    UnrollOp,
    VectorizeOp,
)
from partita.dialects.sched.sampling import SampleCategoricalOp, SamplePerfectTileOp
from partita.dialects.sched.sequence import FindBlockOp, LoopsOp, SequenceOp


class Schedule:
    """A schedule under construction: methods add steps and return handles on what the steps make.

    ```python
    schedule = Schedule()
    relu = schedule.block("relu")
    i, j = schedule.loops(relu, ["i", "j"])
    schedule.parallel(i)
    module.body.block.add_op(schedule.sequence("kernel"))  # for apply-schedules
    ```

    Nothing is checked here: `apply-schedules` knows the loops that steps are about.
    """

    def __init__(self) -> None:
        self._block = Block()

    def sequence(self, kernel: str) -> SequenceOp | None:
        """Return the schedule of a kernel, `None` if there is nothing to do."""
        if self._block.is_empty:
            return None
        return SequenceOp(f"{kernel}_schedule", kernel, Region(self._block))

    def block(self, label: str) -> SSAValue:
        """Find a block."""
        return self._add(FindBlockOp(label)).results[0]

    def loops(
        self, block: SSAValue, names: Sequence[str], innermost: bool = False
    ) -> tuple[SSAValue, ...]:
        """Give the loops around a block, outermost first, or just innermost ones: as many as these names for them."""
        loops = tuple(self._add(LoopsOp(block, len(names), innermost)).results)
        for loop, name in zip(loops, names, strict=True):
            loop.name_hint = name
        return loops

    def split(
        self, loop: SSAValue, *factors: Factor, tail: str | None = None
    ) -> tuple[SSAValue, ...]:
        """Split a loop; `None` is the factor that follows from the others, `tail` is `guard` or `peel`."""
        loops = tuple(self._add(SplitOp(loop, factors, tail)).results)
        middle = ("m",) * (len(loops) - 2)
        for each, suffix in zip(loops, ("o", *middle, "i"), strict=True):
            each.name_hint = f"{loop.name_hint or 'l'}{suffix}"
        return loops

    def fuse(self, *loops: SSAValue) -> SSAValue:
        """Make one loop of several; of one, nothing is to be made."""
        if len(loops) == 1:
            return loops[0]
        fused = self._add(FuseOp(*loops)).results[0]
        fused.name_hint = "f"
        return fused

    def reorder(self, *loops: SSAValue) -> None:
        """Put loops into this order."""
        if len(loops) > 1:
            self._add(ReorderOp(*loops))

    def compute_at(self, block: SSAValue, loop: SSAValue) -> None:
        """Move a producer into a loop."""
        self._add(ComputeAtOp(block, loop))

    def reverse_compute_at(self, block: SSAValue, loop: SSAValue) -> None:
        """Move a consumer into a loop."""
        self._add(ReverseComputeAtOp(block, loop))

    def compute_inline(self, block: SSAValue) -> None:
        """Compute a producer where it is read."""
        self._add(ComputeInlineOp(block))

    def cache_read(self, block: SSAValue, index: int, scope: str = "local") -> SSAValue:
        """Let a block read a copy of its `index`th buffer, and return the block that copies it."""
        return self._add(CacheReadOp(block, index, scope)).results[0]

    def cache_write(self, block: SSAValue, scope: str = "local") -> SSAValue:
        """Let a block write a new buffer, and return the block that copies it."""
        return self._add(CacheWriteOp(block, scope)).results[0]

    def set_scope(self, block: SSAValue, scope: str = "local") -> None:
        """Keep what a block writes in a memory scope."""
        self._add(SetScopeOp(block, scope))

    def decompose_reduction(self, block: SSAValue, loop: SSAValue) -> SSAValue:
        """Write first values before a loop, and return the block that does."""
        return self._add(DecomposeReductionOp(block, loop)).results[0]

    def split_reduction_by_padding(self, block: SSAValue) -> None:
        """Leave out updates that read padding."""
        self._add(SplitReductionByPaddingOp(block))

    def vectorize(self, loop: SSAValue) -> None:
        """Run a loop as lanes."""
        self._add(VectorizeOp(loop))

    def parallel(self, loop: SSAValue) -> None:
        """Run a loop on threads."""
        self._add(ParallelOp(loop))

    def unroll(self, loop: SSAValue, factor: int | SSAValue | None = None) -> None:
        """Run a loop without a loop, or so many iterations at a time."""
        self._add(UnrollOp(loop, factor))

    def pipeline(self, loop: SSAValue, slots: int = 2) -> None:
        """Let what fills buffers in a loop run ahead, over buffers of so many slots."""
        self._add(PipelineOp(loop, slots))

    def tensorize(self, loop: SSAValue, intrinsic: str) -> None:
        """Replace a loop and what it holds by a call of an intrinsic."""
        self._add(TensorizeOp(loop, intrinsic))

    def annotate(
        self, subject: SSAValue, key: str, value: int | str | Attribute
    ) -> None:
        """Say something about a loop or a block to a back end."""
        match value:
            case int():
                value = IntegerAttr(value, i64)
            case str():
                value = StringAttr(value)
            case _:
                pass
        self._add(AnnotateOp(subject, key, value))

    def sample_perfect_tile(
        self,
        loop: SSAValue,
        count: int,
        innermost: int = 16,
        decision: Sequence[int] | None = None,
    ) -> tuple[SSAValue, ...]:
        """Choose `count` factors of a loop's extent, for `split`."""
        op = SamplePerfectTileOp(loop, count, innermost, decision)
        return tuple(self._add(op).results)

    def sample_categorical(
        self,
        candidates: Sequence[int],
        weights: Sequence[float] | None = None,
        decision: int | None = None,
    ) -> SSAValue:
        """Choose one of several numbers; the decision is its position among them."""
        return self._add(SampleCategoricalOp(candidates, weights, decision)).results[0]

    def _add(self, op: Operation) -> Operation:
        self._block.add_op(op)
        return op
