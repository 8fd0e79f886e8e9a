"""VTA code as text and as JSON: what is written, read back, and refused."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vta_isa_cases import RECORDS, SIM, STREAMS, any_config, any_stream, any_uops

from partita.errors import PartitaError
from partita.runtime.vta import Program, ProgramBuilder, isa
from partita.runtime.vta.asm import AssemblyError, describe, lines, parse_line
from partita.runtime.vta.listing import parse_text, program_text, stream_text
from partita.runtime.vta.program_json import parse_json, program_json, stream_json

SMALL = [*RECORDS, *(each for each in STREAMS if "e2e" not in each.stem)]


def text_of(program: Program) -> str:
    return "\n".join(program_text(program))


def json_of(program: Program) -> str:
    return "\n".join(program_json(program))


LINES = {
    "load.inp dram=14 y=3 x=14 stride=28 pad=1,0,2,1 sram=64 pop=next push=next": {
        **{"opcode": 0, "memory": 2, "dram_base": 14, "y_size": 3, "x_size": 14},
        **{"x_stride": 28, "y_pad_0": 1, "x_pad_0": 2, "x_pad_1": 1, "sram_base": 64},
        **{"pop_next": 1, "push_next": 1},
    },
    "load.acc_8bit dram=0 y=0 x=1 stride=0 sram=0": {"memory": 5, "x_size": 1},
    "load.uop": {"opcode": 0},
    "store.uop push=prev": {"opcode": 1, "push_prev": 1},
    "store.out dram=3 y=1 x=2 stride=2 sram=5 pop=prev": {
        **{"opcode": 1, "memory": 4, "dram_base": 3, "y_size": 1, "x_size": 2},
        **{"x_stride": 2, "sram_base": 5, "pop_prev": 1},
    },
    "gemm uops=1:22 loops=14x3 dst=1,0 src=1,2 wgt=0,9 reset pop=prev,next": {
        **{"opcode": 2, "uop_bgn": 1, "uop_end": 22, "iter_out": 14, "iter_in": 3},
        **{"dst_factor_out": 1, "src_factor_out": 1, "src_factor_in": 2, "reset": 1},
        **{"wgt_factor_in": 9, "pop_prev": 1, "pop_next": 1},
    },
    "alu.shr uops=0:1 loops=1x98 dst=0,1 src=0,1 imm=-8": {
        **{"opcode": 4, "alu_opcode": 3, "uop_end": 1, "iter_out": 1, "iter_in": 98},
        **{"dst_factor_in": 1, "src_factor_in": 1, "use_imm": 1, "imm": -8},
    },
    "alu.max uops=0:0 loops=0x0 dst=0,0 src=0,0 imm=0": {
        **{"opcode": 4, "alu_opcode": 1, "use_imm": 1},
    },
    "alu.mul uops=0:0 loops=0x0 dst=0,0 src=0,0 unused_imm=7": {
        **{"opcode": 4, "alu_opcode": 4, "imm": 7},
    },
    "finish pop=next push=prev,next": {
        **{"opcode": 3, "pop_next": 1, "push_prev": 1, "push_next": 1},
    },
}


@pytest.mark.parametrize("line", LINES)
def test_lines(line: str) -> None:
    stream = isa.instructions(1)
    for name, value in LINES[line].items():
        stream[name] = value
    assert list(lines(stream)) == [line]
    row, buffer = parse_line(line)
    assert buffer is None
    assert {name: value for name, value in row.items() if value} == {
        name: value for name, value in LINES[line].items() if value
    }


def test_buffers_stand_in_lines() -> None:
    stream = isa.instructions(1)
    stream["x_size"], stream["dram_base"] = 4, 7
    assert list(lines(stream, {0: "a+b"})) == ["load.uop a+b+7 y=0 x=4 stride=0 sram=0"]
    assert parse_line("load.uop a+b+7 x=4") == (
        {"opcode": 0, "memory": 0, "dram_base": 7, "x_size": 4},
        "a+b",
    )


def test_errors_describe_instructions() -> None:
    stream = isa.instructions(2)
    stream["opcode"], stream["pop_prev"] = [0, 3], [0, 1]
    assert describe(stream, 1) == "instruction 1 (finish pop=prev)"


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_any_stream_is_read_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    config = any_config(rng)
    stream = any_stream(rng, config, 10)
    for source in (
        parse_text("\n".join(stream_text(stream, config))),
        parse_json("\n".join(stream_json(stream, config))),
    ):
        assert source.config == config
        assert source.is_stream
        assert np.array_equal(source.stream(), stream)


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=50)
def test_any_program_is_read_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    config = any_config(rng)
    builder = ProgramBuilder(config)
    builder.uops("u", any_uops(rng, config, 10))
    builder.constant("c", rng.integers(-9, 9, (3, 5)), layout='any "layout", of; this')
    builder.buffer("b", "input", 100, offset=1 << 12)
    builder.output("s", dtype="int32", shape=())
    with builder.layer('a "layer"', "from\nhere"):
        stream = any_stream(rng, config, 10)
        stream["x_size"][stream["opcode"] <= isa.Opcode.STORE] = 0
        builder.extend(stream)
    program = builder.build()
    content = program.to_bytes()
    assert parse_text(text_of(program)).program().to_bytes() == content
    assert parse_json(json_of(program)).program().to_bytes() == content


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_every_record_is_read_back(path: Path) -> None:
    program = Program.of_record(path)
    content = program.to_bytes()
    assert parse_text(text_of(program)).program().to_bytes() == content
    assert parse_json(json_of(program)).program().to_bytes() == content


@pytest.mark.full
def test_whole_networks_are_read_back() -> None:
    for path in STREAMS:
        if path not in SMALL:
            program = Program.of_record(path)
            assert (
                parse_text(text_of(program)).program().to_bytes() == program.to_bytes()
            )


HAND_WRITTEN = """
; add two vectors
vta 1
config sim
buffer x input dtype=int32 shape=2,16
buffer y output dtype=int8 shape=2,16 layout="NC"
buffer add uop

    load.uop add+0 y=1 x=1 stride=1        ; the micro-op
    load.acc x+0 y=1 x=2 stride=2
    alu.add uops=0:1 loops=1x1 dst=0,0 src=0,0 push=next
    ; and back
    store.out y+0 y=1 x=1 stride=1 pop=prev push=prev
    finish pop=next
uops add
    0,1,0
"""


def test_hand_written_text_needs_no_sizes_and_places() -> None:
    program = parse_text(HAND_WRITTEN).program()
    assert [(each.offset, each.size) for each in program.buffers] == [
        *((0, 128), (128, 32), (192, 4)),
    ]
    assert program.launches == (range(5),)
    assert program.buffer("y").layout == "NC"
    again = text_of(program)
    assert "buffer add uop size=4 offset=192" in again
    assert "\nlaunch\n    0  load.uop add+0 y=1 x=1 stride=1 sram=0\n" in again
    assert again.endswith("\nuops add\n    0  0,1,0")
    assert parse_text(again).program().to_bytes() == program.to_bytes()


def test_json_is_json() -> None:
    program = parse_text(HAND_WRITTEN).program()
    content = json.loads(json_of(program))
    assert content["instructions"][2] == {
        **{"opcode": "ALU", "alu_opcode": "ADD", "push_next": 1, "uop_end": 1},
        **{"iter_out": 1, "iter_in": 1},
    }
    assert content["instructions"][3]["buffer"] == "y"
    assert content["buffers"][2]["uops"] == [[0, 1, 0]]
    assert content["launches"] == [0]


def test_data_may_be_left_out() -> None:
    builder = ProgramBuilder(SIM)
    builder.constant("c", np.arange(100))
    program = builder.build()
    short = list(program_text(program, data=False))
    assert short[-1] == "; 800 bytes of c are left out"
    assert "data" not in json.loads("\n".join(program_json(program, data=False)))
    with pytest.raises(PartitaError, match=r"^buffer c: has no contents$"):
        parse_text("\n".join(short)).program()


def test_contents_that_are_not_all_micro_ops_stay_bytes() -> None:
    """A micro-op of this hardware has 29 bits: what is in the others would be lost."""
    config = ProgramBuilder(SIM).config
    builder = ProgramBuilder(
        type(config).load({**config.to_json(), "LOG_WGT_BUFF_SIZE": 15})
    )
    builder.buffer("u", "uop", contents=np.full(8, 255, np.uint8))
    program = builder.build()
    text = text_of(program)
    assert "data u\n    //////////8=" in text
    assert parse_text(text).program().to_bytes() == program.to_bytes()


START = "vta 1\nconfig sim\n"

REFUSED = {
    "another file": ("hello", "line 1: expected `vta 1` first, got 'hello'"),
    "another version": (
        "vta 2",
        "line 1: expected `vta 1` first, got 'vta 2'",
    ),
    "no config": (
        "vta 1\n    finish",
        "line 2: expected `config` and the hardware first",
    ),
    "two configs": (f"{START}config sim", "line 3: expected one config, got a second"),
    "a config that is none": (
        "vta 1\nconfig {}",
        "line 2: expected a config with LOG_INP_WIDTH",
    ),
    "an unknown directive": (
        f"{START}bufer x",
        "line 3: expected one of config, buffer, layer, launch, uops, data, or an indented line, got bufer",
    ),
    "an unknown instruction": (
        f"{START}  lod.inp",
        "line 3: expected an instruction, got lod.inp; did you mean load.inp?",
    ),
    "a field of another instruction": (
        f"{START}  gemm imm=3",
        "line 3: gemm: expected fields of uops, loops, dst, src, wgt, pop, push, got imm=3",
    ),
    "a field without a number": (
        f"{START}  load.inp y=a",
        "line 3: load.inp: expected an integer in y=a, got 'a'",
    ),
    "too few numbers": (
        f"{START}  gemm dst=1",
        "line 3: gemm: expected dst=N,N, got dst=1",
    ),
    "another form": (
        f"{START}  gemm loops=1,2",
        "line 3: gemm: expected loops=NxN, got loops=1,2",
    ),
    "a field twice": (
        f"{START}  gemm dst=1,1 dst=1,1",
        "line 3: gemm: dst=1,1 repeats another field",
    ),
    "an immediate that is used and not": (
        f"{START}  alu.add imm=1 unused_imm=1",
        "line 3: alu.add: unused_imm=1 repeats another field",
    ),
    "two places in memory": (
        f"{START}  load.inp x+1 dram=1",
        "line 3: load.inp: dram=1 repeats another field",
    ),
    "an unknown neighbour": (
        f"{START}  finish pop=left",
        "line 3: finish: expected pop=prev, next or prev,next, got left",
    ),
    "a buffer without a role": (
        f"{START}buffer x",
        "line 3: expected a buffer's name and one of uop, constant, input, output, scratch, got x",
    ),
    "a buffer without a name": (
        f"{START}buffer",
        "line 3: expected a buffer's name and one of uop, constant, input, output, scratch, got nothing",
    ),
    "a buffer with something else": (
        f"{START}buffer x input width=3",
        "line 3: expected size, offset, dtype, shape or layout, got width=3",
    ),
    "a buffer of no size": (
        f"{START}buffer x input size=-1",
        "line 3: expected a number, got '-1'",
    ),
    "a buffer twice": (
        f"{START}buffer x input size=1\nbuffer x input size=1",
        "line 4: buffer x is declared twice",
    ),
    "a layout without quotes": (
        f"{START}buffer x input layout=NC",
        "line 3: expected a name in double quotes, got NC",
    ),
    "a layer without an origin": (
        f'{START}layer "a" 0:1',
        'line 3: expected 2 names in double quotes, got "a"',
    ),
    "contents of nothing": (f"{START}data x", "line 3: no buffer x is declared"),
    "contents twice": (
        f"{START}buffer x uop\nuops x\nuops x",
        "line 5: the contents of x are given twice",
    ),
    "half a micro-op": (
        f"{START}buffer x uop\nuops x\n  1,2",
        "line 5: expected dst,src,wgt, got 1,2",
    ),
    "a micro-op that does not fit": (
        f"{START}buffer x uop\nuops x\n  1,2,3000",
        "micro-op 0: expected wgt from 0 to 1023, of 10 bits, got 3000",
    ),
    "data that is no base64": (
        f"{START}buffer x constant\ndata x\n  a b",
        "expected the data of x in base64",
    ),
    "an instruction with a buffer of no name": (
        f"{START}buffer x input size=64\n  load.inp y+1 y=1 x=1",
        "instruction 0: no buffer y is declared",
    ),
    "a number that no field holds": (
        f"{START}buffer x input size=64\n  load.inp x+0 y=65536 x=1",
        "instruction 0 (LOAD): expected y_size from 0 to 65535, of 16 bits, got 65536",
    ),
    "nothing": ("", "expected `config` and the hardware first"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_text_that_is_no_program_is_refused(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(PartitaError) as caught:
        parse_text(text).program()
    assert str(caught.value) == message


def changed_json(pattern: str, replacement: str) -> str:
    text = json_of(parse_text(HAND_WRITTEN).program())
    assert re.search(pattern, text)
    return re.sub(pattern, replacement, text, count=1)


JSON_REFUSED = {
    "another format": (
        ('"partita.vta"', '"tvm"'),
        "expected partita.vta of version 1, got tvm of version 1",
    ),
    "an unknown opcode": (
        ('"opcode": "ALU"', '"opcode": "FMA"'),
        "JSON: instructions[2]: opcode: expected one of LOAD, STORE, GEMM, FINISH, ALU, got 'FMA'",
    ),
    "an unknown field": (
        ('"uop_end"', '"uop_ends"'),
        "JSON: instructions[2]: uop_ends: no instruction has a field uop_ends",
    ),
    "no opcode": (
        (r'\{"opcode": "FINISH", ', "{"),
        """JSON: instructions[4]: expected an object with "opcode", got {'pop_next': 1}""",
    ),
    "another role": (
        ('"role": "uop"', '"role": "micro"'),
        "JSON: buffers[2]: role: expected one of uop, constant, input, output, scratch, got 'micro'",
    ),
    "half a micro-op": (
        (r"\[0, 1, 0\]", "[0, 1]"),
        "JSON: buffers[2]: uops[0]: expected [dst, src, wgt], got [0, 1]",
    ),
    "a buffer twice": (('"name": "y"', '"name": "x"'), "buffer x is declared twice"),
    "no JSON": (("{", "{{"), "JSON is no valid JSON: Expecting property name"),
}


@pytest.mark.parametrize("name", JSON_REFUSED)
def test_json_that_is_no_program_is_refused(name: str) -> None:
    change, message = JSON_REFUSED[name]
    with pytest.raises(AssemblyError) as caught:
        parse_json(changed_json(*change))
    assert str(caught.value).startswith(message)


@given(st.text(max_size=60), st.integers(0, 20))
@settings(deadline=None, max_examples=50)
def test_any_text_is_a_program_or_refused(line: str, at: int) -> None:
    content = list[str](HAND_WRITTEN.splitlines())
    content.insert(at, line)
    try:
        parse_text("\n".join(content)).program()
    except PartitaError as error:
        message = str(error)
    else:
        message = ""
    assert "Traceback" not in message
