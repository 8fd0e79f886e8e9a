"""`partita db`: what schedule databases hold, and moving it between them."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from statistics import median

from partita.analysis.ir_text import decode_ir
from partita.analysis.schedule_database import Record, ScheduleDatabase
from partita.analysis.schedule_text import parse_schedule, schedule_text
from partita.driver import context
from partita.errors import DatabaseError, IRError, OptionError
from partita.runtime.machine import Machine
from partita.targets import make_backend
from partita.tools.outputs import write_text
from partita.tools.tables import table

HEAD = ("task", "target", "machine", "recorded", "by", "runs", "median")


def list_schedules(db: Path, task: str | None) -> None:
    """Print a row for each record; of one task, also the schedules, the fastest first."""
    records = ScheduleDatabase(db).records(task)
    ordered = sorted(records, key=lambda each: (each.task, each.target, _median(each)))
    print(table([HEAD, *map(_row, ordered)], right=5))
    if task is not None:
        for each in ordered:
            print(f"\n{each.schedule}")


def add_schedule(
    db: Path, schedule: Path, task: str, target: str, machine: Machine | None
) -> None:
    """Add the schedule of a file, for a task, a target and a machine; for any machine if there is none."""
    text = decode_ir(_content(schedule), str(schedule))
    try:
        sequence = parse_schedule(context(), text, "task")
    except IRError as error:
        raise IRError(f"{schedule}: {error}") from None
    record = Record(
        task,
        make_backend(target).task_target(),
        machine,
        schedule_text(sequence),
        tool="partita db add",
    )
    _tell(db, ScheduleDatabase(db).add(record))


def merge_databases(db: Path, others: Sequence[Path]) -> None:
    """Add what other databases hold to one, all or nothing."""
    records = [each for other in others for each in ScheduleDatabase(other).records()]
    _tell(db, ScheduleDatabase(db).add(*records))


def export_records(db: Path, output: Path | None) -> None:
    """Write all records as lines of JSON, to standard output if there is no file."""
    text = "".join(f"{line}\n" for line in ScheduleDatabase(db).export_lines())
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)


def import_records(db: Path, file: Path) -> None:
    """Add records from a file of lines of JSON."""
    try:
        lines = _content(file).decode().split("\n")
    except UnicodeDecodeError as error:
        raise DatabaseError(f"{file}: expected UTF-8, {error.reason}") from None
    _tell(db, ScheduleDatabase(db).import_lines(lines, str(file)))


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise OptionError(f"cannot read {file}: {error.strerror or error}") from None


def _tell(db: Path, new: int) -> None:
    print(f"{db}: {new} new record{'' if new == 1 else 's'}")


def _median(record: Record) -> float:
    return median(record.seconds) if record.seconds else inf


def _row(record: Record) -> tuple[str, ...]:
    return (
        record.task,
        record.target,
        "any" if record.machine is None else record.machine.cpu,
        record.recorded,
        record.tool,
        str(len(record.seconds)),
        f"{_median(record) * 1e6:.1f} µs" if record.seconds else "",
    )
