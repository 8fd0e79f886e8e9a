"""Give kernels the schedules that were found for them."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import DiagnosticException

from partita.analysis.canonical_task import take_labels, task_key
from partita.analysis.diagnostics import fail
from partita.analysis.schedule_database import ScheduleDatabase
from partita.analysis.schedule_text import parse_schedule
from partita.dialects.partita import KERNEL
from partita.dialects.relay import ConstantOp, RelayOp
from partita.dialects.sched import SequenceOp
from partita.dialects.te import ComputeOp
from partita.dialects.tir import INTRINSIC
from partita.errors import IRError
from partita.runtime.machine import Machine
from partita.transforms.apply_schedules import ApplySchedulesPass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.pipeline import Pipeline


class ScheduleWarning(UserWarning):
    """A kernel has no tuned schedule, or one that does not apply."""


def warn(message: str) -> None:
    """Tell of a schedule that is missing, as Python warns."""
    warnings.warn(message, ScheduleWarning, stacklevel=2)


class _NotApplicable(Exception):
    """A schedule cannot be carried out on a kernel, for the reason given."""


@dataclass(frozen=True)
class ApplyTunedSchedulesPass(ModulePass):
    """Add the best known `sched.sequence` of each kernel, by the key of what it computes.

    A kernel is looked up as `te`: before there are loops, and whatever names, constants and
    order its model gives it. It gets the labels by which schedules know its computes
    (`map_0`, `reduce_1`), and the sequence beside it; loops are made, and the sequence is carried
    out, by the passes that follow. A kernel that has a sequence keeps it, and schedules that
    Python gives come before those of the database. A kernel for which there is none is left to
    the rules of the target, and a warning names the task.

    A schedule is tried before it is attached. If one of the database is not legal, a warning
    says why and the rules take over; if one that was given in Python is not, or is for no kernel of the
    module, that is an error.

    Before:

    ```mlir
    func.func private @relu_1(%x : tensor<32xf32>) -> tensor<32xf32> attributes {partita.kernel} {
      %y = te.compute "relu_1" (%i in 32) {
        %v = te.read %x[%i] : tensor<32xf32>
        %zero = arith.constant 0.000000e+00 : f32
        %r = arith.maximumf %v, %zero : f32
        te.yield %r : f32
      } : tensor<32xf32>
      func.return %y : tensor<32xf32>
    }
    ```

    After `apply-tuned-schedules{db="filecheck/transforms/schedules.db"}`:

    ```mlir
    sched.sequence @relu_1_schedule for @relu_1 {
      %b = sched.block "map_0"
      %i = sched.loops %b -> 1
      sched.vectorize %i
    }
    func.func private @relu_1(%x : tensor<32xf32>) -> tensor<32xf32> attributes {partita.kernel} {
      %y = te.compute "map_0" (%i in 32) {
        %v = te.read %x[%i] : tensor<32xf32>
        %zero = arith.constant 0.000000e+00 : f32
        %r = arith.maximumf %v, %zero : f32
        te.yield %r : f32
      } : tensor<32xf32>
      func.return %y : tensor<32xf32>
    }
    ```
    """

    name = "apply-tuned-schedules"

    db: str = ""
    """The file of the database; none if empty."""

    target: str = "host"
    """The back end that kernels are for, as the database knows it."""

    machine: Machine | None = field(default=None, repr=False)
    """The machine that code is for; by default, this one."""

    schedules: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Text of schedules by the key of their task, which come before those of the database."""

    tell: Callable[[str], None] = field(default=warn, repr=False)
    """Told about each kernel that is left to rules."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.db and not self.schedules:
            fail(op, "expected db, got none; set it to a schedule database")
        if self.db:
            ScheduleDatabase(self.db).check()
        missing = dict(self.schedules)
        scheduled = {
            each.kernel.string_value()
            for each in op.ops
            if isinstance(each, SequenceOp)
        }
        for kernel in _kernels(op):
            key = task_key(kernel)
            missing.pop(key, None)
            if kernel.sym_name.data not in scheduled:
                self._schedule(ctx, op, kernel, key)
        if missing:
            fail(
                op,
                f"expected schedules of tasks of the module, got {', '.join(missing)}",
            )

    def _schedule(self, ctx: Context, op: ModuleOp, kernel: FuncOp, key: str) -> None:
        task = f"task {kernel.sym_name.data} ({key})"
        given = self.schedules.get(key)
        if given is not None:
            try:
                _attach(ctx, op, kernel, given)
            except _NotApplicable as error:
                fail(kernel, f"the schedule given for {task} does not apply: {error}")
        elif self.db:
            machine = self.machine or Machine.host()
            best = ScheduleDatabase(self.db).best(key, self.target, machine)
            if best is None:
                self.tell(f"no tuned schedule found for {task}")
                return
            try:
                _attach(ctx, op, kernel, best.schedule)
            except _NotApplicable as error:
                self.tell(
                    f"the tuned schedule of {task} does not apply, and rules take its place: {error}"
                )


def _kernels(module: ModuleOp) -> Sequence[FuncOp]:
    """Return the functions of computes that are to be scheduled: kernels, or all of a module that has none."""
    functions = [
        each
        for each in module.ops
        if isinstance(each, FuncOp)
        and each.body.blocks
        and INTRINSIC not in each.attributes
    ]
    kernels = [each for each in functions if KERNEL in each.attributes] or functions
    for kernel in kernels:
        for op in kernel.body.block.ops:
            if isinstance(op, RelayOp) and not isinstance(op, ConstantOp):
                fail(
                    op,
                    f"expected te.compute, got {op.name}; run lower-relay-to-te first",
                )
    return [
        each
        for each in kernels
        if any(isinstance(op, ComputeOp) for op in each.body.block.ops)
    ]


def _attach(ctx: Context, module: ModuleOp, kernel: FuncOp, text: str) -> None:
    """Put a schedule before a kernel, which takes its labels; raise `_NotApplicable` if it is not legal."""
    try:
        sequence = parse_schedule(ctx, text, kernel.sym_name.data)
    except IRError as error:
        raise _NotApplicable(str(error)) from error
    labelled = kernel.clone()
    take_labels(labelled)
    others = [
        each
        for each in module.ops
        if INTRINSIC in each.attributes or not isinstance(each, FuncOp | SequenceOp)
    ]
    room = ModuleOp([each.clone() for each in (*others, labelled, sequence)])
    trial = Pipeline((LowerTeToTirPass(), ApplySchedulesPass()))
    try:
        trial.apply(ctx, room)
    except DiagnosticException as error:
        raise _NotApplicable(str(error)) from error
    take_labels(kernel)
    Rewriter.insert_op(sequence, InsertPoint.before(kernel))
