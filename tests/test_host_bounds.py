"""Host code reads nothing outside its inputs: these lie between pages that nobody may touch.

It would end the process, so each test runs in one of its own.
"""

import ctypes
import mmap
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled import assemble, lower, run
from numpy.typing import NDArray
from relay_cases import CASES, joined

from partita.interpreters.scalar import Array
from partita.runtime import Machine

PAGE = mmap.PAGESIZE
NO_ACCESS = 0

SOME = CASES[::6]


class Fenced:
    """Memory between two pages without access."""

    def __init__(self, size: int):
        self.pages = max(1, -(-size // PAGE))
        self._map = mmap.mmap(-1, (self.pages + 2) * PAGE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        for page in (base, base + (self.pages + 1) * PAGE):
            if protect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), NO_ACCESS):
                raise OSError(ctypes.get_errno(), "mprotect")

    def hold(self, array: Array, at_end: bool) -> NDArray[Any]:
        """Return a copy of an array that ends where access does, or begins where it begins."""
        start = PAGE + (self.pages * PAGE - array.nbytes if at_end else 0)
        count = array.size
        flat = np.frombuffer(self._map, array.dtype, count, start) if count else array
        copy = flat.reshape(array.shape)
        copy[...] = array
        return copy


def main(at_end: bool, first: int, last: int) -> None:
    """Run cases on fenced inputs."""
    cases = SOME[first:last]
    machine = Machine.host()
    module = joined(cases)
    lower(module, machine)
    inputs = [each for case in cases for each in case.inputs()]
    fences = [Fenced(each.nbytes) for each in inputs]
    held = [
        fence.hold(each, at_end) for fence, each in zip(fences, inputs, strict=True)
    ]
    run(assemble(module, machine), held)
    print("done")


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages as Linux does")
@pytest.mark.full
@pytest.mark.parametrize("at_end", [True, False])
def test_nothing_outside_inputs_is_read(at_end: bool) -> None:
    program = (
        f"import test_host_bounds; test_host_bounds.main({at_end}, 0, {len(SOME)})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr or f"ended by signal {-done.returncode}"
