"""What the simulator's functions share: one array of words, by name, and how a function of an instruction begins."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any

from partita.runtime.vta.isa import COLUMNS
from partita.runtime.vta.kernels.emitter import (
    POINTER,
    WORD,
    Array,
    Function,
    Value,
    ir,
)

WORDS: Mapping[str, int] = MappingProxyType(
    {
        name: place
        for place, name in enumerate(
            (
                # Pointers: instructions int64[N, 29], what order they are executed in int32[N], and how many
                # instructions of each module each of them knows to be complete int32[N, 3].
                *("instructions", "order", "clocks"),
                # The buffer of each instruction int32[N]; of each buffer where its byte 0 is in memory, and between
                # which bytes of memory it lies int64[B, 3].
                *("buffer_of", "buffers"),
                # Memory in bytes, and what is on the chip.
                *("dram", "uop", "inp", "wgt", "acc"),
                # Sequence numbers in its module of who last wrote or read, int32 per element; per granule of DRAM.
                *("uop_writer", "inp_writer", "inp_compute", "wgt_writer"),
                *("wgt_compute", "acc_writer", "acc_store"),
                *("dram_writer", "dram_load", "dram_compute"),
                # Whether accesses are looked at, and whether the clocks count.
                *("checked", "ordered"),
                # Of the instruction at hand: its sequence number, what it knows of each module, and its buffer.
                *("sequence", "known_load", "known_compute", "known_store"),
                *("origin", "low", "high"),
                # Counted: instructions done by module, micro-ops by kind, elements by memory.
                *("done_load", "done_compute", "done_store"),
                *("gemms", "resets", "alus", "moved"),
                *(f"moved_{number}" for number in range(1, 6)),
                # What went wrong, and with which instruction.
                *("fault_instruction", "fault_memory", "fault_element"),
                *("fault_module", "fault_sequence"),
            )
        )
    }
)
"""The place of each word of the state."""

NEVER = 0xFFFFFFFF
"""The sequence number of the writer of an element that nobody has written."""

DRAM = 6
"""What DRAM is called where a memory has a number."""


class Fault(IntEnum):
    """Why an instruction cannot be executed."""

    NONE = 0
    FIELD = 1
    """A field has a value that no instruction can hold, or that means nothing."""

    SRAM = 2
    """It accesses what the on-chip memory does not have."""

    DRAM = 3
    """It accesses bytes outside its buffer."""

    READ = 4
    """It reads what a module may not have written yet, or what was never written."""

    WRITE = 5
    """It writes what a module may not have read yet."""


class Step(Function):
    """A function under construction that executes one instruction; it returns a `Fault`."""

    def __init__(self, module: Any, name: str, *others: str):
        super().__init__(module, name, ("state_at", "row_at", *others))
        self._row = self.array(self.pointer("row_at"), 64)

    def __call__(self, column: str) -> Value:
        """Return a field of the instruction."""
        return self._row[COLUMNS[column]]

    def state(self, name: str) -> Value:
        return state_words(self)[WORDS[name]]

    def count(self, name: str, more: Value) -> None:
        """Add to a word of the state."""
        words = state_words(self)
        words[WORDS[name]] = words[WORDS[name]] + more

    def memory(self, name: str) -> Any:
        """Return a pointer of the state."""
        return memory(self, name)

    def fault(
        self,
        kind: Fault,
        number: int,
        element: Value | int,
        module: int = 0,
        sequence: Value | int = 0,
    ) -> None:
        """Return from the function with a fault at an element of a memory."""
        words = state_words(self)
        words[WORDS["fault_memory"]] = number
        words[WORDS["fault_element"]] = element
        words[WORDS["fault_module"]] = module
        words[WORDS["fault_sequence"]] = sequence
        self.leave(kind)


def state_words(function: Function) -> Array:
    """Return the state of a function with parameter `state_at`."""
    return function.array(function.pointer("state_at"), 64)


def memory(function: Function, name: str) -> Any:
    """Return a pointer that the state of a function with parameter `state_at` holds."""
    at = function.builder.gep(
        function.pointer("state_at"),
        [ir.Constant(WORD, WORDS[name])],
        source_etype=WORD,
    )
    return function.builder.load(at, typ=POINTER)
