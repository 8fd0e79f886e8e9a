"""How fast VTA programs are simulated and timed: the whole-network streams of the original, and the largest records.

Times are those of one core after a first run, the least of several; loading a record and filling its memory are
separate. Memory that a stream only has addresses of is random. The original's C++ simulator takes 0.21 s for the 27
launches of `resnet18_v1_tophub_e2e`.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from partita.runtime.vta.cycles import time_program
from partita.runtime.vta.program import Program
from partita.runtime.vta.simulator import simulate

GOLDEN = Path(__file__).parent.parent / "tests" / "golden" / "vta"

RECORDS = (
    "streams/resnet18_v1_tophub_e2e",
    "streams/resnet18_v1_tophub_alucpu_e2e",
    "streams/resnet-18.C2",
    "streams/resnet-18.C11",
    "gemm_128_block64",
    "conv3x3_s1_p1_vt_oc",
    "fuzz_full_0",
)

RUNS = 7

COLUMNS = (
    *("instructions", "micro-ops", "load s", "function s", "ns/micro-op"),
    *("+written s", "+races s", "ratio", "cycles s", "both s"),
)


def seconds(action: Callable[[], object]) -> float:
    """Return the least processor time of several runs."""
    found: list[float] = []
    for _ in range(RUNS):
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return min(found)


def filled(program: Program) -> NDArray[np.uint8]:
    """Return memory with what the program comes with, and random bytes where it only has addresses."""
    memory = program.memory()
    random = np.random.default_rng(0)
    for each in program.buffers:
        if each.role == "scratch":
            memory[each.offset : each.end] = random.integers(0, 256, each.size)
    return memory


def row(name: str) -> list[str]:
    path = GOLDEN / f"{name}.npz"
    load = seconds(lambda: Program.of_record(path))
    program = Program.of_record(path)
    memory = filled(program)
    run = partial(simulate, program, memory)
    report = run()
    micro_ops = sum(report.micro_ops.values())
    function = seconds(partial(run, check_races=False, check_written=False))
    written = seconds(partial(run, check_races=False))
    races = seconds(run)
    cycles = seconds(lambda: time_program(program))
    both = seconds(lambda: (run(), time_program(program)))
    return [
        f"{len(program.instructions)}",
        f"{micro_ops}",
        f"{load:.4f}",
        f"{function:.4f}",
        f"{function / micro_ops * 1e9:.1f}",
        f"{written:.4f}",
        f"{races:.4f}",
        f"{races / function:.2f}",
        f"{cycles:.4f}",
        f"{both:.4f}",
    ]


def main() -> None:
    print(f"{'record':32}" + "".join(f"{each:>14}" for each in COLUMNS))
    for name in RECORDS:
        cells = row(name)
        print(f"{Path(name).name:32}" + "".join(f"{each:>14}" for each in cells))


if __name__ == "__main__":
    main()
