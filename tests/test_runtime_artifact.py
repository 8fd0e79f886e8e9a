"""Artifacts survive a round trip, and broken, foreign or unsuitable ones are refused in one sentence."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load as load_safetensors

from partita.errors import ArtifactError
from partita.runtime import (
    Artifact,
    Buffer,
    CopyStep,
    Executable,
    KernelStep,
    Machine,
    Plan,
    TensorSpec,
    load,
)
from partita.runtime.tensors import SAFETENSORS, digest
from partita.weights import digest as digest_of_ir

HERE = Machine("x86_64-unknown-linux-gnu", "generic", frozenset({"sse2"}))
WEIGHTS = [np.arange(5, dtype=np.float32), np.ones((2, 16), np.int32)]

SMALL = Artifact(
    plan=Plan(
        inputs=(TensorSpec("x", "float32", (2, 3)),),
        outputs=(TensorSpec("y / 日本 \n", "float32", (2, 3)),),
        steps=(
            KernelStep(
                "k", "host/k.o", (Buffer("input", 0), Buffer("weight", 1)), 4, "a"
            ),
            CopyStep(Buffer("arena", 64), Buffer("output", 0), 24),
        ),
        weights=tuple(map(digest, WEIGHTS)),
        arena=128,
    ),
    machine=HERE,
    objects={"host/k.o": b"\x7fELF, or nearly so"},
    weights={digest(each): each for each in WEIGHTS},
    entry="main",
    targets=("host", "vta"),
    graph="func.func @main() { func.return }",
    modules={"modules/vta/main_0.npz": b"program"},
)


def same(one: Artifact, other: Artifact) -> bool:
    weights = all(
        np.array_equal(one.weights[name], other.weights[name])
        for name in one.plan.weights
    )
    return weights and replace(one, weights={}) == replace(other, weights={})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    SMALL.write(tmp_path / "m.partita")
    return tmp_path / "m.partita"


def refusal(path: Path, machine: Machine | None = None) -> str:
    """Return what the error says after the path; it is one sentence in one line."""
    with pytest.raises(ArtifactError) as failure:
        Artifact.read(path, machine=machine)
    message = str(failure.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_what_is_written_is_read(path: Path) -> None:
    assert same(Artifact.read(path, machine=HERE), SMALL)


def test_equal_artifacts_are_equal_files(path: Path, tmp_path: Path) -> None:
    Artifact.read(path).write(tmp_path / "again.partita")
    assert (tmp_path / "again.partita").read_bytes() == path.read_bytes()


def test_other_tools_can_read_the_members(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert all(info.compress_type == 0 for info in archive.infolist())
        tensors = load_safetensors(archive.read("weights.safetensors"))
        assert json.loads(archive.read("plan.json"))["steps"][1] == {
            "copy": [["arena", 64], ["output", 0]],
            "bytes": 24,
        }
        assert json.loads(archive.read("manifest.json"))["entry"]["name"] == "main"
    for each in WEIGHTS:
        np.testing.assert_array_equal(tensors[digest(each)], each)


def test_weights_of_every_dtype_are_mapped_where_they_lie(tmp_path: Path) -> None:
    arrays = [np.ones((3, 1, 64), dtype) for dtype in SAFETENSORS]
    arrays += [np.zeros((0, 4), np.float32), np.array(7.0), np.zeros((3,), np.int8)]
    weights = {digest(each): each for each in arrays}
    plan = Plan((), (), (), tuple(weights))
    Artifact(plan, HERE, {}, weights).write(tmp_path / "m.partita")
    read = Artifact.read(tmp_path / "m.partita").weights
    for name, each in weights.items():
        assert read[name].dtype == each.dtype
        assert read[name].shape == each.shape
        np.testing.assert_array_equal(read[name], each)
        assert not read[name].flags.writeable
        assert each.nbytes % 64 or not each.nbytes or read[name].ctypes.data % 64 == 0


def test_weights_are_named_as_in_the_ir() -> None:
    for each in WEIGHTS:
        assert digest(each) == digest_of_ir(each)


def test_only_weights_of_the_plan_are_written_and_each_once(tmp_path: Path) -> None:
    spare = np.zeros(100_000, np.float32)
    weights = {**SMALL.weights, digest(spare): spare}
    replace(SMALL, weights=weights).write(tmp_path / "m.partita")
    assert (tmp_path / "m.partita").stat().st_size < 8000


def test_every_truncation_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        assert "damaged" in refusal(path)


def test_no_flipped_byte_goes_unnoticed(path: Path) -> None:
    """Each gives one error, or, in dates and the like, the same artifact."""
    data = path.read_bytes()
    unnoticed, messages = 0, set[str]()
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 0x01 if place % 2 else 0xFF
        path.write_bytes(flipped)
        try:
            read = Artifact.read(path)
        except ArtifactError as error:
            messages.add(str(error))
        else:
            assert same(read, SMALL)
            unnoticed += 1
    assert all("\n" not in message for message in messages)
    assert unnoticed < len(data) / 2


def rewrite(path: Path, change: Callable[[dict[str, bytes]], object]) -> None:
    """Change the members of an archive, and write it anew."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest of an archive."""

    def apply(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["manifest.json"])
        change(manifest)
        members["manifest.json"] = json.dumps(manifest).encode()

    rewrite(path, apply)


DAMAGED = "not an artifact, or a damaged one"
CHANGES: dict[str, Callable[[dict[str, bytes]], object]] = {
    "'host/k.o' is missing": lambda members: members.pop("host/k.o"),
    "'plan.json' is missing": lambda members: members.pop("plan.json"),
    "not a partita artifact": lambda members: members.pop("manifest.json"),
    "'host/more.o' is not listed in manifest.json": lambda members: members.update(
        {"host/more.o": b""}
    ),
    "'../host/k.o' is no name that a member can have": lambda members: members.update(
        {"../host/k.o": b""}
    ),
    "'modules/../k.o' is no name that a member can have": lambda members: (
        members.update({"modules/../k.o": b""})
    ),
    "'/etc/passwd' is no name that a member can have": lambda members: members.update(
        {"/etc/passwd": b""}
    ),
    "'host/k.o' has a wrong size; the file is damaged": lambda members: members.update(
        {"host/k.o": b""}
    ),
    "'graph.mlir' has a wrong digest; the file is damaged": lambda members: (
        members.update({"graph.mlir": members["graph.mlir"].upper()})
    ),
    f"weight {digest(WEIGHTS[0])} has a wrong digest; the file is damaged": (
        lambda members: members.update(
            {"weights.safetensors": members["weights.safetensors"][:-1] + b"?"}
        )
    ),
    "manifest.json is no valid JSON: Expecting value: line 1 column 1 (char 0)": (
        lambda members: members.update({"manifest.json": b"?"})
    ),
}


@pytest.mark.parametrize(("message", "change"), CHANGES.items())
def test_changed_members_are_refused(
    path: Path, message: str, change: Callable[[dict[str, bytes]], object]
) -> None:
    rewrite(path, change)
    assert refusal(path) == message


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "expected format version 1, got 2; compile the model again": lambda manifest: (
        manifest.update(version=2)
    ),
    "not a partita artifact": lambda manifest: manifest.update(format="other"),
    "manifest.json: version: expected an integer of at least 0, got '1'": (
        lambda manifest: manifest.update(version="1")
    ),
    "compiled for aarch64 linux, but this machine is x86_64 linux": lambda manifest: (
        manifest.update(triple="arm64-unknown-linux-gnu")
    ),
    "compiled for x86_64 macos, but this machine is x86_64 linux": lambda manifest: (
        manifest.update(triple="x86_64-apple-darwin23")
    ),
    "compiled for avx512f, which this CPU lacks": lambda manifest: manifest.update(
        features=["sse2", "avx512f"]
    ),
    "compiled for a, b, c, d and 1 more, which this CPU lacks": lambda manifest: (
        manifest.update(features=["e", "d", "c", "b", "a"])
    ),
    "manifest.json and plan.json disagree on the signature": lambda manifest: manifest[
        "entry"
    ].update(inputs=[]),
    "manifest.json: features[0]: expected a string, got 1": lambda manifest: (
        manifest.update(features=[1])
    ),
    'manifest.json: members: host/k.o: expected an object with "bytes", got {}': (
        lambda manifest: manifest["members"].update({"host/k.o": {}})
    ),
}


@pytest.mark.parametrize(("message", "change"), EDITS.items())
def test_manifests_that_do_not_fit_are_refused(
    path: Path, message: str, change: Callable[[dict[str, Any]], object]
) -> None:
    edit(path, change)
    assert refusal(path, HERE) == message


def test_a_manifest_nested_beyond_reason_is_refused(path: Path) -> None:
    rewrite(path, lambda members: members.update({"manifest.json": b"[" * 100_000}))
    assert refusal(path).startswith("manifest.json is no valid JSON: ")


def test_compressed_members_are_refused(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    assert refusal(path) == DAMAGED


def test_two_members_of_one_name_are_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(match="Duplicate"):
        archive.writestr("host/k.o", b"other code")
    assert refusal(path) == "two members are named 'host/k.o'"


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"\x7fELF" + bytes(1000), b"[]", bytes(10_000)], ids=repr
)
def test_foreign_files_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "m.partita").write_bytes(data)
    assert refusal(tmp_path / "m.partita") == DAMAGED


def test_foreign_archives_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.partita", "w") as archive:
        archive.writestr("word/document.xml", "<xml/>")
    assert refusal(tmp_path / "m.partita") == (
        "'word/document.xml' is no name that a member can have"
    )


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    missing = tmp_path / "missing.partita"
    assert refusal(missing) == "cannot be read: No such file or directory"
    assert refusal(tmp_path) == "cannot be read: Is a directory"
    for target in (tmp_path / "no" / "m.partita", tmp_path):
        with pytest.raises(ArtifactError, match=f"^cannot write artifact {target}: "):
            SMALL.write(target)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "fault",
    [
        {"weights": {}},
        {"objects": {}},
        {"objects": {**SMALL.objects, "host/../k.o": b""}},
        {"modules": {"modules/vta": b""}},
    ],
)
def test_nothing_is_left_of_what_cannot_be_written(
    tmp_path: Path, fault: dict[str, Any]
) -> None:
    with pytest.raises(ArtifactError):
        replace(SMALL, **fault).write(tmp_path / "m.partita")
    assert list(tmp_path.iterdir()) == []


def test_code_for_another_machine_is_not_linked() -> None:
    other = replace(HERE, triple="riscv64-unknown-linux-gnu")
    with pytest.raises(ArtifactError, match=r"^compiled for riscv64 linux, but this"):
        Executable(replace(SMALL, machine=other))


def test_code_of_an_invalid_object_is_not_linked(path: Path) -> None:
    machine = Machine.host()
    replace(SMALL, machine=machine).write(path)
    with pytest.raises(ArtifactError, match="object code cannot be linked: "):
        load(path)


INVALID: dict[str, tuple[str, Any]] = {
    'plan.json: expected an object with "steps", got': ("steps", None),
    "plan.json: steps: expected an array, got 3": ("steps", 3),
    "plan.json: steps[0]: expected a step with one of the keys kernel, copy, got {}": (
        "steps",
        [{}],
    ),
    "plan.json: steps[0]: copy: expected a source and a destination, got": (
        "steps",
        [{"copy": [["arena", 0]], "bytes": 1}],
    ),
    "plan.json: steps[0]: copy[1]: expected [space, position] with a space of": (
        "steps",
        [{"copy": [["arena", 0], ["moon", 0]], "bytes": 1}],
    ),
    "plan.json: steps[0]: bytes: expected an integer of at least 0, got -1": (
        "steps",
        [{"copy": [["arena", 0], ["arena", 64]], "bytes": -1}],
    ),
    "plan.json: steps[0]: bytes: expected an integer of at least 0, got True": (
        "steps",
        [{"copy": [["arena", 0], ["arena", 64]], "bytes": True}],
    ),
    "step 0 of the plan copies 65 bytes, but arena 64 has 64": (
        "steps",
        [{"copy": [["arena", 0], ["arena", 64]], "bytes": 65}],
    ),
    "step 0 of the plan copies 25 bytes, but input 0 has 24": (
        "steps",
        [{"copy": [["input", 0], ["arena", 0]], "bytes": 25}],
    ),
    "step 0 of the plan writes to an input": (
        "steps",
        [{"copy": [["input", 0], ["input", 0]], "bytes": 1}],
    ),
    "step 0 of the plan: expected one of 1 inputs, got number 1": (
        "steps",
        [{"copy": [["input", 1], ["arena", 0]], "bytes": 1}],
    ),
    "step 0 of the plan: expected an offset that is a multiple of 64 in an arena of 128 bytes, got 32": (
        "steps",
        [{"copy": [["input", 0], ["arena", 32]], "bytes": 1}],
    ),
    "step 0 of the plan: expected an offset that is a multiple of 64 in an arena of 128 bytes, got 192": (
        "steps",
        [{"copy": [["input", 0], ["arena", 192]], "bytes": 1}],
    ),
    "the plan has two inputs named 'x'": (
        "inputs",
        [{"name": "x", "dtype": "int8", "shape": []}] * 2,
    ),
    "plan.json: inputs[0]: dtype: expected a dtype of bool, int8": (
        "inputs",
        [{"name": "x", "dtype": "complex64", "shape": []}],
    ),
    "plan.json: inputs[0]: shape[0]: expected an integer of at least 0, got -1": (
        "inputs",
        [{"name": "x", "dtype": "int8", "shape": [-1]}],
    ),
}


@pytest.mark.parametrize(("message", "fault"), INVALID.items())
def test_plans_that_make_no_sense_are_refused(
    message: str, fault: tuple[str, Any]
) -> None:
    plan = json.loads(SMALL.plan.text())
    key, value = fault
    plan[key] = value
    if value is None:
        del plan[key]
    with pytest.raises(ArtifactError) as failure:
        Plan.parse(json.dumps(plan).encode())
    assert str(failure.value).startswith(message)


def test_a_plan_copies_no_more_than_a_weight_has() -> None:
    copy = CopyStep(Buffer("weight", 0), Buffer("arena", 0), 21)
    plan = replace(SMALL.plan, steps=(copy,))
    with pytest.raises(
        ArtifactError, match=r"copies 21 bytes of weight \w+, which has"
    ):
        replace(SMALL, plan=plan).check()


def test_a_model_too_large_for_this_machine_is_refused() -> None:
    plan = Plan((), (), (), arena=1 << 62)
    with pytest.raises(
        ArtifactError, match=r"^the model needs 4611686018427387904 bytes"
    ):
        Executable(Artifact(plan, Machine.host(), {}))


def test_a_host_runs_its_own_code() -> None:
    machine = Machine.host()
    machine.check(machine)
    assert machine.architecture in ("x86_64", "aarch64")
    assert machine.system in ("linux", "macos")


@pytest.mark.parametrize("use", ["", "; runtime.load; runtime.Executable"])
def test_importing_the_runtime_loads_no_compiler(use: str) -> None:
    script = f"""
import sys
from partita import runtime{use}
for name in ("xdsl", "onnx", "llvmlite", "partita.dialects"):
    assert name not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
