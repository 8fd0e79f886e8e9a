"""A compiled model that runs."""

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from os import PathLike
from threading import Lock
from time import CLOCK_MONOTONIC, clock_gettime_ns
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita.errors import ArtifactError, InputError, OptionError
from partita.runtime.artifact import Artifact
from partita.runtime.external import ExternalStep
from partita.runtime.loaders import LoaderContext, load_external
from partita.runtime.machine import Machine, available_threads
from partita.runtime.native import CLOCK, COPY, Call, Code, Table
from partita.runtime.plan import STEPS, Buffer, CopyStep, KernelStep, Step, TensorSpec
from partita.runtime.tensors import Array, aligned, aligned_empty, placed_empty

External = Callable[[Sequence[int]], None]
"""What runs a step of another target: a function of the addresses of the step's buffers."""

Loader = Callable[[Step, Artifact, LoaderContext], External]
"""What prepares such a step when the executable is made, or gets another number of threads."""

LARGE_COPY = 1 << 20
"""Copies of at least this many bytes are shared among threads."""

MOST_THREADS = 1024


class Executable:
    """A compiled model in this process: code, weights, intermediate memory and worker threads.

    Runs are serialized: threads may share an executable, one of them runs it at a time. Its code and threads go when
    it does, or at `close`.
    """

    def __init__(
        self,
        artifact: Artifact,
        *,
        threads: int | None = None,
        loaders: Mapping[type[Step], Loader] | None = None,
        timed: bool = False,
    ):
        """Link an artifact's code into this process; `loaders` run the steps of targets other than the host.

        `threads` is at most how many threads a run uses; by default, as many as there are CPUs for this process.
        A `timed` executable notes in every run when each step begins and ends, which costs some 50 ns a step.
        """
        artifact.check()
        artifact.machine.check(Machine.host())
        weights = {name: aligned(array) for name, array in artifact.weights.items()}
        self._artifact = replace(artifact, weights=weights)
        self._threads = _checked(available_threads() if threads is None else threads)
        self._timed = timed
        self._lock = Lock()
        self._process = os.getpid()
        plan = artifact.plan
        self._input_layouts = {
            each.name: (each, each.numpy, each.shape) for each in plan.inputs
        }
        self._output_layouts = [(each.shape, each.numpy) for each in plan.outputs]
        self._fallbacks: list[str] = []
        try:
            self._arena = aligned_empty((plan.arena,), np.dtype(np.uint8))
        except (MemoryError, ValueError):
            raise ArtifactError(
                f"the model needs {plan.arena} bytes of memory, which this machine does not have"
            ) from None
        kernels = {
            step.kernel: step.object
            for step in plan.all_steps()
            if isinstance(step, KernelStep)
        }
        self._code = Code(artifact.objects, kernels)
        self._loaders = {ExternalStep: load_external, **(loaders or {})}
        context = LoaderContext(self._threads)
        loaded = _segments(self._load(plan.steps, context))
        self._segments = [
            _Segment(
                self._code, steps, self._address, len(plan.inputs), external, timed
            )
            for steps, external in loaded
        ]
        self._steps = tuple(step for steps, _ in loaded for step in steps)
        self._tables = [each.table for each in self._segments if each.table is not None]
        self._finalizer = weakref.finalize(
            self, _release, self._tables, self._code, self._lock, os.getpid()
        )

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, dtype and shape of every input."""
        return self._artifact.plan.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Name, dtype and shape of every output."""
        return self._artifact.plan.outputs

    @property
    def artifact(self) -> Artifact:
        """What this executable was made from."""
        return self._artifact

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """Why modules of other targets could not be loaded, for each whose place code of the host took."""
        return tuple(self._fallbacks)

    @property
    def threads(self) -> int:
        """How many threads a run uses at most."""
        return self._threads

    def set_threads(self, threads: int) -> None:
        """Use at most this many threads from the next run on.

        Modules of other targets are loaded again, since some settle this when they are loaded.
        """
        if _checked(threads) == self._threads:
            return
        context = LoaderContext(threads)
        anew = [
            (each, self._loaders[type(each.step)](each.step, self._artifact, context))
            for each in self._segments
            if each.step is not None
        ]
        with self._lock:
            self._threads = threads
            for segment, external in anew:
                segment.external = external

    @property
    def steps(self) -> tuple[Step, ...]:
        """What a run does, one after the other; where a fallback took a step's place, the fallback's steps."""
        return self._steps

    @property
    def timed(self) -> bool:
        """Whether `step_times` tells when steps ran."""
        return self._timed

    def step_times(self) -> NDArray[np.int64]:
        """Return when each of `steps` began and ended in the last run, in nanoseconds of one clock: shape (steps, 2).

        Raises `OptionError` if the executable is not `timed`.
        """
        if not self._timed:
            raise OptionError("expected an executable that is timed")
        none = np.zeros((0, 2), np.int64)
        return np.concatenate([none, *(each.times() for each in self._segments)])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the artifact, to be read by `partita.load`."""
        self._artifact.write(path)

    def run(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Run the model: arrays by input name in, new arrays by output name out.

        Inputs must have the dtypes and shapes of `self.inputs`; they are copied only if they are not contiguous.
        """
        arrays = self._check(inputs)
        placed = [placed_empty(*layout) for layout in self._output_layouts]
        ends = [each.ctypes.data for each in arrays]
        ends += [address for _, address in placed]
        if (
            self._process != os.getpid()
        ):  # The lock may be held by a thread that the fork left behind.
            self._process, self._lock = os.getpid(), Lock()
        with self._lock:
            if not self._finalizer.alive:
                raise ArtifactError("the executable is closed")
            for segment in self._segments:
                segment.run(ends, self._threads)
        return {
            spec.name: array
            for spec, (array, _) in zip(self.outputs, placed, strict=True)
        }

    def close(self) -> None:
        """End the worker threads and unload the code, after the run that is going on."""
        self._finalizer()

    def _address(self, buffer: Buffer) -> int | None:
        """Return where a buffer is; `None` for inputs and outputs, which are elsewhere in every run."""
        plan, weights = self._artifact.plan, self._artifact.weights
        if buffer.space == "arena":
            return self._arena.ctypes.data + buffer.position
        if buffer.space == "weight":
            return weights[plan.weights[buffer.position]].ctypes.data
        return None

    def _load(
        self, steps: Sequence[Step], context: LoaderContext
    ) -> Iterator[tuple[Step, External | None]]:
        """Yield the steps that run, and what runs them if it is not the host.

        A step that cannot be loaded gives way to its fallback, if it has one.
        """
        for step in steps:
            if isinstance(step, STEPS):
                yield step, None
                continue
            if type(step) not in self._loaders:
                raise ArtifactError(
                    f"the plan has a {step.KEY} step, which has no loader here"
                )
            try:
                yield step, self._loaders[type(step)](step, self._artifact, context)
            except ArtifactError as error:
                if not step.nested:
                    raise
                self._fallbacks.append(str(error))
                yield from self._load(step.nested, context)

    def _check(self, inputs: Mapping[str, ArrayLike]) -> list[Array]:
        """Return contiguous arrays in the order of `self.inputs`, or raise `InputError`."""
        known = self._input_layouts
        for name in inputs:
            if name not in known:
                close = get_close_matches(str(name), known, 1)
                hint = f", did you mean {close[0]!r}?" if close else ""
                raise InputError(f"no input is named {name!r}{hint}{self._expected()}")
        arrays: list[Array] = []
        for name, (spec, dtype, shape) in known.items():
            if name not in inputs:
                raise InputError(f"input {name!r} is missing{self._expected()}")
            try:
                array = np.asarray(inputs[name], order="C")
            except (TypeError, ValueError) as error:
                raise InputError(f"input {name!r} is no array: {error}") from None
            if array.dtype != dtype or array.shape != shape:
                got = f"{array.dtype}{list(array.shape)}"
                raise InputError(f"expected input {name!r} as {spec.type}, got {got}")
            arrays.append(array if array.flags.aligned else array.copy())
        return arrays

    def _expected(self) -> str:
        if not self.inputs:
            return "; the model has no inputs"
        return f"; expected {', '.join(map(str, self.inputs))}"


def _checked(threads: int) -> int:
    if not 1 <= threads <= MOST_THREADS:
        raise OptionError(f"expected 1 to {MOST_THREADS} threads, got {threads}")
    return threads


def _release(tables: list[Table], code: Code, lock: Lock, process: int) -> None:
    """Free what an executable holds; at exit, when a daemon thread may be in a run, after that run."""
    if process != os.getpid():
        return
    with lock:
        for table in tables:
            table.dismiss()
        code.close()


def _segments(
    steps: Iterable[tuple[Step, External | None]],
) -> list[tuple[list[Step], External | None]]:
    """Cut the steps into runs of native ones and single ones of other targets."""
    segments: list[tuple[list[Step], External | None]] = []
    native = False
    for step, external in steps:
        if native and external is None:
            segments[-1][0].append(step)
        else:
            segments.append(([step], external))
        native = external is None
    return segments


class _Segment:
    """Steps that run without Python in between: a table of native calls, or one external step."""

    def __init__(
        self,
        code: Code,
        steps: Sequence[Step],
        address: Callable[[Buffer], int | None],
        inputs: int,
        external: External | None,
        timed: bool,
    ):
        """Place what stays in memory by its `address`; the first `inputs` of the moving ends are inputs."""
        self.step = None if external is None else steps[0]
        self.external = external
        self._stamps = np.zeros((len(steps) + 1, 2), np.int64) if timed else None
        buffers = [buffer for step in steps for buffer in step.buffers]
        pointers = [address(each) for each in buffers]
        moving = [index for index, pointer in enumerate(pointers) if pointer is None]
        first = {"input": 0, "output": inputs}
        ends = [buffers[each] for each in moving]
        which = [first[each.space] + each.position for each in ends]
        self._moves = list(zip(moving, which, strict=True))
        fixed = [pointer or 0 for pointer in pointers]
        calls = [] if external else _calls(code, steps)
        if not external and self._stamps is not None:
            calls = _with_clock(calls, code.address(CLOCK), len(fixed))
            fixed += [each.ctypes.data for each in self._stamps]
        self.table = (
            None
            if external
            else Table(code, [each for each in calls if each.grid > 0], len(fixed))
        )
        self._pointers = (
            self.table.pointers if self.table else np.zeros(len(fixed), np.uint64)
        )
        self._pointers[: len(fixed)] = fixed

    def run(self, ends: Sequence[int], threads: int) -> None:
        """Run with the addresses of the inputs, then the outputs, in `ends`."""
        for place, end in self._moves:
            self._pointers[place] = ends[end]
        if self.table is not None:
            self.table.run(threads)
        elif self.external is not None:
            self._stamp(0)
            self.external(self._pointers.tolist())
            self._stamp(1)

    def _stamp(self, number: int) -> None:
        if self._stamps is not None:
            self._stamps[number] = divmod(clock_gettime_ns(CLOCK_MONOTONIC), 10**9)

    def times(self) -> NDArray[np.int64]:
        """Return when each step began and ended in the last run, in nanoseconds."""
        assert self._stamps is not None
        seconds, rest = self._stamps.T
        moments = seconds * 10**9 + rest
        return np.stack((moments[:-1], moments[1:]), axis=1)


def _calls(code: Code, steps: Sequence[Step]) -> list[Call]:
    """Return the call that each step is; those with a grid of 0 are not to be made."""
    calls: list[Call] = []
    start = 0
    for step in steps:
        if isinstance(step, KernelStep):
            function, grid = code.address(step.kernel), step.grid
            parallel = grid > 1
        elif isinstance(step, CopyStep):
            function, grid = code.address(COPY), step.nbytes
            parallel = grid >= LARGE_COPY
        else:
            raise TypeError(f"{type(step).__name__} is no native step")
        calls.append(Call(function, start, grid, parallel))
        start += len(step.buffers)
    return calls


def _with_clock(calls: Sequence[Call], clock: int, start: int) -> list[Call]:
    """Return calls that note the time before, between and after others; stamp n is pointer `start + n`."""
    noted = [Call(clock, start, 1, parallel=False)]
    for number, call in enumerate(calls, 1):
        noted += (call, Call(clock, start + number, 1, parallel=False))
    return noted
