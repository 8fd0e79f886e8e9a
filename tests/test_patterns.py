"""Patterns of ops: what matches, what is captured, what keeps a match from being one op."""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.parser import Parser

from partita.analysis.patterns import (
    Finder,
    Match,
    Pattern,
    anything,
    constant,
    op,
    optional,
)
from partita.dialects import relay
from partita.driver import context

T = "tensor<4xf32>"


def parse(body: str) -> Block:
    """Return the body of a function of %x, %y and %z, in which `T` is a tensor's type."""
    text = f"func.func @f(%x : T, %y : T, %z : T) {{\n{body}\nfunc.return\n}}"
    module = Parser(context(), text.replace("T", T)).parse_module()
    assert isinstance(module, ModuleOp)
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function.body.block


def find(block: Block, *patterns: Pattern) -> list[Match]:
    finder = Finder(list(enumerate(patterns)))
    return [match for _, match in finder.find(block, lambda key, op: True)]


def names(ops: tuple[Operation, ...]) -> list[str]:
    return [each.name.removeprefix("relay.") for each in ops]


def binary(name: str, lhs: str, rhs: str, attributes: str = "") -> str:
    return f"relay.{name} {lhs}, {rhs} {attributes} : (T, T) -> T"


CONVOLUTION = op(relay.MultiplyOp, anything(), anything()).named("product")
SUM = op(relay.AddOp, CONVOLUTION, anything().named("bias"), commutative=True)
CHAIN = optional(relay.ReluOp, SUM | CONVOLUTION)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%a = MUL\n%b = ADD\n%c = relay.relu %b : T", ["multiply", "add", "relu"]),
        ("%a = MUL\n%b = ADD", ["multiply", "add"]),
        ("%a = MUL\n%c = relay.relu %a : T", ["multiply", "relu"]),
        ("%a = MUL", ["multiply"]),
    ],
)
def test_optional_parts_and_alternatives(body: str, expected: list[str]) -> None:
    body = body.replace("MUL", binary("multiply", "%x", "%y"))
    (match,) = find(parse(body.replace("ADD", binary("add", "%z", "%a"))), CHAIN)
    assert names(match.operations) == expected
    product = match.captured("product")
    assert product is not None
    assert product.name == "relay.multiply"
    assert match.captured("bias") is None
    assert ("bias" in match.captures) == ("add" in expected)


def test_the_longest_chain_wins_and_no_op_is_matched_twice() -> None:
    block = parse(
        f"%a = {binary('multiply', '%x', '%y')}\n%b = {binary('add', '%a', '%z')}\n"
        f"%c = {binary('multiply', '%b', '%y')}\n%d = relay.relu %c : T"
    )
    found = [names(each.operations) for each in find(block, CHAIN)]
    assert found == [["multiply", "relu"], ["multiply", "add"]]


def test_operands_of_others_do_not_commute() -> None:
    pattern = op(relay.SubtractOp, op(relay.ReluOp), anything())
    relu = "%a = relay.relu %x : T\n"
    assert find(parse(f"{relu}%b = {binary('subtract', '%a', '%y')}"), pattern)
    assert not find(parse(f"{relu}%b = {binary('subtract', '%y', '%a')}"), pattern)


def test_what_is_used_elsewhere_is_not_matched() -> None:
    pattern = op(relay.NegativeOp, op(relay.ReluOp))
    chain = "%a = relay.relu %x : T\n%b = relay.negative %a : T\n"
    assert find(parse(chain), pattern)
    assert not find(parse(f"{chain}%c = relay.exp %a : T"), pattern)


def test_shared_parts_have_users_after_the_root() -> None:
    pattern = op(relay.NegativeOp, op(relay.ReluOp, shared=True))
    relu, negative = "%a = relay.relu %x : T\n", "%b = relay.negative %a : T\n"
    user = "%c = relay.exp %a : T\n"
    (match,) = find(parse(relu + negative + user), pattern)
    assert [each.name_hint for each in match.results] == ["a", "b"]
    assert not find(parse(relu + user + negative), pattern)


def test_constants_and_predicates() -> None:
    two = constant(lambda op: op.splat() == 2)
    pattern = op(relay.MultiplyOp, anything(), two, commutative=True)
    for value, found in (("2.0", 1), ("3.0", 0)):
        block = parse(
            f"%c = relay.constant dense<{value}> : T\n%a = {binary('multiply', '%c', '%x')}"
        )
        matches = find(block, pattern)
        assert len(matches) == found
        for match in matches:
            assert names(match.constants) == ["constant"]
            assert [each.name_hint for each in match.inputs] == ["x"]
    assert not find(parse(f"%a = {binary('multiply', '%x', '%y')}"), pattern)
    where = op(relay.ReluOp, anything(lambda value: value.name_hint == "y"))
    assert not find(parse("%a = relay.relu %x : T"), where)
    assert find(parse("%a = relay.relu %y : T"), where)
    of_argument = op(
        relay.ReluOp, where=lambda op: not isinstance(op.operands[0].owner, Operation)
    )
    (match,) = find(
        parse("%a = relay.relu %x : T\n%b = relay.relu %a : T"), of_argument
    )
    assert match.root.results[0].name_hint == "a"


@pytest.mark.parametrize(
    ("attributes", "matches"),
    [
        ({"rate": 0.5}, True),
        ({"rate": 0.25}, False),
        ({"partita.origin": "d"}, True),
        ({"partita.origin": "e"}, False),
        ({"missing": 1}, False),
    ],
)
def test_attributes_in_plain_values(
    attributes: dict[str, float | str], matches: bool
) -> None:
    block = parse('%a = relay.dropout %x {rate = 0.5 : f64, partita.origin = "d"} : T')
    assert bool(find(block, op(relay.DropoutOp, attributes=attributes))) == matches


def test_attributes_that_are_lists_and_integers() -> None:
    block = parse(
        "%a = relay.expand_dims %x {axes = array<i64: 0>} : T -> tensor<1x4xf32>"
    )
    assert find(block, op(relay.ExpandDimsOp, attributes={"axes": (0,)}))
    assert not find(block, op(relay.ExpandDimsOp, attributes={"axes": (1,)}))
    block = parse(
        "%a, %b = relay.split %x {sizes = array<i64: 1, 3>, axis = 0 : i64} : (T) -> (tensor<1xf32>, tensor<3xf32>)"
    )
    assert find(block, op(relay.SplitOp, attributes={"axis": 0, "sizes": (1, 3)}))


def test_the_result_that_a_match_goes_through() -> None:
    split = "%a, %b = relay.split %x {sizes = array<i64: 2, 2>, axis = 0 : i64} : (T) -> (tensor<2xf32>, tensor<2xf32>)\n"
    first = op(relay.ReluOp, op(relay.SplitOp, result=0, shared=True))
    assert find(parse(f"{split}%c = relay.relu %a : tensor<2xf32>"), first)
    assert not find(parse(f"{split}%c = relay.relu %b : tensor<2xf32>"), first)


def test_parts_of_one_name_match_one_value() -> None:
    square = op(relay.MultiplyOp, anything().named("v"), anything().named("v"))
    assert find(parse(f"%a = {binary('multiply', '%x', '%x')}"), square)
    assert not find(parse(f"%a = {binary('multiply', '%x', '%y')}"), square)


def test_a_value_inside_a_match_is_no_input() -> None:
    """Of s = x - y, p = s + y, q = s + p, r = q + p, three additions: s stays outside, p is inside."""
    add = op(relay.AddOp, anything(), anything())
    pattern = op(relay.AddOp, op(relay.AddOp, anything(), add), anything())
    block = parse(
        f"%s = {binary('subtract', '%x', '%y')}\n%p = {binary('add', '%s', '%y')}\n"
        f"%q = {binary('add', '%s', '%p')}\n%r = {binary('add', '%q', '%p')}"
    )
    (match,) = find(block, pattern)
    assert [each.results[0].name_hint for each in match.operations] == ["p", "q", "r"]
    assert [each.name_hint for each in match.inputs] == ["s", "y"]
    assert [each.name_hint for each in match.results] == ["r"]


def test_patterns_are_tried_in_order_and_may_be_refused() -> None:
    block = parse("%a = relay.relu %x : T\n%b = relay.exp %a : T")
    finder = Finder(
        [("one", op((relay.ReluOp, relay.ExpOp))), ("two", op(relay.ExpOp))]
    )
    found = [
        (key, match.root.name)
        for key, match in finder.find(block, lambda key, op: True)
    ]
    assert found == [("one", "relay.exp"), ("one", "relay.relu")]
    allowed = [
        (key, match.root.name)
        for key, match in finder.find(
            block, lambda key, op: key == "two", lambda key, match: True
        )
    ]
    assert allowed == [("two", "relay.exp")]
    checked = list(
        finder.find(block, lambda key, op: True, lambda key, match: key == "two")
    )
    assert [(key, match.root.name) for key, match in checked] == [("two", "relay.exp")]


def test_a_match_has_the_number_of_operands_that_is_asked_for() -> None:
    block = parse("%a = relay.relu %x : T")
    assert not find(block, op(relay.ReluOp, anything(), anything()))
    assert not find(block, anything() | constant())
