"""Records of the original stack: what they become, and files that are none."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vta_isa_cases import GOLDEN, RECORDS, SIM

from partita.errors import PartitaError
from partita.runtime.vta import HardwareConfig, Program, Record, RecordError

CONV = GOLDEN / "conv3x3_s1_p1.npz"
SHORT = GOLDEN / "acc_padded_load.npz"
NETWORK = GOLDEN / "streams" / "resnet18_v1_tophub_alucpu_e2e.npz"


def test_buffers_are_the_tensors_that_the_record_names() -> None:
    record = Record.read(CONV)
    assert [(each.name, each.role, each.size) for each in record.buffers] == [
        ("data", "constant", 6272),
        ("kernel", "constant", 9216),
        ("bias", "constant", 128),
        ("out", "output", 6272),
        ("uops", "uop", 128),
    ]
    program = Program.of_record(record)
    with np.load(CONV) as arrays:
        for name in ("data", "kernel", "bias"):
            buffer = program.buffer(name)
            tensor = arrays[f"arg_{name}"]
            assert (buffer.dtype, buffer.shape) == (tensor.dtype.name, tensor.shape)
            assert buffer.contents is not None
            assert buffer.contents.tobytes() == tensor.tobytes()
        assert record.after is not None
        out = program.outputs(record.after)["out"]
        assert np.array_equal(out, arrays["arg_out"])
    assert record.meta["op"] == "conv2d"
    assert (record.name, record.launches) == ("conv3x3_s1_p1", (range(125),))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_memory_is_what_the_record_has(path: Path) -> None:
    record = Record.read(path)
    before = Program.of_record(record).memory()
    with np.load(path) as arrays:
        for key, arena in (("mem_before", before), ("mem_after", record.after)):
            assert arena is not None
            assert int(arena.sum()) == int(arrays[key].sum())
        assert len(before) <= arrays["mem_before"].size + 256 * len(record.buffers)


def test_launches_have_micro_ops_of_their_own() -> None:
    """The host gives each launch its micro-ops at the same address; all else is shared."""
    program = Program.of_record(NETWORK)
    assert len(program.launches) == len(program.layers) == 19
    assert program.layers[3].name == "launch 3"
    assert program.layers[3].range == program.launches[3]
    uops = [each for each in program.buffers if each.role == "uop"]
    assert [each.name for each in uops] == [f"uops_{number}" for number in range(19)]
    others = [each for each in program.buffers if each.role != "uop"]
    assert {each.role for each in others} == {"scratch"}
    shared = {
        buffer
        for row, buffer in program.relocations.tolist()
        if row in program.launches[4]
    } & {
        buffer
        for row, buffer in program.relocations.tolist()
        if row in program.launches[0]
    }
    assert shared


def test_another_config_takes_the_place_of_the_records() -> None:
    config = HardwareConfig.load({**SIM.to_json(), "MODEL_LATENCY": 5})
    assert Record.read(CONV, config).config.latency == 5
    wrong = HardwareConfig.load({**SIM.to_json(), "LOG_BLOCK": 5})
    with pytest.raises(
        PartitaError, match=r"of which the record has no memory; is the config right\?$"
    ):
        Record.read(CONV, wrong)


Arrays = dict[str, Any]
Change = Callable[[Arrays], Any]


def broken_config(arrays: Arrays) -> None:
    config = json.loads(str(arrays["config_json"]))
    del config["LOG_BATCH"]
    arrays["config_json"] = np.array(json.dumps(config))


def far_address(arrays: Arrays) -> None:
    insns = arrays["insns"]
    word = insns[3].view("<u8")
    word[0] |= np.uint64(0xFFFFFFFF << 26)


FOREIGN: dict[str, tuple[Change, str]] = {
    "no stream": (
        lambda arrays: [arrays.pop(key) for key in list(arrays) if key != "seg_addr"],
        "expected a record with insns, got one of seg_addr",
    ),
    "many arrays": (
        lambda arrays: arrays.update(
            [(f"w{each}", arrays.pop(key)) for each, key in enumerate(list(arrays))]
        ),
        "expected a record with insns, got one of w0, w1, w10, w11, w12 and 8 more",
    ),
    "a stream of another shape": (
        lambda arrays: arrays.update(insns=arrays["insns"][:, :8]),
        "expected insns of shape [N, 16], got [125, 8]",
    ),
    "a stream of another type": (
        lambda arrays: arrays.update(insns=arrays["insns"].astype(np.int32)),
        "expected a record with insns, an array of uint8",
    ),
    "no config": (
        lambda arrays: arrays.pop("config_json"),
        "expected a record with config_json, a text",
    ),
    "a config that is no JSON": (
        lambda arrays: arrays.update(config_json=np.array("{")),
        "expected config_json to be a JSON object",
    ),
    "half a config": (broken_config, "expected a config with LOG_BATCH"),
    "no memory": (
        lambda arrays: arrays.pop("mem_before"),
        "expected a record with mem_before, an array of uint8",
    ),
    "too little memory": (
        lambda arrays: arrays.update(mem_before=arrays["mem_before"][:-1]),
        "expected seg_addr, seg_size, mem_before and mem_after to fit each other",
    ),
    "random instructions": (
        lambda arrays: arrays["insns"].fill(0xFF),
        "instruction 0: expected opcode 0 to 4, got 7",
    ),
    "another address": (
        far_address,
        "instruction 3 moves data at address 0x3fffffffc and on, beyond 32 bits",
    ),
    "launches that do not cover it": (
        lambda arrays: arrays.update(run_offsets=np.array([0, 100], np.uint32)),
        "expected run_offsets to rise from 0 to 125",
    ),
    "launches without their segments": (
        lambda arrays: arrays.update(run_offsets=np.array([0, 100, 125], np.uint32)),
        "expected a record with seg_run_offsets, an array of uint32",
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_that_are_no_records_are_refused(name: str, tmp_path: Path) -> None:
    change, message = FOREIGN[name]
    with np.load(CONV) as content:
        arrays: Arrays = {key: content[key].copy() for key in content.files}
    change(arrays)
    path = tmp_path / "r.npz"
    np.savez(path, **arrays)
    with pytest.raises(PartitaError) as caught:
        Record.read(path)
    assert str(caught.value) == f"{path}: {message}"


@given(st.data())
@settings(deadline=None)
def test_damaged_records_are_refused_or_still_records(data: st.DataObject) -> None:
    """Whatever happened to a file or to one of its arrays, what comes of it is one sentence, or a program."""
    content = bytearray(SHORT.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    with np.load(SHORT) as arrays:
        changed: Arrays = {key: arrays[key].copy() for key in arrays.files}
    key = data.draw(st.sampled_from(["insns", "seg_addr", "seg_size"]))
    octets = changed[key].reshape(-1).view(np.uint8)
    octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "r.npz"
        path.write_bytes(content)
        refused_or_program(path)
        np.savez(path, **changed)
        refused_or_program(path)


def refused_or_program(path: Path) -> None:
    try:
        program = Program.of_record(path)
    except PartitaError as error:
        message = str(error)
    else:
        message = ""
        program.resolved(program.alignment)
    assert "\n" not in message


def test_truncated_records_are_refused(tmp_path: Path) -> None:
    content = CONV.read_bytes()
    path = tmp_path / "r.npz"
    for size in (0, 1, 4, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(RecordError) as caught:
            Record.read(path)
        assert str(caught.value) == (
            f"{path}: expected an .npz record; this is another file, or a damaged one"
        )
    with pytest.raises(RecordError, match=r"^cannot read record .*: No such file"):
        Record.read(tmp_path / "none.npz")
    np.save(tmp_path / "a.npy", np.ones(3))
    with pytest.raises(RecordError, match=r": expected an .npz record; this is"):
        Record.read(tmp_path / "a.npy")


def test_memory_that_nothing_uses_is_kept(tmp_path: Path) -> None:
    with np.load(CONV) as content:
        arrays: Arrays = {key: content[key] for key in content.files}
    more = np.full(64, 9, np.uint8)
    for key, value in (("seg_addr", 1 << 20), ("seg_size", 64)):
        arrays[key] = np.append(arrays[key], np.uint32(value))
    for key in ("mem_before", "mem_after"):
        arrays[key] = np.concatenate([arrays[key], more])
    np.savez(tmp_path / "r.npz", **arrays)
    last = Record.read(tmp_path / "r.npz").buffers[-1]
    assert (last.name, last.role, last.size) == ("memory", "constant", 64)
    assert last.contents is not None
    assert np.array_equal(last.contents, more)
