"""Schedules that were found good, by task and machine, in one file that survives whoever writes it.

The file is an SQLite database with a rollback journal: each change is a transaction, so a process that is killed
at any moment leaves what was committed before, and several processes may write at once, on one machine or on a
file system that locks. Every call opens the file and closes it, so a `ScheduleDatabase` can be sent to other processes.

| table | holds |
|---|---|
| `machine` | each machine once, as JSON; `null` where it does not matter |
| `record` | a schedule of a task for a target on a machine, and what running it took |

A record is known by a digest of all that it says, so adding it twice is adding it once: that is what makes merging
and importing safe to repeat.
"""

import json
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import blake2b
from math import inf, isfinite
from os import PathLike
from pathlib import Path
from statistics import median

from partita.errors import ArtifactError, DatabaseError
from partita.runtime.json_reader import Node
from partita.runtime.machine import Machine

APPLICATION = 0x50415254
"""What SQLite keeps in a file's header to say whose it is: `PART`."""

MAGIC = b"SQLite format 3\0"
"""What every SQLite database starts with, unless it is empty."""

VERSION = 1
"""Of the tables."""

PATIENCE = 60.0
"""Seconds to wait for other processes that write."""

SCHEMA = """
CREATE TABLE machine (number INTEGER PRIMARY KEY, description TEXT NOT NULL UNIQUE);
CREATE TABLE record (
  digest TEXT PRIMARY KEY,
  task TEXT NOT NULL,
  target TEXT NOT NULL,
  machine INTEGER NOT NULL REFERENCES machine (number),
  schedule TEXT NOT NULL,
  seconds TEXT NOT NULL,
  recorded TEXT NOT NULL,
  tool TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX record_of_task ON record (task, target);
"""

KEY_DIGITS = frozenset("0123456789abcdef")


def _is_time(text: str) -> bool:
    """Say whether a text is a time in UTC, in the form that sorts by time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return False
    return time.utcoffset() == timedelta(0) and time.isoformat() == text


def _is_text(text: str) -> bool:
    """Say whether a text can be written; one from JSON may hold halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Record:
    """A schedule of a task, and what running it took."""

    task: str
    """The key: see `partita.analysis.canonical_task`."""

    target: str
    """The back end, with the options that matter, such as `host`."""

    machine: Machine | None
    """What the code was made for, and measured on; `None` if that does not matter, as in a model of an accelerator."""

    schedule: str
    """A `sched.sequence` over the labels of the task."""

    seconds: tuple[float, ...] = ()
    """Of each run that was measured; none if nobody measured."""

    recorded: str = field(default_factory=_now)
    """When, in UTC: `2026-01-31T12:00:00+00:00`."""

    tool: str = ""
    """Who made it."""

    def __post_init__(self) -> None:
        if len(self.task) != 32 or not set(self.task) <= KEY_DIGITS:
            raise DatabaseError(
                f"expected a task key of 32 hexadecimal digits, got {self.task!r}"
            )
        if not _is_time(self.recorded):
            raise DatabaseError(
                f"expected a time in UTC as 2026-01-31T12:00:00+00:00, got {self.recorded!r}"
            )
        for text in (self.target, self.schedule, self.tool):
            if not _is_text(text):
                raise DatabaseError(f"expected text, got {text!r}")
        for each in self.seconds:
            if not (isfinite(each) and each > 0):
                raise DatabaseError(f"expected seconds above 0, got {each}")

    def to_json(self) -> dict[str, object]:
        """Return the record as JSON objects have it."""
        return {
            "task": self.task,
            "target": self.target,
            "machine": _machine_json(self.machine),
            "schedule": self.schedule,
            "seconds": list(self.seconds),
            "recorded": self.recorded,
            "tool": self.tool,
        }

    def to_line(self) -> str:
        """Return the record as a line of JSON."""
        return json.dumps(self.to_json(), sort_keys=True)

    @staticmethod
    def of_line(line: str, where: str) -> "Record":
        """Return the record that a line of JSON says; raise `DatabaseError`, which says where, if it says none."""
        try:
            return Record.of_json(Node.parse(line.encode(), where))
        except ArtifactError as error:
            raise DatabaseError(str(error)) from None

    @staticmethod
    def of_json(node: Node) -> "Record":
        """Return the record that a JSON object says; raise `DatabaseError` if it says none."""
        try:
            return Record(
                task=node["task"].string(),
                target=node["target"].string(),
                machine=_machine(node["machine"]),
                schedule=node["schedule"].string(),
                seconds=node["seconds"].each(Node.number),
                recorded=node["recorded"].string(),
                tool=node["tool"].string(),
            )
        except ArtifactError as error:
            raise DatabaseError(str(error)) from None
        except DatabaseError as error:
            raise DatabaseError(f"{node.where}: {error}") from None

    @cached_property
    def digest(self) -> str:
        """What tells this record from others: all that it says."""
        return blake2b(self.to_line().encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Best:
    """The schedule of a task that ran fastest."""

    schedule: str

    seconds: float
    """The median of all its runs; infinite if nobody measured."""


@dataclass(frozen=True)
class ScheduleDatabase:
    """Schedules in a file. Writing makes the file if there is none; reading expects one.

    Every call raises `DatabaseError`, with one sentence, if the file is not ours, is broken, or
    cannot be reached, and if others write for more than a minute.
    """

    path: str | PathLike[str]

    def check(self) -> None:
        """Raise `DatabaseError` if the file cannot be read."""
        with self._told(), closing(self._connect("rw")) as db:
            self._check(db)

    def best(self, task: str, target: str, machine: Machine) -> Best | None:
        """Return the schedule with the least median of all runs on such a machine, `None` if there is no schedule.

        Schedules for whatever machine count too. Those that nobody measured come after all
        others, the newest first.
        """
        machines = tuple(map(_machine_text, (machine, None)))
        runs: dict[str, tuple[float, ...]] = {}
        for each in self._select(
            "task = ? AND target = ? AND description IN (?, ?)",
            (task, target, *machines),
        ):
            runs[each.schedule] = (*runs.pop(each.schedule, ()), *each.seconds)
        newest_first = (
            Best(schedule, median(seconds) if seconds else inf)
            for schedule, seconds in reversed(runs.items())
        )
        return min(newest_first, key=lambda each: each.seconds, default=None)

    def records(
        self, task: str | None = None, target: str | None = None
    ) -> tuple[Record, ...]:
        """Return the records of a task and a target, or of any, in order of time."""
        wanted = {"task": task, "target": target}
        given = {name: value for name, value in wanted.items() if value is not None}
        return self._select(
            " AND ".join(f"{name} = ?" for name in given) or "TRUE",
            tuple(given.values()),
        )

    def _select(self, where: str, values: Sequence[str]) -> tuple[Record, ...]:
        """Return records in order of time."""
        query = (
            "SELECT task, target, description, schedule, seconds, recorded, tool "
            f"FROM record JOIN machine ON machine = number WHERE {where} ORDER BY recorded, digest"
        )
        with self._told(), closing(self._connect("rw")) as db:
            if self._check(db) == 0:
                return ()
            rows = db.execute(query, values).fetchall()
        return tuple(_record(row, f"{self.path}: record") for row in rows)

    def add(self, *records: Record) -> int:
        """Add records, all or none, and return how many were new; they are on disk when this returns."""
        with self._told(), closing(self._connect("rwc")) as db:
            db.execute("BEGIN IMMEDIATE")  # closing undoes what is not committed
            if self._check(db) == 0:
                _create(db)
            new = sum(_insert(db, each) for each in records)
            db.execute("COMMIT")
            return new

    def merge(self, other: "ScheduleDatabase") -> int:
        """Add what another database holds, all or nothing, and return how many records were new."""
        return self.add(*other.records())

    def export_lines(self) -> Iterator[str]:
        """Return a line of JSON for each record, in order of time."""
        return (each.to_line() for each in self.records())

    def import_lines(self, lines: Iterable[str], source: str = "lines") -> int:
        """Add records from lines of JSON, all or none, and return how many were new.

        Empty lines are skipped; errors name the line of the `source`.
        """
        return self.add(
            *(
                Record.of_line(line, f"{source}:{number}")
                for number, line in enumerate(lines, 1)
                if line.strip()
            )
        )

    def _connect(self, mode: str) -> sqlite3.Connection:
        """Open the file. One that may only be read is opened for reading, whatever the mode."""
        path = Path(self.path)
        if mode == "rw" and not path.exists():
            raise DatabaseError(f"there is no schedule database {path}")
        if path.is_file() and _is_foreign(path):
            raise DatabaseError(f"{path} is no schedule database")
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(uri, PATIENCE, isolation_level=None, uri=True)

    def _check(self, db: sqlite3.Connection) -> int:
        """Return the version of the tables, 0 if there are none; raise `DatabaseError` if they are not ours."""
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == 0 and tables == 0:
            return 0
        if application != APPLICATION:
            raise DatabaseError(f"{self.path} is no schedule database")
        if version > VERSION:
            raise DatabaseError(
                f"schedule database {self.path} has version {version}, and this partita reads up to {VERSION}"
            )
        return version

    @contextmanager
    def _told(self) -> Generator[None]:
        """Tell in one sentence what SQLite could not do."""
        try:
            yield
        except sqlite3.Error as error:
            raise DatabaseError(self._sentence(error)) from error
        except OSError as error:
            reason = error.strerror or error
            raise DatabaseError(
                f"cannot access schedule database {self.path}: {reason}"
            ) from error

    def _sentence(self, error: sqlite3.Error) -> str:
        match error.sqlite_errorname:
            case "SQLITE_NOTADB":
                return f"{self.path} is no schedule database"
            case str(name) if name.startswith("SQLITE_BUSY"):
                return f"schedule database {self.path} is in use for more than {PATIENCE:.0f} s"
            case str(name) if name.startswith("SQLITE_CORRUPT"):
                return f"schedule database {self.path} is broken; export what can be read, or start another"
            case _:
                return f"cannot access schedule database {self.path}: {error}"


def _is_foreign(path: Path) -> bool:
    """Say whether a file is no SQLite database. SQLite itself would write over one that is shorter than a page."""
    with path.open("rb") as stream:
        start = stream.read(len(MAGIC))
    return start not in (b"", MAGIC)


def _create(db: sqlite3.Connection) -> None:
    """Make the tables, in the transaction that is open."""
    for statement in filter(str.strip, SCHEMA.split(";")):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def _insert(db: sqlite3.Connection, record: Record) -> int:
    """Add a record, and return 1 if it was new."""
    machine = _machine_text(record.machine)
    db.execute("INSERT OR IGNORE INTO machine (description) VALUES (?)", (machine,))
    cursor = db.execute(
        "INSERT OR IGNORE INTO record SELECT ?, ?, ?, number, ?, ?, ?, ? "
        "FROM machine WHERE description = ?",
        (
            record.digest,
            record.task,
            record.target,
            record.schedule,
            json.dumps(record.seconds),
            record.recorded,
            record.tool,
            machine,
        ),
    )
    return cursor.rowcount


def _record(row: Sequence[object], where: str) -> Record:
    """Return the record of a row; `DatabaseError` if something else than this module wrote it."""
    task, target, machine, schedule, seconds, recorded, tool = row
    fields = {
        "task": task,
        "target": target,
        "machine": _parsed(machine, f"{where}: machine"),
        "schedule": schedule,
        "seconds": _parsed(seconds, f"{where}: seconds"),
        "recorded": recorded,
        "tool": tool,
    }
    return Record.of_json(Node(fields, where))


def _parsed(text: object, where: str) -> object:
    """Return what a column of JSON says."""
    try:
        return Node.parse(Node(text, where).string().encode(), where).value
    except ArtifactError as error:
        raise DatabaseError(str(error)) from None


def _machine(node: Node) -> Machine | None:
    if node.value is None:
        return None
    features = node["features"].each(Node.string)
    return Machine(node["triple"].string(), node["cpu"].string(), frozenset(features))


def _machine_json(machine: Machine | None) -> Mapping[str, object] | None:
    if machine is None:
        return None
    return {
        "triple": machine.triple,
        "cpu": machine.cpu,
        "features": sorted(machine.features),
    }


def _machine_text(machine: Machine | None) -> str:
    return json.dumps(_machine_json(machine), sort_keys=True)
