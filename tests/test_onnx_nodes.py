"""ONNX's own node tests, compiled and run through its back-end interface; the list of what passes is exact."""

import pytest
from onnx_nodes import listed, node_tests, run

from partita.errors import PartitaError


@pytest.mark.parametrize("name", listed())
def test_node(name: str) -> None:
    run(node_tests()[name])


def test_list_is_complete() -> None:
    """What passes is listed, so that it goes on passing."""
    found: list[str] = []
    for name in sorted(set(node_tests()) - set(listed())):
        try:
            run(node_tests()[name])
        except (PartitaError, AssertionError):
            continue
        found.append(name)
    assert not found, (
        "these pass: list them with `PYTHONPATH=tests python -m onnx_nodes`"
    )
