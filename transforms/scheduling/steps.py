"""What each step of a schedule does, on the loops and blocks that its handles stand for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import cast

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from partita.analysis.diagnostics import fail
from partita.analysis.loop_nests import loops_around
from partita.dialects.sched import (
    AnnotateOp,
    CacheReadOp,
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    DecomposeReductionOp,
    Factor,
    FindBlockOp,
    FuseOp,
    LoopsOp,
    LoopType,
    ParallelOp,
    PipelineOp,
    ReorderOp,
    ReverseComputeAtOp,
    SampleCategoricalOp,
    SamplePerfectTileOp,
    SequenceOp,
    SetScopeOp,
    SplitOp,
    SplitReductionByPaddingOp,
    TensorizeOp,
    UnrollOp,
    VectorizeOp,
)
from partita.dialects.tir import BlockOp, ForOp, LoopKind
from partita.transforms.scheduling.cache import cache_read, cache_write, set_scope
from partita.transforms.scheduling.compute_at import compute_at
from partita.transforms.scheduling.decompose import decompose_reduction
from partita.transforms.scheduling.finish import finish
from partita.transforms.scheduling.fuse import fuse
from partita.transforms.scheduling.inline import compute_inline
from partita.transforms.scheduling.kinds import parallel, unroll, vectorize
from partita.transforms.scheduling.padding import split_reduction_by_padding
from partita.transforms.scheduling.partition import TENSORIZE
from partita.transforms.scheduling.pipeline import pipeline
from partita.transforms.scheduling.reorder import reorder
from partita.transforms.scheduling.reverse_compute_at import reverse_compute_at
from partita.transforms.scheduling.sampling import (
    sample_categorical,
    sample_perfect_tile,
)
from partita.transforms.scheduling.split import split
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    hint,
    name_of,
)
from partita.transforms.scheduling.tensorize import tensorize


@dataclass
class Run:
    """A sequence that is being carried out."""

    state: State

    handles: dict[SSAValue, Operation] = field(
        default_factory=dict[SSAValue, Operation]
    )
    """The loop or block that each handle stands for."""

    choices: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The numbers that were chosen."""

    random: Random | None = None
    """Chooses what is not decided."""

    def loop(self, handle: SSAValue) -> ForOp:
        """Return the loop of a handle."""
        return cast(ForOp, self._find(handle))

    def block(self, handle: SSAValue) -> BlockOp:
        """Return the block of a handle."""
        return cast(BlockOp, self._find(handle))

    def number(self, factor: Factor) -> int | None:
        """Return a factor, which may be a choice."""
        return self.choices[factor] if isinstance(factor, SSAValue) else factor

    def name(self, handle: SSAValue) -> str:
        """Return how messages call what a handle stands for."""
        op = self.handles[handle]
        return name_of(op) if self.state.holds(op) else f"%{hint(handle, '?')}"

    def _find(self, handle: SSAValue) -> Operation:
        op = self.handles[handle]
        if not self.state.holds(op):
            raise ScheduleError(
                f"{self.name(handle)} stands for what an earlier step replaced"
            )
        return op


Made = Sequence[Operation] | Sequence[int]
"""What the results of a step stand for: loops and blocks, or numbers."""


def _find_block(run: Run, op: FindBlockOp) -> Sequence[Operation]:
    return (run.state.block(op.label.data),)


def _loops(run: Run, op: LoopsOp) -> Sequence[Operation]:
    loops = loops_around(run.block(op.block))
    count = len(op.loops)
    if len(loops) < count or (len(loops) > count and op.innermost is None):
        raise ScheduleError(f"expected {count} loops, got {len(loops)}")
    return loops[len(loops) - count :]


def _split(run: Run, op: SplitOp) -> Sequence[Operation]:
    peel = op.tail is not None and op.tail.data == "peel"
    factors = tuple(map(run.number, op.factor_values))
    return split(run.state, run.loop(op.loop), factors, peel)


def _fuse(run: Run, op: FuseOp) -> Sequence[Operation]:
    return (fuse(run.state, tuple(map(run.loop, op.loops))),)


def _reorder(run: Run, op: ReorderOp) -> Sequence[Operation]:
    reorder(run.state, tuple(map(run.loop, op.loops)))
    return ()


def _compute_at(run: Run, op: ComputeAtOp) -> Sequence[Operation]:
    compute_at(run.state, run.block(op.block), run.loop(op.loop))
    return ()


def _reverse_compute_at(run: Run, op: ReverseComputeAtOp) -> Sequence[Operation]:
    reverse_compute_at(run.state, run.block(op.block), run.loop(op.loop))
    return ()


def _compute_inline(run: Run, op: ComputeInlineOp) -> Sequence[Operation]:
    compute_inline(run.state, run.block(op.block))
    return ()


def _cache_write(run: Run, op: CacheWriteOp) -> Sequence[Operation]:
    return (cache_write(run.state, run.block(op.block), op.scope.data),)


def _set_scope(run: Run, op: SetScopeOp) -> Sequence[Operation]:
    set_scope(run.state, run.block(op.block), op.scope.data)
    return ()


def _decompose(run: Run, op: DecomposeReductionOp) -> Sequence[Operation]:
    return (decompose_reduction(run.state, run.block(op.block), run.loop(op.loop)),)


def _vectorize(run: Run, op: VectorizeOp) -> Sequence[Operation]:
    vectorize(run.state, run.loop(op.loop))
    return ()


def _parallel(run: Run, op: ParallelOp) -> Sequence[Operation]:
    parallel(run.state, run.loop(op.loop))
    return ()


def _unroll(run: Run, op: UnrollOp) -> Sequence[Operation]:
    stated = op.choice if op.factor is None else op.factor.value.data
    unroll(run.state, run.loop(op.loop), run.number(stated))
    return ()


def _cache_read(run: Run, op: CacheReadOp) -> Sequence[Operation]:
    index = op.index.value.data
    return (cache_read(run.state, run.block(op.block), index, op.scope.data),)


def _split_by_padding(run: Run, op: SplitReductionByPaddingOp) -> Sequence[Operation]:
    split_reduction_by_padding(run.state, run.block(op.block))
    return ()


def _pipeline(run: Run, op: PipelineOp) -> Sequence[Operation]:
    pipeline(run.state, run.loop(op.loop), op.slots.value.data)
    return ()


def _tensorize(run: Run, op: TensorizeOp) -> Sequence[Operation]:
    intrinsic = op.intrinsic.root_reference.data
    tensorize(run.state, run.loop(op.loop), intrinsic)
    return ()


def _annotate(run: Run, op: AnnotateOp) -> Sequence[Operation]:
    is_loop = isinstance(op.subject.type, LoopType)
    subject = run.loop(op.subject) if is_loop else run.block(op.subject)
    subject.attributes[op.key.data] = op.value
    return ()


def _sample_tile(run: Run, op: SamplePerfectTileOp) -> Sequence[int]:
    return sample_perfect_tile(op, run.loop(op.loop), run.random)


def _sample_categorical(run: Run, op: SampleCategoricalOp) -> Sequence[int]:
    return (sample_categorical(op, run.random),)


STEPS: Mapping[type[Operation], Callable[..., Made]] = {
    AnnotateOp: _annotate,
    CacheReadOp: _cache_read,
    CacheWriteOp: _cache_write,
    ComputeAtOp: _compute_at,
    ComputeInlineOp: _compute_inline,
    DecomposeReductionOp: _decompose,
    FindBlockOp: _find_block,
    FuseOp: _fuse,
    LoopsOp: _loops,
    ParallelOp: _parallel,
    PipelineOp: _pipeline,
    ReorderOp: _reorder,
    ReverseComputeAtOp: _reverse_compute_at,
    SampleCategoricalOp: _sample_categorical,
    SamplePerfectTileOp: _sample_tile,
    SetScopeOp: _set_scope,
    SplitOp: _split,
    SplitReductionByPaddingOp: _split_by_padding,
    TensorizeOp: _tensorize,
    UnrollOp: _unroll,
    VectorizeOp: _vectorize,
}
"""What each op of a sequence does."""


REQUESTS = {
    LoopKind.PARALLEL: ParallelOp,
    LoopKind.PIPELINED: PipelineOp,
    LoopKind.VECTORIZED: VectorizeOp,
}
"""The steps that are checked once more, or done, when all others are."""


def _subject(run: Run, step: Operation) -> str:
    """Return what a message says of the loops or blocks that a step names."""
    if isinstance(step, FindBlockOp):
        return f' "{step.label.data}"'
    handles = [each for each in step.operands if each in run.handles]
    return " of " + ", ".join(map(run.name, handles)) if handles else ""


def apply_sequence(
    sequence: SequenceOp, function: FuncOp, random: Random | None = None
) -> None:
    """Carry out a sequence on its kernel; what it leaves undecided is chosen at random, and recorded in it.

    The kernel stands in a module, which states intrinsics and memories. `PassFailedException`
    names the step, the loop or block, and the kernel, and says why a step is refused.
    """
    run = Run(State(function), random=random)
    kernel = f"of kernel @{function.sym_name.data}"
    for step in sequence.body.block.ops:
        act = STEPS.get(type(step))
        if act is None:
            fail(step, f"expected a step of a schedule, got {step.name}")
        subject = _subject(run, step)
        try:
            made = act(run, step)
        except ScheduleError as error:
            fail(step, f"{step.name}{subject} {kernel}: {error}")
        for result, each in zip(step.results, made, strict=True):
            if isinstance(each, int):
                run.choices[result] = each
            else:
                run.handles[result] = each
    try:
        finish(run.state)
    except ScheduleError as error:
        fail(sequence, f"{_asked(sequence, error.at)} {kernel}: {error}")


def _asked(sequence: SequenceOp, at: Operation | None) -> str:
    """Return which step asked for what could not be done in the end."""
    if at is not None and TENSORIZE in at.attributes:
        return f"{TensorizeOp.name} of {name_of(at)}"
    if isinstance(at, ForOp):
        return f"{REQUESTS[at.loop_kind].name} of {name_of(at)}"
    if isinstance(at, BlockOp):
        return f"{SplitReductionByPaddingOp.name} of {name_of(at)}"
    return sequence.name
