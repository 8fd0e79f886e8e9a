"""The demonstration shows every level, and its results are right."""

import os
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parent.parent / "examples" / "demo.py"

SHOWN = (
    "relay.conv2d",
    "te.compute",
    "tir.block",
    "sched.sequence",
    "vectorized {",
    "fmul reassoc contract <",
    ".p2align",
    "of the output's range",
)
"""Something of each level, in order."""


def test_demo(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, DEMO],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    place = 0
    for each in SHOWN:
        place = done.stdout.index(each, place)
    assert done.stderr == ""
