"""`partita run`: from an artifact and arrays to arrays. Nothing here needs a compiler."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.runtime import Executable, TensorSpec, load
from partita.tools.arrays import read_arrays, write_npz
from partita.tools.tables import table

Array = NDArray[Any]

FEW = 8
"""Random integers of more than a byte are below this: most of them are indices."""


@dataclass(frozen=True)
class RunRequest:
    """What the command line asks for; see `partita run --help`."""

    artifact: Path
    inputs: Sequence[str] = ()
    random_inputs: int | None = None
    """The seed; `None` if every input has to be given."""

    output: Path | None = None
    repeat: int | None = None
    threads: int | None = None
    quiet: bool = False


TOLD = 3
"""Modules that cannot be loaded, as far as each has a warning of its own."""


def run_file(request: RunRequest) -> None:
    """Run an artifact once or several times, and print what came out."""
    executable = load(request.artifact, threads=request.threads)
    warn_of_fallbacks(executable)
    inputs = inputs_of(executable.inputs, request.inputs, request.random_inputs)
    outputs = executable.run(inputs)
    seconds = [_timed(executable, inputs) for _ in range(request.repeat or 0)]
    if request.output is not None:
        write_npz(request.output, outputs)
    if request.quiet:
        return
    head = ("output", "dtype", "shape", "min", "mean", "max")
    rows = [(name, *_described(array)) for name, array in outputs.items()]
    print(table([head, *rows], right=3))
    if seconds:
        print()
        print(_latency(seconds, executable.threads))


def warn_of_fallbacks(executable: Executable) -> None:
    """Say on standard error where the host runs what another target was to run."""
    reasons = executable.fallbacks
    for each in reasons[:TOLD]:
        print(f"partita: warning: {each}; the host runs it", file=sys.stderr)
    if len(reasons) > TOLD:
        left = len(reasons) - TOLD
        print(f"partita: warning: the host runs {left} more", file=sys.stderr)


def inputs_of(
    specs: Sequence[TensorSpec], texts: Sequence[str], seed: int | None
) -> dict[str, Array]:
    """Return the inputs that were given, and random ones in place of the others if there is a seed."""
    given: dict[str, Array] = {}
    for text in texts:
        for name, array in _read_input(text, specs).items():
            if name in given:
                raise InputError(f"expected input {name!r} once, got it twice")
            given[name] = array
    if seed is not None:
        rng = np.random.default_rng(seed)
        for each in specs:
            array = random_array(rng, each)
            given.setdefault(each.name, array)
    return given


def _read_input(text: str, specs: Sequence[TensorSpec]) -> Mapping[str, Array]:
    """Read `NAME=FILE`, or a file alone: of several arrays by name, or of the only input."""
    names = [each.name for each in specs]
    name, equals, file = text.rpartition("=")
    if equals and not Path(text).exists():
        arrays = read_arrays(Path(file))
        if name in arrays:
            return {name: arrays[name]}
        if len(arrays) != 1:
            raise InputError(
                f"expected one array in {file}, or one named {name}, got {', '.join(arrays) or 'none'}"
            )
        return {name: next(iter(arrays.values()))}
    arrays = read_arrays(Path(text))
    if "" not in arrays:
        return arrays
    if len(names) != 1:
        raise InputError(
            f"expected --input NAME=FILE with one of {', '.join(names) or 'no inputs'}, got {text}"
        )
    return {names[0]: arrays[""]}


def random_array(rng: np.random.Generator, spec: TensorSpec) -> Array:
    """Return standard normal floats, any bytes and truth values, small non-negative integers."""
    dtype = spec.numpy
    if dtype.kind == "f":
        return rng.standard_normal(spec.shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, spec.shape).astype(dtype)
    if dtype.itemsize > 1:
        return rng.integers(0, FEW, spec.shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, spec.shape, dtype, endpoint=True)


def _timed(executable: Executable, inputs: Mapping[str, Array]) -> float:
    start = perf_counter()
    executable.run(inputs)
    return perf_counter() - start


def _described(array: Array) -> tuple[str, ...]:
    shape = "x".join(map(str, array.shape)) or "scalar"
    if not array.size:
        return (str(array.dtype), shape, "", "", "")
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64)
        found = (wide.min(), wide.mean(), wide.max())
    return (str(array.dtype), shape, *(f"{each:.6g}" for each in found))


def _latency(seconds: Sequence[float], threads: int) -> str:
    row = [
        f"{1e3 * each:.3f}" for each in (min(seconds), median(seconds), max(seconds))
    ]
    runs = f"{len(seconds)} run{'s'[: len(seconds) > 1]}, {threads} thread{'s'[: threads > 1]}"
    return table([("latency in ms", "min", "median", "max"), (runs, *row)])
