"""Run random programs while every array of the simulator lies between pages that nobody may touch.

`python vta_guard_pages.py SEED COUNT` prints how many programs ended how, as JSON; an access outside of an array ends
the process with a signal.
"""

import ctypes
import json
import mmap
import sys
from collections import Counter
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from vta_programs import CONFIGS, DRAM_BASE, random_case

from partita.errors import PartitaError
from partita.runtime.vta import isa, simulator
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.fields import Field
from partita.runtime.vta.isa import Instructions, Memory, Opcode

LIBC: Any = ctypes.CDLL(None, use_errno=True)

FORBIDDEN = 0

ZEROS = np.zeros

LONGEST = 100
"""Most iterations of a loop, so that every program ends soon."""


class Guard:
    """Makes arrays that start right after, or end right before, a page that may not be touched."""

    def __init__(self, *, at_end: bool):
        self._at_end = at_end

    def array(self, count: int, dtype: "np.dtype[Any]") -> NDArray[Any]:
        size = count * dtype.itemsize
        room = max(1, -(-size // mmap.PAGESIZE)) * mmap.PAGESIZE
        pages = np.frombuffer(mmap.mmap(-1, room + 2 * mmap.PAGESIZE), np.uint8)
        for page in (0, room + mmap.PAGESIZE):
            address = ctypes.c_void_p(pages.ctypes.data + page)
            length = ctypes.c_size_t(mmap.PAGESIZE)
            assert LIBC.mprotect(address, length, FORBIDDEN) == 0
        start = mmap.PAGESIZE + (room - size if self._at_end else 0)
        return pages[start : start + size].view(dtype)

    def copy(self, array: NDArray[Any]) -> NDArray[Any]:
        made = self.array(len(array), array.dtype)
        made[:] = array
        return made

    def empty(self, shape: tuple[int], dtype: "np.dtype[Any]") -> NDArray[Any]:
        return self.array(*shape, dtype)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> NDArray[Any]:
        """Make the tables of who wrote and read what, and leave other arrays to numpy."""
        if isinstance(shape, int) and dtype is np.uint32:
            return self.array(shape, np.dtype(np.uint32))
        return ZEROS(shape, dtype)


def changed(random: Random, stream: Instructions, config: HardwareConfig) -> None:
    """Put anything into some fields of some instructions."""
    for _ in range(random.choice((1, 2, 4))):
        number = random.randrange(len(stream))
        layout = isa.layout_of(int(stream["opcode"][number]), config)
        name = random.choice([each for each in layout if each != "opcode"])
        put(random, stream, number, name, layout[name])


def put(
    random: Random, stream: Instructions, number: int, name: str, field: Field
) -> None:
    """Put a value into a field: near to what it was, the largest, or any."""
    near = int(stream[name][number]) + random.randint(-3, 3)
    value = random.choice((near, field.most, random.randint(field.least, field.most)))
    most = LONGEST if name.startswith("iter") else field.most
    stream[name][number] = min(max(value, field.least), most)


def computing(random: Random, config: HardwareConfig) -> Instructions:
    """Return instructions of the compute module, which need no tokens, with small or any values in all fields."""
    stream = isa.instructions(random.randint(2, 12))
    for number in range(len(stream) - 1):
        opcode = random.choice((Opcode.LOAD, Opcode.GEMM, Opcode.ALU))
        layout = dict(list(isa.layout_of(opcode, config).items())[5:])
        for name, field in layout.items():
            stream[name][number] = random.randint(0, min(1, field.most))
            if random.random() < 0.4:
                put(random, stream, number, name, field)
        stream["opcode"][number] = opcode
        stream["memory"][number] = (
            random.choice((Memory.UOP, Memory.ACC)) if opcode is Opcode.LOAD else 0
        )
        stream["alu_opcode"][number] %= 5
    stream["opcode"][-1] = Opcode.FINISH
    return stream


def outcome(random: Random, guard: Guard) -> str:
    """Run one program; return the name of the error, if there is one."""
    config = CONFIGS[random.choice(sorted(CONFIGS))]
    case = random_case(random, config, random.randint(1, 9))
    stream = case.instructions
    if random.random() < 0.4:
        stream = computing(random, config)
    else:
        changed(random, stream, config)
    try:
        simulator.simulate(
            (guard.copy(stream), config),
            guard.copy(case.memory),
            base=random.choice((DRAM_BASE, DRAM_BASE, 0)),
            check_races=random.random() < 0.5,
            check_written=random.random() < 0.3,
        )
    except PartitaError as error:
        return type(error).__name__
    return "none"


def main(seed: int, count: int) -> None:
    found: Counter[str] = Counter()
    for number in range(seed, seed + count):
        guard = Guard(at_end=number % 2 == 1)
        with (
            patch.object(simulator, "aligned_empty", guard.empty),
            patch.object(np, "zeros", guard.zeros),
        ):
            found[outcome(Random(number), guard)] += 1
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
