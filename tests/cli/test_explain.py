"""`partita explain`: tables, JSON and drawings, and what keeps them from being made."""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import pytest
from cli_cases import IR, MODEL, Run, refused, write_ir

from partita.driver.explain import Explanation, OpPlacement, RegionCost, Share
from partita.tools.drawing import colours_of, write_dot
from partita.tools.picture import HEIGHT, WIDTH, lay_out, write_svg
from partita.tools.tables import count

SMALL = ["explain", "m.onnxtxt", "--shape", "N=3"]


def test_tables(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    assert run(*SMALL) == (
        0,
        "op              from    target  part of\n"
        "relay.add       Add_0   host\n"
        "relay.relu      Relu_1  host\n"
        "relay.negative  Neg_2   host\n"
        "\n"
        "target  ops  of ops  MACs  of MACs\n"
        "host      3  100.0%     0     0.0%\n"
        "\n"
        "0 transfers of 0 B between host and regions\n",
        "",
    )
    assert os.listdir() == ["m.onnxtxt"]


def test_json(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    code, out, err = run(*SMALL, "--json")
    assert (code, err) == (0, "")
    read = json.loads(out)
    assert [each["origins"] for each in read["ops"]] == [
        ["Add_0"],
        ["Relu_1"],
        ["Neg_2"],
    ]
    assert read["ops"][1]["inputs"] == [0]
    assert read["targets"] == ["host"]


def test_drawings(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    code, out, err = run(*SMALL, "--dot", "m.dot", "--svg", "m.svg")
    assert (code, err) == (0, "")
    assert out == run(*SMALL)[1]
    assert sorted(os.listdir()) == ["m.dot", "m.onnxtxt", "m.svg"]
    assert Path("m.dot").read_text().startswith("digraph")
    assert "Relu_1" in Path("m.svg").read_text()


def test_ir(run: Run) -> None:
    write_ir()
    code, out, _ = run("explain", "m.mlir", "--entry", "f")
    assert code == 0
    assert out.splitlines()[1].split() == ["relay.add", "host"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--svg", "no/m.svg"], "cannot write no/m.svg: there is no folder no"),
        (["--dot", "."], "cannot write .: it is a folder"),
        (
            ["--target", "hots"],
            "unknown target hots; did you mean host?",
        ),
        (["--entry", "g"], "expected entry function @g, got @small; set entry"),
        (
            ["--weights", "w"],
            "--weights is for IR, and m.onnxtxt has weights of its own",
        ),
    ],
)
def test_refusals(run: Run, arguments: list[str], message: str) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    assert refused(run(*SMALL, *arguments)).startswith(message)
    assert os.listdir() == ["m.onnxtxt"]


def test_a_model_that_is_not_there(run: Run) -> None:
    assert (
        refused(run("explain", "m.onnx"))
        == "cannot read m.onnx: No such file or directory"
    )
    Path("m.mlir").write_text(IR[:40])
    code, out, err = run("explain", "m.mlir")
    assert (code, out) == (1, "")
    assert "internal error" not in err


@pytest.mark.parametrize(
    ("option", "package"), [("--dot", "graphviz"), ("--svg", "igraph")]
)
def test_a_missing_extra(
    run: Run, monkeypatch: pytest.MonkeyPatch, option: str, package: str
) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    monkeypatch.setitem(sys.modules, package, None)
    assert (
        refused(run(*SMALL, option, "m.out"))
        == f"{option} needs the package {package}; install partita[viz]"
    )
    assert os.listdir() == ["m.onnxtxt"]
    assert run(*SMALL)[0] == 0


def placed(region: str | None, *inputs: int, origin: str = "n") -> OpPlacement:
    target = "host" if region is None else "c"
    reasons = {} if region else {"c": 'no rule for "x" <y>'}
    return OpPlacement("relay.add", (origin,), target, region, None, 0, reasons, inputs)


def made(*ops: OpPlacement) -> Explanation:
    regions = dict.fromkeys(each.region for each in ops if each.region)
    return Explanation(
        ("c", "host"),
        ops,
        tuple(RegionCost(each, "c", 1, 0, 0, 0) for each in regions),
        (Share("c", 0, 0.0, 0, 0.0), Share("host", 0, 0.0, 0, 0.0)),
        0,
        0,
    )


AWKWARD = made(
    placed(None, origin='a"b\\n<&>'),
    placed("main_0", 0, origin="the/longest/name/that/was/ever/given"),
    placed("main_0", 0, 1, origin="é"),
    placed(None, 2, 1),
)


def test_dot_says_what_is_where() -> None:
    text = write_dot(AWKWARD)
    assert re.search(
        r'subgraph cluster_main_0 \{\s+fontname=Helvetica label="c: main_0"', text
    )
    inside = text.partition("subgraph")[2].partition("}")[0]
    assert re.findall(r"^\s*(\d+) \[", inside, re.MULTILINE) == ["1", "2"]
    found = re.findall(r"(\d+) -> (\d+)(.*)", text)
    assert [(a, b) for a, b, style in found if "bold" in style] == [
        ("0", "1"),
        ("0", "2"),
        ("2", "3"),
        ("1", "3"),
    ]
    assert [(a, b) for a, b, style in found if not style] == [("1", "2")]
    assert r'label="add\na\"b\\n<&>"' in text
    colours = set(re.findall(r'fillcolor="(#\w{6})"', text))
    assert colours == set(colours_of(AWKWARD).values())


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz's dot")
def test_dot_is_graphviz() -> None:
    drawn = subprocess.run(
        ["dot", "-Tplain"],
        input=write_dot(AWKWARD),
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(re.findall("^node ", drawn.stdout, re.MULTILINE)) == 4


SVG = "{http://www.w3.org/2000/svg}"


def test_svg_shows_every_op_once() -> None:
    root = ElementTree.fromstring(write_svg(AWKWARD))
    boxes = root.findall(f"{SVG}g")
    titles = [each.findtext(f"{SVG}title") for each in boxes]
    assert titles[0] == 'relay.add on host\nfrom a"b\\n<&>\nnot c: no rule for "x" <y>'
    assert (
        titles[1]
        == "relay.add on c, in main_0\nfrom the/longest/name/that/was/ever/given"
    )
    shown = [[text.text for text in each.findall(f"{SVG}text")] for each in boxes]
    assert shown[1] == ["add", "the/longest/name/that…"]
    colours = colours_of(AWKWARD)
    fills = [each.find(f"{SVG}rect") for each in boxes]
    assert [each.get("fill") for each in fills if each is not None] == [
        colours[each] for each in ("host", "c", "c", "host")
    ]
    lines = root.findall(f"{SVG}path")
    assert [each.get("class") for each in lines].count("transfer") == 4
    assert len(lines) == 5


def test_svg_of_nothing() -> None:
    root = ElementTree.fromstring(write_svg(made()))
    assert root.findall(f"{SVG}g") == []


def test_colours_differ() -> None:
    targets = tuple(f"t{number}" for number in range(12))
    explanation = Explanation((*targets, "host"), (), (), (), 0, 0)
    assert len(set(colours_of(explanation).values())) == 13


def test_boxes_do_not_overlap_and_lines_go_down() -> None:
    """On a graph with skips, short and long; time is linear where lines are long."""
    count = 3000
    edges = [(each, each + 1) for each in range(count - 1)]
    edges += [(each, each + 7) for each in range(0, count - 7, 3)]
    edges += [(each, count - 1) for each in range(0, count - 50, 5)]
    layout = lay_out(count, edges)
    rows: dict[float, list[float]] = {}
    for box in layout.boxes:
        rows.setdefault(box.y, []).append(box.x)
    for row in rows.values():
        row.sort()
        assert all(b - a > WIDTH for a, b in pairwise(row))
    for edge in edges:
        points = layout.line(edge)
        assert all(a.y <= b.y for a, b in pairwise(points))
        bends = points[1:-1]
        for bend in bends[:: max(1, len(bends) // 3)]:
            beside = rows.get(bend.y - HEIGHT / 2, [])
            assert all(abs(bend.x - x) > WIDTH / 2 for x in beside)
    assert layout.boxes == lay_out(count, edges).boxes


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0 k"),
        (4_089_184_256, "4.1 G"),
        (1e30, "1000000000000000.0 P"),
    ],
)
def test_counts(number: float, text: str) -> None:
    assert count(number) == text
