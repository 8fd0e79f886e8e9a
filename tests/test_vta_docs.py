"""The pages on VTA code say what is so: their programs build, their text parses, their tables are whole."""

import re
from pathlib import Path

import pytest

from partita.runtime.vta import ConfigError, HardwareConfig, Program
from partita.runtime.vta.asm import lines, parse_line
from partita.runtime.vta.assembly import Source
from partita.runtime.vta.config import KEYS
from partita.runtime.vta.listing import parse_text, program_text

DOCS = Path(__file__).parent.parent / "docs"

ISA, PROGRAM = ((DOCS / f"vta-{name}.md").read_text() for name in ("isa", "program"))


def block(page: str, language: str) -> str:
    """Return what the only block of a language has."""
    (found,) = re.findall(
        rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE
    )
    return found


def test_lines_are_as_disasm_writes_them() -> None:
    shown = block(ISA, "vta").splitlines()
    source = Source(HardwareConfig.load("sim"), rows=[parse_line(x)[0] for x in shown])
    assert list(lines(source.stream())) == shown


def test_every_key_is_explained() -> None:
    for key in KEYS.values():
        assert f"`{key}`" in ISA or f"`{key} " in ISA or re.search(rf"`{key}`? \d", ISA)


def test_the_error_shown_is_the_error() -> None:
    with pytest.raises(ConfigError) as caught:
        HardwareConfig.load(
            HardwareConfig.load("sim").to_json() | {"LOG_ACC_BUFF_SIZE": 18}
        )
    assert " ".join(block(ISA, "").split()) == str(caught.value)


def test_the_program_shown_is_the_program_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block(PROGRAM, "python"), names)
    program = Program.load("add_one.vta")
    text = block(PROGRAM, "vta")
    assert parse_text(text).program().to_bytes() == program.to_bytes()
    written = "\n".join(program_text(program)) + "\n"
    assert re.sub(r"config \{.*\}", "config pynq", written) == text
