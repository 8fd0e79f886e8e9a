"""Execute programs as the hardware would, bit for bit, and find what would go wrong there.

A run has three parts. Instructions are put in an order that their tokens allow; then they are executed in that order,
by code compiled for the configuration. Before each one is executed, its accesses are checked: that they exist, that
what they read was written, and that no access of another module which no chain of tokens orders can come in between.
Whether they find anything does not depend on the order that was chosen.

`docs/vta-simulator.md` says what each instruction does, to the last bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError, OptionError, did_you_mean
from partita.runtime.compiled import WORD_FUNCTION, CompiledText
from partita.runtime.plan import ALIGNMENT
from partita.runtime.tensors import aligned_empty
from partita.runtime.vta import isa
from partita.runtime.vta.buffers import Buffer
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.faults import (
    Illegal,
    OutOfRange,
    Race,
    SimulationError,
    Uninitialized,
)
from partita.runtime.vta.isa import Instructions, Memory, Module
from partita.runtime.vta.kernels.hazards import SHARING
from partita.runtime.vta.kernels.layout import Layout
from partita.runtime.vta.kernels.queues import Policy, TokenQueue
from partita.runtime.vta.kernels.state import DRAM, NEVER, WORDS, Fault
from partita.runtime.vta.kernels.walk import EXECUTE, execute_ir
from partita.runtime.vta.naming import named
from partita.runtime.vta.ordering import Order, find_order
from partita.runtime.vta.program import Program

OrderName = Literal["program", "early_loads", "late_loads", "random"]
"""As the program has it, as far as tokens allow; earliest loads and latest stores; the reverse; any, by a seed."""

POLICIES: Mapping[str, Policy] = {
    "program": Policy.PROGRAM,
    "early_loads": Policy.EARLY_LOADS,
    "late_loads": Policy.LATE_LOADS,
    "random": Policy.RANDOM,
}

ANY_TIME = (1 << 31) - 1
"""What an instruction knows of a module if order is not to matter."""

BYTES = np.dtype(np.uint8)


@dataclass(frozen=True)
class SimulationReport:
    """What a run did."""

    instructions: Mapping[Module, int]
    """Instructions by module."""

    micro_ops: Mapping[str, int]
    """Executions of micro-ops: `gemm`, `reset` and `alu`."""

    moved: Mapping[Memory, int]
    """Bytes between DRAM and each memory; those of `OUT` are stored, all others loaded."""

    tokens: Mapping[TokenQueue, int]
    """Tokens left over, by queue: the next launch would find them."""


@dataclass(frozen=True)
class Stream:
    """Instructions and where in memory their accesses belong."""

    config: HardwareConfig
    instructions: Instructions
    launches: Sequence[range]
    buffer_of: NDArray[np.int32]
    """The buffer of each instruction."""

    buffers: NDArray[np.int64]
    """Of each buffer: where in memory its byte 0 is, and between which bytes of memory it lies."""

    names: tuple[str, ...]
    """What to call the buffers."""

    empty: NDArray[np.bool_]
    """Which buffers hold nothing before a run: those that are neither input nor come with the program."""

    @staticmethod
    def of_program(program: Program) -> "Stream":
        """Return a program's stream, for its arena."""
        owners = np.zeros(len(program.instructions), np.int32)
        owners[program.relocations[:, 0]] = program.relocations[:, 1]
        buffers = [(each.offset, each.offset, each.end) for each in program.buffers]
        return Stream(
            program.config,
            np.ascontiguousarray(program.instructions),
            program.launches,
            owners,
            np.array(buffers or [(0, 0, 0)], np.int64),
            tuple(each.name for each in program.buffers) or ("DRAM",),
            np.array([_is_empty(each) for each in program.buffers] or [False]),
        )

    @staticmethod
    def of_instructions(
        instructions: Instructions, config: HardwareConfig, base: int, size: int
    ) -> "Stream":
        """Return a stream of one launch whose addresses are absolute, for memory from byte `base` on."""
        isa.check_array(instructions)
        if base < 0 or base % ALIGNMENT:
            raise InputError(
                f"expected memory at a multiple of {ALIGNMENT}, got base {base}"
            )
        return Stream(
            config,
            np.ascontiguousarray(instructions),
            (range(len(instructions)),),
            np.zeros(len(instructions), np.int32),
            np.array([(-base, 0, size)], np.int64),
            ("DRAM",),
            np.array([False]),
        )


def _is_empty(buffer: Buffer) -> bool:
    return buffer.contents is None and buffer.role in ("scratch", "output")


@cache
def _compiled(config: HardwareConfig) -> CompiledText:
    return CompiledText(execute_ir(config), {EXECUTE: WORD_FUNCTION})


def simulate(
    program: Program | tuple[Instructions, HardwareConfig],
    memory: NDArray[np.uint8],
    *,
    base: int = 0,
    order: OrderName = "program",
    seed: int = 0,
    check_races: bool = True,
    check_written: bool = True,
    check_scratch: bool = False,
) -> SimulationReport:
    """Run a program on `memory`, which is changed in place; all token queues start empty.

    A `Program` takes its arena as memory. Bare instructions are one launch with absolute addresses, and memory begins
    at address `base`. `seed` chooses among random orders. Without `check_races`, results of programs with races depend
    on `order`; without `check_written`, elements of on-chip memories that nothing wrote are 0. `check_scratch` extends
    that check to DRAM: scratch and output buffers hold nothing until a STORE writes them.

    Raises `Deadlock` and `Finish` before anything is executed; then, at the first instruction that fails, `Race`,
    `OutOfRange`, `Uninitialized` or `Illegal`, and memory is left as the instructions before made it. Raises
    `IsaError`, `InputError` and `OptionError` for arguments that are no instructions, memory or order.
    """
    if order not in POLICIES:
        raise OptionError(
            f"expected an order of {', '.join(get_args(OrderName))}, got {order}{did_you_mean(order, POLICIES)}"
        )
    if memory.dtype != BYTES or memory.ndim != 1 or not memory.flags.c_contiguous:
        raise InputError(
            f"expected memory as contiguous bytes, got {memory.dtype}{list(memory.shape)}"
        )
    if not memory.flags.writeable:
        raise InputError("expected memory that can be written")
    if isinstance(program, Program):
        stream = Stream.of_program(program)
        if len(memory) < program.arena_bytes:
            raise InputError(
                f"expected memory of {program.arena_bytes} bytes, got {len(memory)}"
            )
    else:
        stream = Stream.of_instructions(*program, base, len(memory))
    found = find_order(
        stream.instructions, stream.launches, stream.config, POLICIES[order], seed
    )
    checks = Checks(check_races, check_written, check_scratch)
    return _Run(stream, found, memory, checks).execute()


@dataclass(frozen=True)
class Checks:
    """What a run looks for besides accesses that do not exist; see `simulate`."""

    races: bool
    written: bool
    scratch: bool

    @property
    def any(self) -> bool:
        return self.races or self.written or self.scratch


class _Run:
    """The memories of one run, and the words that its compiled function works with."""

    def __init__(
        self,
        stream: Stream,
        order: Order,
        memory: NDArray[np.uint8],
        checks: Checks,
    ):
        self._stream = stream
        self._order = order
        config, layout = stream.config, Layout(stream.config)
        self._layout = layout
        self._memory_bytes = len(memory)
        arrays: dict[str, NDArray[Any]] = {
            "instructions": stream.instructions,
            "order": order.sequence,
            "clocks": order.clocks,
            "buffer_of": stream.buffer_of,
            "buffers": stream.buffers,
            "dram": memory,
        }
        depths = {
            "uop": (config.uop_depth, config.uop_bytes),
            "inp": (config.inp_depth, layout.inp_size),
            "wgt": (config.wgt_depth, layout.wgt_size),
            "acc": (config.acc_depth, layout.acc_size),
        }
        for name, (depth, size) in depths.items():
            arrays[name] = aligned_empty((depth * size,), BYTES)
            arrays[name].fill(0)
        if checks.any:
            arrays |= self._tables(depths, checks)
        self._kept = arrays
        self._words = np.zeros(len(WORDS), np.int64)
        for name, array in arrays.items():
            self._words[WORDS[name]] = array.ctypes.data
        self._words[WORDS["checked"]] = checks.any
        self._words[WORDS["ordered"]] = checks.races
        for module in Module:
            self._words[WORDS[f"known_{module.name.lower()}"]] = ANY_TIME

    def _tables(
        self, depths: Mapping[str, tuple[int, int]], checks: Checks
    ) -> dict[str, NDArray[np.uint32]]:
        """Return who last wrote and read each element, and each granule of DRAM: nobody."""
        granule = self._layout.granule
        counts = {name: depth for name, (depth, _) in depths.items()}
        counts["dram"] = -(-self._memory_bytes // granule)
        tables: dict[str, NDArray[np.uint32]] = {}
        for name, sharing in SHARING.items():
            for table in (sharing.writer, *sharing.readers.values()):
                tables[table] = np.zeros(counts[name], np.uint32)
            if checks.written and name in depths:
                tables[sharing.writer].fill(NEVER)
        if checks.scratch:
            stream, written = self._stream, tables[SHARING["dram"].writer]
            # Buffers may share bytes: what holds something comes last.
            for each in np.argsort(~stream.empty, kind="stable").tolist():
                low, high = (stream.buffers[each, 1:] // granule).tolist()
                written[low:high] = NEVER if stream.empty[each] else 0
        return tables

    def __getitem__(self, name: str) -> int:
        return int(self._words[WORDS[name]])

    def execute(self) -> SimulationReport:
        function = _compiled(self._stream.config).functions[EXECUTE]
        count = len(self._stream.instructions)
        fault = Fault(function(self._words.ctypes.data, 0, count))
        if fault is not Fault.NONE:
            raise self._error(fault)
        sizes = isa.element_bytes(self._stream.config)
        moved = {
            each: self[f"moved_{each}" if each else "moved"] * int(sizes[each])
            for each in Memory
        }
        micro_ops = {
            "gemm": self["gemms"],
            "reset": self["resets"],
            "alu": self["alus"],
        }
        return SimulationReport(self._order.done, micro_ops, moved, self._order.tokens)

    def _error(self, fault: Fault) -> SimulationError:
        number = self["fault_instruction"]
        start = named(self._stream.instructions, number)
        memory, element = self["fault_memory"], self["fault_element"]
        where = "DRAM" if memory == DRAM else Memory(memory).name
        match fault:
            case Fault.SRAM:
                depth = getattr(self._stream.config, _depth_of(memory))
                return OutOfRange(
                    f"{start} accesses element {element} of {where}, which has {depth}",
                    number,
                )
            case Fault.DRAM:
                return self._outside(number, start)
            case Fault.READ | Fault.WRITE:
                return self._race(fault, number, start, where, element)
            case _:
                return Illegal(
                    f"{start} has fields that mean nothing to this hardware",
                    number,
                )

    def _outside(self, number: int, start: str) -> OutOfRange:
        """Say which bytes of its buffer an instruction would access."""
        stream = self._stream
        row = stream.instructions[number : number + 1]
        owner = int(stream.buffer_of[number])
        origin, low, high = stream.buffers[owner].tolist()
        size = int(isa.element_bytes(stream.config)[int(row["memory"][0])])
        first = int(row["dram_base"][0]) * size
        last = first + int(isa.dram_elements(row)[0]) * size
        return OutOfRange(
            f"{start} accesses bytes {first} to {last - 1} of {stream.names[owner]}, "
            f"which are not within {low - origin} to {high - origin - 1}",
            number,
        )

    def _race(
        self, fault: Fault, number: int, start: str, where: str, element: int
    ) -> SimulationError:
        """Name the other instruction, which is known by its number in its module."""
        sequence = self["fault_sequence"]
        what = f"element {element} of {where}"
        if where == "DRAM":
            size = self._layout.granule
            stream = self._stream
            owner = int(stream.buffer_of[number])
            origin = int(stream.buffers[owner, 0])
            what = f"byte {element * size - origin} of {stream.names[owner]}"
        if sequence == NEVER:
            return Uninitialized(
                f"{start} reads {what}, which nothing before it has written", number
            )
        stream = self._stream.instructions
        members = np.flatnonzero(isa.module_of(stream) == self["fault_module"])
        other = int(members[sequence - 1])
        verbs = ("reads", "writes") if fault is Fault.READ else ("writes", "reads")
        return Race(
            f"race: {start} {verbs[0]} {what}, {named(stream, other)} {verbs[1]} it, "
            "and no chain of tokens orders them",
            *(number, other),
        )


def _depth_of(memory: int) -> str:
    name = Memory(memory).name.lower()
    return f"{'acc' if name.startswith('acc') else name}_depth"
