"""`partita tasks`, `partita db` and `partita compile --db`: from a model to its schedules and back."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_cases import MODEL, Run, arrays, refused, write_ir

from partita.tools.arrays import write_npz

SMALL = ["m.onnxtxt", "--shape", "N=3"]

PROGRESS = re.compile(r"\d+ s: .*")
"""What a command tells that takes long, as any may on a busy machine."""

KEY = re.compile(r"[0-9a-f]{32}")

SCHEDULE = """\
sched.sequence @mine for @some {
  %twice = sched.block "map_0"
  sched.compute_inline %twice
}
"""


@pytest.fixture
def key(run: Run) -> str:
    """Write the small model and a schedule of its first task; return the key of that."""
    Path("m.onnxtxt").write_text(MODEL)
    Path("s.mlir").write_text(SCHEDULE)
    code, out, _ = run("tasks", *SMALL, "--json")
    assert code == 0
    return json.loads(out)[0]["key"]


def succeed(run: Run, *arguments: str | Path) -> str:
    code, out, err = run(*arguments)
    lines = [each for each in err.splitlines() if not PROGRESS.fullmatch(each)]
    assert (code, lines) == (0, [])
    return out


def test_tasks_are_listed(run: Run, key: str) -> None:
    out = succeed(run, "tasks", *SMALL)
    head, first, second, total = out.splitlines()
    assert head.split() == ["task", "key", "target", "weight", "MACs"]
    assert first.split()[1:] == [key, "host", "1", "0"]
    assert first.startswith("add_relu_")
    assert second.startswith("negative_")
    assert total == "2 tasks, done 2 times in a run, 0 MACs"
    assert sorted(os.listdir()) == ["m.onnxtxt", "s.mlir"]


def test_tasks_as_json(run: Run, key: str) -> None:
    first, second = json.loads(succeed(run, "tasks", *SMALL, "--json"))
    assert first["origins"] == ["Add_0", "Relu_1"]
    assert first["target"] == "host"
    assert (first["weight"], first["macs"]) == (1, 0)
    assert 'te.compute "map_1"' in first["module"]
    assert second["key"] != key
    assert KEY.fullmatch(second["key"])


def test_tasks_as_files_can_be_compiled(run: Run, key: str) -> None:
    succeed(run, "tasks", *SMALL, "-o", "tasks")
    files = sorted(os.listdir("tasks"))
    assert [each.partition("_")[0] for each in files] == ["add", "negative"]
    task = Path("tasks") / files[0]
    assert key in succeed(run, "tasks", task)
    succeed(run, "compile", "-q", task, "-o", "t.partita")
    write_npz(Path("x.npz"), {"0": arrays()["x"]})
    assert "output0  float32  3x4      0  0.545455    2\n" in succeed(
        run, "run", "t.partita", "--input", "x.npz"
    )


def test_weights_of_regions_are_written(run: Run) -> None:
    """A region of another target keeps its constants, in a file beside it."""
    write_ir()
    succeed(run, "tasks", "m.mlir", "--entry", "f", "--target", "c", "-o", "tasks")
    names = sorted(os.listdir("tasks"))
    assert [each for each in names if each.endswith(".safetensors")] != []
    for name in names:
        if name.endswith(".mlir"):
            succeed(run, "compile", "-q", f"tasks/{name}", "-o", "t.partita")


def test_a_schedule_makes_its_way(run: Run, key: str) -> None:
    """What is added is listed, exported, imported, merged and compiled with."""
    add = ["db", "add", "a.db", "s.mlir", "--task", key]
    assert succeed(run, *add) == "a.db: 1 new record\n"
    listed = succeed(run, "db", "list", "a.db").splitlines()
    assert listed[0].split() == [
        "task",
        "target",
        "machine",
        "recorded",
        "by",
        "runs",
        "median",
    ]
    assert listed[1].startswith(f"{key}  host")
    shown = succeed(run, "db", "list", "a.db", "--task", key)
    assert SCHEDULE.replace("@mine for @some", "@schedule for @task") in shown
    assert succeed(run, "db", "list", "a.db", "--task", "0" * 32).count("\n") == 1

    lines = succeed(run, "db", "export", "a.db")
    assert json.loads(lines)["task"] == key
    assert succeed(run, "db", "export", "a.db", "-o", "a.jsonl") == ""
    assert Path("a.jsonl").read_text() == lines
    assert succeed(run, "db", "import", "b.db", "a.jsonl") == "b.db: 1 new record\n"
    assert succeed(run, "db", "import", "b.db", "a.jsonl") == "b.db: 0 new records\n"
    assert succeed(run, "db", "merge", "c.db", "a.db", "b.db") == "c.db: 1 new record\n"

    code, out, err = run("compile", *SMALL, "-o", "m.partita", "--db", "c.db")
    assert code == 0
    assert re.search(
        r"^partita: warning: no tuned schedule found for task negative_\w+ \([0-9a-f]{32}\)$",
        err,
        re.MULTILINE,
    )
    assert err.count("warning") == 1
    assert out.startswith("m.partita: 2 kernels,")
    write_npz(Path("in.npz"), arrays())
    assert "y       float32  3x4      0  0.545455    2\n" in succeed(
        run, "run", "m.partita", "--input", "in.npz"
    )
    printed = succeed(run, "compile", *SMALL, "--db", "c.db", "--print-pipeline")
    assert 'lower-relay-to-te,\napply-tuned-schedules{db="c.db"},\n' in printed


def test_merging_is_all_or_nothing(run: Run, key: str) -> None:
    succeed(run, "db", "add", "a.db", "s.mlir", "--task", key)
    assert "no.db" in refused(run("db", "merge", "c.db", "a.db", "no.db"))
    assert not Path("c.db").exists()


def test_lines_end_where_json_does(run: Run, key: str) -> None:
    """A separator of lines within a text does not end the line."""
    succeed(run, "db", "add", "a.db", "s.mlir", "--task", key)
    line = json.loads(succeed(run, "db", "export", "a.db"))
    text = json.dumps(line | {"tool": "a\u2028b"}, ensure_ascii=False)
    Path("a.jsonl").write_text(f"{text}\r\n\r\n", newline="")
    assert succeed(run, "db", "import", "b.db", "a.jsonl") == "b.db: 1 new record\n"


def test_a_schedule_for_any_machine(run: Run, key: str) -> None:
    for more, machine in (
        (["--any-machine"], "any"),
        (["--host-cpu", "x86-64-v3"], "x86-64-v3"),
    ):
        db = f"{machine}.db"
        succeed(run, "db", "add", db, "s.mlir", "--task", key, *more)
        assert succeed(run, "db", "list", db).splitlines()[1].split()[2] == machine
    code, _, err = run("compile", *SMALL, "-o", "m.partita", "--db", "any.db")
    assert (code, err.count("no tuned schedule")) == (0, 1)
    code, _, err = run(
        "compile",
        *SMALL,
        *("-o", "m.partita", "--db", "x86-64-v3.db", "--host-cpu", "x86-64-v3"),
    )
    assert (code, err.count("no tuned schedule")) == (0, 1)


def test_what_does_not_apply_is_told(run: Run, key: str) -> None:
    Path("s.mlir").write_text(SCHEDULE.replace("map_0", "map_1"))
    succeed(run, "db", "add", "a.db", "s.mlir", "--task", key)
    code, _, err = run("compile", *SMALL, "-o", "m.partita", "--db", "a.db")
    told, _ = (each for each in err.splitlines() if not PROGRESS.fullmatch(each))
    assert code == 0
    assert told.startswith("partita: warning: the tuned schedule of task add_relu_")
    assert "does not apply, and rules take its place: sched.compute_inline" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compile", *SMALL, "-o", "o.partita", "--db", "no.db"], "there is no schedule database no.db"),
        (["compile", *SMALL, "-o", "o.partita", "--db", "s.mlir"], "s.mlir is no schedule database"),
        (["compile", *SMALL, "--target", "c", "--emit-c", "out", "--db", "no.db"], "--db is for kernels of the host"),
        (["db", "list", "no.db"], "there is no schedule database no.db"),
        (["db", "export", "s.mlir"], "s.mlir is no schedule database"),
        (["db", "merge", "a.db", "no.db"], "there is no schedule database no.db"),
        (["db", "import", "a.db", "no.jsonl"], "cannot read no.jsonl: No such file or directory"),
        (["db", "import", "a.db", "m.onnxtxt"], "m.onnxtxt:1 is no valid JSON: Expecting value: line 1 column 1 (char 0)"),
        (["db", "import", "a.db", "latin"], "latin: expected UTF-8, invalid start byte"),
        (["db", "add", "a.db", "s.mlir", "--task", "12"], "expected a task key of 32 hexadecimal digits, got '12'"),
        (["db", "add", "a.db", "no.mlir", "--task", "0" * 32], "cannot read no.mlir: No such file or directory"),
        (["db", "add", "a.db", "m.onnxtxt", "--task", "0" * 32], "m.onnxtxt: expected a sched.sequence: "),
        (["db", "add", "a.db", "s.mlir", "--task", "0" * 32, "--target", "hots"], "unknown target hots; did you mean host?"),
        (["tasks", *SMALL, "--target", "hots"], "unknown target hots; did you mean host?"),
        (["tasks", "m.onnxtxt"], "expected static shapes"),
        (["tasks", *SMALL, "-o", "s.mlir"], "cannot write s.mlir: File exists"),
        (["tasks", *SMALL, "--insert", "dce"], "expected passes to insert as after=PASS:PIPELINE, got 'dce'"),
    ],
)  # fmt: skip
def test_refusals(run: Run, key: str, arguments: Sequence[str], message: str) -> None:
    Path("latin").write_bytes(b"\xff")
    before = sorted(os.listdir())
    assert message in refused(run(*arguments))
    assert sorted(os.listdir()) == before
