"""What is drawn of a timed program: the trace, and the picture of its timeline."""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from vta_baseline import GOLDEN

from partita.errors import OptionError
from partita.runtime.vta import Layer, Memory, Module, Program
from partita.runtime.vta.cycles import CycleReport, time_program
from partita.runtime.vta.stalls import Cause
from partita.runtime.vta.trace import trace_of
from partita.tools.timeline import (
    MANY,
    check_timeline,
    shares,
    tracks_of,
    write_timeline,
)

Events = list[dict[str, Any]]

NETWORK = "streams/resnet18_v1_tophub_alucpu_e2e.npz"


def report_of(name: str, layers: tuple[Layer, ...] | None = None) -> CycleReport:
    program = Program.of_record(GOLDEN / name)
    return time_program(program if layers is None else replace(program, layers=layers))


def events(report: CycleReport) -> Events:
    return json.loads(trace_of(report, "test").text())["traceEvents"]


def by_track(found: Events) -> dict[str, Events]:
    """Return the spans of each track, by their begin."""
    names = {
        each["tid"]: each["args"]["name"]
        for each in found
        if each["name"] == "thread_name"
    }
    tracks: dict[str, Events] = {name: [] for name in names.values()}
    for each in sorted(found, key=lambda each: each.get("ts", 0)):
        if each["ph"] == "X":
            tracks[names[each["tid"]]].append(each)
    return tracks


@pytest.mark.parametrize(
    "name", ["conv3x3_s1_p1_vt_oc.npz", "acc_padded_load.npz", NETWORK]
)
def test_tracks_show_all_the_time_once(name: str) -> None:
    """Instructions and waits follow one another on each track, without gaps but where nothing is left to do."""
    report = report_of(name)
    tracks = by_track(events(report))
    assert list(tracks)[-4:] == ["load", "compute", "store", "dram"]
    for module in Module:
        spans = tracks[module.name.lower()]
        time = report.total.modules[module]
        waits = [each for each in spans if each["name"].startswith("wait: ")]
        assert len(spans) - len(waits) == time.instructions
        assert sum(each["dur"] for each in spans) == pytest.approx(
            time.busy + sum(time.stalls.values()) - time.stalls[Cause.EMPTY]
        )
        for one, other in pairwise(spans):
            assert one["ts"] + one["dur"] <= other["ts"] + 1e-6
    dram = tracks["dram"]
    assert sum(each["dur"] for each in dram) == pytest.approx(report.total.dram_busy)
    for one, other in pairwise(dram):
        assert one["ts"] + one["dur"] <= other["ts"] + 1e-6


def test_arrows_are_tokens() -> None:
    """Each goes from within the span of who pushes to the begin of the span of who pops."""
    report = report_of("conv3x3_s1_p1_vt_oc.npz")
    found = events(report)
    ends: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    for each in found:
        if each["ph"] in ("s", "f"):
            ends[each["id"]][each["ph"]] = each
    names = Counter(each["s"]["name"] for each in ends.values())
    stream = report.timing.instructions
    modules = report.timing.module
    for module, flag, name in (
        (Module.COMPUTE, "pop_prev", "load to compute"),
        (Module.LOAD, "pop_next", "compute to load"),
        (Module.STORE, "pop_prev", "compute to store"),
        (Module.COMPUTE, "pop_next", "store to compute"),
    ):
        assert names[name] == int(stream[flag][modules == module].sum()) > 0
    spans = {
        each["args"]["instruction"]: each
        for each in reversed(found)
        if each["ph"] == "X" and "args" in each
    }
    for each in ends.values():
        source, sink = each["s"], each["f"]
        assert source["ts"] < sink["ts"]
        assert sink["bp"] == "e"
        assert any(
            span["tid"] == source["tid"]
            and span["ts"] < source["ts"] < span["ts"] + span["dur"]
            for span in spans.values()
        )
        assert any(
            span["tid"] == sink["tid"] and span["ts"] == sink["ts"]
            for span in spans.values()
        )


def test_spans_say_what_they_are() -> None:
    layers = (Layer("first", "conv_1", range(60)), Layer("second", "", range(60, 190)))
    report = report_of("conv3x3_s1_p1_vt_oc.npz", layers)
    tracks = by_track(events(report))
    assert next(iter(tracks)) == "layer"
    assert [each["name"] for each in tracks["layer"]] == ["first", "second"]
    length = sum(each["dur"] for each in tracks["layer"])
    assert length == report.timing.end.max() / report.timing.ticks
    kinds = Counter(each["name"] for each in tracks["compute"])
    assert kinds["gemm"] + kinds["gemm reset"] > 0
    assert {"load tokens", "alu.shr", "finish", "wait: load_token"} <= kinds.keys()
    first = next(each for each in tracks["load"] if each["name"] == "load.inp")
    assert first["args"]["layer"] == "first"
    number = first["args"]["instruction"]
    assert report.timing.granted[number] == first["ts"] * report.timing.ticks


def test_launches_follow_one_another() -> None:
    report = report_of(NETWORK)
    tracks = by_track(events(report))
    begins = np.cumsum([0, *report.timing.length]) / report.timing.ticks
    for each in tracks["compute"]:
        if "args" in each:
            launch = each["args"]["launch"]
            assert begins[launch] <= each["ts"] < begins[launch + 1]


def test_shares_are_parts_of_columns() -> None:
    rng = np.random.default_rng(0)
    marks = np.sort(rng.uniform(0, 100, 40))
    spans = marks.reshape(-1, 2)
    edges = np.linspace(0, 110, 23)
    expected = [
        sum(max(0, min(end, right) - max(begin, left)) for begin, end in spans.tolist())
        / (right - left)
        for left, right in pairwise(edges.tolist())
    ]
    np.testing.assert_allclose(shares(spans[::-1], edges), expected, atol=1e-12)


def test_tracks_of_the_picture_are_busy_times() -> None:
    report = report_of("conv3x3_s1_p1_vt_oc.npz")
    tracks = {each.name: each for each in tracks_of(report)}
    for module, time in report.total.modules.items():
        spans = np.concatenate(list(tracks[module.name.lower()].spans.values()))
        assert len(spans) == time.instructions
        assert float(np.diff(spans, axis=1).sum()) == time.busy
    channel = np.concatenate(list(tracks["dram"].spans.values()))
    assert float(np.diff(channel, axis=1).sum()) == report.total.dram_busy


@pytest.mark.parametrize("name", ["conv3x3_s1_p1_vt_oc.npz", NETWORK])
def test_a_picture_names_what_it_shows(name: str, tmp_path: Path) -> None:
    """A small program is drawn instruction by instruction, a large one in shares."""
    report = report_of(name)
    many = any(each.number > MANY for each in tracks_of(report))
    assert many == (name == NETWORK)
    paths = [tmp_path / each for each in ("a.svg", "b.svg")]
    for path in paths:
        write_timeline(path, report, "a <title>")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    root = ElementTree.parse(paths[0]).getroot()
    texts = {each.text for each in root.iter() if each.tag.endswith("}text")}
    assert {"load", "compute", "store", "dram", "cycles", "a <title>"} <= texts
    assert {"gemm", "gemm reset", "alu", "load.inp", "store.out"} <= texts
    assert ("launch 18" in texts) == (name == NETWORK)


@pytest.mark.parametrize("count", [0, 1])
def test_next_to_nothing_is_drawn(count: int, tmp_path: Path) -> None:
    """No instructions, and one that compute has no part in."""
    program = Program.of_record(GOLDEN / "dense_64x32.npz")
    load = np.flatnonzero(program.instructions["memory"] == Memory.INP)[:count]
    stream = program.instructions[load]
    stream["pop_next"] = 0
    relocations = np.array([(0, 0)] * count, np.int64).reshape(-1, 2)
    stream["dram_base"] = 0
    report = time_program(
        replace(
            program,
            instructions=stream,
            relocations=relocations,
            launches=(range(count),) * count,
            layers=(Layer("some", "", range(count)),),
        )
    )
    spans = [each for each in events(report) if each["ph"] == "X"]
    assert len([each for each in spans if "args" in each]) == 2 * count
    write_timeline(tmp_path / "t.svg", report, "little")
    assert "little" in (tmp_path / "t.svg").read_text()


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures_of_other_kinds(kind: str, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"timeline.{kind}"
    write_timeline(path, report_of("dense_64x32.npz"), "dense")
    assert path.read_bytes().startswith(start)


def test_a_picture_that_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError) as caught:
        check_timeline(Path("x.jpeg"))
    assert str(caught.value) == (
        "expected --timeline FILE to end in one of .svg, .png, .pdf, got x.jpeg"
    )

    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr("partita.tools.extras.find_spec", nothing)
    with pytest.raises(
        OptionError, match="needs the package matplotlib; install partita"
    ):
        check_timeline(Path("x.svg"))
