"""Programs run on the simulator, or through a driver library, here one that is compiled from `vta_driver.c`."""

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from vta_baseline import GOLDEN

from partita.errors import OptionError, PartitaError
from partita.runtime.vta import (
    AluOpcode,
    Memory,
    Opcode,
    Program,
    ProgramBuilder,
    Record,
)
from partita.runtime.vta.devices import Simulator, open_device
from partita.runtime.vta.driver import SIGNATURES, Driver, DriverError
from partita.runtime.vta.faults import SimulationError

RECORDS = sorted(GOLDEN.glob("*.npz"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the driver."""
    path = tmp_path_factory.mktemp("driver") / "libvta.so"
    compile_c(Path(__file__).parent / "vta_driver.c", path)
    return path


def compile_c(source: Path, library: Path) -> None:
    command = ["cc", "-O2", "-shared", "-fPIC"]
    subprocess.run([*command, str(source), "-o", str(library)], check=True)


def all_is_freed(library: Path) -> bool:
    return bool(ctypes.CDLL(str(library)).VTATestState())


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_run_through_a_driver(path: Path, library: Path) -> None:
    """What the library computes, an implementation of its own, is what the record has, wherever memory is."""
    record = Record.read(path)
    program = Program.of_record(record)
    memory = program.memory()
    open_device(f"driver:{library}").run(program, memory)
    assert record.after is not None
    np.testing.assert_array_equal(memory, record.after)
    assert all_is_freed(library)


def test_a_record_runs_on_the_simulator() -> None:
    record = Record.read(GOLDEN / "conv3x3_s1_p1.npz")
    program = Program.of_record(record)
    for device in (open_device("sim"), Simulator("random", 3), Simulator("late_loads")):
        memory = program.memory()
        device.run(program, memory)
        assert record.after is not None
        np.testing.assert_array_equal(memory, record.after)


def test_the_simulator_passes_its_options_on() -> None:
    """Without its checks a program that reads what nothing wrote runs."""
    program = doubled(launches=1, uninitialized=True)
    memory = program.memory({"x": np.arange(64, dtype=np.uint8)})
    with pytest.raises(
        SimulationError, match=r"reads element 0 of ACC, which nothing .*has written$"
    ):
        Simulator().run(program, memory)
    Simulator(check_written=False, check_races=False).run(program, memory)


def doubled(launches: int, *, uninitialized: bool = False) -> Program:
    """Return a program that doubles bytes, once more in each launch."""
    builder = ProgramBuilder(Record.read(RECORDS[0]).config, serial=True)
    source, result = builder.input("x", 64), builder.output("y", 64)
    uops = builder.uops("double", [(0, 0, 0)])
    for _ in range(launches):
        builder.load(Memory.UOP, uops, columns=1)
        if not uninitialized:
            builder.load(Memory.ACC_8BIT, source, columns=4)
        builder.alu(AluOpcode.ADD, range(1), loops=(1, 4), dst=(0, 1), src=(0, 1))
        builder.store(result, columns=4)
        builder.finish()
        source = result
    return builder.build()


@pytest.mark.parametrize("device", ["sim", "driver"])
def test_all_launches_run(device: str, library: Path) -> None:
    program = doubled(3)
    x = np.arange(-32, 32, dtype=np.int8).view(np.uint8)
    memory = program.memory({"x": x})
    name = device if device == "sim" else f"driver:{library}"
    open_device(name).run(program, memory)
    np.testing.assert_array_equal(program.outputs(memory)["y"], 8 * x)


def test_a_library_is_found_beside_us(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(library.parent)
    program = doubled(1)
    memory = program.memory({"x": np.ones(64, np.uint8)})
    open_device(f"driver:{library.name}").run(program, memory)
    assert (program.outputs(memory)["y"] == 2).all()


def test_a_launch_that_does_not_end(library: Path) -> None:
    """The time is up in the second launch; everything is freed, and memory is as it was."""
    program = doubled(2)
    stream = program.instructions.copy()
    stream["opcode"][-1] = Opcode.GEMM
    program = replace(program, instructions=stream)
    memory = program.memory({"x": np.ones(64, np.uint8)})
    before = memory.copy()
    with pytest.raises(DriverError) as caught:
        Driver(library).run(program, memory)
    assert str(caught.value) == (
        f"{library}: launch 1 did not end within 2147483648 cycles"
    )
    assert all_is_freed(library)
    np.testing.assert_array_equal(memory, before)


def test_memory_that_a_driver_does_not_have(library: Path) -> None:
    builder = ProgramBuilder(Record.read(RECORDS[0]).config)
    builder.scratch("large", 1 << 26)
    builder.finish()
    program = builder.build()
    with pytest.raises(DriverError, match=r"has no 67108928 bytes of memory$"):
        Driver(library).run(program, program.memory())
    assert all_is_freed(library)


def test_memory_that_is_none(library: Path) -> None:
    program = doubled(1)
    memory = program.memory({"x": np.ones(64, np.uint8)})
    driver = Driver(library)
    with pytest.raises(DriverError, match=r"^expected memory of \d+ bytes, got \[5\]$"):
        driver.run(program, memory[:5])
    memory.flags.writeable = False
    with pytest.raises(DriverError, match=r"^expected memory that can be written$"):
        driver.run(program, memory)


def test_a_driver_without_a_device(tmp_path: Path) -> None:
    functions = [f"void *{name}(void) {{ return 0; }}" for name in SIGNATURES]
    (tmp_path / "none.c").write_text("\n".join(functions))
    compile_c(tmp_path / "none.c", tmp_path / "none.so")
    program = doubled(1)
    with pytest.raises(DriverError, match=r"none\.so has no device$"):
        Driver(tmp_path / "none.so").run(
            program, program.memory({"x": np.ones(64, np.uint8)})
        )


def test_libraries_that_are_no_drivers(tmp_path: Path) -> None:
    (tmp_path / "empty.c").write_text("int VTADeviceAlloc;")
    compile_c(tmp_path / "empty.c", tmp_path / "empty.so")
    with pytest.raises(
        DriverError, match=r"empty\.so is no VTA driver: it has no VTADeviceFree$"
    ):
        open_device(f"driver:{tmp_path / 'empty.so'}")
    with pytest.raises(DriverError, match=r"^cannot load driver .*missing\.so: "):
        open_device(f"driver:{tmp_path / 'missing.so'}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("simm", "expected device sim or driver:LIB.so, got simm; did you mean sim?"),
        (
            "lib.so",
            "expected device sim or driver:LIB.so, got lib.so; did you mean driver:lib.so?",
        ),
        ("pynq", "expected device sim or driver:LIB.so, got pynq"),
        ("driver:", "expected device sim or driver:LIB.so, got driver:"),
    ],
)
def test_devices_that_do_not_exist(name: str, message: str) -> None:
    with pytest.raises(PartitaError) as caught:
        open_device(name)
    assert str(caught.value) == message
    assert isinstance(caught.value, OptionError)
