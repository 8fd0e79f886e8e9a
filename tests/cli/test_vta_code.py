"""`partita disasm` and `partita asm`: VTA code between files, text and JSON."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from cli_cases import Run, refused
from vta_isa_cases import GOLDEN, SIM

from partita.runtime.vta import Program, isa

RECORD = GOLDEN / "conv3x3_s1_p1.npz"


def test_records_are_shown(run: Run) -> None:
    code, out, err = run("disasm", RECORD, "--no-data")
    assert (code, err) == (0, "")
    shown = out.splitlines()
    assert shown[0] == "vta 1"
    assert "buffer bias constant size=128 offset=15616 dtype=int32 " in out
    assert (
        "      7  load.inp data+0 y=8 x=14 stride=14 pad=1,0,1,1 sram=0 pop=next"
        in shown
    )
    assert "; 6272 bytes of data are left out" in shown
    assert "    26  7,9,0" not in shown
    assert shown[-1].split()[1].count(",") == 2


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_asm_gives_back_what_disasm_was_given(run: Run, form: tuple[str]) -> None:
    Program.of_record(RECORD).save("a.vta")
    assert run("disasm", "a.vta", "-o", "a.txt", *form) == (0, "", "")
    code, out, err = run("asm", "a.txt", "-o", "b.vta")
    assert (code, err) == (0, "")
    assert out == "b.vta: 125 instructions, 1 launch, 5 buffers, 21.6 KiB of memory\n"
    assert Path("a.vta").read_bytes() == Path("b.vta").read_bytes()
    code, out, _ = run("disasm", "a.txt", *form)
    assert out == Path("a.txt").read_text()


def test_bits_alone(run: Run) -> None:
    """Text of a program becomes the bits of its instructions at some address, and those become text of a stream."""
    program = Program.of_record(RECORD)
    program.save("a.vta")
    run("disasm", "a.vta", "-o", "a.txt")
    code, out, _ = run("asm", "a.txt", "-o", "a.bin", "--base", "4096", "--json")
    assert code == 0
    assert json.loads(out) == {
        **{"output": "a.bin", "instructions": 125, "launches": 1, "buffers": 5},
        "arena_bytes": program.arena_bytes,
    }
    bits = np.fromfile("a.bin", np.uint8)
    assert np.array_equal(isa.decode(bits, SIM), program.resolved(4096))
    assert run("disasm", "a.bin", "--config", "sim", "-o", "b.txt")[0] == 0
    code, out, _ = run("asm", "b.txt", "-o", "b.bin")
    assert out == "b.bin: 125 instructions\n"
    assert np.array_equal(np.fromfile("b.bin", np.uint8), bits)
    code, out, _ = run("disasm", "a.bin", "--config", "sim", "--json")
    assert len(json.loads(out)["instructions"]) == 125
    assert refused(run("asm", "b.txt", "-o", "b.vta")) == (
        "b.txt declares no buffers, so it is a stream and no program; write .bin"
    )


@pytest.mark.filterwarnings("default")
def test_unknown_keys_of_a_config_are_warned_about(run: Run) -> None:
    Path("c.json").write_text(json.dumps({**SIM.to_json(), "LOG_BLOCK_INN": 4}))
    Path("a.bin").write_bytes(bytes(32))
    code, out, err = run("disasm", "a.bin", "--config", "c.json")
    assert code == 0
    assert out.endswith("    0  load.uop\n    1  load.uop\n")
    assert err == (
        "partita: warning: config key LOG_BLOCK_INN means nothing; did you mean LOG_BLOCK_IN?\n"
    )


def test_json_is_read_wherever_it_starts(run: Run) -> None:
    """What tells it from a program's file is not where its brace is."""
    assert run("disasm", RECORD, "--json", "-o", "a.json")[0] == 0
    text = Path("a.json").read_text()
    for spaces in (0, 8):
        Path("b.json").write_text(" " * spaces + text)
        assert run("asm", "b.json", "-o", f"{spaces}.vta")[0] == 0
        assert run("disasm", "b.json", "--json")[:2] == (0, text)
    assert Path("0.vta").read_bytes() == Path("8.vta").read_bytes()


def test_what_cannot_be_read_is_refused(run: Run) -> None:
    Path("a.bin").write_bytes(bytes(40))
    assert refused(run("disasm", "a.bin")) == (
        "a.bin does not say which hardware it is for; set --config"
    )
    assert refused(run("disasm", "a.bin", "--config", "sim")) == (
        "a.bin: expected instructions of 16 bytes each, got 40 bytes; the stream is truncated"
    )
    Path("r.bin").write_bytes(bytes(range(7, 23)))
    assert refused(run("disasm", "r.bin", "--config", "sim")) == (
        "r.bin: instruction 0: expected opcode 0 to 4, got 7"
    )
    assert refused(run("disasm", "a.bin", "--config", "ultra69")).endswith(
        "got ultra69; did you mean ultra96?"
    )
    assert (
        refused(run("disasm", "none")) == "cannot read none: No such file or directory"
    )
    Path("o").write_bytes(b"\x7fELF\xff\xff")
    assert refused(run("disasm", "o")) == (
        "o: expected a record (.npz), a program (.vta), its text or JSON, or a stream (.bin)"
    )
    Path("t.npz").write_bytes(RECORD.read_bytes()[:3000])
    assert refused(run("disasm", "t.npz")) == (
        "t.npz: expected an .npz record; this is another file, or a damaged one"
    )
    np.savez("f.npz", weights=np.ones(3))
    assert refused(run("disasm", "f.npz")) == (
        "f.npz: expected a record with insns, got one of weights"
    )
    Path("block.json").write_text(json.dumps({**SIM.to_json(), "LOG_BLOCK": 5}))
    assert refused(run("disasm", RECORD, "--config", "block.json")).endswith(
        "of which the record has no memory; is the config right?"
    )


def test_what_cannot_be_written_is_refused(run: Run) -> None:
    Path("a.txt").write_text("vta 1\nconfig sim\n    finish pop=nowhere\n")
    assert refused(run("asm", "a.txt", "-o", "a.obj")) == (
        "expected an output that ends with .vta or .bin, got a.obj"
    )
    assert refused(run("asm", "a.txt", "-o", "a.bin")) == (
        "a.txt: line 3: finish: expected pop=prev, next or prev,next, got nowhere"
    )
    assert refused(run("asm", "a.txt", "-o", "no/a.bin")) == (
        "cannot write no/a.bin: there is no folder no"
    )
    Program.of_record(RECORD).save("a.vta")
    assert refused(run("disasm", "a.vta", "--config", "sim")) == (
        "a.vta says itself which hardware it is for; leave out --config"
    )
    run("disasm", "a.vta", "-o", "b.txt")
    assert refused(run("asm", "b.txt", "-o", "b.bin", "--base", "100")) == (
        "expected an arena at a multiple of 256, got address 100"
    )
    assert sorted(os.listdir()) == ["a.txt", "a.vta", "b.txt"]
