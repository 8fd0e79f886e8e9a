"""Decide what schedules leave open."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from partita.transforms.apply_schedules import random_of, sequences_of
from partita.transforms.scheduling.steps import apply_sequence


@dataclass(frozen=True)
class SampleSchedulesPass(ModulePass):
    """Make one schedule of each space of schedules: record a decision for each choice that has none.

    Kernels stay as they are. The sequences are carried out on copies of them, as what can
    be chosen may depend on loops that steps make; so this refuses what `apply-schedules`
    would, a choice that does not fit a memory scope for example.

    Before:

    ```mlir
    func.func @twice(%x : memref<24xf32>, %y : memref<24xf32>) {
      tir.for %i = 0 to 24 {
        tir.block "twice" spatial (%a in 24) at [%i] {
          %v = tir.load %x[%a] : memref<24xf32>
          %r = arith.addf %v, %v : f32
          tir.store %r, %y[%a] : memref<24xf32>
        }
      }
      func.return
    }
    sched.sequence @twice_schedule for @twice {
      %b = sched.block "twice"
      %l = sched.loops %b -> 1
      %f, %g = sched.sample_perfect_tile %l innermost 8 -> 2
      %o, %i = sched.split %l [%f, %g]
      %u = sched.sample_categorical [1, 2, 4]
      sched.unroll %o by %u
    }
    ```

    After `sample-schedules{seed=1}`:

    ```mlir
    func.func @twice(%x : memref<24xf32>, %y : memref<24xf32>) {
      tir.for %i = 0 to 24 {
        tir.block "twice" spatial (%a in 24) at [%i] {
          %v = tir.load %x[%a] : memref<24xf32>
          %r = arith.addf %v, %v : f32
          tir.store %r, %y[%a] : memref<24xf32>
        }
      }
      func.return
    }
    sched.sequence @twice_schedule for @twice {
      %b = sched.block "twice"
      %l = sched.loops %b -> 1
      %f, %g = sched.sample_perfect_tile %l innermost 8 -> 2 decision [24, 1]
      %o, %i = sched.split %l [%f, %g]
      %u = sched.sample_categorical [1, 2, 4] decision 2
      sched.unroll %o by %u
    }
    ```
    """

    name = "sample-schedules"

    seed: int = 0
    """Choices are the same for the same seed and name of the sequence."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for sequence, function in sequences_of(op):
            trial = function.clone()
            op.body.block.add_op(trial)
            try:
                apply_sequence(sequence, trial, random_of(sequence, self.seed))
            finally:
                trial.detach()
                trial.erase()
