"""Write down which target takes each op."""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from partita.analysis.placement import graphs, placed_ops, reject
from partita.dialects.byoc import HOST, TARGET
from partita.targets.backend import Backend, Reject
from partita.targets.registry import make_backends
from partita.transforms.options import spelled


@dataclass(frozen=True)
class AnnotateTargetPass(ModulePass):
    """Give each op to the first target that supports it, and keep the reasons of those that do not.

    The choice is the attribute `byoc.target`, a target with its options as `--target` takes
    it; reasons are in `byoc.rejected`, by target name. An op without a target is the host's.
    If `host` is named among the targets, what it supports goes to none that is named after
    it. Constants go with the ops that use them; ops that were given away before stay there.

    Before:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %a = relay.exp %x : tensor<4xf32>
      %b = relay.erf %a : tensor<4xf32>
      func.return %b : tensor<4xf32>
    }
    ```

    After `annotate-target{targets=example}`:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %a = relay.exp %x {byoc.target = "example"} : tensor<4xf32>
      %b = relay.erf %a {byoc.rejected = {example = "relay.erf is not among its ops"}} : tensor<4xf32>
      func.return %b : tensor<4xf32>
    }
    ```
    """

    name = "annotate-target"

    targets: tuple[str, ...]
    """Those named first are asked first."""

    backends: tuple[Backend, ...] = field(default=(), repr=False)
    """Back ends that are meant by their text in `targets`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        backends = make_backends(self.targets, self.backends)
        texts = {
            each.name: StringAttr(HOST if each.name == HOST else spelled(each))
            for each in backends
        }
        for function in graphs(op):
            for each in placed_ops(function.body.block):
                if TARGET in each.attributes:
                    continue
                for backend in backends:
                    answer = backend.supports(each)
                    if not isinstance(answer, Reject):
                        each.attributes[TARGET] = texts[backend.name]
                        break
                    reject(each, backend.name, answer.reason)
