"""Carry out the schedules that a module holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from partita.analysis.diagnostics import fail
from partita.analysis.loop_nests import loops_around
from partita.dialects.sched import (
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
)
from partita.dialects.tir import BlockOp, ForOp, LoopKind
from partita.transforms.scheduling.cache import cache_write, set_scope
from partita.transforms.scheduling.compute_at import compute_at
from partita.transforms.scheduling.decompose import decompose_reduction
from partita.transforms.scheduling.finish import finish
from partita.transforms.scheduling.fuse import fuse
from partita.transforms.scheduling.inline import compute_inline
from partita.transforms.scheduling.kinds import parallel, unroll, vectorize
from partita.transforms.scheduling.reorder import reorder
from partita.transforms.scheduling.reverse_compute_at import reverse_compute_at
from partita.transforms.scheduling.split import split
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    hint,
    name_of,
)


@dataclass
class Run:
    """A sequence that is being carried out."""

    state: State

    handles: dict[SSAValue, Operation] = field(
        default_factory=dict[SSAValue, Operation]
    )
    """The loop or block that each handle stands for."""

    def loop(self, handle: SSAValue) -> ForOp:
        """Return the loop of a handle."""
        return cast(ForOp, self._find(handle))

    def block(self, handle: SSAValue) -> BlockOp:
        """Return the block of a handle."""
        return cast(BlockOp, self._find(handle))

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


Step = Callable[[Run, Operation], Sequence[Operation]]
"""What a step does; it returns what its results stand for."""


def _find_block(run: Run, op: FindBlockOp) -> Sequence[Operation]:
    return (run.state.block(op.label.data),)


def _loops(run: Run, op: LoopsOp) -> Sequence[Operation]:
    loops = loops_around(run.block(op.block))
    if len(loops) != len(op.loops):
        raise ScheduleError(f"expected {len(op.loops)} loops, got {len(loops)}")
    return loops


def _split(run: Run, op: SplitOp) -> Sequence[Operation]:
    peel = op.tail is not None and op.tail.data == "peel"
    return split(run.state, run.loop(op.loop), op.factor_values, peel)


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
    factor = None if op.factor is None else op.factor.value.data
    unroll(run.state, run.loop(op.loop), factor)
    return ()


STEPS: Mapping[type[Operation], Callable[..., Sequence[Operation]]] = {
    CacheWriteOp: _cache_write,
    ComputeAtOp: _compute_at,
    ComputeInlineOp: _compute_inline,
    DecomposeReductionOp: _decompose,
    FindBlockOp: _find_block,
    FuseOp: _fuse,
    LoopsOp: _loops,
    ParallelOp: _parallel,
    ReorderOp: _reorder,
    ReverseComputeAtOp: _reverse_compute_at,
    SetScopeOp: _set_scope,
    SplitOp: _split,
    UnrollOp: _unroll,
    VectorizeOp: _vectorize,
}
"""What each op of a sequence does."""


CONCURRENT = {LoopKind.PARALLEL: ParallelOp, LoopKind.VECTORIZED: VectorizeOp}
"""The steps that are checked once more when all are done."""


def _subject(run: Run, step: Operation) -> str:
    """Return what a message says of the loops or blocks that a step names."""
    if isinstance(step, FindBlockOp):
        return f' "{step.label.data}"'
    if not step.operands:
        return ""
    return " of " + ", ".join(map(run.name, step.operands))


def apply_sequence(sequence: SequenceOp, function: FuncOp) -> None:
    """Carry out a sequence on its kernel."""
    run = Run(State(function))
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
        for result, op in zip(step.results, made, strict=True):
            run.handles[result] = op
    try:
        finish(run.state)
    except ScheduleError as error:
        subject = sequence.name
        if isinstance(error.at, ForOp):
            asked = CONCURRENT[error.at.loop_kind]
            subject = f"{asked.name} of {name_of(error.at)}"
        fail(sequence, f"{subject} {kernel}: {error}")


@dataclass(frozen=True)
class ApplySchedulesPass(ModulePass):
    """Carry out each `sched.sequence` on the kernel that it names, and erase it.

    Steps are checked one by one; what could change a result is refused, with the reason.
    When all are done, local buffers move into the innermost loop that holds all their
    accesses and shrink to what is alive there; loops that run on several threads or as
    lanes are checked once more; loops whose split said `peel` are cut into whole tiles
    and the rest; loops of one iteration disappear. Kernels without a sequence stay as
    they are, and blocks are never looked into, except to inline one into another.

    Before:

    ```mlir
    func.func @relu(%x : memref<4x9xf32>, %y : memref<4x9xf32>) {
      tir.for %i = 0 to 4 {
        tir.for %j = 0 to 9 {
          tir.block "relu" spatial (%a in 4, %b in 9) at [%i, %j] {
            %zero = arith.constant 0.0 : f32
            %v = tir.load %x[%a, %b] : memref<4x9xf32>
            %r = arith.maximumf %v, %zero : f32
            tir.store %r, %y[%a, %b] : memref<4x9xf32>
          }
        }
      }
      func.return
    }
    sched.sequence @relu_schedule for @relu {
      %b = sched.block "relu"
      %i, %j = sched.loops %b -> 2
      %f = sched.fuse %i, %j
      %o, %v = sched.split %f [?, 8] peel
      sched.parallel %o
      sched.vectorize %v
    }
    ```

    After `apply-schedules`:

    ```mlir
    func.func @relu(%x : memref<4x9xf32>, %y : memref<4x9xf32>) {
      tir.for %ijo = 0 to 4 parallel {
        tir.for %iji = 0 to 8 vectorized {
          tir.block "relu" spatial (%a in 4, %b in 9) at [(%ijo * 8 + %iji) floordiv 9, (%ijo * 8 + %iji) mod 9] {
            %zero = arith.constant 0.0 : f32
            %v = tir.load %x[%a, %b] : memref<4x9xf32>
            %r = arith.maximumf %v, %zero : f32
            tir.store %r, %y[%a, %b] : memref<4x9xf32>
          }
        }
      }
      tir.for %iji_1 = 0 to 4 vectorized {
        tir.block "relu_tail" spatial (%a_1 in 4, %b_1 in 9) at [3, %iji_1 + 5] {
          %zero_1 = arith.constant 0.0 : f32
          %v_1 = tir.load %x[%a_1, %b_1] : memref<4x9xf32>
          %r_1 = arith.maximumf %v_1, %zero_1 : f32
          tir.store %r_1, %y[%a_1, %b_1] : memref<4x9xf32>
        }
      }
      func.return
    }
    ```
    """

    name = "apply-schedules"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {
            each.sym_name.data: each for each in op.ops if isinstance(each, FuncOp)
        }
        for sequence in tuple(op.ops):
            if not isinstance(sequence, SequenceOp):
                continue
            kernel = sequence.kernel.root_reference.data
            function = functions.get(kernel)
            if function is None or not function.body.blocks:
                fail(sequence, f"expected a kernel @{kernel} with a body, got none")
            apply_sequence(sequence, function)
            sequence.detach()
            sequence.erase()
