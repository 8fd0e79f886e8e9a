"""Schedules: what to do to the loops of a kernel, written down and not yet done.

A `sched.sequence` names a kernel and holds steps. Handles stand for blocks and loops of
the kernel in its state at that point: a step that replaces loops gives new handles and
ends the old ones. The text can be printed, compared, stored and applied elsewhere;
`apply-schedules` carries it out on `tir`, checks every step, and refuses with a reason
what would change results. Rules and tuners write schedules; they never edit loops.

| op | meaning |
|---|---|
| `sched.sequence` | the steps for one kernel |
| `sched.block`, `sched.loops` | find a block by label, and the loops around it, outermost first |
| `sched.split`, `sched.fuse`, `sched.reorder` | reshape a loop nest |
| `sched.compute_at`, `sched.reverse_compute_at` | move a producer, or a consumer, into a loop |
| `sched.compute_inline` | compute a producer where it is read |
| `sched.cache_read`, `sched.cache_write`, `sched.set_scope` | where operands and results are kept while they are used |
| `sched.decompose_reduction` | separate a reduction's first values from its updates |
| `sched.split_reduction_by_padding` | leave out updates that read padding |
| `sched.vectorize`, `sched.parallel`, `sched.unroll`, `sched.pipeline` | how a loop runs |
| `sched.tensorize` | replace loops by an intrinsic |
| `sched.annotate` | say something to a back end |
| `sched.sample_perfect_tile`, `sched.sample_categorical` | choose numbers: one text is a space of schedules |
"""

from xdsl.ir import Dialect

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
from partita.dialects.sched.builder import Schedule
from partita.dialects.sched.loops import (
    CHOSEN,
    INFERRED,
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
from partita.dialects.sched.sequence import (
    BLOCK,
    CHOICE,
    LOOP,
    BlockType,
    ChoiceType,
    FindBlockOp,
    LoopsOp,
    LoopType,
    SequenceOp,
)

Sched = Dialect(
    "sched",
    [
        AnnotateOp,
        CacheReadOp,
        CacheWriteOp,
        ComputeAtOp,
        ComputeInlineOp,
        DecomposeReductionOp,
        FindBlockOp,
        FuseOp,
        LoopsOp,
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
    ],
    [BlockType, ChoiceType, LoopType],
)

__all__ = [
    "BLOCK",
    "CHOICE",
    "CHOSEN",
    "INFERRED",
    "LOOP",
    "AnnotateOp",
    "BlockType",
    "CacheReadOp",
    "CacheWriteOp",
    "ChoiceType",
    "ComputeAtOp",
    "ComputeInlineOp",
    "DecomposeReductionOp",
    "Factor",
    "FindBlockOp",
    "FuseOp",
    "LoopType",
    "LoopsOp",
    "ParallelOp",
    "PipelineOp",
    "ReorderOp",
    "ReverseComputeAtOp",
    "SampleCategoricalOp",
    "SamplePerfectTileOp",
    "Sched",
    "Schedule",
    "SequenceOp",
    "SetScopeOp",
    "SplitOp",
    "SplitReductionByPaddingOp",
    "TensorizeOp",
    "UnrollOp",
    "VectorizeOp",
]
