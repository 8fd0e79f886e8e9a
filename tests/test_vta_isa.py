"""The VTA instruction set: bits as the original has them, for any hardware, and nothing else."""

import ctypes
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vta_isa_cases import RECORDS, SIM, STREAMS, any_config, any_stream, any_uops

from partita.runtime.vta import HardwareConfig, IsaError, isa
from partita.runtime.vta.fields import Layout

DEFAULT = {
    "memory": "memory[7:10] sram_base[10:26] dram_base[26:58] y_size[64:80] x_size[80:96] x_stride[96:112] "
    "y_pad_0[112:116] y_pad_1[116:120] x_pad_0[120:124] x_pad_1[124:128]",
    "gemm": "reset[7:8] uop_bgn[8:21] uop_end[21:35] iter_out[35:49] iter_in[49:63] dst_factor_out[64:75] "
    "dst_factor_in[75:86] src_factor_out[86:97] src_factor_in[97:108] wgt_factor_out[108:118] wgt_factor_in[118:128]",
    "alu": "reset[7:8] uop_bgn[8:21] uop_end[21:35] iter_out[35:49] iter_in[49:63] dst_factor_out[64:75] "
    "dst_factor_in[75:86] src_factor_out[86:97] src_factor_in[97:108] alu_opcode[108:111] use_imm[111:112] "
    "imm[112:128]",
    "finish": "",
}
"""The layout of the default hardware, as the records' README has it."""

FLAGS = "opcode[0:3] pop_prev[3:4] pop_next[4:5] push_prev[5:6] push_next[6:7]"


def shown(layout: Layout) -> str:
    return " ".join(
        f"{name}[{each.first}:{each.first + each.width}]"
        for name, each in layout.items()
    )


@pytest.mark.parametrize("kind", DEFAULT)
def test_default_layout(kind: str) -> None:
    assert shown(getattr(SIM.fields, kind)) == f"{FLAGS} {DEFAULT[kind]}".strip()


def test_default_micro_op_layout() -> None:
    assert shown(SIM.fields.uop) == "dst[0:11] src[11:22] wgt[22:32]"


def test_fields_move_to_the_other_word_as_c_compilers_move_them() -> None:
    """With few micro-ops, the first word has room for factors."""
    few = replace(SIM, log_uop_buff_size=6)
    gemm = few.fields.gemm
    assert (gemm["iter_in"].first, gemm["dst_factor_out"].first) == (31, 45)
    assert gemm["dst_factor_in"].first == 64


@pytest.mark.parametrize("path", [*RECORDS, *STREAMS], ids=lambda path: path.stem)
def test_streams_of_the_original_keep_their_bytes(path: Path) -> None:
    with np.load(path) as record:
        insns = record["insns"]
    stream = isa.decode(insns, SIM)
    assert stream.dtype.fields is not None
    assert np.array_equal(isa.encode(stream, SIM), insns)


def test_a_known_instruction() -> None:
    """GEMM with reset, micro-ops 0 to 1, 14 by 7 times, waiting for nothing and telling load."""
    stream = isa.instructions(1)
    for name, value in {
        **{"opcode": 2, "push_prev": 1, "reset": 1, "uop_end": 1},
        **{"iter_out": 14, "iter_in": 7, "dst_factor_out": 1, "dst_factor_in": 14},
    }.items():
        stream[name] = value
    word0 = 2 | 1 << 5 | 1 << 7 | 1 << 21 | 14 << 35 | 7 << 49
    word1 = 1 | 14 << 11
    expected = np.array([word0, word1], "<u8").view(np.uint8)
    assert np.array_equal(isa.encode(stream, SIM)[0], expected)
    assert list(isa.columns(stream)[0, :5]) == [2, 0, 0, 1, 0]
    assert isa.COLUMNS["imm"] == isa.columns(stream).shape[1] - 1 == 28


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_decode_inverts_encode(seed: int) -> None:
    rng = np.random.default_rng(seed)
    config = any_config(rng)
    stream = any_stream(rng, config, 20)
    bits = isa.encode(stream, config)
    assert np.array_equal(isa.decode(bits, config), stream)
    assert np.array_equal(isa.decode(bits.tobytes(), config), stream)
    uops = any_uops(rng, config, 20)
    words = isa.encode_uops(uops, config)
    assert np.array_equal(isa.decode_uops(words, config), uops)
    assert np.array_equal(isa.decode_uops(words.tobytes(), config), uops)


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_bits_are_where_c_puts_them(seed: int) -> None:
    """The original declares its instructions as C bit-fields, which ctypes lays out as C compilers do."""
    rng = np.random.default_rng(seed)
    config = any_config(rng)
    stream = any_stream(rng, config, 5)
    for number, bits in enumerate(isa.encode(stream, config)):
        opcode = int(stream["opcode"][number])
        structure = c_structure(isa.layout_of(opcode, config), ctypes.c_uint64)
        assert ctypes.sizeof(structure) <= 16
        packed = structure.from_buffer_copy(bits.tobytes())
        for name in isa.layout_of(opcode, config):
            assert getattr(packed, name) == stream[name][number], name
    uops = any_uops(rng, config, 5)
    structure = c_structure(config.fields.uop, ctypes.c_uint32)
    assert ctypes.sizeof(structure) == 4
    for number, word in enumerate(isa.encode_uops(uops, config)):
        packed = structure.from_buffer_copy(word.tobytes())
        for name in config.fields.uop:
            assert getattr(packed, name) == uops[name][number], name


def c_structure(
    layout: Layout, word: type[ctypes.c_uint64] | type[ctypes.c_uint32]
) -> type[ctypes.Structure]:
    members = [
        (name, ctypes.c_int64 if each.signed else word, each.width)
        for name, each in layout.items()
    ]
    return type("Packed", (ctypes.Structure,), {"_fields_": members})


def test_modules() -> None:
    kinds = {
        (0, 0): isa.Module.COMPUTE,
        (0, 1): isa.Module.LOAD,
        (0, 2): isa.Module.LOAD,
        (0, 3): isa.Module.COMPUTE,
        (0, 5): isa.Module.COMPUTE,
        (1, 4): isa.Module.STORE,
        (1, 0): isa.Module.STORE,
        (2, 0): isa.Module.COMPUTE,
        (3, 0): isa.Module.COMPUTE,
        (4, 0): isa.Module.COMPUTE,
    }
    stream = isa.instructions(len(kinds))
    stream["opcode"], stream["memory"] = np.array(list(kinds)).T
    assert isa.module_of(stream).tolist() == list(kinds.values())


def a_stream(**fields: int) -> isa.Instructions:
    """Return three instructions, the last with some fields."""
    stream = isa.instructions(3)
    for name, value in fields.items():
        stream[name][2] = value
    return stream


OVERFLOWS = {
    "a field that is too large": (
        {"opcode": 2, "uop_end": 16384},
        "instruction 2 (GEMM): expected uop_end from 0 to 16383, of 14 bits, got 16384",
    ),
    "a negative address": (
        {"opcode": 0, "dram_base": -1},
        "instruction 2 (LOAD): expected dram_base from 0 to 4294967295, of 32 bits, got -1",
    ),
    "an immediate": (
        {"opcode": 4, "imm": 32768},
        "instruction 2 (ALU): expected imm from -32768 to 32767, of 16 bits, got 32768",
    ),
    "a field of another kind": (
        {"opcode": 1, "memory": 4, "iter_in": 3},
        "instruction 2 (STORE): has no field iter_in, got 3",
    ),
    "an opcode that does not exist": (
        {"opcode": 5},
        "instruction 2: expected opcode 0 to 4, got 5",
    ),
    "a memory that does not exist": (
        {"memory": 7},
        "instruction 2: expected memory 0 to 5, got 7",
    ),
    "a load of outputs": (
        {"memory": 4, "x_size": 1},
        "instruction 2: expected no LOAD of OUT",
    ),
    "a store of inputs": (
        {"opcode": 1, "memory": 2, "x_size": 1},
        "instruction 2: expected a STORE of OUT (memory 4), got memory 2",
    ),
    "an ALU operation that does not exist": (
        {"opcode": 4, "alu_opcode": 6},
        "instruction 2: expected alu_opcode 0 to 4, got 6",
    ),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_what_bits_cannot_say_is_refused(name: str) -> None:
    fields, message = OVERFLOWS[name]
    with pytest.raises(IsaError) as caught:
        isa.encode(a_stream(**fields), SIM)
    assert str(caught.value) == message


def test_features_that_hardware_lacks_are_refused_both_ways() -> None:
    pynq = HardwareConfig.load("pynq")
    for fields, message in (
        ({"opcode": 4, "alu_opcode": 4}, "this hardware has no MUL; set ALU_MUL"),
        (
            {"memory": 5, "x_size": 1},
            "this hardware has no LOAD of ACC_8BIT; set ACC_8BIT",
        ),
    ):
        stream = a_stream(**fields)
        bits = isa.encode(stream, SIM)
        assert np.array_equal(isa.decode(bits, SIM), stream)
        for refused in (
            lambda stream=stream: isa.encode(stream, pynq),
            lambda bits=bits: isa.decode(bits, pynq),
        ):
            with pytest.raises(IsaError) as caught:
                refused()
            assert str(caught.value) == f"instruction 2: {message}"


def test_instructions_that_only_carry_tokens_may_name_any_memory() -> None:
    """The original's runtime writes them as STORE of memory 0, and as LOAD with nothing set."""
    stream = a_stream(opcode=1, memory=0, push_prev=1)
    assert np.array_equal(isa.decode(isa.encode(stream, SIM), SIM), stream)
    assert not isa.moves_data(stream).any()


def test_unused_bits_are_not_looked_at() -> None:
    """Older versions of the original leave them as they happen to be."""
    stream = a_stream(opcode=3)
    bits = isa.encode(stream, SIM)
    bits[2, 1:] = 0xFF
    assert np.array_equal(isa.decode(bits, SIM), stream)


@given(st.binary(max_size=100), st.integers(0, 2**32))
@settings(deadline=None)
def test_random_bytes_are_instructions_or_refused(data: bytes, seed: int) -> None:
    config = any_config(np.random.default_rng(seed))
    with suppress(IsaError):
        stream = isa.decode(data, config)
        again = isa.decode(isa.encode(stream, config), config)
        assert np.array_equal(again, stream)


def test_ends_within_instructions_and_micro_ops_are_refused() -> None:
    with pytest.raises(
        IsaError,
        match=r"^expected instructions of 16 bytes each, got 40 bytes; the stream is truncated$",
    ):
        isa.decode(bytes(40), SIM)
    with pytest.raises(
        IsaError, match=r"^expected micro-ops of 4 bytes each, got 7 bytes$"
    ):
        isa.decode_uops(bytes(7), SIM)
    uops = np.zeros(2, isa.UOP)
    uops["wgt"][1] = 1024
    with pytest.raises(
        IsaError,
        match=r"^micro-op 1: expected wgt from 0 to 1023, of 10 bits, got 1024$",
    ):
        isa.encode_uops(uops, SIM)
