"""Wrap what a back end runs as one."""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from partita.analysis.patterns import Finder, Match
from partita.analysis.placement import graphs, placed_ops, reject
from partita.dialects.byoc import TARGET, CompositeOp, YieldOp, target_name
from partita.dialects.partita import inherit_origins
from partita.targets.backend import (
    Backend,
    CompositePattern,
    ExternalBackend,
    Reject,
)
from partita.targets.registry import make_backends
from partita.transforms.options import spelled


@dataclass(frozen=True)
class MergeCompositePass(ModulePass):
    """Put the ops that match a pattern of a back end into a `byoc.composite`, which is then the back end's.

    Targets come in order, and take ops that are theirs, nobody's, or those of targets named
    later. The patterns of a target are tried in its order at each op, from the last op of a
    graph to the first, so that the longest chain wins. Constants that a pattern asks for
    are copied into the composite; other values that its ops use are its operands. Nothing
    is wrapped whose inner results are used elsewhere, unless the pattern allows for it.

    Before:

    ```mlir
    func.func @main(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> {
      %c = relay.constant dense<2.000000e+00> : tensor<4xf32>
      %0 = relay.multiply %x, %c {byoc.target = "example"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = relay.add %0, %y {byoc.target = "example"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %1 : tensor<4xf32>
    }
    ```

    After `merge-composite{targets=example}`:

    ```mlir
    func.func @main(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> {
      %0 = byoc.composite "example.multiply_add" (%x, %y) attributes {byoc.target = "example"} {
      ^bb0(%1 : tensor<4xf32>, %2 : tensor<4xf32>):
        %c = relay.constant dense<2.000000e+00> : tensor<4xf32>
        %3 = relay.multiply %1, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %4 = relay.add %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        byoc.yield %4 : tensor<4xf32>
      } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }
    ```
    """

    name = "merge-composite"

    targets: tuple[str, ...]

    backends: tuple[Backend, ...] = field(default=(), repr=False)
    """Back ends that are meant by their text in `targets`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        backends = make_backends(self.targets, self.backends)
        order = {each.name: place for place, each in enumerate(backends)}
        for place, backend in enumerate(backends):
            if not isinstance(backend, ExternalBackend):
                continue
            finder = Finder([(each, each.pattern) for each in backend.patterns()])
            if not finder.patterns:
                continue
            for function in graphs(op):
                _merge(function.body.block, backend, finder, order, place)


def _merge(
    block: Block,
    backend: ExternalBackend,
    finder: Finder[CompositePattern],
    order: dict[str, int],
    place: int,
) -> None:
    """Wrap what matches in one graph."""
    placed = set(placed_ops(block))
    text = StringAttr(spelled(backend))

    def allowed(pattern: CompositePattern, op: Operation) -> bool:
        if op not in placed:
            return False
        target = op.attributes.get(TARGET)
        if not isinstance(target, StringAttr):
            return True
        return order.get(target_name(target.data), -1) >= place

    def check(pattern: CompositePattern, match: Match) -> bool:
        answer = pattern.check(match)
        if isinstance(answer, Reject):
            if match.root.attributes.get(TARGET) != text:
                reject(match.root, backend.name, f"{pattern.name}: {answer.reason}")
            return False
        return True

    for pattern, match in tuple(finder.find(block, allowed, check)):
        wrap(match, pattern.name).attributes[TARGET] = text


def wrap(match: Match, label: str) -> CompositeOp:
    """Replace the ops of a match by a composite that stands where the root did."""
    inputs, results = match.inputs, match.results
    body = Block(arg_types=[each.type for each in inputs])
    values: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for each in (*match.constants, *match.operations):
        inner = each.clone(values)
        inner.attributes.pop(TARGET, None)
        body.add_op(inner)
    body.add_op(YieldOp([values[each] for each in results]))
    composite = CompositeOp(
        label, inputs, [each.type for each in results], Region(body)
    )
    inherit_origins(composite, *match.operations)
    Rewriter.insert_op(composite, InsertPoint.before(match.root))
    for old, new in zip(results, composite.outputs, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for each in reversed(match.operations):
        Rewriter.erase_op(each)
    for each in match.constants:
        if each.result.first_use is None:
            Rewriter.erase_op(each)
    return composite
