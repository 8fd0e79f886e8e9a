"""Check accesses against what an instruction knows: that elements were written, and that nobody else may be at them.

Every memory has one module that writes it, and modules execute in order. So it is enough to keep, per element, the
last writer and the last reader of each other module, as sequence numbers in their modules; an access is ordered after
those of another module whose sequence numbers do not exceed what its instruction knows of that module. Instructions
come in an order that the tokens allow; for a pair that no chain of tokens orders, the one that comes second finds it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from partita.runtime.vta.isa import Memory, Module
from partita.runtime.vta.kernels.emitter import Array, Value
from partita.runtime.vta.kernels.state import DRAM, Fault, Step


@dataclass(frozen=True)
class Sharing:
    """Who accesses a memory: the words of the state where that is kept."""

    number: int
    writer: str
    module: Module
    readers: Mapping[Module, str]
    """The readers other than the writing module."""


SHARING: Mapping[str, Sharing] = {
    "uop": Sharing(Memory.UOP, "uop_writer", Module.COMPUTE, {}),
    "inp": Sharing(
        Memory.INP, "inp_writer", Module.LOAD, {Module.COMPUTE: "inp_compute"}
    ),
    "wgt": Sharing(
        Memory.WGT, "wgt_writer", Module.LOAD, {Module.COMPUTE: "wgt_compute"}
    ),
    "acc": Sharing(
        Memory.ACC, "acc_writer", Module.COMPUTE, {Module.STORE: "acc_store"}
    ),
    "dram": Sharing(
        DRAM,
        "dram_writer",
        Module.STORE,
        {Module.LOAD: "dram_load", Module.COMPUTE: "dram_compute"},
    ),
}


class Hazards:
    """Checks of accesses to one memory by the instruction of a step."""

    def __init__(self, step: Step, memory: str, module: Module):
        """Read, in the block at hand, what accesses by `module` are compared with."""
        self._step = step
        self._module = module
        self._sharing = sharing = SHARING[memory]
        self._writer = self._table(sharing.writer)
        self._readers = {
            each: self._table(name) for each, name in sharing.readers.items()
        }
        self._known = {
            each: step.state(f"known_{each.name.lower()}")
            for each in (sharing.module, *sharing.readers)
        }
        self._sequence = step.state("sequence")
        own = module is sharing.module
        self._written = self._sequence if own else self._known[sharing.module]

    def _table(self, name: str) -> Array:
        pointer: Any = self._step.memory(name)
        return self._step.array(pointer, 32, signed=False)

    def read(self, element: Value) -> None:
        sharing = self._sharing
        writer = self._writer[element]
        with self._step.when(writer > self._written, likely=False):
            self._step.fault(
                Fault.READ, sharing.number, element, sharing.module, writer
            )
        if self._module in self._readers:
            self._readers[self._module][element] = self._sequence

    def write(self, element: Value) -> None:
        for module, readers in self._readers.items():
            reader = readers[element]
            with self._step.when(reader > self._known[module], likely=False):
                self._step.fault(
                    Fault.WRITE, self._sharing.number, element, module, reader
                )
        self._writer[element] = self._sequence
