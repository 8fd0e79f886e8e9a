"""What the runtime adds to kernels: a call of `run`, a step, and loading an artifact.

Kernels that do nothing show the overhead alone; kernels of about a microsecond an iteration show what threads gain.
With several threads the least time of an empty step is one in which the workers were late; the median has them at work.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from partita.runtime import (
    Artifact,
    Buffer,
    Executable,
    KernelStep,
    Machine,
    Plan,
    TensorSpec,
    load,
)
from partita.runtime.llvm import binding
from partita.runtime.machine import available_threads
from partita.runtime.tensors import digest

NOTHING = "define void @{name}(ptr %arguments, i64 %begin, i64 %end) {{ ret void }}"

DIVIDE = """
define void @{name}(ptr %arguments, i64 %begin, i64 %end) {{
entry:
  %count = sub i64 %end, %begin
  %turns = mul i64 %count, 200
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ]
  %x = phi double [ 1.0, %entry ], [ %y, %head ]
  %y = fdiv double 3.0, %x
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %turns
  br i1 %more, label %head, label %done
done:
  %place = load ptr, ptr %arguments
  %never = fcmp oeq double %y, 7.0
  br i1 %never, label %store, label %end_
store:
  store double %y, ptr %place
  br label %end_
end_:
  ret void
}}
"""
"""A chain of 200 divisions an iteration, of one to four nanoseconds each."""

STEPS = 1000


def assemble(texts: Sequence[str]) -> Iterator[bytes]:
    llvm = binding()
    target = llvm.Target.from_triple(Machine.host().triple)
    machine = target.create_target_machine(opt=2, reloc="pic", codemodel="small")
    for text in texts:
        yield machine.emit_object(llvm.parse_assembly(text))


def model(
    kernel: str, grids: Sequence[int], objects: int = 1, megabytes: int = 0
) -> Artifact:
    """Return a model of one step a grid, with its kernels in so many objects, and with so many weights of 1 MB."""
    names = [f"kernel_{index}" for index in range(objects)]
    rng = np.random.default_rng(0)
    weights = [rng.random(1 << 18, np.float32) for _ in range(megabytes)]
    by_digest = {digest(each): each for each in weights}
    plan = Plan(
        inputs=(TensorSpec("x", "float32", (16,)),),
        outputs=(TensorSpec("y", "float32", (16,)),),
        steps=tuple(
            KernelStep(name, f"host/{name}.o", (Buffer("arena", 0),), grid)
            for index, grid in enumerate(grids)
            for name in (names[index % objects],)
        ),
        weights=tuple(by_digest),
        arena=4096,
    )
    code = assemble([kernel.format(name=name) for name in names])
    members = (f"host/{name}.o" for name in names)
    return Artifact(
        plan, Machine.host(), dict(zip(members, code, strict=True)), by_digest
    )


def times(action: Callable[[], object], number: int) -> list[float]:
    """Return the times of so many actions in seconds, the least first."""
    found: list[float] = []
    for _ in range(number):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return sorted(found)


def run_times(artifact: Artifact, threads: int, number: int = 200) -> list[float]:
    exe = Executable(artifact, threads=threads)
    x = {"x": np.zeros(16, np.float32)}
    return times(lambda: exe.run(x), number)


def row(name: str, cells: Sequence[Sequence[float]], unit: str) -> None:
    """Print the least and the median of each cell's times."""
    texts = (f"{each[0]:8.3g} /{each[len(each) // 2]:8.3g} {unit}" for each in cells)
    print(f"{name:34}" + "".join(texts))


def head(title: str, columns: Sequence[str]) -> None:
    print(f"\n{title:34}" + "".join(f"{each:>21}" for each in columns))


def overhead(threads: Sequence[int]) -> None:
    head("overhead: least / median", [f"{n} threads" for n in threads])
    empty = run_times(model(NOTHING, ()), 1)
    row("run, no step", [[each * 1e6 for each in empty]], "µs")
    mixes = {
        "serial step": [1],
        "parallel step, grid 2": [2],
        "parallel step, grid 64": [64],
        "parallel step after 3 serial ones": [64, 1, 1, 1],
    }
    for name, mix in mixes.items():
        artifact = model(NOTHING, [mix[index % len(mix)] for index in range(STEPS)])
        found = [run_times(artifact, n) for n in threads]
        row(
            name,
            [[(each - empty[0]) / STEPS * 1e9 for each in cell] for cell in found],
            "ns",
        )


def gain(threads: Sequence[int]) -> None:
    head("100 steps of 64 iterations", [f"{n} threads" for n in threads])
    found = [run_times(model(DIVIDE, [64] * 100), n, 50) for n in threads]
    row("run", [[each * 1e3 for each in cell] for cell in found], "ms")


def loading() -> None:
    head("loading", ["write", "load"])
    cases = {
        "200 objects": model(DIVIDE, [64] * 200, objects=200),
        "100 MB of weights": model(NOTHING, [1], megabytes=100),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.partita"
        for name, artifact in cases.items():
            write = times(lambda artifact=artifact: artifact.write(path), 5)
            read = times(lambda: load(path), 5)
            row(name, [[each * 1e3 for each in cell] for cell in (write, read)], "ms")


def main() -> None:
    threads = sorted({1, 2, available_threads()})
    overhead(threads)
    gain(threads)
    loading()


if __name__ == "__main__":
    main()
