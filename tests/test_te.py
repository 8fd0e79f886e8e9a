"""`te` means what `relay` means: every op in every variant, and random graphs of them."""

import pytest
from xdsl.context import Context

from partita.analysis.verification import verify
from partita.interpreters import interpret
from partita.transforms.lower_relay_to_te import LowerRelayToTePass
from relay_cases import CASES, Case, assert_close


@pytest.mark.parametrize("each", CASES, ids=str)
def test_relay_and_te_give_the_same(each: Case) -> None:
    inputs = each.inputs()
    module = each.module()
    LowerRelayToTePass().apply(Context(), module)
    verify(module)
    assert_close(interpret(module, inputs), each.expected(inputs))


def test_case_names_are_unique() -> None:
    names = [each.name for each in CASES]
    assert len(set(names)) == len(names)
