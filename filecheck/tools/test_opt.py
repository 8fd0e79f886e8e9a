"""`partita-opt`, with an op and back ends that only tests have, and passes that show what they see."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from example_backend import Example, Other
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Dialect, Operation
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_region_def,
    prop_def,
    traits_def,
)
from xdsl.passes import ModulePass
from xdsl.traits import NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import PassFailedException

from partita.dialects.partita import IsolatedFromHost
from partita.errors import PassError
from partita.targets import registry
from partita.tools.opt import PartitaOpt, run_tool
from partita.transforms.pipeline import Pipeline, TargetAware


@irdl_op_definition
class ForeignOp(IRDLOperation):
    """Hold what no pass but a target-aware one may see."""

    name = "elsewhere.module"

    sym_name = prop_def(StringAttr)

    body = opt_region_def()

    traits = traits_def(IsolatedFromHost(), SymbolOpInterface(), NoTerminator())


Elsewhere = Dialect("elsewhere", [ForeignOp])


def _names(ops: Iterable[Operation]) -> StringAttr:
    return StringAttr(
        " ".join(
            each.name.partition(".")[0]
            for each in ops
            if isinstance(each, ForeignOp | FuncOp)
        )
    )


@dataclass(frozen=True)
class TestSeeHostPass(ModulePass):
    """Write down which ops a pass sees."""

    name = "test-see-host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.attributes["host_sees"] = _names(op.walk())


@dataclass(frozen=True)
class TestSeeAllPass(TargetAware, ModulePass):
    """Write down which ops a target-aware pass sees."""

    name = "test-see-all"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.attributes["aware_sees"] = _names(op.walk())


@dataclass(frozen=True)
class TestNestPass(TargetAware, ModulePass):
    """Run a pass that is not target-aware from within one that is."""

    name = "test-nest"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Pipeline((TestSeeHostPass(), TestSeeAllPass())).apply(ctx, op)


@dataclass(frozen=True)
class TestEraseFirstPass(ModulePass):
    """Erase the first function."""

    name = "test-erase-first"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        first = next(each for each in op.ops if isinstance(each, FuncOp))
        first.detach()
        first.erase()


@dataclass(frozen=True)
class TestFailPass(ModulePass):
    """Fail in one of several ways."""

    name = "test-fail"

    how: str = "diagnostic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        match self.how:
            case "diagnostic":
                message = "expected better luck, got none"
                *_, last = op.walk()
                last.emit_error(message, PassFailedException(message))
            case "error":
                raise PassError("expected better luck, got none")
            case _:
                raise KeyError(self.how)


class TestOpt(PartitaOpt):
    """`partita-opt` and what is above."""

    def register_all_dialects(self) -> None:
        super().register_all_dialects()
        self.ctx.register_dialect(Elsewhere.name, lambda: Elsewhere)
        for each in (
            TestSeeHostPass,
            TestSeeAllPass,
            TestNestPass,
            TestEraseFirstPass,
            TestFailPass,
        ):
            self.register_pass(each.name, lambda each=each: each)


if __name__ == "__main__":
    registry.ALL_BACKENDS = (*registry.ALL_BACKENDS, Example, Other)
    sys.exit(run_tool(TestOpt))
