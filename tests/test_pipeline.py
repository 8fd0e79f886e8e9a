"""Running passes: who sees what, who is blamed, and who watches."""

from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, traits_def
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from partita.dialects.partita import IsolatedFromHost
from partita.errors import InternalError, PassError
from partita.transforms.pipeline import (
    BLAME,
    Observer,
    Pipeline,
    TargetAware,
    Verifier,
)


@irdl_op_definition
class ForeignOp(IRDLOperation):
    """Stand for the code of another target."""

    name = "elsewhere.module"

    label = prop_def(StringAttr)

    traits = traits_def(IsolatedFromHost())


def foreign(label: str) -> ForeignOp:
    return ForeignOp.build(properties={"label": StringAttr(label)})


def function(name: str) -> FuncOp:
    return FuncOp(name, ((), ()), Region(), visibility="private")


def labels(module: ModuleOp) -> list[str]:
    return [
        each.label.data if isinstance(each, ForeignOp) else each.sym_name.data
        for each in module.walk()
        if isinstance(each, ForeignOp | FuncOp)
    ]


@dataclass(frozen=True)
class See(ModulePass):
    """Collect what a pass sees."""

    name = "see"

    seen: list[list[str]]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.seen.append(labels(op))


@dataclass(frozen=True)
class SeeAll(TargetAware, See):
    """Collect what a target-aware pass sees."""


@dataclass(frozen=True)
class Clear(ModulePass):
    """Erase everything, then fail as told."""

    name = "clear"

    error: Exception | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in tuple(op.ops):
            each.detach()
            each.erase()
        if self.error is not None:
            raise self.error


@dataclass(frozen=True)
class Replace(ModulePass):
    """Replace each function by two, the new one first."""

    name = "replace"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in tuple(op.ops):
            assert isinstance(each, FuncOp)
            new = (
                function(each.sym_name.data + "1"),
                function(each.sym_name.data + "2"),
            )
            op.body.block.insert_ops_before(new, each)
            each.detach()
            each.erase()


def test_isolation() -> None:
    seen: list[list[str]] = []
    module = ModuleOp([foreign("x"), function("f"), foreign("y")])
    Pipeline((See(seen), SeeAll(seen), See(seen))).apply(Context(), module)
    assert seen == [["f"], ["x", "f", "y"], ["f"]]


@pytest.mark.parametrize(
    "error", [None, PassError("no"), VerifyException("no"), KeyError("no")]
)
def test_put_back_even_on_failure(error: Exception | None) -> None:
    module = ModuleOp([foreign("x"), function("f"), foreign("y"), foreign("z")])
    try:
        Pipeline((Clear(error),)).apply(Context(), module)
    except (InternalError, PassError, VerifyException):
        assert error is not None
    assert labels(module) == ["x", "y", "z"]


def test_put_back_beside_what_replaced_a_neighbour() -> None:
    module = ModuleOp([function("f"), foreign("x"), foreign("y"), function("g")])
    Pipeline((Replace(),)).apply(Context(), module)
    assert [each for each in labels(module) if each in "xy"] == ["x", "y"]


def test_container_must_stay() -> None:
    module = ModuleOp([ModuleOp([foreign("x")]), function("f")])
    with pytest.raises(PassError, match="expected a module that holds code of other"):
        Pipeline((Clear(),)).apply(Context(), module)


def test_blame() -> None:
    with pytest.raises(PassError) as ours:
        Pipeline((Clear(PassError("no")),)).apply(Context(), ModuleOp([]))
    assert ours.value.__notes__ == [BLAME + "in clear"]

    with pytest.raises(InternalError, match="internal error: KeyError: 'no'") as bug:
        Pipeline((Clear(KeyError("no")),)).apply(Context(), ModuleOp([]))
    assert isinstance(bug.value.__cause__, KeyError)


def test_verifier_blames_the_pass_before() -> None:
    nested = ModuleOp([FuncOp("f", ((), ()))])  # a body without a terminator
    with pytest.raises(VerifyException) as error:
        Pipeline((See([]),), (Verifier(),)).apply(Context(), nested)
    assert BLAME + "after see" in error.value.__notes__


def test_observers_see_everything_in_order() -> None:
    events: list[str] = []

    class Watch(Observer):
        def before(self, each: ModulePass, module: ModuleOp) -> None:
            events.append(f"before {each.name} {labels(module)}")

        def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
            assert seconds >= 0
            events.append(f"after {each.name} {labels(module)}")

    module = ModuleOp([foreign("x"), function("f")])
    Pipeline((See([]), Clear()), (Watch(),)).apply(Context(), module)
    assert events == [
        "before see ['x', 'f']",
        "after see ['x', 'f']",
        "before clear ['x', 'f']",
        "after clear ['x']",
    ]


def test_isolated_ops_stand_in_modules_only() -> None:
    op = FuncOp("f", ((), ()))
    op.body.block.add_ops((foreign("x"), ReturnOp()))
    with pytest.raises(VerifyException, match=r"directly in a builtin\.module"):
        ModuleOp([op]).verify()
