"""Give back to the host what does not pay elsewhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from partita.analysis.placement import graphs, placed_ops, reject, target_of
from partita.dialects.byoc import (
    REGION,
    TARGET,
    CompositeOp,
    YieldOp,
    inline_composite,
    target_name,
)
from partita.dialects.relay import ConstantOp
from partita.targets.backend import Accept, Backend, ExternalBackend, Reject
from partita.targets.registry import external_backends


@dataclass(frozen=True)
class PruneRegionsPass(ModulePass):
    """Take regions from targets that find them too small, or not worth what it costs to get there and back.

    A back end says so by `minimum_ops` and `pays`; its reason becomes one of the reasons in
    `byoc.rejected`. Composites of such a region become the ops that they were made of.

    Before:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.exp %x {byoc.target = "other", byoc.region = 0 : i64} : tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }
    ```

    After `prune-regions{targets=other}`:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.exp %x {byoc.rejected = {other = "a region of 1 op, where at least 2 are worth it"}} : tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }
    ```
    """

    name = "prune-regions"

    targets: tuple[str, ...]

    backends: tuple[Backend, ...] = field(default=(), repr=False)
    """Back ends that are meant by their text in `targets`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        backends = external_backends(self.targets, self.backends)
        for function in graphs(op):
            for target, region in _regions(function.body.block):
                backend = backends.get(target_name(target))
                if backend is None:
                    continue
                answer = _judge(backend, region)
                if isinstance(answer, Reject):
                    for each in region:
                        _return(each, backend.name, answer.reason)


def _regions(block: Block) -> list[tuple[str, list[Operation]]]:
    """Return the regions of a graph, each with its target."""
    found: dict[int, tuple[str, list[Operation]]] = {}
    for op in placed_ops(block):
        number, target = op.attributes.get(REGION), target_of(op)
        if target is not None and isinstance(number, IntegerAttr):
            found.setdefault(number.value.data, (target, []))[1].append(op)
    return list(found.values())


def _judge(backend: ExternalBackend, region: Sequence[Operation]) -> Accept | Reject:
    count = sum(1 for each in region for _ in _inner(each))
    if count < backend.minimum_ops:
        ops = "1 op" if count == 1 else f"{count} ops"
        return Reject(
            f"a region of {ops}, where at least {backend.minimum_ops} are worth it"
        )
    return backend.pays(region)


def _inner(op: Operation) -> Iterator[Operation]:
    """Yield the ops that an op stands for."""
    if not isinstance(op, CompositeOp):
        yield op
        return
    for each in op.walk():
        if not isinstance(each, CompositeOp | ConstantOp | YieldOp):
            yield each


def _return(op: Operation, target: str, reason: str) -> None:
    """Let the host run an op, and all that is in it."""
    pending = [op]
    while pending:
        each = pending.pop()
        if isinstance(each, CompositeOp):
            pending.extend(inline_composite(each))
        elif not isinstance(each, ConstantOp):
            each.attributes.pop(TARGET, None)
            each.attributes.pop(REGION, None)
            reject(each, target, reason)
