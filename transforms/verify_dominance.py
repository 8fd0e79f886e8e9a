"""Refuse IR in which a value is used where its definition has not run."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from partita.analysis.verification import verify_dominance


@dataclass(frozen=True)
class VerifyDominancePass(ModulePass):
    """Check that definitions dominate uses; change nothing.

    xDSL's own verifier looks at each op by itself, so that IR which a pass has put in a
    wrong order prints, verifies and fails much later.

    Before:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      func.return %x : tensor<4xf32>
    }
    ```

    After `verify-dominance`:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      func.return %x : tensor<4xf32>
    }
    ```
    """

    name = "verify-dominance"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        verify_dominance(op)
