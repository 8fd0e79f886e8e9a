"""Host code beside its peers: compile time, latency and memory of whole networks.

`python benchmarks/host.py [--networks resnet50,mobilenet] [--threads 1,2] [--runs 20]`

Each network is compiled and run in a process of its own, with the object cache cold and
then warm. Latencies are medians of interleaved runs of all engines on the same input,
onnxruntime (and Apache TVM, if installed) with the same number of threads. Peak memory is
the largest resident set of the process that compiles. Error is the largest difference to
onnxruntime, over the range of its output.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from networks import (
    LIGHT,
    light,
    mobilenet,
    random_inputs,
    resnet18,
    transformer,
)

Arrays = Mapping[str, NDArray[Any]]
Run = Callable[[], object]

MADE: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "resnet18": resnet18,
    "mobilenet": mobilenet,
    "transformer": transformer,
    "encoder": partial(transformer, width=384, heads=6, layers=12),
}
NETWORKS = (*LIGHT, *MADE)
MEBIBYTE = 1 << 20

SETTLE = 0.1
"""Seconds between two runs, in which the threads of the one before stop spinning for more work: onnxruntime's take
some 40 ms of processor time for it, which the next run would have to share."""


def network(name: str) -> onnx.ModelProto:
    """Return a network with seeded random weights."""
    return MADE[name]() if name in MADE else light(name)


def onnxruntime_run(model: bytes, inputs: Arrays, threads: int) -> Run:
    """Return a run of onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, dict(inputs))


def tvm_run(model: onnx.ModelProto, inputs: Arrays, threads: int) -> Run:
    """Return a run of Apache TVM (Relax, its default CPU pipeline, not tuned)."""
    tvm: Any = import_module("tvm")
    relax: Any = import_module("tvm.relax")
    frontend: Any = import_module("tvm.relax.frontend.onnx")
    module = relax.transform.LegalizeOps()(frontend.from_onnx(model))
    machine = relax.VirtualMachine(
        tvm.compile(module, target="llvm -mcpu=native"), tvm.cpu()
    )
    values: list[Any] = [tvm.runtime.tensor(each) for each in inputs.values()]
    tvm.get_global_func("runtime.config_threadpool")(1, threads)

    def run() -> object:
        return machine["main"](*values)

    return run


def interleaved(runs: Mapping[str, Run], count: int) -> dict[str, float]:
    """Return the median milliseconds of each, in turn with the others so that all see the same noise."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(count):
        for name, run in runs.items():
            sleep(SETTLE)
            start = perf_counter()
            run()
            times[name].append((perf_counter() - start) * 1e3)
    return {name: statistics.median(each) for name, each in times.items()}


def peak_memory() -> float:
    """Return the largest resident set of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEBIBYTE


def measure(name: str, threads: list[int], count: int) -> dict[str, Any]:
    """Compile and run one network in this process."""
    import partita

    model = network(name)
    inputs = random_inputs(model)
    before = peak_memory()
    seconds: list[float] = []
    with TemporaryDirectory() as cache:
        for _ in ("cold", "warm"):
            start = perf_counter()
            exe = partita.compile(model, [f'host{{cache="{cache}"}}'])
            seconds.append(perf_counter() - start)
    memory = peak_memory()
    text = model.SerializeToString()
    outputs = list(exe.run(inputs).values())
    expected: Any = onnxruntime_run(text, inputs, 1)()
    error = max(
        float(np.abs(ours - theirs).max() / max(np.ptp(theirs), 1e-30))
        for ours, theirs in zip(outputs, expected, strict=True)
    )
    latency: dict[str, dict[str, float]] = {}
    for each in threads:
        exe.set_threads(each)
        runs: dict[str, Run] = {
            "partita": lambda: exe.run(inputs),
            "onnxruntime": onnxruntime_run(text, inputs, each),
        }
        if find_spec("tvm"):
            runs["tvm"] = tvm_run(model, inputs, each)
        latency[str(each)] = interleaved(runs, count)
    return {
        "cold": seconds[0],
        "warm": seconds[1],
        "before": before,
        "memory": memory,
        "error": error,
        "latency": latency,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    threads = [int(each) for each in arguments.threads.split(",")]
    if arguments.one:
        print(json.dumps(measure(arguments.one, threads, arguments.runs)))
        return
    table = Table(title="host code, batch 1, float32; latencies in ms")
    for column in ("network", "compile cold s", "warm s", "peak MiB", "error"):
        table.add_column(column, justify="left" if column == "network" else "right")
    for each in threads:
        for column in (f"partita {each}t", f"onnxruntime {each}t", "ratio"):
            table.add_column(column, justify="right")
        if find_spec("tvm"):
            table.add_column(f"tvm {each}t", justify="right")
    for name in arguments.networks.split(","):
        command = [sys.executable, __file__, "--one", name]
        command += ["--threads", arguments.threads, "--runs", str(arguments.runs)]
        output = subprocess.run(command, check=True, capture_output=True, text=True)
        row: dict[str, Any] = json.loads(output.stdout.splitlines()[-1])
        cells = [f"{row['cold']:.1f}", f"{row['warm']:.1f}", f"{row['memory']:.0f}"]
        cells.append(f"{row['error']:.1e}")
        for each in threads:
            latency: dict[str, float] = row["latency"][str(each)]
            ours, theirs = latency["partita"], latency["onnxruntime"]
            cells += [f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}"]
            if "tvm" in latency:
                cells.append(f"{latency['tvm']:.2f}")
        table.add_row(name, *cells)
        print(f"{name}: done", file=sys.stderr)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
