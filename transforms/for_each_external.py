"""Run passes on the external functions of a target."""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from partita.analysis.diagnostics import fail
from partita.dialects.byoc import ByocModuleOp, external_modules
from partita.transforms.pipeline import (
    Observer,
    Pipeline,
    RunsPasses,
    TargetAware,
    parse_passes,
)


@dataclass(frozen=True)
class ForEachExternalPass(TargetAware, RunsPasses, ModulePass):
    """Run a pipeline on a target's external functions, which are all that its passes see.

    Binaries, and functions kept as they were, stay aside. Who watches the pipeline that this
    pass is in, sees the functions after each pass, too. Functions that the passes add stay
    in the target's module. A target without external functions is left alone.

    Before:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.dropout %x {rate = 5.000000e-01 : f64} : tensor<4xf32>
      %1 = byoc.call @c::@main_0(%0) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %1 : tensor<4xf32>
    }
    byoc.module @c attributes {target = "c"} {
      func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
        %0 = relay.dropout %x {rate = 5.000000e-01 : f64} : tensor<4xf32>
        %1 = relay.exp %0 : tensor<4xf32>
        func.return %1 : tensor<4xf32>
      }
    }
    ```

    After `for-each-external{target=c pipeline="simplify-inference,dce"}`:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.dropout %x {rate = 5.000000e-01 : f64} : tensor<4xf32>
      %1 = byoc.call @c::@main_0(%0) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %1 : tensor<4xf32>
    }
    byoc.module @c attributes {target = "c"} {
      func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
        %0 = relay.exp %x : tensor<4xf32>
        func.return %0 : tensor<4xf32>
      }
    }
    ```
    """

    name = "for-each-external"

    target: str
    """The name of the target."""

    pipeline: str
    """Passes, in the syntax of `partita-opt -p`."""

    passes: tuple[ModulePass, ...] | None = field(default=None, repr=False)
    """What the pipeline means, if it is not to be read."""

    @property
    def part(self) -> str:
        return f"external functions of {self.target}"

    def nested(self) -> tuple[ModulePass, ...]:
        if self.passes is not None:
            return self.passes
        return parse_passes(self.pipeline, Universe.get_multiverse().all_passes)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.run(ctx, op, ())

    def run(
        self, ctx: Context, module: ModuleOp, observers: tuple[Observer, ...]
    ) -> None:
        pipeline = Pipeline(self.nested(), observers)
        external = external_modules(module).get(self.target)
        if external is not None:
            self._run(ctx, external, pipeline)

    def _run(self, ctx: Context, external: ByocModuleOp, pipeline: Pipeline) -> None:
        home = external.body.block
        functions = [each for each in home.ops if isinstance(each, FuncOp)]
        if not functions:
            return
        for each in functions:
            each.detach()
        room = ModuleOp(functions)
        try:
            pipeline.apply(ctx, room)
        finally:
            left = list(room.body.block.ops)
            for each in left:
                each.detach()
            home.add_ops(left)
        for each in left:
            if not isinstance(each, FuncOp):
                fail(
                    each,
                    f"expected passes of target {self.target} to leave functions, got {each.name}",
                )
