"""`partita profile`: its tables, JSON and trace, and what it refuses."""

import itertools
import json
from pathlib import Path

import numpy as np
from cli_cases import Run, arrays, refused


def test_profile_prints_a_row_for_each_step(run: Run, compiled: Path) -> None:
    code, out, err = run("profile", compiled, "--runs", "2", "--threads", "1")
    assert (code, err) == (0, "")
    steps, summary = out.split("\n\n")
    head, *rows = steps.splitlines()
    assert head.split()[:5] == ["#", "kernel", "from", "target", "grid"]
    assert any("Relu" in row for row in rows)
    assert "median of 2 runs, 1 thread " in summary
    assert "peak of this machine" in summary


def test_profile_sorts_and_cuts(run: Run, compiled: Path) -> None:
    command = ("profile", compiled, "--runs", "1", "--threads", "1")
    code, out, _ = run(*command, "--sort", "order", "--top", "1")
    assert code == 0
    first, rest = out.split("\n\n")[0].splitlines()[1:]
    assert first.split()[0] == "0"
    assert "more" in rest


def test_profile_as_json(run: Run, compiled: Path) -> None:
    np.save("x.npy", arrays()["x"])
    command = ("profile", compiled, "--input", "x=x.npy", "--runs", "2", "--json")
    code, out, err = run(*command, "--sort", "order", "--by", "layer")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["runs"] == 2
    assert found["peak_operation_rate"] > 0
    numbers = [each["number"] for each in found["steps"]]
    assert numbers == sorted(numbers)
    for each in found["steps"]:
        assert each["byte_rate"] == each["nbytes"] / each["seconds"]


def test_profile_writes_a_trace(run: Run, compiled: Path) -> None:
    code, _, err = run("profile", compiled, "--runs", "1", "--trace", "t.json")
    assert (code, err) == (0, "")
    events = json.loads(Path("t.json").read_text())["traceEvents"]
    spans = [each for each in events if each["ph"] == "X"]
    names = {each["args"].get("name") for each in events if each["ph"] == "M"}
    assert {"host", compiled.name} <= names
    assert spans
    for before, after in itertools.pairwise(spans):
        assert after["ts"] >= before["ts"] + before["dur"] - 1e-6


def test_profile_refuses(run: Run, compiled: Path) -> None:
    message = refused(run("profile", compiled, "--trace", "no/t.json"))
    assert message == "cannot write no/t.json: there is no folder no"
    assert "expected 1 to 1024 threads" in refused(
        run("profile", compiled, "--threads", "0")
    )
