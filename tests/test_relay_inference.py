"""Result types follow from operand types, dynamic ones too, and specialize as those do."""

import pytest
from relay_cases import CASES, Case
from xdsl.dialects import test as xdsl_test
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter

from partita.dialects.relay import ConstantOp, RelayOp
from partita.shapes import DYNAMIC, Shape, element_of, shape_of, tensor_of


def compatible(inferred: Shape, known: Shape) -> bool:
    """Say whether a shape is another with some dimensions unknown."""
    return len(inferred) == len(known) and all(
        extent in (DYNAMIC, wanted)
        for extent, wanted in zip(inferred, known, strict=True)
    )


def relay_ops(case: Case) -> list[RelayOp]:
    return [
        op
        for op in case.module().walk()
        if isinstance(op, RelayOp) and not isinstance(op, ConstantOp)
    ]


def retyped(op: RelayOp, types: list[Attribute]) -> RelayOp:
    """Return a copy on operands of other types, without its results' types being updated."""
    copy = op.clone()
    copy.operands = xdsl_test.TestOp(result_types=types).results
    return copy


@pytest.mark.parametrize("case", CASES, ids=str)
def test_dynamic_operands_give_what_static_ones_may_be(case: Case) -> None:
    """Any one axis, and all, may be unknown: results are then the static ones, less precise."""
    for op in relay_ops(case):
        static = [shape_of(value) for value in op.operands]
        elements = [element_of(value) for value in op.operands]
        expected = [shape_of(value) for value in op.results]
        axes = [
            (position, axis)
            for position, shape in enumerate(static)
            for axis in range(len(shape))
        ]
        for hidden in (axes, *([each] for each in axes)):
            shapes = [
                tuple(
                    DYNAMIC if (position, axis) in hidden else extent
                    for axis, extent in enumerate(shape)
                )
                for position, shape in enumerate(static)
            ]
            types: list[Attribute] = [
                tensor_of(shape, element)
                for shape, element in zip(shapes, elements, strict=True)
            ]
            copy = retyped(op, types)
            copy.update_result_types()
            copy.verify()
            for value, known in zip(copy.results, expected, strict=True):
                assert compatible(shape_of(value), known)
            # Fixing the operands fixes the results.
            for operand, shape, element in zip(
                tuple(copy.operands), static, elements, strict=True
            ):
                Rewriter.replace_value_with_new_type(operand, tensor_of(shape, element))
            copy.update_result_types()
            assert [shape_of(value) for value in copy.results] == expected
