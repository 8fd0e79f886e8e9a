"""The configuration of a VTA: what hardware there is, from which everything else about the machine follows.

It is read from the JSON of the original stack (`vta_config.json`), whose keys are the names of our fields in capitals:
`LOG_` sizes are binary logarithms, of bits for widths and the bus, of bytes for buffers. `LOG_BLOCK` stands for both
`LOG_BLOCK_IN` and `LOG_BLOCK_OUT`. `ALU_MUL` and `ACC_8BIT` say whether hardware has what only some designs have, and
keys that begin with `MODEL_` set the parameters of the cycle model. A configuration is a value: a process may use
several at once.
"""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from partita.errors import PartitaError, did_you_mean
from partita.runtime.vta.fields import SRAM_BITS, FieldOverflow, Fields, fields_of

LARGEST_BUFFER = 30
"""The largest binary logarithm of a buffer's bytes that is taken seriously."""

UOP_BYTES = 4


class ConfigError(PartitaError):
    """A configuration cannot be read, or describes no VTA."""


class ConfigWarning(UserWarning):
    """A configuration has keys that mean nothing to us."""


@dataclass(frozen=True)
class HardwareConfig:
    """A VTA: sizes as binary logarithms, optional features, and the parameters of the cycle model.

    Raises `ConfigError` for values that describe no VTA, or one whose instructions have no room for their fields.
    """

    log_inp_width: int
    """Bits of an input, as all widths 8 to 32."""

    log_wgt_width: int
    log_acc_width: int
    """Bits of an accumulator: 16 or 32."""

    log_batch: int
    """Rows of an input, accumulator or output element."""

    log_block_in: int
    """Columns of an input element and of a weight element."""

    log_block_out: int
    """Columns of an accumulator or output element, and rows of a weight element."""

    log_uop_buff_size: int
    log_inp_buff_size: int
    log_wgt_buff_size: int
    log_acc_buff_size: int
    log_out_width: int = 3
    """Bits of an output; where JSON does not say, those of an input."""

    log_bus_width: int = 6
    """Bits that the memory bus moves in a cycle."""

    target: str = "sim"
    hw_ver: str = "0.0.2"
    hw_freq: int = 100
    """Clock frequency in MHz."""

    hw_clk_target: int = 7
    """The period in ns that synthesis aims at."""

    alu_mul: bool = True
    """Whether the ALU multiplies."""

    acc_8bit: bool = True
    """Whether accumulators load from 8-bit integers."""

    latency: int = 32
    """Cycles from a DRAM request to its first bytes; this and what follows is `MODEL_…` in JSON."""

    bus_bytes: int = 8
    """Bytes that DRAM moves in a cycle; where JSON does not say, those of the bus."""

    gemm_ii: int = 1
    """Cycles from one GEMM micro-op to the next."""

    alu_ii: int = 2
    """Cycles from one ALU micro-op to the next."""

    setup_cycles: int = 4
    """Cycles before the first micro-op of an instruction."""

    row_cycles: int = 2
    """Cycles that each row of a LOAD or STORE takes besides its bytes."""

    fetch_cycles: int = 2
    """Cycles from one fetched instruction to the next."""

    queue_depth: int = 512
    """Instructions that wait in front of each module."""

    def __post_init__(self) -> None:
        _check(self)

    @staticmethod
    def load(
        source: "str | PathLike[str] | Mapping[str, object]",
    ) -> "HardwareConfig":
        """Return a preset by name, or read a JSON file or its content as a mapping.

        Warns of keys that it does not know (`ConfigWarning`) and raises `ConfigError`.
        """
        if isinstance(source, Mapping):
            return _of_json(source)
        if isinstance(source, str) and source in PRESETS:
            return PRESETS[source]
        path = Path(source)
        try:
            content: object = json.loads(path.read_bytes())
        except FileNotFoundError:
            hint = did_you_mean(str(source), PRESETS)
            raise ConfigError(
                f"expected a file or one of {', '.join(PRESETS)} as config, got {source}{hint}"
            ) from None
        except OSError as error:
            reason = error.strerror or error
            raise ConfigError(f"cannot read config {path}: {reason}") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"config {path} is no valid JSON: {error}") from None
        if not _is_object(content):
            raise ConfigError(f"config {path}: expected a JSON object")
        try:
            return _of_json(content)
        except ConfigError as error:
            raise ConfigError(f"config {path}: {error}") from None

    def to_json(self) -> dict[str, int | str | bool]:
        """Return the JSON of the configuration, with all keys that matter; `load` gives an equal one back."""
        content = {KEYS[name]: getattr(self, name) for name in ("target", "hw_ver")}
        content |= {KEYS[name]: getattr(self, name) for name in KEYS}
        if self.log_block_in == self.log_block_out:
            content["LOG_BLOCK"] = content.pop("LOG_BLOCK_IN")
            del content["LOG_BLOCK_OUT"]
        return content

    @property
    def batch(self) -> int:
        return 1 << self.log_batch

    @property
    def block_in(self) -> int:
        return 1 << self.log_block_in

    @property
    def block_out(self) -> int:
        return 1 << self.log_block_out

    @property
    def uop_bytes(self) -> int:
        """The size of a micro-op."""
        return UOP_BYTES

    @property
    def inp_bytes(self) -> int:
        """The size of an input element, `batch` by `block_in`."""
        return self.batch * self.block_in * self.inp_dtype.itemsize

    @property
    def wgt_bytes(self) -> int:
        """The size of a weight element, `block_out` by `block_in`."""
        return self.block_out * self.block_in * self.wgt_dtype.itemsize

    @property
    def acc_bytes(self) -> int:
        """The size of an accumulator element, `batch` by `block_out`."""
        return self.batch * self.block_out * self.acc_dtype.itemsize

    @property
    def out_bytes(self) -> int:
        """The size of an output element in DRAM, `batch` by `block_out`."""
        return self.batch * self.block_out * self.out_dtype.itemsize

    @property
    def acc8_bytes(self) -> int:
        """The size of an accumulator element in DRAM where it is kept as 8-bit integers."""
        return self.batch * self.block_out

    @property
    def uop_depth(self) -> int:
        """How many micro-ops the buffer for them holds."""
        return (1 << self.log_uop_buff_size) // UOP_BYTES

    @property
    def inp_depth(self) -> int:
        """How many elements the input buffer holds."""
        return (1 << self.log_inp_buff_size) // self.inp_bytes

    @property
    def wgt_depth(self) -> int:
        """How many elements the weight buffer holds."""
        return (1 << self.log_wgt_buff_size) // self.wgt_bytes

    @property
    def acc_depth(self) -> int:
        """How many elements the accumulators hold."""
        return (1 << self.log_acc_buff_size) // self.acc_bytes

    @property
    def out_depth(self) -> int:
        """How many elements STORE can name: outputs are the low bits of accumulators."""
        return self.acc_depth

    @property
    def log_out_buff_size(self) -> int:
        """The size of the output buffer in bytes, which follows from the accumulators'."""
        return self.log_acc_buff_size + self.log_out_width - self.log_acc_width

    @property
    def inp_dtype(self) -> "np.dtype[Any]":
        return _signed(self.log_inp_width)

    @property
    def wgt_dtype(self) -> "np.dtype[Any]":
        return _signed(self.log_wgt_width)

    @property
    def acc_dtype(self) -> "np.dtype[Any]":
        return _signed(self.log_acc_width)

    @property
    def out_dtype(self) -> "np.dtype[Any]":
        return _signed(self.log_out_width)

    @cached_property
    def fields(self) -> Fields:
        """Where the bits of instructions and micro-ops are."""
        depths = (self.uop_depth, self.inp_depth, self.wgt_depth, self.acc_depth)
        return fields_of(*(depth.bit_length() - 1 for depth in depths))


MODEL = (
    *("latency", "bus_bytes", "gemm_ii", "alu_ii", "setup_cycles"),
    *("row_cycles", "fetch_cycles", "queue_depth"),
)
"""The fields whose JSON keys begin with `MODEL_`."""

KEYS = {
    each.name: f"MODEL_{each.name.upper()}" if each.name in MODEL else each.name.upper()
    for each in fields(HardwareConfig)
}
"""The JSON key of each field."""

REQUIRED = tuple(name for name in list(KEYS)[: list(KEYS).index("log_out_width")])
"""The fields that JSON has to give."""

RANGES = {
    "log_inp_width": (3, 5),
    "log_wgt_width": (3, 5),
    "log_acc_width": (4, 5),
    "log_out_width": (3, 5),
    "log_batch": (0, 8),
    "log_block_in": (0, 8),
    "log_block_out": (0, 8),
    "log_uop_buff_size": (0, LARGEST_BUFFER),
    "log_inp_buff_size": (0, LARGEST_BUFFER),
    "log_wgt_buff_size": (0, LARGEST_BUFFER),
    "log_acc_buff_size": (0, LARGEST_BUFFER),
    "log_bus_width": (3, 12),
    "hw_freq": (1, 10_000),
    "hw_clk_target": (1, 1_000),
    "latency": (0, 1 << 20),
    "bus_bytes": (1, 1 << 20),
    "gemm_ii": (1, 1 << 10),
    "alu_ii": (1, 1 << 10),
    "setup_cycles": (0, 1 << 20),
    "row_cycles": (0, 1 << 20),
    "fetch_cycles": (1, 1 << 20),
    "queue_depth": (1, 1 << 20),
}
"""The least and the largest value of each number."""

BUFFERS = ("uop", "inp", "wgt", "acc")
BUFFER_SIZES = tuple(f"log_{name}_buff_size" for name in BUFFERS)


def _check(config: HardwareConfig) -> None:
    """Raise `ConfigError` unless a VTA can be like this."""
    for name, (least, most) in RANGES.items():
        value: object = getattr(config, name)
        if type(value) is not int or not least <= value <= most:
            raise ConfigError(
                f"expected {KEYS[name]} to be an integer from {least} to {most}, got {value!r}"
            )
    for name, kind in (
        *(("target", str), ("hw_ver", str)),
        *(("alu_mul", bool), ("acc_8bit", bool)),
    ):
        if type(value := getattr(config, name)) is not kind:
            what = "a string" if kind is str else "true or false"
            raise ConfigError(f"expected {KEYS[name]} to be {what}, got {value!r}")
    for name in ("log_inp_width", "log_wgt_width", "log_out_width"):
        if getattr(config, name) > config.log_acc_width:
            raise ConfigError(
                f"expected {KEYS[name]} to be at most LOG_ACC_WIDTH {config.log_acc_width}, got {getattr(config, name)}"
            )
    for name, size in zip(BUFFERS, BUFFER_SIZES, strict=True):
        depth: int = getattr(config, f"{name}_depth")
        element: int = getattr(config, f"{name}_bytes")
        if not 2 <= depth <= 1 << SRAM_BITS:
            raise ConfigError(
                f"{KEYS[size]} {getattr(config, size)} makes {depth} elements of {element} bytes; "
                f"expected 2 to {1 << SRAM_BITS}, as many as the {SRAM_BITS} bits of sram_base can name"
            )
    try:
        _ = config.fields
    except FieldOverflow as error:
        depths = ", ".join(
            f"{getattr(config, f'{name}_depth')} ({KEYS[size]} {getattr(config, size)})"
            for name, size in zip(BUFFERS, BUFFER_SIZES, strict=True)
        )
        raise ConfigError(
            f"{error}, since the buffers have these numbers of elements: {depths}"
        ) from None


def _signed(log_width: int) -> "np.dtype[Any]":
    return np.dtype(f"int{1 << log_width}")


BOARDS: Mapping[str, Mapping[str, object]] = {
    "pynq": {"alu_mul": False, "acc_8bit": False},
    "ultra96": {
        **{"alu_mul": False, "acc_8bit": False},
        **{"log_bus_width": 7, "hw_freq": 333, "hw_clk_target": 2},
    },
    "zcu104": {
        **{"alu_mul": False, "acc_8bit": False},
        **{"log_bus_width": 7, "hw_freq": 333, "hw_clk_target": 2},
    },
    "de10nano": {"alu_mul": False, "acc_8bit": False, "hw_clk_target": 2},
    "tsim": {"alu_mul": False, "acc_8bit": False},
}
"""What differs between targets where JSON does not say it: bus, clock, and what the original's designs lack."""


def _of_json(content: Mapping[str, object]) -> HardwareConfig:
    """Make a configuration of the JSON that the original reads."""
    given = dict(content)
    values: dict[str, Any] = {}
    if "LOG_BLOCK" in given:
        block = given.pop("LOG_BLOCK")
        for key in ("LOG_BLOCK_IN", "LOG_BLOCK_OUT"):
            if given.setdefault(key, block) != block:
                raise ConfigError(
                    f"LOG_BLOCK {block!r} contradicts {key} {given[key]!r}; leave out either"
                )
    values |= BOARDS.get(str(given.get("TARGET", "sim")), {})
    for name, key in KEYS.items():
        if key in given:
            values[name] = given.pop(key)
        elif name in REQUIRED:
            key = "LOG_BLOCK" if name.startswith("log_block") else key
            raise ConfigError(f"expected a config with {key}")
    values.setdefault("log_out_width", values["log_inp_width"])
    if type(bus := values.get("log_bus_width")) is int and 3 <= bus <= 12:
        values.setdefault("bus_bytes", 1 << bus - 3)
    out_size = given.pop("LOG_OUT_BUFF_SIZE", None)
    config = HardwareConfig(**values)
    if out_size is not None and out_size != config.log_out_buff_size:
        raise ConfigError(
            f"expected LOG_OUT_BUFF_SIZE {config.log_out_buff_size}, as LOG_ACC_BUFF_SIZE and widths have it, "
            f"got {out_size!r}"
        )
    for key in given:
        hint = did_you_mean(key, (*KEYS.values(), "LOG_BLOCK", "LOG_OUT_BUFF_SIZE"))
        warnings.warn(
            f"config key {key} means nothing{hint}", ConfigWarning, stacklevel=4
        )
    return config


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


SAMPLE: Mapping[str, object] = {
    **{"LOG_INP_WIDTH": 3, "LOG_WGT_WIDTH": 3, "LOG_ACC_WIDTH": 5},
    **{"LOG_BATCH": 0, "LOG_BLOCK": 4},
    **{"LOG_UOP_BUFF_SIZE": 15, "LOG_INP_BUFF_SIZE": 15},
    **{"LOG_WGT_BUFF_SIZE": 18, "LOG_ACC_BUFF_SIZE": 17},
}
"""What all sample configurations of the original have in common."""

PRESETS: Mapping[str, HardwareConfig] = {
    name: _of_json({"TARGET": name, "HW_VER": version, **SAMPLE})
    for name, version in (
        ("pynq", "0.0.2"),
        ("ultra96", "0.0.2"),
        ("zcu104", "0.0.1"),
        ("de10nano", "0.0.2"),
        ("sim", "0.0.2"),
    )
}
"""The sample configurations that the original publishes, by name."""
