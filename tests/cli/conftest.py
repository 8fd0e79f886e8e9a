"""Running commands, each in a folder of its own, and an artifact to run."""

from pathlib import Path

import pytest
from cli_cases import MODEL, Outcome, Run

from partita.tools.cli import main


@pytest.fixture(autouse=True)
def cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Keep the user's cache out of tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show no progress, however slow the machine is."""
    monkeypatch.setattr("partita.tools.progress.PATIENCE", 3600)


@pytest.fixture
def run(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Run a command in an empty folder; return its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")

    def call(*arguments: str | Path) -> Outcome:
        code = main([str(each) for each in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the small model once."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "m.onnxtxt").write_text(MODEL)
    path = folder / "m.partita"
    source = str(folder / "m.onnxtxt")
    assert main(["compile", source, "-o", str(path), "--shape", "N=3"]) == 0
    return path
