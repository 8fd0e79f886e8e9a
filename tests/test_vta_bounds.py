"""Whatever instructions say, compiled code of the simulator touches nothing but its own arrays."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "vta_guard_pages.py"


def outcomes(seed: int, count: int) -> dict[str, int]:
    """Run programs in a process of their own, which ends with a signal if anything else is touched."""
    command = [sys.executable, str(SCRIPT), str(seed), str(count)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_random_programs_between_forbidden_pages() -> None:
    found = outcomes(0, 150)
    assert sum(found.values()) == 150
    assert found["none"] > 15
    assert found["OutOfRange"] > 50


@pytest.mark.full
@pytest.mark.parametrize("seed", [10_000, 20_000])
def test_many_programs_between_forbidden_pages(seed: int) -> None:
    assert sum(outcomes(seed, 2000).values()) == 2000
