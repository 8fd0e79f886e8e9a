"""Structure is what is computed: not where it came from, nor how it was listed."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp
from xdsl.parser import Parser

from partita.analysis.structural_hash import Dataflow, function_dataflow
from partita.dialects import ALL_DIALECTS

SIGNATURE = "func.func @f(%x : tensor<2xf32>, %y : tensor<2xf32>) -> tensor<2xf32>"

TYPES = "(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>"

PLAIN = f"""
  %0 = relay.relu %x : tensor<2xf32>
  %1 = relay.tanh %y : tensor<2xf32>
  %2 = relay.subtract %0, %1 : {TYPES}
  func.return %2 : tensor<2xf32>
"""


def structure(body: str) -> Dataflow:
    ctx = Context(allow_unregistered=True)
    for dialect in (Builtin, Func, *ALL_DIALECTS):
        ctx.load_dialect(dialect)
    module = Parser(ctx, f"{SIGNATURE} {{ {body} }}").parse_module()
    assert isinstance(module, ModuleOp)
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function_dataflow(function)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%0 = relay.relu %x", '%0 = relay.relu %x {partita.origin = "r"}'),
        ("%0 = ", "%dead = relay.abs %y : tensor<2xf32>\n %0 = "),
        (
            "%0 = relay.relu %x : tensor<2xf32>\n  %1 = relay.tanh %y : tensor<2xf32>",
            "%1 = relay.tanh %y : tensor<2xf32>\n  %0 = relay.relu %x : tensor<2xf32>",
        ),
    ],
    ids=["origin", "dead op", "order of listing"],
)
def test_does_not_matter(old: str, new: str) -> None:
    assert old in PLAIN
    plain, other = structure(PLAIN), structure(PLAIN.replace(old, new))
    assert plain.key == other.key
    assert plain.digest() == other.digest()
    assert [op.name for op in other.operations] == [
        "relay.relu",
        "relay.tanh",
        "relay.subtract",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("relay.relu", "relay.abs"),
        ("relay.relu %x", "relay.relu %y"),
        ("subtract %0, %1", "subtract %1, %0"),
        ("subtract %0, %1", "subtract %0, %0"),
        ("relay.relu %x", "relay.leaky_relu %x {alpha = 0.5 : f64}"),
        ("relay.relu %x", 'relay.relu %x {note = "kept"}'),
        ("func.return %2", "func.return %0"),
    ],
)
def test_matters(old: str, new: str) -> None:
    assert old in PLAIN
    plain, other = structure(PLAIN), structure(PLAIN.replace(old, new))
    assert plain.key != other.key
    assert plain.digest() != other.digest()


def test_digest_is_the_same_in_every_process() -> None:
    assert structure(PLAIN).digest() == "8f436d50a354c46efc0682f56c3929ca"


def test_attributes_count_whatever_their_order_and_neighbours() -> None:
    """Values that print close to each other are told apart."""
    bodies = [
        PLAIN.replace("relay.relu %x", f"relay.leaky_relu %x {{alpha = {value} : f64}}")
        for value in (0.1, 0.10000000000000002, -0.0, 0.0)
    ]
    assert len({structure(body).digest() for body in bodies}) == len(bodies)


def test_nested_regions_count() -> None:
    """A region's ops, and the outer values that they use, are part of what its op computes."""
    nested = """
      %0 = "test.op"() ({
        %1 = "test.inner"(%x) : (tensor<2xf32>) -> tensor<2xf32>
        "test.yield"(%1) : (tensor<2xf32>) -> ()
      }) : () -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    """
    one, same = structure(nested), structure(nested.replace("%1", "%z"))
    assert one.key == same.key
    for old, new in (("(%x)", "(%y)"), ("test.inner", "test.other")):
        assert structure(nested.replace(old, new)).digest() != one.digest()
