"""Any hardware, any instructions for it, and what the original stack left us: for tests of what is static."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from partita.runtime.vta import ConfigError, HardwareConfig, isa
from partita.runtime.vta.fields import Layout

GOLDEN = Path(__file__).parent / "golden" / "vta"

RECORDS = tuple(sorted(GOLDEN.glob("*.npz")))
"""Launches with memory before and after."""

STREAMS = tuple(sorted((GOLDEN / "streams").glob("*.npz")))
"""Single layers and whole networks, without data."""

SIM = HardwareConfig.load("sim")


def any_config(rng: np.random.Generator) -> HardwareConfig:
    """Return hardware of any size that instructions have room for."""
    while True:
        try:
            return HardwareConfig(
                log_inp_width=int(rng.integers(3, 6)),
                log_wgt_width=int(rng.integers(3, 6)),
                log_acc_width=int(rng.integers(4, 6)),
                log_out_width=int(rng.integers(3, 6)),
                log_batch=int(rng.integers(0, 7)),
                log_block_in=int(rng.integers(0, 7)),
                log_block_out=int(rng.integers(0, 7)),
                log_uop_buff_size=int(rng.integers(3, 22)),
                log_inp_buff_size=int(rng.integers(3, 22)),
                log_wgt_buff_size=int(rng.integers(3, 22)),
                log_acc_buff_size=int(rng.integers(3, 22)),
                alu_mul=bool(rng.integers(2)),
                acc_8bit=bool(rng.integers(2)),
            )
        except ConfigError:
            continue


def any_stream(
    rng: np.random.Generator, config: HardwareConfig, count: int
) -> isa.Instructions:
    """Return instructions of every kind whose fields have any values that fit, the extremes among them."""
    stream = isa.instructions(count)
    for number in range(count):
        opcode = int(rng.integers(5))
        for name, value in _any_fields(rng, isa.layout_of(opcode, config)).items():
            stream[name][number] = value
        stream["opcode"][number] = opcode
        loads = [each.value for each in isa.Memory if each != isa.Memory.OUT]
        if not config.acc_8bit:
            loads.remove(isa.Memory.ACC_8BIT)
        if opcode == isa.Opcode.LOAD:
            stream["memory"][number] = rng.choice(loads)
        elif opcode == isa.Opcode.STORE:
            stream["memory"][number] = isa.Memory.OUT
        elif opcode == isa.Opcode.ALU:
            stream["alu_opcode"][number] = rng.integers(4 + config.alu_mul)
    return stream


def any_uops(
    rng: np.random.Generator, config: HardwareConfig, count: int
) -> NDArray[np.void]:
    """Return micro-ops of any fields that fit."""
    uops = np.zeros(count, isa.UOP)
    for number in range(count):
        for name, value in _any_fields(rng, config.fields.uop).items():
            uops[name][number] = value
    return uops


def _any_fields(rng: np.random.Generator, layout: Layout) -> dict[str, int]:
    values: dict[str, int] = {}
    for name, field in layout.items():
        between = int(rng.integers(field.least, field.most + 1))
        values[name] = (field.least, field.most, between)[rng.integers(3)]
    return values
