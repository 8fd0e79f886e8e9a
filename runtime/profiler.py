"""Where the time of a compiled model goes, step by step."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita.errors import OptionError
from partita.runtime.executable import Executable
from partita.runtime.external import ExternalStep
from partita.runtime.peaks import Peaks, measure_peaks
from partita.runtime.plan import NO_WORK, CopyStep, KernelStep, Step, Work

WARM_UP = 2
"""Runs that are not counted."""

HOST = "host"


@dataclass(frozen=True)
class StepProfile:
    """How long one step of a model took."""

    number: int
    """Its place in a run, from 0."""

    name: str
    """The kernel's symbol, the external function, or `copy`."""

    target: str
    """Where it ran."""

    origin: str
    """The nodes of the model that it computes."""

    grid: int
    """Iterations that threads share; 1 for a step that one thread does."""

    seconds: float
    """The median over all runs."""

    fastest: float
    """Seconds of the fastest run."""

    operations: int
    """Arithmetic on elements, a multiply-add being two; 0 where it is not known."""

    nbytes: int
    """Read from and written to buffers, each byte once; 0 where it is not known."""

    @property
    def operation_rate(self) -> float:
        """Operations a second."""
        return self.operations / self.seconds if self.seconds else 0.0

    @property
    def byte_rate(self) -> float:
        """Bytes a second; above that of memory where caches hold the buffers."""
        return self.nbytes / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Profile:
    """How long a model took, as a whole and step by step."""

    threads: int
    runs: int
    seconds: float
    """The median, over all runs, of the time from the first step to the end of the last."""

    peaks: Peaks
    """What this machine can do with as many threads."""

    steps: tuple[StepProfile, ...]

    moments: NDArray[np.int64] = field(repr=False, compare=False)
    """When each step began and ended in the run closest to the median, in ns from its start: shape (steps, 2)."""

    def layers(self) -> "tuple[StepProfile, ...]":
        """Return the steps with those of the same origin and target put together, in order of their first step."""
        groups: dict[tuple[str, str], list[StepProfile]] = {}
        for each in self.steps:
            groups.setdefault((each.origin or each.name, each.target), []).append(each)
        return tuple(map(_together, groups.values()))


def profile(
    executable: Executable, inputs: Mapping[str, ArrayLike], *, runs: int = 20
) -> Profile:
    """Run a compiled model several times, and return how long each step took.

    `inputs` are as `Executable.run` takes them; the threads are the executable's. One that
    is not timed is loaded once more. Raises what running raises, and `OptionError` without
    any run.
    """
    if runs < 1:
        raise OptionError(f"expected at least 1 run, got {runs}")
    if executable.timed:
        return _profiled(executable, inputs, runs)
    timed = Executable(executable.artifact, threads=executable.threads, timed=True)
    try:
        return _profiled(timed, inputs, runs)
    finally:
        timed.close()


def _profiled(
    executable: Executable, inputs: Mapping[str, ArrayLike], runs: int
) -> Profile:
    for _ in range(WARM_UP):
        executable.run(inputs)
    found: list[NDArray[np.int64]] = []
    for _ in range(runs):
        executable.run(inputs)
        found.append(executable.step_times())
    times = np.stack(found)
    durations = (times[:, :, 1] - times[:, :, 0]) / 1e9
    totals = [_span(each) for each in found]
    middle = median(totals)
    closest = found[min(range(runs), key=lambda run: abs(totals[run] - middle))]
    return Profile(
        threads=executable.threads,
        runs=runs,
        seconds=middle / 1e9,
        peaks=measure_peaks(executable.threads),
        steps=tuple(
            _profile(number, step, durations[:, number])
            for number, step in enumerate(executable.steps)
        ),
        moments=closest - (closest[0, 0] if len(closest) else 0),
    )


def _span(times: NDArray[np.int64]) -> int:
    return int(times[:, 1].max() - times[:, 0].min()) if len(times) else 0


def _profile(number: int, step: Step, seconds: NDArray[Any]) -> StepProfile:
    name, target, origin, grid, work = _described(step)
    return StepProfile(
        number=number,
        name=name,
        target=target,
        origin=origin,
        grid=grid,
        seconds=float(np.median(seconds)),
        fastest=float(seconds.min()),
        operations=work.operations,
        nbytes=work.nbytes,
    )


def _described(step: Step) -> tuple[str, str, str, int, Work]:
    match step:
        case KernelStep():
            return step.kernel, HOST, step.origin, step.grid, step.work
        case CopyStep():
            return "copy", HOST, "", 1, Work(0, 2 * step.nbytes)
        case ExternalStep():
            return step.function, step.target, step.origin, 1, NO_WORK
        case _:
            return step.KEY, HOST, "", 1, NO_WORK


def _together(steps: list[StepProfile]) -> StepProfile:
    if len(steps) == 1:
        return steps[0]
    first = steps[0]
    names = dict.fromkeys(each.name for each in steps)
    return StepProfile(
        number=first.number,
        name=", ".join(names),
        target=first.target,
        origin=first.origin,
        grid=max(each.grid for each in steps),
        seconds=sum(each.seconds for each in steps),
        fastest=sum(each.fastest for each in steps),
        operations=sum(each.operations for each in steps),
        nbytes=sum(each.nbytes for each in steps),
    )
