"""Make external functions of regions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.symbol_table import get_name_if_symbol

from partita.analysis.diagnostics import fail
from partita.analysis.placement import graphs, target_of
from partita.dialects.byoc import (
    ORIGINALS,
    REGION,
    TARGET,
    ByocModuleOp,
    CallOp,
    CompositeOp,
    external_modules,
    inline_composite,
    target_name,
)
from partita.dialects.partita import inherit_origins
from partita.dialects.relay import ConstantOp
from partita.transforms.pipeline import TargetAware

LONGEST_STEM = 64
"""Characters of an external function's name that say where it comes from."""


@dataclass(frozen=True)
class PartitionGraphPass(TargetAware, ModulePass):
    """Move each region into a function of its target's `byoc.module`, and call that.

    A function's arguments are what its ops use and others make, each once; its results are
    what others use, each once. Constants are copied inside. Functions are named after the
    one that they come from, and numbered. Regions and targets are those that ops say
    (`byoc.region`, `byoc.target`); these attributes go. Nothing else changes but the
    order of ops, where ops of a region stand around others. A region that nobody uses
    stays where it is.

    Before:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %one = relay.constant dense<1.000000e+00> : tensor<f32>
      %a = relay.exp %x {byoc.target = "c", byoc.region = 0 : i64} : tensor<4xf32>
      %b = relay.add %a, %one {byoc.target = "c", byoc.region = 0 : i64, partita.origin = "add_1"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      %h = relay.erf %b : tensor<4xf32>
      func.return %h : tensor<4xf32>
    }
    ```

    After `partition-graph`:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %b = byoc.call @c::@main_0(%x) {partita.origin = "add_1"} : (tensor<4xf32>) -> tensor<4xf32>
      %h = relay.erf %b : tensor<4xf32>
      func.return %h : tensor<4xf32>
    }
    byoc.module @c attributes {target = "c"} {
      func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
        %one = relay.constant dense<1.000000e+00> : tensor<f32>
        %a = relay.exp %x : tensor<4xf32>
        %b = relay.add %a, %one {partita.origin = "add_1"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
        func.return %b : tensor<4xf32>
      }
    }
    ```
    """

    name = "partition-graph"

    keep_originals: bool = False
    """Whether each function is kept as it is now, for the host to fall back on."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        modules = _Modules(op, self.keep_originals)
        for function in tuple(graphs(op)):
            _partition(function, modules)


class _Modules:
    """Where external functions go."""

    def __init__(self, module: ModuleOp, keep_originals: bool):
        self.module = module
        self.keep_originals = keep_originals
        self.modules = external_modules(module)
        self.names = {
            target: set(each.functions) for target, each in self.modules.items()
        }
        self.originals: dict[str, ModuleOp] = {}

    def add(self, target: str, function: FuncOp) -> None:
        """Add a function that has a name of its own."""
        home = self.modules[target_name(target)]
        home.body.block.add_op(function)
        if self.keep_originals:
            kept = self.originals.get(target) or home.originals
            if kept is None:
                kept = ModuleOp([], sym_name=StringAttr(ORIGINALS))
                home.body.block.insert_ops_before((kept,), function)
            self.originals[target] = kept
            clone = function.clone()
            _forget(clone.body.block)
            kept.body.block.add_op(clone)

    def free_name(self, target: str, stem: str, number: int) -> tuple[str, int]:
        """Return a name that no function of a target has, with the least number from a given one on."""
        taken = self.names[target_name(target)]
        while (name := f"{stem}_{number}") in taken or name == ORIGINALS:
            number += 1
        taken.add(name)
        return name, number

    def prepare(self, target: str, at: Operation) -> None:
        """Make sure that there is a module for a target."""
        name = target_name(target)
        if name in self.modules:
            made_for = self.modules[name].target.data
            if made_for != target:
                fail(
                    at,
                    f"expected target {made_for}, which byoc.module @{name} is for already, got {target}",
                )
            return
        for op in self.module.body.block.ops:
            symbol = get_name_if_symbol(op)
            if symbol is not None and symbol.data == name:
                fail(
                    op,
                    f"expected no symbol @{name} beside the functions of target {name}; rename it",
                )
        self.modules[name] = made = ByocModuleOp(target)
        self.names[name] = set()
        self.module.body.block.add_op(made)


@dataclass(eq=False)
class _Node:
    """An op that stays, or a region."""

    ops: list[Operation]

    target: str | None
    """Of a region."""

    last: int
    """Where its last op stands."""


def _partition(function: FuncOp, modules: _Modules) -> None:
    block = function.body.block
    nodes = _nodes(block)
    if all(node.target is None for node in nodes):
        _forget(block)
        return
    order = _sorted(nodes)
    stem = re.sub(r"\W", "_", function.sym_name.data, flags=re.ASCII)[:LONGEST_STEM]
    for op in tuple(block.ops):
        op.detach()
    number = 0
    for node in order:
        if node.target is None:
            block.add_ops(node.ops)
            continue
        modules.prepare(node.target, function)
        name, number = modules.free_name(node.target, stem, number)
        external, call = _outline(node, name)
        block.add_op(call)
        modules.add(node.target, external)
        number += 1
    for op in tuple(block.ops):
        if isinstance(op, ConstantOp) and op.result.first_use is None:
            op.detach()
            op.erase()
    _forget(block)


def _forget(block: Block) -> None:
    """Make ops that stay the host's."""
    pending = list(block.ops)
    while pending:
        op = pending.pop()
        if isinstance(op, CompositeOp):
            pending.extend(inline_composite(op))
        else:
            op.attributes.pop(TARGET, None)
            op.attributes.pop(REGION, None)


def _nodes(block: Block) -> list[_Node]:
    """Return the regions of a block and the ops that are in none, in order of their first ops."""
    nodes: list[_Node] = []
    regions: dict[tuple[str, int], _Node] = {}
    for place, op in enumerate(block.ops):
        number, target = op.attributes.get(REGION), target_of(op)
        if target is None or not isinstance(number, IntegerAttr):
            nodes.append(_Node([op], None, place))
            continue
        key = (target, number.value.data)
        if key not in regions:
            regions[key] = _Node([], target, place)
            nodes.append(regions[key])
        regions[key].ops.append(op)
        regions[key].last = place
    return [each for node in nodes for each in _used_parts(node)]


def _used_parts(node: _Node) -> list[_Node]:
    """Return a node; of a region that nobody uses, its ops."""
    if node.target is None or _results(node):
        return [node]
    return [_Node([op], None, node.last) for op in node.ops]


def _results(node: _Node) -> list[SSAValue]:
    """Return what others use of a region."""
    inside = set(node.ops)
    return [
        result
        for op in node.ops
        for result in op.results
        if any(use.operation not in inside for use in result.uses)
    ]


def _sorted(nodes: Sequence[_Node]) -> list[_Node]:
    """Sort nodes so that none comes before one that it uses, and otherwise by their last ops."""
    home = {op: node for node, each in enumerate(nodes) for op in each.ops}
    waits: list[set[int]] = [set() for _ in nodes]
    followers: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes):
        for op in node.ops:
            for operand in op.operands:
                maker = operand.owner
                before = home.get(maker) if isinstance(maker, Operation) else None
                if before is None or before == number:
                    continue
                if before not in waits[number]:
                    waits[number].add(before)
                    followers[before].append(number)
    counts = [len(each) for each in waits]
    ready = [(nodes[each].last, each) for each, count in enumerate(counts) if not count]
    heapify(ready)
    order: list[_Node] = []
    while ready:
        _, number = heappop(ready)
        order.append(nodes[number])
        for follower in followers[number]:
            counts[follower] -= 1
            if not counts[follower]:
                heappush(ready, (nodes[follower].last, follower))
    if len(order) < len(nodes):
        stuck = next(node for node, count in zip(nodes, counts, strict=True) if count)
        fail(
            stuck.ops[0],
            "expected regions that do not wait for each other; run merge-regions first",
        )
    return order


def _outline(node: _Node, name: str) -> tuple[FuncOp, CallOp]:
    """Move the ops of a region into a function; return it, and its call, which is used in their place."""
    assert node.target is not None
    results = _results(node)
    inside = set(node.ops)
    inputs = dict.fromkeys(
        operand
        for op in node.ops
        for operand in op.operands
        if operand.owner not in inside and not isinstance(operand.owner, ConstantOp)
    )
    body = Block(arg_types=[each.type for each in inputs])
    values: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for old, new in values.items():
        new.name_hint = old.name_hint
    call = CallOp(
        target_name(node.target), name, list(inputs), [each.type for each in results]
    )
    inherit_origins(call, *node.ops)
    for old, new in zip(results, call.outputs, strict=True):
        new.name_hint = old.name_hint
        for use in tuple(old.uses):
            if use.operation not in inside:
                use.operation.operands[use.index] = new
    for operand in (each for op in node.ops for each in op.operands):
        if isinstance(operand.owner, ConstantOp) and operand not in values:
            constant = operand.owner.clone()
            constant.result.name_hint = operand.name_hint
            body.add_op(constant)
            values[operand] = constant.result
    for op in node.ops:
        for index, operand in enumerate(op.operands):
            if operand in values:
                op.operands[index] = values[operand]
        op.attributes.pop(TARGET, None)
        op.attributes.pop(REGION, None)
        body.add_op(op)
    body.add_op(ReturnOp(*results))
    function = FuncOp(
        name, (body.arg_types, [each.type for each in results]), Region(body)
    )
    return function, call
