"""`partita` as a process: interrupts, pipes, imports, and what it shows to who waits."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from partita.tools.progress import ProgressDisplay


def script(*arguments: str | Path) -> "subprocess.Popen[str]":
    """Start the installed command, which takes interrupts even where who runs the tests ignores them."""
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from partita.tools.cli import main; sys.exit(main())"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_interrupt_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C ends a compilation with 130, and no file."""
    lines = "\n".join(
        f"%{i + 1} = relay.tanh %{i} : tensor<4xf32>" for i in range(30_000)
    )
    source = tmp_path / "m.mlir"
    source.write_text(
        f"func.func @f(%0 : tensor<4xf32>) -> tensor<4xf32> {{\n{lines}\n"
        "func.return %30000 : tensor<4xf32>\n}\n"
    )
    process = script("compile", source, "-o", tmp_path / "m.partita")
    assert process.stderr is not None
    shown = process.stderr.readline()  # It says what it does after two seconds.
    assert re.match(r"\d+ s: ", shown)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == [source]


def test_reader_that_goes_away(compiled: Path) -> None:
    process = script("run", compiled, "--random-inputs", "0")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == ""
    assert process.wait() == 1


def test_running_loads_no_compiler(compiled: Path) -> None:
    program = (
        "import sys; from partita.tools.cli import main;"
        "main(['run', sys.argv[1], '--random-inputs', '0', '-q']);"
        "print({each.partition('.')[0] for each in sys.modules} & {'onnx', 'xdsl'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, compiled],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "set()\n"


def test_progress_is_shown_to_who_waits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partita.tools.progress.PATIENCE", 0.1)
    with ProgressDisplay("read"):
        pass
    assert capsys.readouterr().err == ""
    with ProgressDisplay("read") as display:
        display.tell("kernels", 3, 7)
        sleep(0.3)
    assert capsys.readouterr().err == "0 s: kernels 3/7\n"
    with ProgressDisplay("read", quiet=True):
        sleep(0.2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with ProgressDisplay("read") as display:
        display.tell("kernels", 3, 7)
        sleep(0.4)
    assert "kernels 3/7" in capsys.readouterr().err
