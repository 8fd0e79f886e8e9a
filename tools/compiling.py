"""`partita compile`: from a model to an artifact."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from partita.driver import (
    ExternalPolicy,
    ScheduleSource,
    compile_artifact,
    emit_c,
    make_backend,
    prepare,
)
from partita.errors import OptionError
from partita.runtime import Artifact, Machine
from partita.targets.host.processors import machine_named
from partita.tools.inputs import read_insertion, read_model
from partita.tools.observers import IRWriter, Stopwatch
from partita.tools.outputs import check_writable
from partita.tools.progress import ProgressDisplay
from partita.tools.tables import size
from partita.transforms.options import spelled
from partita.transforms.pipeline import Observer


@dataclass(frozen=True)
class CompileRequest:
    """What the command line asks for; see `partita compile --help`."""

    model: Path

    output: Path | None
    """`None` if no artifact is wanted."""

    emit_c: Path | None = None
    """The folder of C sources; `None` if none is wanted."""

    targets: Sequence[str] = ()
    shapes: Sequence[str] = ()
    entry: str | None = None
    weights: Path | None = None
    insertions: Sequence[str] = ()
    db: Path | None = None
    on_external_failure: str = "host"
    keep_host_fallback: bool = False
    print_pipeline: bool = False
    dump_ir: Path | None = None
    host_cpu: str | None = None
    host_triple: str | None = None
    time_passes: bool = False
    quiet: bool = False


def compile_file(request: CompileRequest) -> None:
    """Compile a file to a file, and print what became of it."""
    start = perf_counter()
    if request.output is not None:
        check_writable(request.output)
    elif request.db is not None and not request.print_pipeline:
        raise OptionError(
            "--db is for kernels of the host, and --emit-c has none; set -o"
        )
    targets = tuple(make_backend(each) for each in request.targets)
    insertions = tuple(map(read_insertion, request.insertions))
    machine = machine_named(request.host_triple, request.host_cpu)
    with ExitStack() as stack:
        display = stack.enter_context(ProgressDisplay("read", quiet=request.quiet))
        stopwatch = Stopwatch()
        if request.time_passes:
            stack.callback(lambda: print(stopwatch.table(), file=sys.stderr))
        observers: list[Observer] = [display, stopwatch]
        if request.dump_ir is not None:
            observers.append(stack.enter_context(IRWriter(request.dump_ir)))
        with stopwatch.lap("(read)"):
            model = read_model(request.model, request.shapes, request.weights, targets)
        if request.print_pipeline:
            passes = prepare(
                model.module,
                targets,
                insertions,
                shapes=model.shapes,
                entry=request.entry,
                machine=machine,
                policy=ExternalPolicy(
                    request.on_external_failure, request.keep_host_fallback
                ),
                schedules=ScheduleSource(str(request.db or "")),
            )
            print(",\n".join(map(spelled, passes)), flush=True)
        if request.emit_c is not None:
            with stopwatch.rest("(C)"):
                emit_c(
                    model.module,
                    request.emit_c,
                    targets,
                    shapes=model.shapes,
                    entry=request.entry,
                    observers=observers,
                )
        if request.output is None:
            return
        with stopwatch.rest("(code)"):
            artifact = compile_artifact(
                model.module,
                targets,
                shapes=model.shapes,
                entry=request.entry,
                machine=machine,
                insertions=insertions,
                observers=observers,
                progress=display.tell,
                on_external_failure=request.on_external_failure,
                keep_host_fallback=request.keep_host_fallback,
                db=request.db,
                tell=_warn,
            )
        with stopwatch.lap("(write)"):
            artifact.write(request.output)
    if not request.quiet:
        print(_summary(request.output, artifact, perf_counter() - start))


def _warn(message: str) -> None:
    print(f"partita: warning: {message}", file=sys.stderr, flush=True)


def _summary(path: Path, artifact: Artifact, seconds: float) -> str:
    weights = sum(each.nbytes for each in artifact.weights.values())
    count = len(artifact.objects)
    parts = [
        f"{count} kernel{'' if count == 1 else 's'}",
        f"{size(weights)} of weights",
        f"{size(artifact.plan.arena)} of intermediate memory",
    ]
    machine = (
        "" if artifact.machine == Machine.host() else f" for {artifact.machine.cpu}"
    )
    return f"{path}: {', '.join(parts)}; compiled{machine} in {seconds:.1f} s"
