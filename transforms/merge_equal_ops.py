"""Compute what is computed twice once."""

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from partita.dialects.partita import ORIGIN, inherit_origins
from partita.dialects.relay import RelayOp


@dataclass(frozen=True)
class MergeEqualOpsPass(ModulePass):
    """Replace a relay op by an earlier one that gives the same, wherever in the model they come from.

    `cse` compares all attributes of an op, hence leaves two of different origin alone,
    and in an imported model that is any two. Here origin does not count, and what stays
    names the nodes of both. Ops of one block are merged, constants included; ops of other dialects are left to `cse`.

    Before:

    ```mlir
    func.func @main(%x : tensor<2xf32>) -> tensor<2xf32> {
      %0 = relay.exp %x {partita.origin = "exp_1"} : tensor<2xf32>
      %1 = relay.exp %x {partita.origin = "exp_2"} : tensor<2xf32>
      %2 = relay.add %0, %1 {partita.origin = "add_1"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %2 : tensor<2xf32>
    }
    ```

    After `merge-equal-ops`:

    ```mlir
    func.func @main(%x : tensor<2xf32>) -> tensor<2xf32> {
      %0 = relay.exp %x {partita.origin = "exp_1, exp_2"} : tensor<2xf32>
      %1 = relay.add %0, %0 {partita.origin = "add_1"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %1 : tensor<2xf32>
    }
    ```
    """

    name = "merge-equal-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known: dict[tuple[Block | None, Hashable], RelayOp] = {}
        for each in tuple(op.walk()):
            if not isinstance(each, RelayOp):
                continue
            first = known.setdefault((each.parent, meaning(each)), each)
            if first is each:
                continue
            inherit_origins(first, first, each)
            for result, same in zip(each.results, first.results, strict=True):
                result.replace_all_uses_with(same)
            Rewriter.erase_op(each)


def meaning(op: RelayOp) -> Hashable:
    """Return what two ops of one result have in common."""
    return (
        type(op),
        tuple(op.operands),
        op.result_types,
        frozenset(op.properties.items()),
        frozenset(item for item in op.attributes.items() if item[0] != ORIGIN),
    )
