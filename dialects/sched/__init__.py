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
| `sched.cache_write`, `sched.set_scope` | where results are kept while they are computed |
| `sched.decompose_reduction` | separate a reduction's first values from its updates |
| `sched.vectorize`, `sched.parallel`, `sched.unroll` | how a loop runs |
"""

from xdsl.ir import Dialect

from partita.dialects.sched.blocks import (
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    DecomposeReductionOp,
    ReverseComputeAtOp,
    SetScopeOp,
)
from partita.dialects.sched.loops import (
    INFERRED,
    FuseOp,
    ParallelOp,
    ReorderOp,
    SplitOp,
    UnrollOp,
    VectorizeOp,
)
from partita.dialects.sched.sequence import (
    BLOCK,
    LOOP,
    BlockType,
    FindBlockOp,
    LoopsOp,
    LoopType,
    SequenceOp,
)

Sched = Dialect(
    "sched",
    [
        CacheWriteOp,
        ComputeAtOp,
        ComputeInlineOp,
        DecomposeReductionOp,
        FindBlockOp,
        FuseOp,
        LoopsOp,
        ParallelOp,
        ReorderOp,
        ReverseComputeAtOp,
        SequenceOp,
        SetScopeOp,
        SplitOp,
        UnrollOp,
        VectorizeOp,
    ],
    [BlockType, LoopType],
)

__all__ = [
    "BLOCK",
    "INFERRED",
    "LOOP",
    "BlockType",
    "CacheWriteOp",
    "ComputeAtOp",
    "ComputeInlineOp",
    "DecomposeReductionOp",
    "FindBlockOp",
    "FuseOp",
    "LoopType",
    "LoopsOp",
    "ParallelOp",
    "ReorderOp",
    "ReverseComputeAtOp",
    "Sched",
    "SequenceOp",
    "SetScopeOp",
    "SplitOp",
    "UnrollOp",
    "VectorizeOp",
]
