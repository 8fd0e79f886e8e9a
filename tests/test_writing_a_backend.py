"""The tutorial builds the template, and both work: without being installed, and (in full runs) installed from nothing."""

import doctest
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Generator
from pathlib import Path

import pytest
from installed import installed, write_package

ROOT = Path(__file__).parent.parent

TEMPLATE = ROOT / "examples" / "backend_template"

TUTORIAL = (ROOT / "docs" / "writing-a-backend.md").read_text()

BLOCK = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A part of a file, whose path stands after the language."""

SESSION = re.compile(r"^```pycon\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def parts() -> dict[str, str]:
    """Join the parts of each file that the tutorial shows."""
    files: dict[str, str] = {}
    for path, text in BLOCK.findall(TUTORIAL):
        files[path] = files.get(path, "") + text
    return files


def without_blank_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_the_tutorial_shows_the_template() -> None:
    shown = parts()
    assert sorted(shown) == [
        "pyproject.toml",
        "src/partita_numpy/backend.py",
        "src/partita_numpy/loader.py",
    ]
    for path, text in shown.items():
        expected = (TEMPLATE / path).read_text()
        assert without_blank_lines(text) == without_blank_lines(expected), path


@pytest.fixture
def template(tmp_path: Path) -> Generator[Path]:
    """Let the template look installed."""
    project = tomllib.loads((TEMPLATE / "pyproject.toml").read_text())["project"]
    sources = TEMPLATE / "src"
    files = {
        str(each.relative_to(sources)): each.read_text()
        for each in sources.rglob("*.py")
    }
    write_package(tmp_path, project["name"], files, project["entry-points"])
    with installed(tmp_path):
        yield tmp_path


@pytest.mark.usefixtures("template")
def test_the_tutorial_runs() -> None:
    names: dict[str, object] = {}
    for number, text in enumerate(SESSION.findall(TUTORIAL)):
        example = doctest.DocTestParser().get_doctest(
            text, names, f"session {number}", "writing-a-backend.md", 0
        )
        complaints: list[str] = []
        failed, attempted = doctest.DocTestRunner(
            verbose=False, optionflags=doctest.ELLIPSIS
        ).run(example, out=complaints.append, clear_globs=False)
        assert attempted > 0
        assert failed == 0, "".join(complaints)
        names |= example.globs


def test_the_tests_of_the_template_pass(template: Path) -> None:
    """In a process of their own, as after copying it."""
    passed(Path(sys.executable), template, {"PYTHONPATH": str(template)})


def passed(python: Path, folder: Path, environment: dict[str, str]) -> None:
    """Run the template's tests."""
    shutil.copytree(TEMPLATE / "tests", folder / "tests")
    result = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^\d+ passed", result.stdout, re.MULTILINE)


@pytest.mark.full
def test_the_template_installs(tmp_path: Path) -> None:
    """Beside Partita, into an environment that holds nothing else; needs a package index."""
    sources = tmp_path / "partita"
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for each in tracked.stdout.split("\0"):
        if (ROOT / each).is_file():
            (sources / each).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / each, sources / each)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    template = sources / "examples" / "backend_template"
    install = [python, "-m", "pip", "install", "--quiet", "pytest"]
    subprocess.run([*install, sources, template], check=True)
    passed(python, tmp_path, {})
