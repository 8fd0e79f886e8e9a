"""Which tests run: those marked `full` only if `PARTITA_FULL` is set, as `make test-full` does."""

import os

import pytest


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Deselect what takes too long for every change."""
    if os.environ.get("PARTITA_FULL"):
        return
    full = [item for item in items if item.get_closest_marker("full") is not None]
    if full:
        config.hook.pytest_deselected(items=full)
        items[:] = [item for item in items if item.get_closest_marker("full") is None]
