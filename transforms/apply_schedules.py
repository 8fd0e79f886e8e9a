"""Carry out the schedules that a module holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from partita.analysis.diagnostics import fail
from partita.dialects.sched import SequenceOp
from partita.transforms.scheduling.steps import apply_sequence


def sequences_of(module: ModuleOp) -> Iterator[tuple[SequenceOp, FuncOp]]:
    """Yield the schedules of a module with their kernels; fail at one that has none."""
    functions = {
        each.sym_name.data: each for each in module.ops if isinstance(each, FuncOp)
    }
    for sequence in tuple(module.ops):
        if not isinstance(sequence, SequenceOp):
            continue
        kernel = sequence.kernel.root_reference.data
        function = functions.get(kernel)
        if function is None or not function.body.blocks:
            fail(sequence, f"expected a kernel @{kernel} with a body, got none")
        yield sequence, function


def random_of(sequence: SequenceOp, seed: int | None) -> Random | None:
    """Return what chooses for a sequence, the same for the same seed and name; nothing without a seed."""
    return None if seed is None else Random(f"{seed} {sequence.sym_name.data}")


@dataclass(frozen=True)
class ApplySchedulesPass(ModulePass):
    """Carry out each `sched.sequence` on the kernel that it names, and erase it.

    Steps are checked one by one; what could change a result is refused, with the reason.
    When all are done, buffers in memory scopes move into the innermost loop that holds all
    their accesses and shrink to what is alive there; loops that run on several threads or
    as lanes are checked once more; loops whose split said `peel`, or that read padding, are
    cut; loops of one iteration disappear; loops are pipelined, and tensorized ones become
    calls. What does not fit its memory scope is refused. Kernels without a sequence stay
    as they are.

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

    seed: int | None = None
    """Chooses what sequences leave undecided; without it they are refused."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for sequence, function in sequences_of(op):
            apply_sequence(sequence, function, random_of(sequence, self.seed))
            sequence.detach()
            sequence.erase()
