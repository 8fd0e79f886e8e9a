"""The key and the labels of a task follow from what is computed, not from what it is called."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relay_cases import Case
from relay_cases.graphs import graphs
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from partita.analysis.canonical_task import canonical_function, take_labels, task_key
from partita.analysis.verification import verify
from partita.dialects.te import ComputeOp
from partita.driver import context
from partita.transforms.lower_relay_to_te import Computes, lower_to_te_compute

TWICE = """
func.func @f(%x : tensor<8xf32>, %y : tensor<8xf32>) -> tensor<8xf32> {
  %a = te.compute "add" {partita.origin = "n1"} (%i in 8) {
    %0 = te.read %x[%i] : tensor<8xf32>
    %c = arith.constant 1.000000e+00 : f32
    %1 = arith.addf %0, %c : f32
    te.yield %1 : f32
  } : tensor<8xf32>
  %b = te.compute "add_1" {partita.origin = "n2"} (%i in 8) {
    %0 = te.read %y[7 - %i] : tensor<8xf32>
    %1 = arith.addf %0, %0 : f32
    te.yield %1 : f32
  } : tensor<8xf32>
  %s = te.compute "sum" () reduce (%k in 8) init (0.000000e+00 : f32) {
    %0 = te.read %a[%k] : tensor<8xf32>
    %1 = te.read %b[%k] : tensor<8xf32>
    %2 = arith.mulf %0, %1 : f32
    te.yield %2 : f32
  } combine (%p : f32, %q : f32) {
    %r = arith.addf %p, %q : f32
    te.yield %r : f32
  } : tensor<f32>
  %z = te.compute "spread" (%i in 8) {
    %0 = te.read %s[] : tensor<f32>
    te.yield %0 : f32
  } : tensor<8xf32>
  func.return %z : tensor<8xf32>
}
"""

FIRST, SECOND = (
    TWICE[TWICE.index(start) : TWICE.index(end)]
    for start, end in (("  %a = ", "  %b = "), ("  %b = ", "  %s = "))
)


def function(text: str) -> FuncOp:
    module = Parser(context(), text).parse_module()
    assert isinstance(module, ModuleOp)
    verify(module)
    made = module.body.block.first_op
    assert isinstance(made, FuncOp)
    return made


def labels(function: FuncOp) -> list[str]:
    """Return the label of each compute, in the order of the listing."""
    return [
        each.label.data
        for each in function.body.block.ops
        if isinstance(each, ComputeOp)
    ]


SAME = {
    "names of values": TWICE.replace("%x", "%input").replace("%a", "%first"),
    "labels": TWICE.replace('"add_1"', '"x"').replace('"add"', '"add_1"'),
    "swapped labels": TWICE.replace('"add_1"', '"x"')
    .replace('"add"', '"add_1"')
    .replace('"x"', '"add"'),
    "origins": TWICE.replace("n1", "conv_17"),
    "constants": TWICE.replace("1.000000e+00", "-7.500000e+00"),
    "order of listing": TWICE.replace(FIRST + SECOND, SECOND + FIRST),
    "order of arguments": TWICE.replace(
        "%x : tensor<8xf32>, %y : tensor<8xf32>",
        "%y : tensor<8xf32>, %x : tensor<8xf32>",
    ),
    "unused arguments": TWICE.replace("(%x : ", "(%unused : tensor<3xi8>, %x : "),
    "dead ops": TWICE.replace(
        SECOND, SECOND.replace("%b = ", "%dead = ").replace("add_1", "dead") + SECOND
    ),
    "the function": TWICE.replace("func.func @f", "func.func private @g").replace(
        "-> tensor<8xf32> {", "-> tensor<8xf32> attributes {partita.kernel} {", 1
    ),
    "notes": TWICE.replace(
        'partita.origin = "n1"', 'byoc.rejected = {c = "no"}, byoc.target = "host"'
    ),
}

OTHER = {
    "an op of a body": TWICE.replace("arith.mulf", "arith.subf"),
    "which value is read": TWICE.replace("%1 = te.read %b[%k]", "%1 = te.read %a[%k]"),
    "where it is read": TWICE.replace("7 - %i", "%i"),
    "a shape": TWICE.replace("8", "16").replace("7 -", "15 -"),
    "a type": TWICE.replace("f32", "f64"),
    "what a reduction starts from": TWICE.replace("0.000000e+00", "1.000000e+00"),
    "a combiner": TWICE.replace("arith.addf %p, %q", "arith.mulf %p, %q"),
    "what is returned": TWICE.replace("return %z", "return %b"),
}


@pytest.mark.parametrize("what", SAME)
def test_does_not_matter(what: str) -> None:
    plain, other = function(TWICE), function(SAME[what])
    assert SAME[what] != TWICE
    assert task_key(other) == task_key(plain)
    if what != "constants":
        one, two = (str(canonical_function(each, "f")) for each in (plain, other))
        assert one == two


@pytest.mark.parametrize("what", OTHER)
def test_matters(what: str) -> None:
    assert OTHER[what] != TWICE
    assert task_key(function(OTHER[what])) != task_key(function(TWICE))


def test_labels_follow_the_dataflow() -> None:
    """Suffixes that one extraction numbers one way, and a compilation another way, name the same computes."""
    expected = ["map_0", "map_1", "reduce_2", "map_3"]
    for what, text in SAME.items():
        made = function(text)
        take_labels(made)
        verify(made)
        if what == "order of listing":
            assert labels(made) == ["map_1", "map_0", "reduce_2", "map_3"]
        elif what == "dead ops":
            assert labels(made) == ["map_0", "map_4", "map_1", "reduce_2", "map_3"]
        else:
            assert labels(made) == expected


def test_a_canonical_function_is_canonical() -> None:
    plain = function(TWICE)
    before = str(plain)
    made = canonical_function(plain, "task")
    verify(made)
    assert str(plain) == before
    assert task_key(made) == task_key(plain)
    assert str(canonical_function(made, "task")) == str(made)
    assert labels(made) == ["map_0", "map_1", "reduce_2", "map_3"]
    assert "partita.origin" not in str(made)


def test_keys_are_the_same_in_every_version_and_process() -> None:
    assert task_key(function(TWICE)) == "ebbb244170c9a966e1f3a97414680318"


def relisted(function: FuncOp, rng: random.Random) -> FuncOp:
    """Return the same function with ops in another order that is legal, other arguments first, and other names."""
    old = function.body.block
    order = rng.sample(range(len(old.args)), len(old.args))
    new = Block(arg_types=[old.args[each].type for each in order])
    values: dict[SSAValue, SSAValue] = {
        old.args[each]: argument for each, argument in zip(order, new.args, strict=True)
    }
    for number, op in enumerate(listing(old, rng)):
        clone = op.clone(values, clone_name_hints=False)
        if isinstance(clone, ComputeOp):
            clone.properties["label"] = StringAttr(f"label_{number}")
        new.add_op(clone)
    type = FunctionType.from_lists(
        tuple(new.arg_types), function.function_type.outputs.data
    )
    return FuncOp("relisted", type, Region(new))


def listing(block: Block, rng: random.Random) -> Iterator[Operation]:
    """Yield the ops of a block in a random order in which each follows what it uses."""
    waiting = list(block.ops)
    listed: set[Operation] = set()
    while waiting:
        ready = [
            op
            for op in waiting
            if not isinstance(op, ReturnOp)
            and all(
                value.owner in listed
                for nested in op.walk()
                for value in nested.operands
                if isinstance(value.owner, Operation) and value.owner.parent is block
            )
        ]
        op = rng.choice(ready) if ready else waiting[-1]
        waiting.remove(op)
        listed.add(op)
        yield op


@settings(max_examples=60, deadline=None, derandomize=True)
@given(graphs(30), st.integers(0, 1 << 30))
def test_graphs_listed_otherwise_are_one_task(case: Case, seed: int) -> None:
    module = case.module(kernel=True)
    graph = module.body.block.first_op
    assert isinstance(graph, FuncOp)
    computes = lower_to_te_compute(graph)
    other = relisted(computes, random.Random(seed))
    verify(other)
    assert task_key(other) == task_key(computes)
    one, two = (canonical_function(each, "task") for each in (computes, other))
    verify(one)
    assert str(one) == str(two)
    assert task_key(one) == task_key(computes)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(graphs(30))
def test_graphs_are_lowered_as_without_a_cache(case: Case) -> None:
    """Twice the same graph, once from the cache, each with its own origins."""
    cache = Computes()
    for prefix in ("a", "b"):
        graph = case.module(kernel=True).body.block.first_op
        assert isinstance(graph, FuncOp)
        for number, op in enumerate(graph.body.block.ops):
            if op.results:
                op.attributes["partita.origin"] = StringAttr(f"{prefix}{number}")
        before = str(graph)
        assert str(lower_to_te_compute(graph, cache)) == str(lower_to_te_compute(graph))
        assert str(graph) == before
