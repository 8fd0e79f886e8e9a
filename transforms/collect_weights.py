"""List the weights that a program reads when it runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from partita.analysis.buffer_constants import weight_of
from partita.dialects import tir
from partita.dialects.byoc import HOST_CODE, BinaryOp, CallOp, external_modules
from partita.dialects.partita import ENTRY, WEIGHTS, WeightAttr
from partita.transforms.pipeline import TargetAware


@dataclass(frozen=True)
class CollectWeightsPass(TargetAware, ModulePass):
    """List each weight that is read at run time once: by the host's entry, and by binaries of other targets.

    The list is the attribute `partita.weights` of the module, in order of first use. What
    was transformed away is not in it, and so not in an artifact.

    Before:

    ```mlir
    func.func @main(%x : memref<32xf32>, %y : memref<32xf32>) attributes {partita.entry} {
      %w = tir.constant #partita.weight<"00000000000000000000000000000001"> -> memref<32xf32>
      func.call @f(%w, %x, %y) : (memref<32xf32>, memref<32xf32>, memref<32xf32>) -> ()
      byoc.call @c::@main_0(%x, %y) : (memref<32xf32>, memref<32xf32>) -> ()
      func.return
    }
    func.func private @f(memref<32xf32>, memref<32xf32>, memref<32xf32>)
    byoc.module @c attributes {target = "c"} {
      byoc.binary @main_0 : (tensor<32xf32>) -> tensor<32xf32> {files = #byoc.files<"00000000000000000000000000000003">, weights = [#partita.weight<"00000000000000000000000000000002">, #partita.weight<"00000000000000000000000000000001">], options = "{}"}
    }
    ```

    After `collect-weights`:

    ```mlir
    builtin.module attributes {partita.weights = [#partita.weight<"00000000000000000000000000000001">, #partita.weight<"00000000000000000000000000000002">]} {
      func.func @main(%x : memref<32xf32>, %y : memref<32xf32>) attributes {partita.entry} {
        %w = tir.constant #partita.weight<"00000000000000000000000000000001"> -> memref<32xf32>
        func.call @f(%w, %x, %y) : (memref<32xf32>, memref<32xf32>, memref<32xf32>) -> ()
        byoc.call @c::@main_0(%x, %y) : (memref<32xf32>, memref<32xf32>) -> ()
        func.return
      }
      func.func private @f(memref<32xf32>, memref<32xf32>, memref<32xf32>)
      byoc.module @c attributes {target = "c"} {
        byoc.binary @main_0 : (tensor<32xf32>) -> tensor<32xf32> {files = #byoc.files<"00000000000000000000000000000003">, weights = [#partita.weight<"00000000000000000000000000000002">, #partita.weight<"00000000000000000000000000000001">], options = "{}"}
      }
    }
    ```
    """

    name = "collect-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.attributes[WEIGHTS] = ArrayAttr(dict.fromkeys(_used(op)))


def _used(module: ModuleOp) -> Iterator[WeightAttr]:
    """Yield the weights of the functions that run, in order of use."""
    externals = external_modules(module)
    functions = {name: each.functions for name, each in externals.items()}
    for function in module.body.block.ops:
        if not isinstance(function, FuncOp) or not _runs(function):
            continue
        for op in function.body.block.ops:
            match op:
                case tir.ConstantOp():
                    yield WeightAttr(weight_of(op))
                case CallOp():
                    callee = functions[op.target][op.function]
                    if isinstance(callee, BinaryOp):
                        yield from callee.weights
                case _:
                    pass


def _runs(function: FuncOp) -> bool:
    return ENTRY in function.attributes or HOST_CODE in function.attributes
