"""Compiled models run: kernels written as LLVM text, in hand-made plans, on one to four threads."""

import ctypes
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_artifacts import (
    MISALIGNMENT,
    ROTATE,
    WEIGHTED,
    X,
    Y,
    artifact,
    assemble,
    call,
    chain,
    never,
    rotated,
    spec,
)
from numpy.typing import ArrayLike, NDArray

from partita.errors import ArtifactError, InputError, OptionError
from partita.runtime import (
    Artifact,
    Buffer,
    CopyStep,
    Executable,
    load,
)
from partita.runtime.executable import External
from partita.runtime.executor_ir import executor_ir
from partita.runtime.json_reader import Node
from partita.runtime.llvm import binding
from partita.runtime.loaders import LoaderContext
from partita.runtime.plan import STEPS, Step
from partita.runtime.tensors import Array


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("parallel", [1, 2, 3, 5, 60])
def test_every_step_sees_the_one_before(threads: int, parallel: int) -> None:
    """With every step parallel, with runs of serial ones between them, and at both ends."""
    exe = Executable(chain(61, lambda i: i % parallel != 0), threads=threads)
    for seed in range(50):
        x = np.random.default_rng(seed).integers(0, 1000, 48)
        np.testing.assert_array_equal(exe.run({"x": x})["y"], rotated(x, 61))


def test_thousands_of_runs_with_more_threads_than_processors() -> None:
    exe = Executable(chain(12, lambda i: i % 4 == 3), threads=4)
    x = np.arange(48)
    for run in range(3000):
        if run % 500 == 499:
            time.sleep(0.01)  # long enough for the workers to park
        assert np.array_equal(exe.run({"x": x})["y"], rotated(x, 12))


def test_threads_can_change_between_runs() -> None:
    exe = Executable(chain(6, never), threads=1)
    for threads in (3, 1, 2, 4, 4):
        exe.set_threads(threads)
        assert exe.threads == threads
        assert (exe.run({"x": np.zeros(48, np.int64)})["y"] == 6).all()
    for threads in (0, -1, 100_000):
        with pytest.raises(OptionError, match="expected 1 to 1024 threads, got "):
            exe.set_threads(threads)


def test_threads_default_to_the_processors_of_this_process() -> None:
    assert Executable(chain(1, never)).threads == len(os.sched_getaffinity(0))


def weighted() -> tuple[Artifact, Array]:
    w = np.random.default_rng(0).random(1000, np.float32)
    step = call("weighted", X, Buffer("weight", 0), Y, grid=1000)
    ends = ([spec("x", "float32", 1000)], [spec("y", "float32", 1000)])
    return artifact(*ends, [step], weights=[w], kernels={"weighted": WEIGHTED}), w


def test_weights_and_functions_of_the_c_library(tmp_path: Path) -> None:
    made, w = weighted()
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    Executable(made).save(tmp_path / "m.partita")
    for exe in (Executable(made), load(tmp_path / "m.partita", threads=2)):
        np.testing.assert_allclose(exe.run({"x": x})["y"], np.exp(x) * w, rtol=1e-6)


@pytest.mark.parametrize("sizes", [(16,), (1, 3, 5, 16, 7, 33)])
def test_weights_are_aligned_wherever_they_come_from(
    sizes: tuple[int, ...], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    weights = [rng.random(n + 1, np.float32)[1:] for n in sizes]
    outputs = [spec(f"y{i}", "int64") for i in range(len(sizes))]
    steps = [
        call("misalignment", Buffer("weight", i), Buffer("output", i))
        for i in range(len(sizes))
    ]
    exe = Executable(
        artifact(
            [], outputs, steps, weights=weights, kernels={"misalignment": MISALIGNMENT}
        )
    )
    exe.save(tmp_path / "m.partita")
    for each in (exe, load(tmp_path / "m.partita")):
        assert all(y == 0 for y in each.run({}).values())


def test_outputs_are_new_aligned_arrays_and_inputs_stay() -> None:
    exe = Executable(chain(1, never))
    x = np.arange(48)
    x.flags.writeable = False
    first, second = (exe.run({"x": x})["y"] for _ in range(2))
    assert not np.shares_memory(first, second)
    assert first.ctypes.data % 64 == 0
    np.testing.assert_array_equal(x, np.arange(48))


def test_copies_alone_make_a_model() -> None:
    """They copy buffers of every kind, and arrays without elements or dimensions."""
    w = np.arange(4, dtype=np.uint8)
    xs = [spec("x", "float64", 2, 3), spec("none", "int8", 0, 7), spec("one", "bool")]
    ys = [spec(f"{each.name}'", each.dtype, *each.shape) for each in xs]
    steps = [
        CopyStep(X, Buffer("arena", 64), 48),
        CopyStep(Buffer("arena", 64), Y, 48),
        CopyStep(Buffer("input", 1), Buffer("output", 1), 0),
        CopyStep(Buffer("input", 2), Buffer("output", 2), 1),
        CopyStep(Buffer("weight", 0), Buffer("output", 3), 4),
    ]
    made = artifact(xs, [*ys, spec("w", "uint8", 2, 2)], steps, arena=128, weights=[w])
    x = np.random.default_rng(0).random((2, 3))
    got = Executable(made).run({"x": x, "none": np.empty((0, 7), np.int8), "one": True})
    np.testing.assert_array_equal(got["x'"], x)
    assert got["none'"].shape == (0, 7)
    assert isinstance(got["one'"], np.ndarray)
    assert got["one'"].shape == ()
    assert got["one'"]
    np.testing.assert_array_equal(got["w"], [[0, 1], [2, 3]])


def test_a_large_copy_is_shared_by_threads() -> None:
    n = (1 << 20) + 13
    ends = ([spec("x", "uint8", n)], [spec("y", "uint8", n)])
    exe = Executable(artifact(*ends, [CopyStep(X, Y, n)]), threads=3)
    x = np.random.default_rng(0).integers(0, 256, n, np.uint8)
    np.testing.assert_array_equal(exe.run({"x": x})["y"], x)


VIEWS: dict[str, Callable[[NDArray[np.int64]], ArrayLike]] = {
    "reversed": lambda x: x[::-1],
    "strided": lambda x: np.repeat(x, 2)[::2],
    "unaligned": lambda x: np.frombuffer(b"?" + x.tobytes(), np.uint8)[1:].view("i8"),
    "list": lambda x: x.tolist(),
    "broadcast": lambda x: np.broadcast_to(x[:1], (48,)),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_inputs_of_any_memory_layout(
    view: Callable[[NDArray[np.int64]], ArrayLike],
) -> None:
    x = view(np.arange(48))
    y = Executable(chain(1, never)).run({"x": x})["y"]
    np.testing.assert_array_equal(y, rotated(np.array(x), 1))


EXPECTED = "expected 'data': float32[2, 3], 'n': int64[]"
DATA = np.zeros((2, 3), np.float32)
MISTAKES: dict[str, dict[str, Any]] = {
    f"input 'data' is missing; {EXPECTED}": {},
    f"no input is named 'dat', did you mean 'data'?; {EXPECTED}": {"dat": 0, "n": 0},
    f"no input is named 'zzz'; {EXPECTED}": {"zzz": 0},
    "expected input 'data' as float32[2, 3], got float64[2, 3]": {
        "data": np.zeros((2, 3)),
        "n": 1,
    },
    "expected input 'data' as float32[2, 3], got float32[3, 2]": {
        "data": DATA.T,
        "n": 1,
    },
    "expected input 'data' as float32[2, 3], got >f4[2, 3]": {
        "data": DATA.astype(">f4"),
        "n": 1,
    },
    "expected input 'n' as int64[], got object[]": {"data": DATA, "n": None},
}


@pytest.mark.parametrize(("message", "inputs"), MISTAKES.items())
def test_wrong_inputs_are_told_what_is_expected(
    message: str, inputs: dict[str, Any]
) -> None:
    xs = [spec("data", "float32", 2, 3), spec("n", "int64")]
    exe = Executable(artifact(xs, [spec("y", "int64")], [CopyStep(X, Y, 8)]))
    with pytest.raises(InputError) as failure:
        exe.run(inputs)
    assert str(failure.value) == message
    assert exe.run({"data": DATA, "n": 1})["y"] == 0


def test_a_ragged_list_is_no_array() -> None:
    exe = Executable(artifact([spec("x", "int64", 2)], [], []))
    ragged: Any = [[1], [2, 3]]
    with pytest.raises(InputError, match="input 'x' is no array"):
        exe.run({"x": ragged})


def test_python_threads_share_an_executable() -> None:
    exe = Executable(chain(30, never), threads=2)
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).integers(0, 1000, 48)
        for _ in range(100):
            if not np.array_equal(exe.run({"x": x})["y"], rotated(x, 30)):
                wrong.append(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not wrong


def native_threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def test_executables_go_with_their_threads() -> None:
    gc.collect()
    before = native_threads()
    exes = [Executable(chain(3, never), threads=3) for _ in range(4)]
    for index in range(4):
        exes[index].run({"x": np.zeros(48, np.int64)})
    assert native_threads() == before + 8
    exes.clear()
    gc.collect()
    assert native_threads() == before


def test_a_closed_executable_says_so() -> None:
    exe = Executable(chain(3, never), threads=2)
    exe.run({"x": np.zeros(48, np.int64)})
    exe.close()
    exe.close()
    with pytest.raises(ArtifactError, match="the executable is closed"):
        exe.run({"x": np.zeros(48, np.int64)})


SCRIPT = """
import os, threading
import numpy as np
from partita.runtime import load
exe = load({path!r}, threads=3)
run = lambda: exe.run({{"x": np.zeros(48, np.int64)}})["y"]
run()
"""

BUSY = """
def forever():
    while True:
        run()
threading.Thread(target=forever, daemon=True).start()
for _ in range(100):
    run()
"""

FORKED = """
child = os.fork()
assert (run() == 9).all()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("rest", [BUSY, FORKED], ids=["busy", "forked"])
def test_a_process_ends_whatever_its_threads_do(rest: str, tmp_path: Path) -> None:
    """While workers spin and a daemon thread is in a run, and in a child that has no workers."""
    path = tmp_path / "m.partita"
    Executable(chain(9, never)).save(path)
    for _ in range(3):
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(path=str(path)) + rest],
            check=True,
            timeout=60,
        )


def test_two_hundred_objects_load_quickly() -> None:
    names = [f"rotate_{i}" for i in range(200)]
    places = [Buffer("arena", 0), Buffer("arena", 512)]
    buffers = [X, *(places[i % 2] for i in range(199)), Y]
    steps = [
        call(name, *ends, grid=48)
        for name, *ends in zip(names, buffers, buffers[1:], strict=False)
    ]
    kernels = {name: ROTATE.replace("@rotate", f"@{name}") for name in names}
    ends = ([spec("x", "int64", 48)], [spec("y", "int64", 48)])
    made = artifact(*ends, steps, arena=1024, kernels=kernels)
    start = time.perf_counter()
    exe = Executable(made)
    assert time.perf_counter() - start < 5
    x = np.arange(48)
    np.testing.assert_array_equal(exe.run({"x": x})["y"], rotated(x, 200))


def test_a_missing_function_is_named() -> None:
    made, _ = weighted()
    objects = {
        "host/weighted.o": assemble(WEIGHTED.replace("@expf", "@expf_of_elsewhere"))
    }
    with pytest.raises(ArtifactError) as failure:
        Executable(replace(made, objects=objects))
    assert str(failure.value) == (
        "host/weighted.o needs @expf_of_elsewhere, which this machine does not provide"
    )


def test_a_missing_or_doubled_kernel_is_named() -> None:
    made = chain(1, never)
    rotate, other = made.objects["host/rotate.o"], made.objects["host/rotate_whole.o"]
    faults: dict[str, dict[str, bytes]] = {
        r"^host/rotate\.o does not define @rotate$": {"host/rotate.o": other},
        r"^host/a\.o and host/rotate\.o both define @rotate$": {
            "host/a.o": rotate,
            "host/rotate.o": rotate,
        },
        r"^the plan needs host/rotate\.o, which is missing$": {"host/a.o": rotate},
        r"^object code cannot be linked: ": {"host/rotate.o": b"not code"},
        r"^host/rotate\.o is no valid object file$": {"host/rotate.o": rotate[:200]},
    }
    for message, objects in faults.items():
        with pytest.raises(ArtifactError, match=message):
            Executable(replace(made, objects=objects))


@pytest.mark.parametrize("system", ["linux", "macos"])
@pytest.mark.parametrize("architecture", ["x86_64", "aarch64", "riscv64"])
def test_the_executor_is_valid_for_every_machine(
    architecture: str, system: str
) -> None:
    binding().parse_assembly(executor_ir(architecture, system)).verify()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets threads be placed")
def test_workers_run_where_the_caller_may() -> None:
    """A worker that is woken has the processors of who wakes it, and keeps to them if it is only one."""
    allowed = os.sched_getaffinity(0)
    x = np.arange(48)
    exe = Executable(chain(4, never), threads=2)
    before = set(os.listdir("/proc/self/task"))
    exe.run({"x": x})
    (worker,) = map(int, set(os.listdir("/proc/self/task")) - before)
    try:
        for processors in ({min(allowed)}, allowed):
            os.sched_setaffinity(0, processors)
            for _ in range(100):
                time.sleep(0.02)  # It parks meanwhile.
                y = exe.run({"x": x})["y"]
                np.testing.assert_array_equal(y, rotated(x, 4))
                if os.sched_getaffinity(worker) == processors:
                    break
            assert os.sched_getaffinity(worker) == processors
    finally:
        os.sched_setaffinity(0, allowed)
        exe.close()


@dataclass(frozen=True)
class NegateStep(Step):
    """A step that another target brings along."""

    KEY = "negate"

    buffer: Buffer

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return (self.buffer,)

    def json(self) -> dict[str, object]:
        return {"negate": self.buffer.json()}

    @staticmethod
    def read(node: Node) -> "NegateStep":
        return NegateStep(Buffer.read(node["negate"]))


def negate(step: Step, made: Artifact, context: LoaderContext) -> External:
    nbytes = made.plan.outputs[0].nbytes

    def run(addresses: Sequence[int]) -> None:
        memory = (ctypes.c_char * nbytes).from_address(addresses[0])
        y = np.frombuffer(memoryview(memory), np.int64)
        np.negative(y, out=y)

    return run


def test_other_targets_bring_their_own_steps(tmp_path: Path) -> None:
    made = chain(3, never)
    steps = (
        *made.plan.steps,
        NegateStep(Y),
        call("rotate", X, Buffer("output", 1), grid=48),
    )
    outputs = (spec("y", "int64", 48), spec("z", "int64", 48))
    made = replace(made, plan=replace(made.plan, steps=steps, outputs=outputs))
    path = tmp_path / "m.partita"
    made.write(path)
    with pytest.raises(ArtifactError, match=r"steps\[3\]: expected a step with one of"):
        load(path)
    made = Artifact.read(path, kinds=(*STEPS, NegateStep))
    with pytest.raises(ArtifactError, match="has a negate step, which has no loader"):
        Executable(made)
    x = np.arange(48)
    got = Executable(made, loaders={NegateStep: negate}).run({"x": x})
    np.testing.assert_array_equal(got["y"], -rotated(x, 3))
    np.testing.assert_array_equal(got["z"], rotated(x, 1))
