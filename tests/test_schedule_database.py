"""The schedule database keeps what was committed, whoever writes, whoever is killed, and tells what it cannot read."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from math import inf
from pathlib import Path
from time import sleep

import pytest

from partita.analysis import schedule_database
from partita.analysis.schedule_database import Best, Record, ScheduleDatabase
from partita.errors import DatabaseError
from partita.runtime import Machine

TASK, OTHER = "0123456789abcdef" * 2, "f" * 32

HERE = Machine("x86_64-unknown-linux-gnu", "znver4", frozenset(("avx2", "fma")))

THERE = replace(HERE, cpu="skylake")


def record(
    schedule: str = "a",
    *seconds: float,
    task: str = TASK,
    target: str = "host",
    machine: Machine | None = HERE,
    recorded: str = "2026-01-01T00:00:00+00:00",
) -> Record:
    return Record(task, target, machine, schedule, seconds, recorded, "test")


@pytest.fixture
def db(tmp_path: Path) -> ScheduleDatabase:
    return ScheduleDatabase(tmp_path / "tuning.db")


def test_what_is_added_is_there(db: ScheduleDatabase) -> None:
    records = (
        record("a", 1e-3, 0.25),
        record('sched.sequence @s for @t {\n  "é"\n}', 7.0, task=OTHER),
        record(machine=None, target="vta{config=pynq}"),
    )
    assert db.add(*records) == 3
    assert set(db.records()) == set(records)
    assert db.records(OTHER) == (records[1],)
    assert db.records(target="vta{config=pynq}") == (records[2],)
    assert db.records(OTHER, "vta") == ()
    assert db.records("0" * 32) == ()


def test_adding_twice_is_adding_once(db: ScheduleDatabase) -> None:
    assert db.add(record("a", 1.0), record("a", 1.0), record("b", 1.0)) == 2
    assert db.add(record("a", 1.0), record("a", 2.0)) == 1
    assert len(db.records()) == 3


def test_the_best_has_the_least_median_of_all_runs(db: ScheduleDatabase) -> None:
    db.add(record("lucky", 0.1, 0.9, 0.9), record("good", 0.5, 0.5))
    db.add(record("good", 0.6), record("slow", 2.0))
    assert db.best(TASK, "host", HERE) == Best("good", 0.5)
    db.add(record("lucky", 0.1, 0.1))
    assert db.best(TASK, "host", HERE) == Best("lucky", 0.1)


def test_the_best_is_for_the_task_the_target_and_the_machine(
    db: ScheduleDatabase,
) -> None:
    db.add(
        record("mine", 0.5),
        record("other task", 0.1, task=OTHER),
        record("other target", 0.1, target="c"),
        record("other machine", 0.1, machine=THERE),
    )
    assert db.best(TASK, "host", HERE) == Best("mine", 0.5)
    more = replace(HERE, features=frozenset((*HERE.features, "avx512f")))
    assert db.best(TASK, "host", more) is None
    db.add(record("any machine", 0.3, machine=None))
    assert db.best(TASK, "host", HERE) == Best("any machine", 0.3)
    assert db.best(TASK, "host", more) == Best("any machine", 0.3)


def test_what_nobody_measured_comes_last_and_the_newest_of_it_first(
    db: ScheduleDatabase,
) -> None:
    db.add(
        record("old", recorded="2026-01-01T00:00:00+00:00"),
        record("new", recorded="2026-01-03T00:00:00+00:00"),
        record("older", recorded="2026-01-02T00:00:00+00:00"),
    )
    assert db.best(TASK, "host", HERE) == Best("new", inf)
    db.add(record("old", recorded="2026-01-04T00:00:00+00:00"))
    assert db.best(TASK, "host", HERE) == Best("old", inf)
    db.add(record("measured", 100.0))
    assert db.best(TASK, "host", HERE) == Best("measured", 100.0)


def test_merging_may_be_repeated(tmp_path: Path, db: ScheduleDatabase) -> None:
    other = ScheduleDatabase(tmp_path / "other.db")
    db.add(record("a", 1.0), record("b", 2.0))
    other.add(record("b", 2.0), record("c", 3.0, machine=THERE))
    assert db.merge(other) == 1
    assert db.merge(other) == 0
    assert db.merge(db) == 0
    assert {each.schedule for each in db.records()} == {"a", "b", "c"}


def test_lines_of_json_say_all(tmp_path: Path, db: ScheduleDatabase) -> None:
    db.add(record("a\n\u2028b", 1.0, 1 / 3), record("b", machine=None))
    lines = list(db.export_lines())
    other = ScheduleDatabase(tmp_path / "other.db")
    assert other.import_lines([*lines, "", "  "]) == 2
    assert other.import_lines(lines) == 0
    assert other.records() == db.records()
    assert list(other.export_lines()) == lines
    assert all("\n" not in each for each in lines)


def changed(**fields: object) -> str:
    data = json.loads(record("a", 1.0).to_line()) | fields
    return json.dumps({name: each for name, each in data.items() if each != "gone"})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no", "is no valid JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[]", 'expected an object with "task", got []'),
        (changed(schedule="gone"), 'expected an object with "schedule", got '),
        (changed(task="abc"), "expected a task key of 32 hexadecimal digits"),
        (changed(task="G" * 32), "expected a task key of 32 hexadecimal digits"),
        (changed(seconds=[-1]), "expected seconds above 0, got -1.0"),
        (changed(seconds=["fast"]), "seconds[0]: expected a number, got 'fast'"),
        (changed(seconds=[True]), "seconds[0]: expected a number, got True"),
        (changed(seconds=[inf]), "seconds[0]: expected a finite number, got inf"),
        (changed(machine="mine"), "machine: expected an object with"),
        (changed(recorded=3), "recorded: expected a string, got 3"),
        (changed(recorded="yesterday"), "expected a time in UTC"),
        (changed(recorded="2026-01-01T00:00:00"), "expected a time in UTC"),
        (changed(recorded="2026-01-01T05:00:00+05:00"), "expected a time in UTC"),
        (changed(schedule="\ud800"), "expected text, got '\\ud800'"),
        (changed(tool="\udcff"), "expected text, got '\\udcff'"),
        (changed(seconds=[10**400]), "expected a number that fits 64 bits"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_added(
    db: ScheduleDatabase, line: str, message: str
) -> None:
    db.add(record("before"))
    with pytest.raises(DatabaseError) as caught:
        db.import_lines([record("good").to_line(), "", line], "some.jsonl")
    assert str(caught.value).startswith("some.jsonl:3")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(db.records()) == 1


def refused(db: ScheduleDatabase) -> str:
    """Expect that reading and writing are refused with the same sentence."""
    messages: set[str] = set()
    for action in (db.check, db.records, lambda: db.add(record())):
        with pytest.raises(DatabaseError) as caught:
            action()
        messages.add(str(caught.value))
    (message,) = messages
    assert "\n" not in message
    return message


def test_foreign_files_are_refused_and_kept(
    tmp_path: Path, db: ScheduleDatabase
) -> None:
    text = tmp_path / "model.onnx"
    text.write_text("not a database" * 100)
    short = tmp_path / "short"
    short.write_text("x")
    tables = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(tables)) as other:
        other.execute("CREATE TABLE users (name TEXT)")
        other.commit()
    for path in (text, short, tables):
        before = path.read_bytes()
        assert refused(ScheduleDatabase(path)) == f"{path} is no schedule database"
        assert path.read_bytes() == before


def test_newer_tables_are_refused(db: ScheduleDatabase) -> None:
    db.add(record())
    with closing(sqlite3.connect(db.path)) as other:
        other.execute("PRAGMA user_version = 9")
    expected = (
        f"schedule database {db.path} has version 9, and this partita reads up to 1"
    )
    assert refused(db) == expected


def test_broken_files_are_refused(db: ScheduleDatabase) -> None:
    path = Path(db.path)
    db.add(*(record("x" * 500, 1.0 + i) for i in range(100)))
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" * 4000 + whole[4100:])
    assert refused(db).startswith(f"schedule database {path} is broken;")
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DatabaseError, match="is broken"):
        db.records()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("record SET seconds = 'x'", "record: seconds is no valid JSON"),
        ("record SET seconds = '[\"a\"]'", "expected a number, got 'a'"),
        ("record SET seconds = '[-1]'", "expected seconds above 0, got -1.0"),
        ("record SET seconds = x'ff'", "record: seconds: expected a string"),
        ("record SET schedule = x'ff'", "record: schedule: expected a string"),
        ("record SET recorded = 'noon'", "expected a time in UTC"),
        ("machine SET description = 'x'", "record: machine is no valid JSON"),
    ],
)
def test_rows_that_others_wrote_are_refused(
    db: ScheduleDatabase, change: str, message: str
) -> None:
    db.add(record("a", 1.0, machine=None))
    with closing(sqlite3.connect(db.path)) as raw:
        raw.execute(f"UPDATE {change}")
        raw.commit()
    reads: list[Callable[[], object]] = [db.records]
    if "machine" not in change:
        reads.append(lambda: db.best(TASK, "host", HERE))
    for read in reads:
        with pytest.raises(DatabaseError) as refused:
            read()
        assert message in str(refused.value)
        assert str(db.path) in str(refused.value)


def test_places_that_cannot_be(tmp_path: Path, db: ScheduleDatabase) -> None:
    for action in (db.check, db.records, lambda: db.best(TASK, "host", HERE)):
        with pytest.raises(
            DatabaseError, match=f"there is no schedule database {db.path}"
        ):
            action()
    assert not Path(db.path).exists()
    with pytest.raises(DatabaseError, match="cannot access schedule database"):
        ScheduleDatabase(tmp_path / "nowhere" / "x.db").add(record())
    with pytest.raises(DatabaseError, match="cannot access schedule database"):
        ScheduleDatabase(tmp_path).records()


def test_a_file_that_nobody_finished_is_empty(db: ScheduleDatabase) -> None:
    """A process that is killed before its first commit leaves a file without content."""
    Path(db.path).touch()
    assert db.records() == ()
    assert db.best(TASK, "host", HERE) is None
    assert db.add(record()) == 1


def test_waiting_for_others_ends(
    db: ScheduleDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.add(record())
    monkeypatch.setattr(schedule_database, "PATIENCE", 0.05)
    with closing(sqlite3.connect(db.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert refused(db) == f"schedule database {db.path} is in use for more than 0 s"
    assert len(db.records()) == 1


WRITER = """
import sys
from time import sleep
from partita.analysis.schedule_database import Record, ScheduleDatabase

db, name = ScheduleDatabase(sys.argv[1]), sys.argv[2]
for number in range(10**9):
    made = [
        Record(f"{number % 7:032x}", "host", None, f"{name} {number} {each} " + "x" * 300, (1.0 + number,))
        for each in range(1 + number % 3)
    ]
    db.add(*made)
    print(*(each.digest for each in made), flush=True)
    sleep(0.01)
"""
"""Adds one to three records at a time, for ever, and tells of each after it is committed."""


def start(db: ScheduleDatabase, name: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WRITER, str(db.path), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill(writer: "subprocess.Popen[str]", first: str = "") -> set[str]:
    """Kill a writer, and return the digests of what it told that it had committed."""
    writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate()
    return {
        digest
        for line in (first + rest).splitlines(keepends=True)
        if line.endswith("\n")
        for digest in line.split()
    }


def kept(db: ScheduleDatabase) -> set[str]:
    """Return the digests of all records, after a look at the file and at its transactions: each is whole."""
    with closing(sqlite3.connect(db.path, 60)) as other:
        assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    records = db.records()
    batches = Counter(tuple(each.schedule.split()[:2]) for each in records)
    for (_, number), count in batches.items():
        assert count == 1 + int(number) % 3
    return {each.digest for each in records}


@pytest.mark.parametrize("kills", [8, pytest.param(50, marks=pytest.mark.full)])
def test_killed_at_random_moments_while_three_write(
    db: ScheduleDatabase, kills: int
) -> None:
    """Nothing that was committed is lost, nothing is half there, nothing is corrupt."""
    rng = random.Random(0)
    told: set[str] = set()
    writers = [start(db, f"w{number}") for number in range(3)]
    try:
        for round in range(kills):
            victim = rng.randrange(3)
            stream = writers[victim].stdout
            assert stream is not None
            first = stream.readline()  # it writes by now
            sleep(rng.uniform(0, 0.05))
            told |= kill(writers[victim], first)
            writers[victim] = start(db, f"w{victim}r{round}")
            assert told <= kept(db)
    finally:
        for each in writers:
            told |= kill(each)
    assert len(told) > kills
    assert told <= kept(db)


def test_killed_while_the_file_is_made(tmp_path: Path) -> None:
    rng = random.Random(0)
    for round in range(5):
        db = ScheduleDatabase(tmp_path / f"{round}.db")
        writers = [start(db, f"w{number}") for number in range(3)]
        sleep(rng.uniform(0.05, 0.2))
        told = set[str]().union(*map(kill, writers))
        assert told <= (kept(db) if Path(db.path).exists() else set())
        assert db.add(record("after")) == 1
