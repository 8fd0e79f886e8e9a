"""How fast VTA programs are simulated and timed: `python benchmarks/vta_sim.py [--records a,b] [--runs N]`.

Times are those of one core after a first run, the least of several; loading a record and filling its memory are
separate. Memory that a stream only has addresses of is random. `function` checks nothing but ranges, `+written` also
that what is read was written, `+races` is the default; `ratio` is how much longer that takes. M/s are millions of
micro-ops a second, of `function` and, last, of everything with the cycle model. The original's C++ simulator takes
0.21 s for the 27 launches of `resnet18_v1_tophub_e2e`. The last line is `partita simulate` of a small record, with all
that it takes to start.
"""

import argparse
import resource
import subprocess
import sys
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

SMALL = "conv3x3_s1_p1"

COLUMNS = (
    *("instructions", "micro-ops", "load s", "function s", "M/s"),
    *("+written s", "+races s", "ratio", "cycles s", "all s", "M/s"),
)


def seconds(action: Callable[[], object], runs: int) -> float:
    """Return the least processor time of several runs."""
    found: list[float] = []
    for _ in range(runs):
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


def row(name: str, runs: int) -> list[str]:
    path = GOLDEN / f"{name}.npz"
    load = seconds(lambda: Program.of_record(path), runs)
    program = Program.of_record(path)
    memory = filled(program)
    run = partial(simulate, program, memory)
    report = run()
    micro_ops = sum(report.micro_ops.values())
    function = seconds(partial(run, check_races=False, check_written=False), runs)
    written = seconds(partial(run, check_races=False), runs)
    races = seconds(run, runs)
    cycles = seconds(lambda: time_program(program), runs)
    everything = seconds(lambda: (run(), time_program(program)), runs)
    return [
        f"{len(program.instructions)}",
        f"{micro_ops}",
        f"{load:.4f}",
        f"{function:.4f}",
        f"{micro_ops / function / 1e6:.1f}",
        f"{written:.4f}",
        f"{races:.4f}",
        f"{races / function:.2f}",
        f"{cycles:.4f}",
        f"{everything:.4f}",
        f"{micro_ops / everything / 1e6:.1f}",
    ]


def start_to_end(runs: int) -> tuple[float, float]:
    """Return the least wall and processor time of `partita simulate` of a small record."""
    code = "import sys; from partita.tools.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "simulate", str(GOLDEN / f"{SMALL}.npz")]
    walls: list[float] = []
    busy: list[float] = []
    for _ in range(runs):
        before, start = _children(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - start)
        busy.append(_children() - before)
    return min(walls), min(busy)


def _children() -> float:
    """Return the processor time of all child processes so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", default=",".join(RECORDS))
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    print(f"{'record':32}" + "".join(f"{each:>14}" for each in COLUMNS))
    for name in arguments.records.split(","):
        cells = row(name, arguments.runs)
        print(f"{Path(name).name:32}" + "".join(f"{each:>14}" for each in cells))
    wall, busy = start_to_end(arguments.runs)
    print(f"partita simulate {SMALL}.npz: {wall:.2f} s wall, {busy:.2f} s processor")


if __name__ == "__main__":
    main()
