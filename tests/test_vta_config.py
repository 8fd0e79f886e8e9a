"""VTA configurations: the original's JSON, what follows from it, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vta_isa_cases import SIM, any_config

from partita.runtime.vta import ConfigError, ConfigWarning, HardwareConfig
from partita.runtime.vta.config import PRESETS

SAMPLE: dict[str, object] = {
    "TARGET": "pynq",
    "HW_VER": "0.0.2",
    "LOG_INP_WIDTH": 3,
    "LOG_WGT_WIDTH": 3,
    "LOG_ACC_WIDTH": 5,
    "LOG_BATCH": 0,
    "LOG_BLOCK": 4,
    "LOG_UOP_BUFF_SIZE": 15,
    "LOG_INP_BUFF_SIZE": 15,
    "LOG_WGT_BUFF_SIZE": 18,
    "LOG_ACC_BUFF_SIZE": 17,
}
"""A file of the original, `pynq_sample.json`."""


def test_sizes_follow_from_the_original_json() -> None:
    config = HardwareConfig.load(SAMPLE)
    assert config == HardwareConfig.load("pynq")
    assert (config.batch, config.block_in, config.block_out) == (1, 16, 16)
    assert (config.uop_bytes, config.inp_bytes, config.wgt_bytes) == (4, 16, 256)
    assert (config.acc_bytes, config.out_bytes, config.acc8_bytes) == (64, 16, 16)
    assert (config.uop_depth, config.inp_depth, config.wgt_depth) == (8192, 2048, 1024)
    assert (config.acc_depth, config.out_depth) == (2048, 2048)
    assert config.log_out_buff_size == 15
    assert (config.inp_dtype, config.acc_dtype) == (np.int8, np.int32)
    assert (config.latency, config.bus_bytes) == (32, 8)


def test_sizes_with_batch_and_blocks_that_differ() -> None:
    config = replace(SIM, log_batch=1, log_block_in=3, log_block_out=5, log_out_width=4)
    assert config.inp_bytes == 2 * 8
    assert config.wgt_bytes == 32 * 8
    assert config.acc_bytes == 2 * 32 * 4
    assert config.out_bytes == 2 * 32 * 2
    assert config.acc8_bytes == 2 * 32
    assert config.acc_depth == config.out_depth == (1 << 17) // 256


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_their_targets(name: str) -> None:
    config = HardwareConfig.load(name)
    assert config.target == name
    assert HardwareConfig.load(config.to_json()) == config


def test_boards_differ_where_json_does_not_say_it() -> None:
    """Bus, clock and what the original's hardware lacks: its fast boards have a bus of 16 bytes and 333 MHz."""
    pynq, ultra96, sim = (HardwareConfig.load(x) for x in ("pynq", "ultra96", "sim"))
    assert (pynq.hw_freq, pynq.bus_bytes, pynq.alu_mul, pynq.acc_8bit) == (
        *(100, 8),
        *(False, False),
    )
    assert (ultra96.hw_freq, ultra96.log_bus_width, ultra96.bus_bytes) == (333, 7, 16)
    assert sim.alu_mul
    assert sim.acc_8bit
    with_mul = HardwareConfig.load({**SAMPLE, "ALU_MUL": True})
    assert with_mul == replace(pynq, alu_mul=True)


def test_blocks_are_given_as_one_or_as_two() -> None:
    two = {**SAMPLE, "LOG_BLOCK_IN": 5, "LOG_BLOCK_OUT": 4}
    del two["LOG_BLOCK"]
    config = HardwareConfig.load(two)
    assert (config.block_in, config.block_out) == (32, 16)
    assert HardwareConfig.load(config.to_json()) == config
    assert HardwareConfig.load({**SAMPLE, "LOG_BLOCK_IN": 4}).block_in == 16


def test_what_the_original_derives_may_be_there() -> None:
    """The original writes its configuration back with what it derived."""
    dumped = {
        **SAMPLE,
        **{"LOG_BLOCK_IN": 4, "LOG_BLOCK_OUT": 4},
        **{"LOG_OUT_WIDTH": 3, "LOG_OUT_BUFF_SIZE": 15},
    }
    assert HardwareConfig.load(dumped) == HardwareConfig.load(SAMPLE)


def test_outputs_are_as_wide_as_inputs_unless_said() -> None:
    assert HardwareConfig.load({**SAMPLE, "LOG_INP_WIDTH": 4}).out_dtype == np.int16
    wide = {**SAMPLE, "LOG_OUT_WIDTH": 5}
    assert HardwareConfig.load(wide).out_dtype == np.int32


def test_model_parameters_have_their_own_keys() -> None:
    config = HardwareConfig.load({**SAMPLE, "MODEL_LATENCY": 7, "MODEL_BUS_BYTES": 4})
    assert (config.latency, config.bus_bytes) == (7, 4)
    assert HardwareConfig.load({**SAMPLE, "LOG_BUS_WIDTH": 8}).bus_bytes == 32


def test_unknown_keys_are_warned_about() -> None:
    with pytest.warns(
        ConfigWarning,
        match=r"^config key LOG_BUS_WIDHT means nothing; did you mean LOG_BUS_WIDTH\?$",
    ):
        assert HardwareConfig.load({**SAMPLE, "LOG_BUS_WIDHT": 7}).bus_bytes == 8


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_json_of_any_hardware_gives_it_back(seed: int) -> None:
    config = any_config(np.random.default_rng(seed))
    text = json.dumps(config.to_json())
    assert HardwareConfig.load(json.loads(text)) == config


@pytest.mark.parametrize(("block", "depths"), [(5, (1024, 256)), (7, (256, 16))])
def test_large_blocks_have_fewer_elements(block: int, depths: tuple[int, int]) -> None:
    config = HardwareConfig.load({**SAMPLE, "LOG_BLOCK": block})
    assert (config.inp_depth, config.wgt_depth) == depths
    assert config.acc_depth == config.inp_depth


REFUSED = {
    "small blocks": (
        {"LOG_BLOCK": 3},
        "wgt_factor_in does not fit: a GEMM instruction has 128 bits, and it would take bits 128 to 139, "
        "since the buffers have these numbers of elements: 8192 (LOG_UOP_BUFF_SIZE 15), "
        "4096 (LOG_INP_BUFF_SIZE 15), 4096 (LOG_WGT_BUFF_SIZE 18), 4096 (LOG_ACC_BUFF_SIZE 17)",
    ),
    "many accumulators": (
        {"LOG_ACC_BUFF_SIZE": 18, "LOG_WGT_BUFF_SIZE": 16},
        "imm does not fit: an ALU instruction has 128 bits, and it would take bits 128 to 143, "
        "since the buffers have these numbers of elements: 8192 (LOG_UOP_BUFF_SIZE 15), "
        "2048 (LOG_INP_BUFF_SIZE 15), 256 (LOG_WGT_BUFF_SIZE 16), 4096 (LOG_ACC_BUFF_SIZE 18)",
    ),
    "many weights": (
        {"LOG_UOP_BUFF_SIZE": 6, "LOG_WGT_BUFF_SIZE": 20},
        "wgt does not fit: a micro-op has 32 bits, and it would take bits 32 to 43, "
        "since the buffers have these numbers of elements: 16 (LOG_UOP_BUFF_SIZE 6), "
        "2048 (LOG_INP_BUFF_SIZE 15), 4096 (LOG_WGT_BUFF_SIZE 20), 2048 (LOG_ACC_BUFF_SIZE 17)",
    ),
    "more than can be named": (
        {"LOG_WGT_BUFF_SIZE": 25},
        "LOG_WGT_BUFF_SIZE 25 makes 131072 elements of 256 bytes; "
        "expected 2 to 65536, as many as the 16 bits of sram_base can name",
    ),
    "elements larger than their buffer": (
        {"LOG_BLOCK": 8, "LOG_WGT_BUFF_SIZE": 15},
        "LOG_WGT_BUFF_SIZE 15 makes 0 elements of 65536 bytes; "
        "expected 2 to 65536, as many as the 16 bits of sram_base can name",
    ),
    "another type": (
        {"LOG_BATCH": "0"},
        "expected LOG_BATCH to be an integer from 0 to 8, got '0'",
    ),
    "true": (
        {"LOG_BATCH": True},
        "expected LOG_BATCH to be an integer from 0 to 8, got True",
    ),
    "half a byte": (
        {"LOG_INP_WIDTH": 2},
        "expected LOG_INP_WIDTH to be an integer from 3 to 5, got 2",
    ),
    "no bus": (
        {"LOG_BUS_WIDTH": "wide"},
        "expected LOG_BUS_WIDTH to be an integer from 3 to 12, got 'wide'",
    ),
    "a number for a flag": (
        {"ALU_MUL": 1},
        "expected ALU_MUL to be true or false, got 1",
    ),
    "a number for a name": ({"TARGET": 1}, "expected TARGET to be a string, got 1"),
    "inputs wider than accumulators": (
        {"LOG_INP_WIDTH": 5, "LOG_ACC_WIDTH": 4, "LOG_BATCH": 1},
        "expected LOG_INP_WIDTH to be at most LOG_ACC_WIDTH 4, got 5",
    ),
    "blocks that contradict": (
        {"LOG_BLOCK_OUT": 5},
        "LOG_BLOCK 4 contradicts LOG_BLOCK_OUT 5; leave out either",
    ),
    "another output buffer": (
        {"LOG_OUT_BUFF_SIZE": 16},
        "expected LOG_OUT_BUFF_SIZE 15, as LOG_ACC_BUFF_SIZE and widths have it, got 16",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_vta_is_refused(name: str) -> None:
    changes, message = REFUSED[name]
    with pytest.raises(ConfigError) as caught:
        HardwareConfig.load({**SAMPLE, **changes})
    assert str(caught.value) == message


@pytest.mark.parametrize("key", [key for key in SAMPLE if key.startswith("LOG_")])
def test_sizes_have_to_be_given(key: str) -> None:
    content = {name: value for name, value in SAMPLE.items() if name != key}
    with pytest.raises(ConfigError, match=f"^expected a config with {key}$"):
        HardwareConfig.load(content)


def test_files_are_read_and_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(SAMPLE))
    assert HardwareConfig.load(path) == HardwareConfig.load(str(path))
    for text, message in (
        ("[1]", "expected a JSON object"),
        ("{", "is no valid JSON: Expecting property name"),
        ("[" * 100_000, "is no valid JSON"),
        ("{}", "expected a config with LOG_INP_WIDTH"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError) as caught:
            HardwareConfig.load(path)
        assert str(caught.value).startswith(f"config {path}")
        assert message in str(caught.value)
    with pytest.raises(
        ConfigError,
        match=r"^expected a file or one of .* as config, got ultra69; did you mean ultra96\?$",
    ):
        HardwareConfig.load("ultra69")
    with pytest.raises(ConfigError, match=r"^cannot read config .*: Is a directory$"):
        HardwareConfig.load(tmp_path)
