"""ONNX's own node tests, compiled and run through its back-end interface; the lists of what passes are exact."""

from pathlib import Path

import pytest
from onnx_nodes import HOST, ONNXRUNTIME, TARGETS, listed, node_tests, run

from partita.errors import PartitaError


@pytest.mark.parametrize("name", listed(HOST))
def test_node(name: str) -> None:
    run(node_tests()[name])


@pytest.mark.full
@pytest.mark.parametrize("name", listed(ONNXRUNTIME))
def test_node_with_onnxruntime(name: str) -> None:
    run(node_tests()[name], TARGETS[ONNXRUNTIME])


def test_onnxruntime_adds_to_the_host() -> None:
    """No node is lost by having another target."""
    assert set(listed(HOST)) < set(listed(ONNXRUNTIME))


@pytest.mark.full
@pytest.mark.parametrize("passing", [HOST, ONNXRUNTIME], ids=lambda path: path.stem)
def test_list_is_complete(passing: Path) -> None:
    """What passes is listed, so that it goes on passing."""
    found: list[str] = []
    for name in sorted(set(node_tests()) - set(listed(passing))):
        try:
            run(node_tests()[name], TARGETS[passing])
        except (PartitaError, AssertionError):
            continue
        found.append(name)
    assert not found, (
        "these pass: list them with `PYTHONPATH=tests python -m onnx_nodes`"
    )
