"""`partita tasks`: what there is to schedule in a model."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.analysis.weights import weights_of
from partita.driver import Task, extract_tasks
from partita.errors import OptionError
from partita.targets.host.processors import machine_named
from partita.tools.inputs import SIDE_FILE, read_insertion, read_model
from partita.tools.outputs import write_text
from partita.tools.progress import ProgressDisplay
from partita.tools.tables import count, table
from partita.weights import write_weights


@dataclass(frozen=True)
class TasksRequest:
    """What the command line asks for; see `partita tasks --help`."""

    model: Path
    targets: Sequence[str] = ()
    shapes: Sequence[str] = ()
    entry: str | None = None
    weights: Path | None = None
    insertions: Sequence[str] = ()
    host_cpu: str | None = None
    host_triple: str | None = None
    json: bool = False

    output: Path | None = None
    """The folder to write tasks to; `None` if that is not wanted."""


def list_tasks(request: TasksRequest) -> None:
    """Extract the tasks of a model, write them if that is asked for, and print a table or JSON."""
    with ProgressDisplay("read"):
        model = read_model(
            request.model, request.shapes, request.weights, request.targets
        )
        tasks = extract_tasks(
            model.module,
            request.targets,
            shapes=model.shapes,
            entry=request.entry,
            machine=machine_named(request.host_triple, request.host_cpu),
            insertions=tuple(map(read_insertion, request.insertions)),
        )
    if request.output is not None:
        _write(tasks, request.output)
    if request.json:
        print(json.dumps([_json(each) for each in tasks], indent=2))
    else:
        print(table([HEAD, *map(_row, tasks)], right=3))
        print(_total(tasks))


HEAD = ("task", "key", "target", "weight", "MACs")


def _row(task: Task) -> tuple[str, ...]:
    return (
        task.name,
        task.key,
        task.target,
        str(task.weight),
        count(task.macs),
    )


def _total(tasks: Sequence[Task]) -> str:
    runs = sum(each.weight for each in tasks)
    macs = sum(each.weight * each.macs for each in tasks)
    return (
        f"{len(tasks)} task{'' if len(tasks) == 1 else 's'}, done {runs} "
        f"time{'' if runs == 1 else 's'} in a run, {count(macs)} MACs"
    )


def _json(task: Task) -> dict[str, object]:
    return {
        "key": task.key,
        "target": task.target,
        "name": task.name,
        "weight": task.weight,
        "macs": task.macs,
        "origins": list(task.origins),
        "module": str(task.module),
    }


def _write(tasks: Sequence[Task], folder: Path) -> None:
    """Write each task to a file of its own; regions of several targets may have one name."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot write {folder}: {error.strerror or error}") from None
    names = [each.name for each in tasks]
    for task in tasks:
        several = names.count(task.name) > 1
        stem = f"{task.name}_{task.key}" if several else task.name
        path = folder / f"{stem}.mlir"
        write_text(path, str(task.module) + "\n")
        if weights := weights_of(task.module):
            write_weights(path.with_suffix(SIDE_FILE), weights)
