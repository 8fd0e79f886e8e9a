"""`partita profile`: where the time of a run goes. Nothing here needs a compiler."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from partita.runtime.chrome_trace import ChromeTrace
from partita.runtime.loading import load
from partita.runtime.profiler import Profile, StepProfile, profile
from partita.tools.outputs import check_writable, write_text
from partita.tools.running import inputs_of, warn_of_fallbacks
from partita.tools.tables import table


@dataclass(frozen=True)
class ProfileRequest:
    """What the command line asks for; see `partita profile --help`."""

    artifact: Path
    inputs: Sequence[str] = ()
    random_inputs: int = 0
    runs: int = 20
    threads: int | None = None
    by: Literal["step", "layer"] = "step"
    sort: Literal["time", "order"] = "time"
    top: int | None = None
    json: bool = False
    trace: Path | None = None


def profile_file(request: ProfileRequest) -> None:
    """Profile an artifact: write the trace if it is asked for, and print a table or JSON."""
    if request.trace is not None:
        check_writable(request.trace)
    executable = load(request.artifact, threads=request.threads, timed=True)
    warn_of_fallbacks(executable)
    inputs = inputs_of(executable.inputs, request.inputs, request.random_inputs)
    found = profile(executable, inputs, runs=request.runs)
    if request.trace is not None:
        write_text(request.trace, trace_of(found, request.artifact.name))
    rows = found.steps if request.by == "step" else found.layers()
    if request.sort == "time":
        rows = tuple(sorted(rows, key=lambda each: -each.seconds))
    if request.json:
        print(json.dumps(_data(found, rows[: request.top]), indent=2))
        return
    print(_table(found, rows, request.top))
    print()
    print(_summary(found))


def trace_of(found: Profile, name: str) -> str:
    """Return a typical run as a Chrome trace, with a track for each target."""
    trace = ChromeTrace(name, microseconds=1e-3)
    for step, (begin, end) in zip(found.steps, found.moments.tolist(), strict=True):
        details = {
            "kernel": step.name,
            "grid": step.grid,
            "operations": step.operations,
            "bytes": step.nbytes,
            "median_us": round(step.seconds * 1e6, 3),
        }
        trace.span(step.target, step.origin or step.name, begin, end - begin, details)
    return trace.text()


def _data(found: Profile, rows: Sequence[StepProfile]) -> dict[str, object]:
    return {
        "threads": found.threads,
        "runs": found.runs,
        "seconds": found.seconds,
        "peak_operation_rate": found.peaks.operations,
        "peak_byte_rate": found.peaks.nbytes,
        "steps": [
            {
                **asdict(each),
                "operation_rate": each.operation_rate,
                "byte_rate": each.byte_rate,
            }
            for each in rows
        ],
    }


HEAD = (
    *("#", "kernel", "from", "target", "grid"),
    *("us", "time", "GOP/s", "of peak", "GB/s", "of peak"),
)
LEFT = 4
"""Columns of text."""


def _table(found: Profile, rows: Sequence[StepProfile], top: int | None) -> str:
    total = sum(each.seconds for each in rows)
    shown = [_row(found, each, total) for each in rows[:top]]
    rest = rows[len(shown) :]
    if rest:
        seconds = sum(each.seconds for each in rest)
        cells = ("", f"{len(rest)} more", "", "", "", *_time(seconds, total))
        shown.append((*cells, *("",) * (len(HEAD) - len(cells))))
    return table([HEAD, *shown], right=LEFT)


def _row(found: Profile, each: StepProfile, total: float) -> tuple[str, ...]:
    return (
        str(each.number),
        each.name,
        each.origin,
        each.target,
        str(each.grid),
        *_time(each.seconds, total),
        *_rate(each.operations, each.operation_rate, found.peaks.operations),
        *_rate(each.nbytes, each.byte_rate, found.peaks.nbytes),
    )


def _time(seconds: float, total: float) -> tuple[str, str]:
    share = seconds / total if total else 0.0
    return f"{seconds * 1e6:.1f}", f"{share:.1%}"


def _rate(amount: int, rate: float, peak: float) -> tuple[str, str]:
    """Return billions a second and the share of what is possible; nothing where the amount is not known."""
    return (f"{rate / 1e9:.1f}", f"{rate / peak:.0%}") if amount else ("", "")


def _summary(found: Profile) -> str:
    operations = sum(each.operations for each in found.steps)
    nbytes = sum(each.nbytes for each in found.steps)
    runs = f"{found.runs} run{'s'[: found.runs > 1]}"
    threads = f"{found.threads} thread{'s'[: found.threads > 1]}"
    rows = [
        ("", "ms", "GOP/s", "GB/s"),
        (
            f"median of {runs}, {threads}",
            f"{found.seconds * 1e3:.3f}",
            f"{operations / found.seconds / 1e9:.1f}" if found.seconds else "",
            f"{nbytes / found.seconds / 1e9:.1f}" if found.seconds else "",
        ),
        (
            "peak of this machine: f32 multiply-adds, reads of memory",
            "",
            f"{found.peaks.operations / 1e9:.1f}",
            f"{found.peaks.nbytes / 1e9:.1f}",
        ),
    ]
    return table(rows)
