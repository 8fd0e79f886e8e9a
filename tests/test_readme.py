"""The README tells the truth: its commands and its Python run, and print what it says."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

README = (ROOT / "README.md").read_text()

BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

DURATION = re.compile(r"\b\d+\.\d+ s\b")
"""The one thing in an output that differs from run to run."""

MACHINE = re.compile(r"^((?:machine|objects) +).*$", re.MULTILINE)
"""And what differs from machine to machine."""


@dataclass(frozen=True)
class Command:
    """A shell command and what it prints, errors included."""

    text: str
    output: str


def commands(block: str) -> Iterator[Command]:
    starts = [match.start() for match in re.finditer(r"^\$ ", block, re.MULTILINE)]
    for start, end in pairwise([*starts, len(block)]):
        text, _, output = block[start + 2 : end].partition("\n")
        yield Command(text, output)


def run(text: str, folder: Path) -> str:
    tools = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(
        text,
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return result.stdout


def comparable(output: str) -> str:
    lines = MACHINE.sub(r"\1…", DURATION.sub("… s", output)).rstrip().splitlines()
    return "\n".join(line.rstrip() for line in lines)


def test_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all blocks in order, in a folder that holds nothing but the examples and the records of the VTA."""
    for each in ("examples", "tests/golden"):
        shutil.copytree(ROOT / each, tmp_path / each)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    ran = 0
    for kind, block in BLOCK.findall(README):
        if kind == "console":
            for command in commands(block):
                actual = comparable(run(command.text, tmp_path))
                assert actual == comparable(command.output), command.text
                ran += 1
        else:
            example = doctest.DocTestParser().get_doctest(
                block, names, "README.md", "README.md", 0
            )
            complaints: list[str] = []
            runner = doctest.DocTestRunner(verbose=False)
            failed, attempted = runner.run(
                example, out=complaints.append, clear_globs=False
            )
            assert failed == 0, "".join(complaints)
            names |= example.globs
            ran += attempted
    assert ran > 20
    assert not (tmp_path / "wrong.partita").exists()


def test_readme_opens_with_two_commands() -> None:
    title, *indented = [line for line in README.splitlines() if line][:3]
    assert title == "# Partita"
    assert [line.split("#")[0].strip() for line in indented] == [
        "make demo",
        "make test",
    ]
