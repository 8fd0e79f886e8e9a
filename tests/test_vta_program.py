"""VTA programs: building, placing, storing and refusing them."""

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vta_isa_cases import RECORDS, SIM, STREAMS

from partita.runtime import vta
from partita.runtime.vta import (
    AluOpcode,
    ConfigWarning,
    HardwareConfig,
    IsaError,
    Memory,
    Module,
    Program,
    ProgramBuilder,
    ProgramError,
    Tokens,
    isa,
)
from partita.runtime.vta.buffers import Buffer


def example(config: HardwareConfig = SIM) -> Program:
    """Return a program that adds an input to a constant, and in a second launch does nothing."""
    builder = ProgramBuilder(config)
    bias = np.arange(32, dtype=np.int32).reshape(2, 16)
    b = builder.constant("b", bias, layout="NC")
    x = builder.input("x", dtype="int32", shape=(2, 16))
    y = builder.output("y", dtype="int8", shape=(2, 16))
    add = builder.uops("add", [(0, 2, 0)])
    with builder.layer("add", "add_1"):
        builder.load(Memory.UOP, add, columns=1)
        builder.load(Memory.ACC, x, columns=2)
        builder.load(Memory.ACC, b, columns=2, sram=2)
        builder.alu(
            AluOpcode.ADD,
            range(1),
            loops=(1, 2),
            dst=(0, 1),
            src=(0, 1),
            tokens=Tokens(push_next=True),
        )
        builder.store(y, columns=2, tokens=Tokens(pop_prev=True, push_prev=True))
    builder.finish(Tokens(pop_next=True))
    builder.finish()
    return builder.build()


def test_a_built_program_is_placed_and_divided() -> None:
    program = example()
    places = [(each.name, each.offset, each.size) for each in program.buffers]
    assert places == [("b", 0, 128), ("x", 128, 128), ("y", 256, 32), ("add", 320, 4)]
    assert program.launches == (range(6), range(6, 7))
    assert program.relocations.tolist() == [[0, 3], [1, 1], [2, 0], [4, 2]]
    (layer,) = program.layers
    assert (layer.name, layer.origin, layer.range) == ("add", "add_1", range(5))
    assert (program.arena_bytes, program.alignment) == (324, 64)


def test_addresses_follow_the_arena() -> None:
    """Each memory counts in elements of its own: 4, 64 and 16 bytes here."""
    program = example()
    low, high = program.resolved(), program.resolved(1 << 16)
    assert low["dram_base"].tolist() == [80, 2, 0, 0, 16, 0, 0]
    assert (high["dram_base"] - low["dram_base"]).tolist() == [
        *(1 << 14, 1 << 10, 1 << 10, 0, 1 << 12),
        *(0, 0),
    ]
    assert np.all(program.instructions["dram_base"] == 0)
    with pytest.raises(
        ProgramError, match=r"^expected an arena at a multiple of 64, got address 32$"
    ):
        program.resolved(32)
    with pytest.raises(
        ProgramError, match=r"where 32 bits can name all elements, got address"
    ):
        program.resolved(1 << 40)


def test_memory_holds_constants_micro_ops_and_inputs() -> None:
    program = example()
    x = np.full((2, 16), 7, np.int32)
    memory = program.memory({"x": x})
    assert memory.shape == (324,)
    assert np.array_equal(memory[:128].view(np.int32), np.arange(32))
    assert np.array_equal(memory[128:256].view(np.int32), x.reshape(-1))
    assert memory[320:].tolist() == [0, 16, 0, 0]
    memory[256:288] = np.arange(32)
    outputs = program.outputs(memory)
    assert outputs.keys() == {"y"}
    assert outputs["y"].dtype == np.int8
    assert np.array_equal(outputs["y"], np.arange(32).reshape(2, 16))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "input x is missing"),
        ({"z": np.zeros(1)}, "expected inputs x, got z"),
        (
            {"x": np.zeros((16, 2), np.int32)},
            "input x: expected int32[2, 16], got int32[16, 2]",
        ),
        (
            {"x": np.zeros((2, 16), np.int8)},
            "input x: expected int32[2, 16], got int8[2, 16]",
        ),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    inputs: dict[str, NDArray[Any]], message: str
) -> None:
    with pytest.raises(ProgramError) as caught:
        example().memory(inputs)
    assert str(caught.value) == message


def test_inputs_without_a_tensor_are_bytes() -> None:
    builder = ProgramBuilder(SIM)
    builder.input("x", 8)
    program = builder.build()
    assert program.memory({"x": np.ones(2, np.int32)}).tolist() == [1, 0, 0, 0] * 2
    with pytest.raises(ProgramError, match=r"^input x: expected 8 bytes, got 4$"):
        program.memory({"x": np.ones(1, np.int32)})


def test_weights_are_aligned_to_their_elements() -> None:
    config = replace(SIM, log_block_in=7, log_block_out=7)
    builder = ProgramBuilder(config)
    builder.scratch("s", 100)
    weights = builder.scratch("w", 16384)
    builder.load(Memory.WGT, weights, columns=1)
    program = builder.build()
    assert [each.offset for each in program.buffers] == [0, 16384]
    assert program.alignment == 16384
    assert program.resolved(1 << 20)["dram_base"].tolist() == [65]


def test_serial_programs_wait_for_every_instruction() -> None:
    """Between load and store, which do not know each other, the compute module passes the token on."""
    builder = ProgramBuilder(SIM, serial=True)
    data = builder.scratch("d", 1024)
    builder.load(Memory.INP, data, columns=1)
    builder.load(Memory.INP, data, columns=1)
    builder.store(data, columns=1)
    builder.load(Memory.ACC, data, columns=1)
    builder.load(Memory.WGT, data, columns=1)
    builder.finish()
    builder.load(Memory.WGT, data, columns=1)
    builder.finish()
    stream = builder.build().instructions
    tokens = ("pop_prev", "pop_next", "push_prev", "push_next")
    assert [
        "".join(each for each, name in zip("<>()", tokens, strict=True) if row[name])
        for row in stream
    ] == ["", ")", "<)", "<(", ">(", ">)", "<", ")", "<"]
    modules = isa.module_of(stream).tolist()
    for (first, second), row in zip(pairwise(modules), stream[1:], strict=True):
        waits = row["pop_prev"] or row["pop_next"]
        assert waits == (first != second) or row["opcode"] == isa.Opcode.LOAD


def test_whole_streams_are_added_at_once() -> None:
    program = example()
    builder = ProgramBuilder(SIM)
    for each in program.buffers:
        builder.buffer(
            each.name,
            each.role,
            each.size,
            dtype=each.dtype,
            shape=each.shape,
            layout=each.layout,
            contents=each.contents,
        )
    targets = np.full(len(program.instructions), -1)
    targets[program.relocations[:, 0]] = program.relocations[:, 1]
    builder.extend(program.instructions, targets)
    same = replace(builder.build(), layers=program.layers)
    assert same.to_bytes() == program.to_bytes()


def test_buffers_stay_where_they_are_put() -> None:
    builder = ProgramBuilder(SIM)
    builder.buffer("a", "scratch", 128, offset=256)
    builder.buffer("b", "scratch", 128, offset=320)
    builder.scratch("c", 1)
    assert [each.offset for each in builder.build().buffers] == [256, 320, 384 + 64]


def test_tokens_alone() -> None:
    builder = ProgramBuilder(SIM)
    for module in Module:
        builder.token(module, Tokens(push_next=True))
    program = builder.build()
    assert isa.module_of(program.instructions).tolist() == list(Module)
    assert not isa.moves_data(program.instructions).any()


def test_files_give_programs_back(tmp_path: Path) -> None:
    program = example(HardwareConfig.load("ultra96"))
    path = tmp_path / "p.vta"
    program.save(path)
    again = Program.load(path)
    assert again.to_bytes() == program.to_bytes() == path.read_bytes()
    assert again.config == program.config
    assert np.array_equal(again.instructions, program.instructions)
    assert again.launches == program.launches
    assert again.layers == program.layers
    assert [vars(each) | {"contents": None} for each in again.buffers] == [
        vars(each) | {"contents": None} for each in program.buffers
    ]
    x = np.ones((2, 16), np.int32)
    assert np.array_equal(again.memory({"x": x}), program.memory({"x": x}))


def test_an_empty_program() -> None:
    program = ProgramBuilder(SIM).build()
    assert (program.launches, program.arena_bytes) == ((), 0)
    assert Program.of_bytes(program.to_bytes()).to_bytes() == program.to_bytes()
    assert len(program.resolved()) == len(program.memory()) == 0


@given(st.data())
@settings(deadline=None)
def test_damaged_files_are_refused_or_still_programs(data: st.DataObject) -> None:
    """Whatever happened to a file, what comes of it is a program in order, or one sentence."""
    content = bytearray(example().to_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(content) - 1))
            content[at] = data.draw(st.integers(0, 255))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConfigWarning)
            program = Program.of_bytes(bytes(content), "p.vta")
    except ProgramError as error:
        message = str(error)
    else:
        message = ""
        program.memory({each.name: each_input(each) for each in inputs_of(program)})
    assert "\n" not in message


def inputs_of(program: Program) -> list[Buffer]:
    return [each for each in program.buffers if each.role == "input"]


def each_input(buffer: Buffer) -> NDArray[Any]:
    if buffer.dtype is None or buffer.shape is None:
        return np.zeros(buffer.size, np.uint8)
    return np.zeros(buffer.shape, buffer.dtype)


def test_files_that_are_no_programs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.vta"
    for content in (b"", b"abc", bytes(100), b"\xff" * 100):
        path.write_bytes(content)
        with pytest.raises(ProgramError) as caught:
            Program.load(path)
        assert str(caught.value) == (
            f"{path}: expected a VTA program; this is another file, or a damaged one"
        )
    with pytest.raises(ProgramError, match=r"^cannot read program .*: No such file"):
        Program.load(tmp_path / "none")
    with pytest.raises(ProgramError, match=r"^cannot write program .*: No such file"):
        example().save(tmp_path / "none" / "p.vta")


HEADERS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "format": (
        lambda header: header.update(version=2),
        "expected partita.vta of version 1, got partita.vta of version 2",
    ),
    "config": (
        lambda header: header.update(config={}),
        "expected a config with LOG_INP_WIDTH",
    ),
    "role": (
        lambda header: header["buffers"][0].update(role="heap"),
        "buffers[0]: role: expected a role of uop, constant, input, output, scratch, got 'heap'",
    ),
    "launches": (
        lambda header: header.update(launches=[6, 8]),
        "expected launches that divide all 7 instructions in order, none of them empty",
    ),
    "empty launches": (
        lambda header: header.update(launches=[7, 7]),
        "expected launches that divide all 7 instructions in order, none of them empty",
    ),
    "layer": (
        lambda header: header["layers"][0].update(end=8),
        "layer add: expected instructions 0 to 7, got 0 to 8",
    ),
    "offset": (
        lambda header: header["buffers"][1].update(offset=130),
        "buffer x: expected an offset that is a multiple of 64, got 128 bytes at 130",
    ),
    "address": (
        lambda header: header["buffers"][1].update(offset=1 << 40),
        "expected an arena that 32 bits can address, got 1099511627904 bytes",
    ),
    "overlap": (
        lambda header: header["buffers"][1].update(offset=64),
        "buffers b and x overlap",
    ),
    "name": (
        lambda header: header["buffers"][1].update(name="b"),
        "2 buffers are named b",
    ),
    "contents": (
        lambda header: header["buffers"][0].update(size=192),
        "buffer b: expected contents of 192 bytes",
    ),
    "small": (
        lambda header: header["buffers"][1].update(size=64, shape=[1, 16]),
        "instruction 1 moves bytes 0 to 128 of buffer x, in elements of 64; the buffer has 64 bytes at offset 128",
    ),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_contradict_are_refused(name: str) -> None:
    change, message = HEADERS[name]
    content = example().to_bytes()
    size = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + size])
    header = json.loads(outer["__metadata__"]["program"])
    change(header)
    outer["__metadata__"]["program"] = json.dumps(header)
    text = json.dumps(outer).encode()
    changed = len(text).to_bytes(8, "little") + text + content[8 + size :]
    with pytest.raises(ProgramError) as caught:
        Program.of_bytes(changed, "p")
    assert str(caught.value) == f"p: {message}"


def changed(number: int, **fields: int) -> isa.Instructions:
    """Return the example's stream with one instruction that says something else."""
    stream = example().instructions.copy()
    for name, value in fields.items():
        stream[name][number] = value
    return stream


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "no relocation": (
        {"relocations": np.array([[0, 3], [1, 1], [2, 0]])},
        "instruction 4 moves data, and refers to no buffer",
    ),
    "a relocation too many": (
        {"relocations": np.array([[0, 3], [1, 1], [2, 0], [3, 0], [4, 2]])},
        "instruction 3 moves no data, and refers to a buffer",
    ),
    "a relocation twice": (
        {"relocations": np.array([[0, 3], [1, 1], [1, 1], [2, 0], [4, 2]])},
        "expected relocations of instructions and buffers that exist, each instruction once and in order",
    ),
    "a buffer that does not exist": (
        {"relocations": np.array([[0, 4], [1, 1], [2, 0], [4, 2]])},
        "expected relocations of instructions and buffers that exist, each instruction once and in order",
    ),
    "relocations of another shape": (
        {"relocations": np.zeros(4, np.int64)},
        "expected relocations of an instruction and a buffer each",
    ),
    "a gap between launches": (
        {"launches": (range(5), range(6, 7))},
        "expected launches that divide all 7 instructions in order, none of them empty",
    ),
    "other instructions": (
        {"instructions": np.zeros((7, 29), np.int64)},
        "expected a stream as one dimension of INSTRUCTION, got int64[7, 29]",
    ),
    "instructions in two dimensions": (
        {"instructions": isa.instructions(8).reshape(2, 4)},
        "expected a stream as one dimension of INSTRUCTION, got INSTRUCTION[2, 4]",
    ),
    "memory that does not exist": (
        {"instructions": changed(0, memory=6)},
        "instruction 0: expected memory 0 to 5, got 6",
    ),
    "a field that does not fit": (
        {"instructions": changed(1, x_size=1 << 16)},
        "instruction 1 (LOAD): expected x_size from 0 to 65535, of 16 bits, got 65536",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_parts_that_do_not_fit_each_other_are_refused(name: str) -> None:
    changes, message = CHANGES[name]
    with pytest.raises(ProgramError) as caught:
        replace(example(), **changes)
    assert str(caught.value) == message


def test_what_builders_refuse() -> None:
    builder = ProgramBuilder(SIM)
    with pytest.raises(ProgramError, match=r"^buffer x: expected a size, or dtype"):
        builder.input("x")
    with pytest.raises(
        ProgramError,
        match=r"^expected a buffer name without spaces, quotes, ; and =, got 'a b'$",
    ):
        builder.scratch("a b", 1)
    with pytest.raises(ProgramError, match=r"^expected a dtype of bool, .* got f32$"):
        builder.input("x", dtype="f32", shape=(1,))
    with pytest.raises(ProgramError, match=r"^buffer x: expected a shape, got \[-8,"):
        builder.input("x", dtype="int8", shape=(-8, -8))
    with pytest.raises(ProgramError, match=r"^expected memory of 324 bytes, got 9$"):
        example().outputs(np.zeros(9, np.uint8))
    with pytest.raises(IsaError, match=r"^micro-op 0: expected dst from 0 to 2047"):
        builder.uops("u", [(2048, 0, 0)])
    builder.alu(AluOpcode.ADD, range(1), imm=1 << 15)
    with pytest.raises(IsaError, match=r"^instruction 0 \(ALU\): expected imm from"):
        builder.build()
    with pytest.raises(ProgramError, match=r"^the program has no buffer q$"):
        example().buffer("q")
    with pytest.raises(ProgramError, match=r"^expected single instructions"):
        ProgramBuilder(SIM, serial=True).extend(isa.instructions(1))


@pytest.mark.parametrize("path", [*RECORDS, *STREAMS], ids=lambda path: path.stem)
def test_every_record_is_a_program(path: Path) -> None:
    """Its instructions at the original addresses are found back from buffers and offsets."""
    program = Program.of_record(path)
    with np.load(path) as record:
        original = isa.decode(record["insns"], program.config)
    moved = isa.dram_elements(original) != 0
    rows = np.flatnonzero(moved)
    assert np.array_equal(rows, program.relocations[:, 0])
    placed = program.resolved()
    kept = [name for name in isa.FIELD_NAMES if name != "dram_base"]
    assert all(np.array_equal(placed[name], original[name]) for name in kept)
    sizes = isa.element_bytes(program.config)[original["memory"][rows]]
    distance = (original["dram_base"][rows] - placed["dram_base"][rows]) * sizes
    for number in range(len(program.buffers)):
        apart = distance[program.relocations[:, 1] == number]
        assert np.all(apart == apart[:1])
    if len(rows) < 5000:
        assert Program.of_bytes(program.to_bytes()).to_bytes() == program.to_bytes()


@pytest.mark.parametrize("name", vta.__all__)
def test_exports_resolve(name: str) -> None:
    assert getattr(vta, name) is not None


def test_nothing_else_is_exported() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'x'"):
        getattr(vta, "x")  # noqa: B009
