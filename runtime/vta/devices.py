"""What programs run on, by name: the simulator, or any library with the original driver's C interface."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from partita.errors import OptionError, did_you_mean
from partita.runtime.vta.buffers import Bytes
from partita.runtime.vta.driver import Driver
from partita.runtime.vta.program import Program
from partita.runtime.vta.simulator import OrderName, simulate

SIMULATOR, DRIVER = "sim", "driver:"


class Device(Protocol):
    """Something that executes programs."""

    def run(self, program: Program, memory: Bytes) -> None:
        """Run all launches of a program on its arena, `uint8[program.arena_bytes]`, which is changed in place.

        Raises a `PartitaError` where it cannot.
        """
        ...


@dataclass(frozen=True)
class Simulator:
    """The simulator as a device. It raises `SimulationError` for a program that hardware might not execute as meant."""

    order: OrderName = "program"
    seed: int = 0
    """Which of the random orders."""

    check_races: bool = True
    check_written: bool = True

    def run(self, program: Program, memory: Bytes) -> None:
        simulate(
            program,
            memory,
            order=self.order,
            seed=self.seed,
            check_races=self.check_races,
            check_written=self.check_written,
        )


def open_device(name: str) -> Device:
    """Return the device `sim`, or `driver:LIB.so`.

    Raises `OptionError` for another name, and `DriverError` for a library that cannot be used.
    """
    if name == SIMULATOR:
        return Simulator()
    if name.startswith(DRIVER) and name != DRIVER:
        return Driver(Path(name.removeprefix(DRIVER)))
    hint = "" if name == DRIVER else did_you_mean(name, (SIMULATOR, f"{DRIVER}{name}"))
    raise OptionError(f"expected device sim or driver:LIB.so, got {name}{hint}")
