"""Merge neighbouring ops of one target into regions."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from partita.analysis.contraction import Contraction
from partita.analysis.placement import graphs, target_of
from partita.dialects.byoc import REGION
from partita.dialects.relay import ConstantOp

ROUNDS = 8
"""Looks at all neighbours, at most: a merge may remove the path that kept others apart."""


@dataclass(frozen=True)
class MergeRegionsPass(ModulePass):
    """Number the regions of a graph: ops of one target that can run as one function.

    Neighbours of one target are merged unless something elsewhere needs the one and is
    needed by the other: a region never waits for itself, nor do two for each other. No
    two regions remain that could be merged, unless more than thousands of ops lie between.
    Every region gets a number, in the order in which they can run, which is the attribute
    `byoc.region` of its ops. Constants belong to none, and to all that use them. Ops that
    use nothing of each other stay apart even where they read the same value.

    Before:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %a = relay.exp %x {byoc.target = "c"} : tensor<4xf32>
      %b = relay.relu %a {byoc.target = "c"} : tensor<4xf32>
      %h = relay.erf %a : tensor<4xf32>
      %c = relay.add %b, %h {byoc.target = "c"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %c : tensor<4xf32>
    }
    ```

    After `merge-regions`:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %a = relay.exp %x {byoc.target = "c", byoc.region = 0 : i64} : tensor<4xf32>
      %b = relay.relu %a {byoc.target = "c", byoc.region = 0 : i64} : tensor<4xf32>
      %h = relay.erf %a : tensor<4xf32>
      %c = relay.add %b, %h {byoc.target = "c", byoc.region = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %c : tensor<4xf32>
    }
    ```
    """

    name = "merge-regions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in graphs(op):
            _merge(function.body.block)


def _merge(block: Block) -> None:
    ops = [
        op
        for op in block.ops
        if not isinstance(op, ConstantOp) and not op.has_trait(IsTerminator)
    ]
    targets = [target_of(op) for op in ops]
    if not any(targets):
        return
    graph = _contract(ops, targets)
    numbers: dict[int, int] = {}
    for group in graph.groups():
        if targets[group] is not None:
            numbers[group] = len(numbers)
    for node, op in enumerate(ops):
        if targets[node] is not None:
            op.attributes[REGION] = IntegerAttr(numbers[graph.group(node)], i64)
        else:
            op.attributes.pop(REGION, None)


def _contract(ops: list[Operation], targets: list[str | None]) -> Contraction:
    """Merge ops of one target, those that stand before others first."""
    position = {op: node for node, op in enumerate(ops)}
    successors: list[dict[int, None]] = [{} for _ in ops]
    for node, op in enumerate(ops):
        for operand in op.operands:
            maker = operand.owner
            if isinstance(maker, Operation) and maker in position:
                successors[position[maker]][node] = None
    graph = Contraction(successors)
    for _ in range(ROUNDS):
        merged = False
        for group in graph.groups():
            if targets[group] is not None:
                merged |= _merge_into(graph, group, targets)
        if not merged:
            break
    return graph


def _merge_into(graph: Contraction, node: int, targets: list[str | None]) -> bool:
    """Merge a group with those of its target that lead to it, the nearest first."""
    merged = False
    group = graph.group(node)
    for before in graph.predecessors(group):
        first = graph.group(before)
        if first != group and targets[first] == targets[group]:
            made = graph.merge(first, group)
            if made is not None:
                group, merged = made, True
    return merged
