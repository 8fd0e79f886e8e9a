"""The VTA machine: its configuration, its instructions, and programs for it.

What is here depends on no compiler: a program is made by `ProgramBuilder`, read from a file, or loaded from a record. A
name loads its module when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partita.runtime.vta.buffers import Buffer, Layer, ProgramError
    from partita.runtime.vta.builder import Handle, ProgramBuilder, Tokens
    from partita.runtime.vta.config import ConfigError, ConfigWarning, HardwareConfig
    from partita.runtime.vta.cycles import CycleReport, time_program, time_stream
    from partita.runtime.vta.devices import Device, open_device
    from partita.runtime.vta.driver import DriverError
    from partita.runtime.vta.faults import (
        Deadlock,
        Finish,
        Illegal,
        OutOfRange,
        Race,
        SimulationError,
        Uninitialized,
    )
    from partita.runtime.vta.isa import AluOpcode, IsaError, Memory, Module, Opcode
    from partita.runtime.vta.program import Program
    from partita.runtime.vta.records import Record, RecordError
    from partita.runtime.vta.simulator import SimulationReport, simulate
    from partita.runtime.vta.timing import TimingError

MODULES = {
    "AluOpcode": "isa",
    "Buffer": "buffers",
    "ConfigError": "config",
    "ConfigWarning": "config",
    "CycleReport": "cycles",
    "Deadlock": "faults",
    "Device": "devices",
    "DriverError": "driver",
    "Finish": "faults",
    "Handle": "builder",
    "HardwareConfig": "config",
    "Illegal": "faults",
    "IsaError": "isa",
    "Layer": "buffers",
    "Memory": "isa",
    "Module": "isa",
    "Opcode": "isa",
    "OutOfRange": "faults",
    "Program": "program",
    "ProgramBuilder": "builder",
    "ProgramError": "buffers",
    "Race": "faults",
    "Record": "records",
    "RecordError": "records",
    "SimulationError": "faults",
    "SimulationReport": "simulator",
    "TimingError": "timing",
    "Tokens": "builder",
    "Uninitialized": "faults",
    "open_device": "devices",
    "simulate": "simulator",
    "time_program": "cycles",
    "time_stream": "cycles",
}

__all__ = [
    "AluOpcode",
    "Buffer",
    "ConfigError",
    "ConfigWarning",
    "CycleReport",
    "Deadlock",
    "Device",
    "DriverError",
    "Finish",
    "Handle",
    "HardwareConfig",
    "Illegal",
    "IsaError",
    "Layer",
    "Memory",
    "Module",
    "Opcode",
    "OutOfRange",
    "Program",
    "ProgramBuilder",
    "ProgramError",
    "Race",
    "Record",
    "RecordError",
    "SimulationError",
    "SimulationReport",
    "TimingError",
    "Tokens",
    "Uninitialized",
    "open_device",
    "simulate",
    "time_program",
    "time_stream",
]


def __getattr__(name: str) -> object:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
