"""Write a schedule for every kernel that becomes C."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from partita.dialects.partita import KERNEL
from partita.transforms.loop_rules.rules import RULES
from partita.transforms.loop_rules.schedule import schedule
from partita.transforms.loop_rules.tiles import Registers

TILES = Registers(bits=512, accumulators=4)
"""Tiles of at most four by 16 floats.

C compilers make vectors of their own of the innermost loop, and keep a tile in registers only if
they unroll all loops over it; with gcc 12, larger tiles are no faster.
"""


@dataclass(frozen=True)
class ScheduleCPass(ModulePass):
    """Add a `sched.sequence` for each kernel: small tiles whose innermost loop compilers make vectors of.

    Nothing is changed yet: `apply-schedules` does what the sequences say. Other functions,
    and kernels that are scheduled already, stay as they are.

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

    After `schedule-c`:

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

    name = "schedule-c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in tuple(op.body.block.ops):
            if not isinstance(function, FuncOp) or KERNEL not in function.attributes:
                continue
            if function.body.blocks and (sequence := schedule(function, TILES, RULES)):
                Rewriter.insert_op(sequence, InsertPoint.before(function))
