"""Write a schedule for every kernel."""

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from partita.analysis.diagnostics import fail
from partita.dialects.partita import KERNEL
from partita.dialects.sched import SequenceOp
from partita.runtime.machine import Machine
from partita.transforms.loop_rules.rules import RULES
from partita.transforms.loop_rules.schedule import schedule
from partita.transforms.loop_rules.tiles import Registers

ACCUMULATORS = {128: 12, 256: 12, 512: 28}
"""Bits of the vector registers that there are, and how many of them can hold results at least."""


@dataclass(frozen=True)
class ScheduleHostPass(ModulePass):
    """Add a `sched.sequence` for each kernel, by rules that look at its loops and accesses.

    Nothing is changed yet: `apply-schedules` does what the sequences say. The options
    tell of the processor that code is for; by default, that is this machine's. A kernel
    that has a sequence keeps it, and one whose loops a schedule has changed stays as it is:
    IR can be compiled from where somebody else scheduled it.

    Before:

    ```mlir
    func.func private @relu(%x : memref<32xf32>, %y : memref<32xf32>) attributes {partita.kernel} {
      tir.for %i = 0 to 32 {
        tir.block "relu" spatial (%a in 32) at [%i] {
          %v = tir.load %x[%a] : memref<32xf32>
          tir.store %v, %y[%a] : memref<32xf32>
        }
      }
      func.return
    }
    ```

    After `schedule-host{vector=512}`:

    ```mlir
    sched.sequence @relu_schedule for @relu {
      %0 = sched.block "relu"
      %a = sched.loops %0 -> 1
      %ao, %ai = sched.split %a [?, 16] peel
      sched.vectorize %ai
    }
    func.func private @relu(%x : memref<32xf32>, %y : memref<32xf32>) attributes {partita.kernel} {
      tir.for %i = 0 to 32 {
        tir.block "relu" spatial (%a in 32) at [%i] {
          %v = tir.load %x[%a] : memref<32xf32>
          tir.store %v, %y[%a] : memref<32xf32>
        }
      }
      func.return
    }
    ```
    """

    name = "schedule-host"

    vector: int | None = None
    """Bits of a vector register: 128, 256 or 512."""

    accumulators: int | None = None
    """How many vector registers can hold results while operands stream through the others."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        registers = self._registers(op)
        scheduled = {
            each.kernel.root_reference.data
            for each in op.body.block.ops
            if isinstance(each, SequenceOp)
        }
        for function in tuple(op.body.block.ops):
            if not isinstance(function, FuncOp) or KERNEL not in function.attributes:
                continue
            if not function.body.blocks or function.sym_name.data in scheduled:
                continue
            if sequence := schedule(function, registers, RULES):
                Rewriter.insert_op(sequence, InsertPoint.before(function))

    def _registers(self, op: ModuleOp) -> Registers:
        registers = Registers.of(Machine.host())
        if self.vector is not None:
            if self.vector not in ACCUMULATORS:
                expected = ", ".join(map(str, ACCUMULATORS))
                fail(op, f"expected vector of {expected}, got {self.vector}")
            registers = Registers(self.vector, ACCUMULATORS[self.vector])
        if self.accumulators is not None:
            if self.accumulators < 1:
                fail(
                    op, f"expected accumulators of at least 1, got {self.accumulators}"
                )
            registers = replace(registers, accumulators=self.accumulators)
        return registers
