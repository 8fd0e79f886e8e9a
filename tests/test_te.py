"""`te` means what `relay` means: every op in every variant, and random graphs of them."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from relay_cases import CASES, Case, assert_close
from relay_cases.graphs import graphs
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp
from xdsl.parser import Parser

from partita.analysis.verification import verify
from partita.dialects import ALL_DIALECTS
from partita.dialects.relay import ALL_OPS, ConstantOp
from partita.dialects.te import ComputeOp
from partita.interpreters import interpret, te
from partita.transforms.lower_relay_to_te import (
    LowerRelayToTePass,
    lower_to_te_compute,
)
from partita.transforms.te_rules import TE_RULES


def lowered(case: Case) -> ModuleOp:
    module = case.module()
    LowerRelayToTePass().apply(Context(), module)
    verify(module)
    return module


@pytest.mark.parametrize("each", CASES, ids=str)
def test_relay_and_te_give_the_same(each: Case) -> None:
    inputs = each.inputs()
    assert_close(interpret(lowered(each), inputs), each.expected(inputs))


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(graphs())
def test_random_graphs_give_the_same(each: Case) -> None:
    inputs = each.inputs()
    actual = interpret(lowered(each), inputs)
    assert_close(actual, each.expected(inputs), each.slack(inputs))


@pytest.mark.parametrize("each", CASES[::9], ids=str)
def test_boxes_of_few_points_give_the_same(
    each: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compute that is evaluated in many boxes gives what it gives in one."""
    monkeypatch.setattr(te, "POINTS", 20)
    inputs = each.inputs()
    assert_close(interpret(lowered(each), inputs), each.expected(inputs))


def test_every_op_has_a_rule() -> None:
    assert {*TE_RULES, ConstantOp} == set(ALL_OPS)


def test_a_function_is_lowered_aside() -> None:
    (case,) = (each for each in CASES if each.name == "softmax-float32")
    module = case.module()
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    before = str(module)
    result = lower_to_te_compute(function)
    labels = [op.label.data for op in result.body.ops if isinstance(op, ComputeOp)]
    steps = ("max", "exp", "sum", "scale")
    assert labels == [*(f"softmax_{step}" for step in steps), "softmax"]
    assert str(module) == before


def test_case_names_are_unique() -> None:
    names = [each.name for each in CASES]
    assert len(set(names)) == len(names)


def test_the_example_of_the_documentation_is_what_the_pass_does() -> None:
    text = (Path(__file__).parent.parent / "docs" / "te.md").read_text()
    ctx = Context()
    for dialect in (Arith, Builtin, Func, *ALL_DIALECTS):
        ctx.load_dialect(dialect)
    before, after = (
        Parser(ctx, each).parse_module()
        for each in re.findall(r"```mlir\n(.*?)```", text, re.DOTALL)
    )
    LowerRelayToTePass().apply(ctx, before)
    assert str(before) == str(after)
