"""Give every buffer of the entry function its place in one arena."""

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from partita.analysis.liveness import Lifetime, plan_arena
from partita.dialects.byoc import HOST_CODE
from partita.dialects.partita import ARENA, ENTRY, OFFSET
from partita.dialects.tir import buffer_type
from partita.shapes import dtype_of


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """State where each buffer that the entry allocates stands in one arena, and the arena's size.

    A buffer lives from the first op that uses it to the last; buffers that do not live at
    the same time share memory. Offsets and size are in bytes, multiples of 64. A buffer
    that no op uses is removed. Functions that can take the place of external ones have
    arenas of their own.

    Before:

    ```mlir
    func.func @main(%x : memref<16xf32>, %y : memref<16xf32>) attributes {partita.entry} {
      %a = memref.alloc() : memref<16xf32>
      func.call @f(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
      func.call @f(%a, %y) : (memref<16xf32>, memref<16xf32>) -> ()
      func.return
    }
    func.func private @f(memref<16xf32>, memref<16xf32>)
    ```

    After `plan-memory`:

    ```mlir
    func.func @main(%x : memref<16xf32>, %y : memref<16xf32>) attributes {partita.entry, partita.arena = 64 : i64} {
      %a = memref.alloc() {partita.offset = 0 : i64} : memref<16xf32>
      func.call @f(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
      func.call @f(%a, %y) : (memref<16xf32>, memref<16xf32>) -> ()
      func.return
    }
    func.func private @f(memref<16xf32>, memref<16xf32>)
    ```
    """

    name = "plan-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and (
                ENTRY in function.attributes or HOST_CODE in function.attributes
            ):
                _plan(function)


def size_of(alloc: AllocOp) -> int:
    """Return the bytes that a buffer takes."""
    type = buffer_type(alloc.memref)
    return prod(type.get_shape()) * dtype_of(type.element_type).itemsize


def _plan(function: FuncOp) -> None:
    ops = tuple(function.body.block.ops)
    steps: dict[Operation, int] = {op: step for step, op in enumerate(ops)}
    allocs: list[AllocOp] = []
    lifetimes: list[Lifetime] = []
    for op in ops:
        if not isinstance(op, AllocOp):
            continue
        uses = [steps[use.operation] for use in op.memref.uses]
        if not uses:
            op.detach()
            op.erase()
            continue
        allocs.append(op)
        lifetimes.append(Lifetime(size_of(op), min(uses), max(uses)))
    arena = plan_arena(lifetimes)
    for alloc, offset in zip(allocs, arena.offsets, strict=True):
        alloc.attributes[OFFSET] = IntegerAttr(offset, i64)
    function.attributes[ARENA] = IntegerAttr(arena.size, i64)
