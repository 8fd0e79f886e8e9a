"""How many cycles a program takes, and where they go.

`timing` says when each instruction runs. Here its times are added up: of each module, how long it was busy and how long
it waited for what; of the memory channel, how long it moved bytes; and what no order of the same work could go below.
The same account is made of the whole program, of each launch, and of each layer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from partita.runtime.vta.buffers import Bytes, Layer
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.isa import Instructions, Module, Opcode, check_fields
from partita.runtime.vta.program import Program
from partita.runtime.vta.stalls import CAUSES, Cause, previous_ends, wait_times
from partita.runtime.vta.timing import Timing, Words, time_instructions
from partita.runtime.vta.work import Work, count_work


@dataclass(frozen=True)
class ModuleTime:
    """What a module did, in cycles. All of it together is as long as the launch."""

    instructions: int
    busy: float
    """From the end of waiting to the end of each instruction."""

    stalls: Mapping[Cause, float]


@dataclass(frozen=True)
class Account:
    """Where the cycles of a program, a launch or a layer go."""

    name: str
    instructions: int
    cycles: float
    """Of a launch, rounded to an integer, half to even; of a program, the sum of its launches'. Of a layer, the time
    in which compute executes or awaits its instructions: what all layers take together is the program's time."""

    modules: Mapping[Module, ModuleTime]
    dram_busy: float
    """Cycles in which the memory channel moves bytes."""

    read: int
    """Bytes that LOAD moves."""

    written: int
    """Bytes that STORE moves."""

    gemm: int
    """Multiplying micro-ops that are executed, on padding too."""

    padding: int | None
    """Those of them that multiply by padding; `None` where the micro-ops are not known."""

    reset: int
    """Micro-ops that set accumulators to zero."""

    alu: int
    """Micro-ops that the ALU executes."""

    gemm_bound: int
    """Cycles of the multiplications that are not by padding, so far as that is known."""

    compute_bound: int
    """Cycles of all micro-ops but those that multiply by padding."""

    @property
    def dram_bound(self) -> float:
        """Cycles that the channel needs for what this program moves."""
        return self.dram_busy

    @property
    def dram_bytes(self) -> int:
        return self.read + self.written

    @property
    def utilization(self) -> Mapping[str, float]:
        """The share of all cycles in which GEMM does work, compute is busy, and the memory channel is."""
        parts = {
            "gemm": self.gemm_bound,
            "compute": self.modules[Module.COMPUTE].busy,
            "dram": self.dram_busy,
        }
        return {
            name: part / self.cycles if self.cycles else 0.0
            for name, part in parts.items()
        }

    def to_json(self) -> dict[str, object]:
        """Return the account as JSON values; times are in cycles, micro-ops in executions."""
        modules = {each.name.lower(): time for each, time in self.modules.items()}
        return {
            "name": self.name,
            "cycles": _number(self.cycles),
            "instructions": self.instructions,
            "instructions_by_module": {
                name: each.instructions for name, each in modules.items()
            },
            "busy": {
                **{name: _number(each.busy) for name, each in modules.items()},
                "dram": _number(self.dram_busy),
            },
            "stalls": {
                name: {
                    cause.value: _number(time) for cause, time in each.stalls.items()
                }
                for name, each in modules.items()
            },
            "bounds": {
                "gemm": self.gemm_bound,
                "compute": self.compute_bound,
                "dram": _number(self.dram_bound),
            },
            "utilization": {
                name: round(share, 6) for name, share in self.utilization.items()
            },
            "dram_bytes": self.dram_bytes,
            "dram_read_bytes": self.read,
            "dram_written_bytes": self.written,
            "micro_ops": {
                "gemm": self.gemm,
                "padding": self.padding,
                "reset": self.reset,
                "alu": self.alu,
            },
        }


@dataclass(frozen=True)
class CycleReport:
    """When a program's instructions run, and accounts of the whole, of its launches and of its layers."""

    timing: Timing
    work: Work
    total: Account
    launches: tuple[Account, ...]
    layers: tuple[Account, ...]
    """In the order of the program; instructions that belong to none make one more, without a name."""

    layer: NDArray[np.int64]
    """The number of each instruction's layer in `layers`."""

    @property
    def cycles(self) -> int:
        return int(self.total.cycles)

    def to_json(self) -> dict[str, object]:
        """Return all accounts as JSON values: those of the whole, and `launches` and `layers`."""
        whole = self.total.to_json()
        del whole["name"]
        return {
            **whole,
            "launches": [each.to_json() for each in self.launches],
            "layers": [each.to_json() for each in self.layers],
        }


def time_program(program: Program) -> CycleReport:
    """Time a program. Raises `Deadlock` and `TimingError`, as `time_instructions` does."""
    memory = np.zeros(program.arena_bytes, np.uint8)
    for each in program.buffers:
        if each.contents is not None:
            memory[each.offset : each.end] = each.contents
    timing = time_instructions(program.instructions, program.launches, program.config)
    bases = program.dram_bases()
    return _report(timing, program.layers, memory, bases)


def time_stream(
    instructions: Instructions,
    config: HardwareConfig,
    *,
    memory: Bytes | None = None,
    base: int = 0,
) -> CycleReport:
    """Time a stream of instructions, in launches that each end with FINISH.

    `memory` is what DRAM holds from byte `base`, a multiple of 4, on. Nothing but micro-ops is looked at in it, to tell
    multiplications by padding from others. Raises `IsaError` for what cannot be encoded, and `Deadlock` and
    `TimingError` as `time_instructions` does.
    """
    check_fields(instructions, config)
    timing = time_instructions(instructions, launches_of(instructions), config)
    bases = instructions["dram_base"] - base // config.uop_bytes
    return _report(timing, (), memory, bases)


def _report(
    timing: Timing, layers: Sequence[Layer], memory: Bytes | None, dram_base: Words
) -> CycleReport:
    stream, config = timing.instructions, timing.config
    work = count_work(stream, config, timing.order, memory, dram_base)
    parts = _Parts(timing, work)
    accounts = parts.launches()
    layer, names = _layers(len(stream), layers)
    return CycleReport(
        *(timing, work, parts.total(accounts), accounts),
        *(parts.layers(layer, names) if layers else (), layer),
    )


def launches_of(instructions: Instructions) -> tuple[range, ...]:
    """Divide a stream after each FINISH; what comes after the last one is a launch too."""
    ends = np.flatnonzero(instructions["opcode"] == Opcode.FINISH) + 1
    marks = sorted({0, *ends.tolist(), len(instructions)})
    return tuple(range(*each) for each in pairwise(marks))


def _layers(count: int, layers: Sequence[Layer]) -> tuple[NDArray[np.int64], list[str]]:
    """Return the number of each instruction's layer, and the layers' names."""
    names = [each.name for each in layers]
    layer = np.full(count, len(names), np.int64)
    for number, each in enumerate(layers):
        layer[each.range.start : each.range.stop] = number
    if (layer == len(names)).any():
        names.append("")
    return layer, names


class _Parts:
    """The times of single instructions, in ticks, to be added up."""

    def __init__(self, timing: Timing, work: Work):
        self._timing = timing
        self._work = work
        self._ended = previous_ends(timing)
        self._waits = wait_times(timing)
        self._busy = timing.end - timing.granted
        self._bytes = np.maximum(timing.service, 0)

    def launches(self) -> tuple[Account, ...]:
        names = [str(number) for number in range(len(self._timing.launches))]
        cycles = [round(each / self._timing.ticks) for each in self._timing.length]
        return self._accounts(self._timing.launch, names, cycles, self._empty)

    def layers(
        self, layer: NDArray[np.int64], names: Sequence[str]
    ) -> tuple[Account, ...]:
        """Account for layers: compute is at or awaits one of them at any time, at last the one it had last."""
        timing = self._timing
        mine = np.flatnonzero(timing.module == Module.COMPUTE)
        share = np.zeros(len(timing.end), np.int64)
        share[mine] = (timing.end - self._ended)[mine]
        last = np.searchsorted(mine, [each.stop for each in timing.launches]) - 1
        for launch, place in enumerate(last):
            if place >= 0 and timing.launch[mine[place]] == launch:
                share[mine[place]] += self._empty[Module.COMPUTE, launch]
        cycles = [int(each) / timing.ticks for each in _sums(layer, share, len(names))]
        empty = np.zeros((len(Module), len(names)), np.int64)
        return self._accounts(layer, names, cycles, empty)

    def total(self, launches: Sequence[Account]) -> Account:
        """Account for the whole program: the sum of its launches."""
        whole = np.zeros(len(self._timing.end), np.int64)
        cycles = sum(each.cycles for each in launches)
        empty = self._empty.sum(axis=1, keepdims=True)
        return self._accounts(whole, ["total"], [cycles], empty)[0]

    @cached_property
    def _empty(self) -> Words:
        """Return how long each module has nothing more to do in each launch, `[module, launch]`."""
        timing = self._timing
        last = np.zeros((len(Module), len(timing.launches)), np.int64)
        for module in Module:
            mine = timing.module == module
            np.maximum.at(last[module], self._timing.launch[mine], timing.end[mine])
        return np.array(timing.length, np.int64) - last

    def _accounts(
        self,
        group: NDArray[np.int64],
        names: Sequence[str],
        cycles: Sequence[float],
        empty: Words,
    ) -> tuple[Account, ...]:
        """Add up the instructions of each group."""
        timing, work, config = self._timing, self._work, self._timing.config
        count = len(names)

        def sums(values: Words) -> list[int]:
            return _sums(group, values, count).tolist()

        modules = self._module_times(group, empty)
        loads = timing.instructions["opcode"] == Opcode.LOAD
        read, moved = sums(np.where(loads, self._bytes, 0)), sums(self._bytes)
        gemm, reset, alu = (sums(each) for each in (work.gemm, work.reset, work.alu))
        padding = None if work.padding is None else sums(work.padding)
        instructions = np.bincount(group, minlength=count).tolist()
        accounts: list[Account] = []
        for each in range(count):
            useful = gemm[each] - (padding[each] if padding else 0)
            gemm_bound = useful * config.gemm_ii
            others = reset[each] * config.gemm_ii + alu[each] * config.alu_ii
            accounts.append(
                Account(
                    name=names[each],
                    instructions=instructions[each],
                    cycles=cycles[each],
                    modules=modules[each],
                    dram_busy=moved[each] / timing.ticks,
                    read=read[each],
                    written=moved[each] - read[each],
                    gemm=gemm[each],
                    padding=None if padding is None else padding[each],
                    reset=reset[each],
                    alu=alu[each],
                    gemm_bound=gemm_bound,
                    compute_bound=gemm_bound + others,
                )
            )
        return tuple(accounts)

    def _module_times(
        self, group: NDArray[np.int64], empty: Words
    ) -> list[Mapping[Module, ModuleTime]]:
        """Return what each module did for each group."""
        ticks, count = self._timing.ticks, empty.shape[1]
        shape = (count, len(Module))
        both = group * len(Module) + self._timing.module

        def sums(values: Words) -> Words:
            return _sums(both, values, count * len(Module)).reshape(shape)

        number = np.bincount(both, minlength=count * len(Module)).reshape(shape)
        busy = (sums(self._busy) / ticks).tolist()
        stalls = {
            cause: (sums(times) / ticks).tolist()
            for cause, times in self._waits.items()
        }
        stalls[Cause.EMPTY] = (empty.T / ticks).tolist()
        return [
            {
                module: ModuleTime(
                    int(number[each, module]),
                    busy[each][module],
                    {cause: stalls[cause][each][module] for cause in CAUSES[module]},
                )
                for module in Module
            }
            for each in range(count)
        ]


def _sums(group: NDArray[np.int64], values: Words, count: int) -> Words:
    """Return the sum of the values of each group, which floating point holds exactly."""
    return np.bincount(group, values, count).astype(np.int64)


def _number(value: float) -> int | float:
    """Return an integer where the value is one."""
    return int(value) if value == int(value) else value
