"""What the runtime adds to kernels: a call of `run`, a step, and loading an artifact.

Kernels that do nothing show the overhead alone; kernels of about a microsecond an iteration show what threads gain.
Every figure is the best of several, since other processes only add to it.
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
from partita.runtime.executable import available_threads
from partita.runtime.llvm import binding
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
"""A chain of 200 divisions an iteration, of about 4 ns each."""

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


def best(action: Callable[[], object], times: int) -> float:
    """Return the least time of an action in seconds."""
    least = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        action()
        least = min(least, time.perf_counter() - start)
    return least


def run_time(artifact: Artifact, threads: int, times: int = 200) -> float:
    exe = Executable(artifact, threads=threads)
    x = {"x": np.zeros(16, np.float32)}
    return best(lambda: exe.run(x), times)


def overhead(threads: Sequence[int]) -> None:
    print(f"{'overhead':32}" + "".join(f"{n:>7} thread" for n in threads))
    empty = {n: run_time(model(NOTHING, ()), n) for n in threads}
    print(
        f"{'run, no step':32}" + "".join(f"{empty[n] * 1e6:11.2f} µs" for n in threads)
    )
    mixes = {
        "serial step": [1],
        "parallel step, grid 2": [2],
        "parallel step, grid 64": [64],
        "parallel step after 3 serial ones": [64, 1, 1, 1],
    }
    for name, mix in mixes.items():
        grids = [mix[index % len(mix)] for index in range(STEPS)]
        line = (
            (run_time(model(NOTHING, grids), n) - empty[n]) / STEPS * 1e9
            for n in threads
        )
        print(f"{name:32}" + "".join(f"{each:11.0f} ns" for each in line))


def gain(threads: Sequence[int]) -> None:
    print(
        f"\n{'100 steps of 64 iterations':32}"
        + "".join(f"{n:>7} thread" for n in threads)
    )
    times = [run_time(model(DIVIDE, [64] * 100), n, 20) for n in threads]
    print(f"{'time':32}" + "".join(f"{each * 1e3:11.2f} ms" for each in times))
    print(
        f"{'times faster':32}"
        + "".join(f"{times[0] / each:11.2f}   " for each in times)
    )


def loading() -> None:
    print(f"\n{'loading':32}{'write':>11}   {'load':>11}")
    cases = {
        "200 objects": model(DIVIDE, [64] * 200, objects=200),
        "100 MB of weights": model(NOTHING, [1], megabytes=100),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.partita"
        for name, artifact in cases.items():
            write = best(lambda artifact=artifact: artifact.write(path), 5)
            read = best(lambda: load(path), 5)
            print(f"{name:32}{write * 1e3:11.1f} ms{read * 1e3:11.1f} ms")


def main() -> None:
    threads = sorted({1, 2, available_threads()})
    overhead(threads)
    gain(threads)
    loading()


if __name__ == "__main__":
    main()
