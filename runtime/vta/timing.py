"""When each instruction of a program runs: the cycle model.

Fetch delivers one instruction every `fetch_cycles`, in program order, into the queue of its module; a queue holds
`queue_depth` instructions that have not started, and a full one stalls fetch. Load, compute and store run at once,
each in order. An instruction starts when it has arrived, its module is free, and the tokens that it pops are there; it
pushes its own when it ends. It takes, in cycles:

    GEMM         setup_cycles + gemm_ii · iter_out · iter_in · micro-ops
    ALU          setup_cycles + alu_ii · iter_out · iter_in · micro-ops
    LOAD, STORE  latency + row_cycles · y_size + bytes / bus_bytes + elements that are zero-filled
    FINISH       1

LOAD and STORE wait for the one memory channel, which serves them in the order in which they became ready, each for
`bytes / bus_bytes` cycles: latencies overlap with other transfers. Each launch begins with idle modules at time 0;
tokens that are left over from the launch before are there from the start.

The unit of time is a tick: what the channel needs for one byte. It is exact where a transfer takes a fraction of a
cycle.
"""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from partita.errors import PartitaError
from partita.runtime.compiled import CompiledText
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.cycles_ir import (
    FUNCTION,
    STATE,
    TIME_WORDS,
    cycles_ir,
)
from partita.runtime.vta.faults import Deadlock
from partita.runtime.vta.isa import (
    Instructions,
    Module,
    Opcode,
    element_bytes,
    module_of,
    moves_data,
)
from partita.runtime.vta.kernels.queues import POPS, PUSHES, TokenQueue
from partita.runtime.vta.naming import named

Words = NDArray[np.int64]

LONGEST = 1 << 53
"""Ticks that a program may take at most: floating point holds them exactly."""


class TimingError(PartitaError):
    """A program takes longer than can be counted."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of one queue, in order: the first one pushed is the first one popped."""

    queue: TokenQueue
    pushed: Words
    """Numbers of the instructions that push them."""

    popped: Words
    """Numbers of the instructions that pop them; fewer if tokens are left over."""


@dataclass(frozen=True)
class Timing:
    """When the instructions of a program run, in ticks from the begin of their launch; one element an instruction."""

    config: HardwareConfig
    instructions: Instructions
    launches: tuple[range, ...]
    module: NDArray[np.int8]
    arrival: Words
    """When fetch has put it into its module's queue."""

    start: Words
    """When it is at the head of that queue, with all its tokens."""

    granted: Words
    """When the memory channel serves it; `start` if it needs none."""

    end: Words
    """When it is done, and its tokens are pushed."""

    service: Words
    """Ticks on the memory channel, negative if it needs none."""

    order: Words
    """The numbers of all instructions, in the order of their start within their launch."""

    tokens: tuple[Tokens, ...]
    """Of each queue."""

    @property
    def ticks(self) -> int:
        """Ticks in a cycle."""
        return self.config.bus_bytes

    @cached_property
    def launch(self) -> NDArray[np.int64]:
        """The number of each instruction's launch."""
        sizes = [len(each) for each in self.launches]
        return np.repeat(np.arange(len(sizes)), sizes)

    @property
    def length(self) -> tuple[int, ...]:
        """Ticks of each launch."""
        return tuple(
            int(self.end[each.start : each.stop].max(initial=0))
            for each in self.launches
        )


def time_instructions(
    instructions: Instructions, launches: Sequence[range], config: HardwareConfig
) -> Timing:
    """Return when each instruction runs; the launches are those of `instructions`, one after another.

    Raises `Deadlock` if an instruction waits for a token for ever, and `TimingError` for too many ticks to count.
    """
    module = module_of(instructions)
    service, rest = durations(instructions, config)
    whole = np.maximum(service, 0).astype(np.float64) + rest
    if (
        float(whole.sum()) + len(rest) * config.fetch_cycles * config.bus_bytes
        > LONGEST
    ):
        raise TimingError("expected a program that takes less than 2^53 ticks")
    pops, pushes = (_masks(instructions, module, each) for each in (POPS, PUSHES))
    rows = np.stack((module.astype(np.int64), pops, pushes, service, rest), axis=1)
    times = np.zeros((len(rows), TIME_WORDS), np.int64)
    order = np.zeros(len(rows), np.int64)
    left = np.zeros(len(TokenQueue), np.int64)
    for number, launch in enumerate(launches):
        here = slice(launch.start, launch.stop)
        left, waiting = _run(rows[here], times[here], order[here], left, config)
        if waiting:
            heads = [launch[each] for each in waiting]
            raise _deadlock(number, heads, instructions)
        order[here] += launch.start
    tokens = tuple(
        Tokens(
            each, np.flatnonzero(pushes >> each & 1), np.flatnonzero(pops >> each & 1)
        )
        for each in TokenQueue
    )
    arrival, start, granted, end = (np.ascontiguousarray(each) for each in times.T)
    return Timing(
        *(config, instructions, tuple(launches), module),
        *(arrival, start, granted, end, service, order, tokens),
    )


def durations(
    instructions: Instructions, config: HardwareConfig
) -> tuple[Words, Words]:
    """Return ticks on the memory channel, negative for instructions that need none, and all other ticks."""
    opcode = instructions["opcode"]
    cycles = np.ones(len(instructions), np.int64)
    runs = executions(instructions)
    for kind, interval in ((Opcode.GEMM, config.gemm_ii), (Opcode.ALU, config.alu_ii)):
        cycles = np.where(opcode == kind, config.setup_cycles + interval * runs, cycles)
    transfers = (opcode == Opcode.LOAD) | (opcode == Opcode.STORE)
    rows = config.latency + config.row_cycles * instructions["y_size"]
    cycles = np.where(transfers, rows + zero_filled(instructions), cycles)
    service = np.where(transfers, transferred(instructions, config), -1)
    return service, cycles * config.bus_bytes


def executions(instructions: Instructions) -> Words:
    """Return how many micro-ops each GEMM or ALU instruction executes; 0 for others."""
    runs = np.maximum(instructions["uop_end"] - instructions["uop_bgn"], 0)
    return instructions["iter_out"] * instructions["iter_in"] * runs


def transferred(instructions: Instructions, config: HardwareConfig) -> Words:
    """Return how many bytes each LOAD or STORE moves; 0 for others."""
    moves = moves_data(instructions)
    elements = instructions["y_size"] * instructions["x_size"]
    sizes = element_bytes(config)[np.where(moves, instructions["memory"], 0)]
    return np.where(moves, elements * sizes, 0)


def zero_filled(instructions: Instructions) -> Words:
    """Return how many elements each LOAD fills with zeros; one that moves nothing fills nothing."""
    sides = instructions["x_pad_0"] + instructions["x_pad_1"]
    above = instructions["y_pad_0"] + instructions["y_pad_1"]
    x_size, y_size = instructions["x_size"], instructions["y_size"]
    fills = moves_data(instructions) & (instructions["opcode"] == Opcode.LOAD)
    return np.where(fills, above * (sides + x_size) + y_size * sides, 0)


def token_times(timing: Timing, queue: TokenQueue) -> Words:
    """Return when the token that each instruction pops from a queue was pushed; 0 for one that pops none.

    A token that is left over from another launch is there at time 0.
    """
    tokens = timing.tokens[queue]
    pushed = tokens.pushed[: len(tokens.popped)]
    same = timing.launch[pushed] == timing.launch[tokens.popped]
    times = np.zeros(len(timing.end), np.int64)
    times[tokens.popped] = np.where(same, timing.end[pushed], 0)
    return times


def _masks(
    instructions: Instructions,
    module: NDArray[np.int8],
    flags: Mapping[Module, Mapping[str, TokenQueue]],
) -> Words:
    """Return for each instruction the set of token queues that its flags mean, as bits."""
    mask = np.zeros(len(instructions), np.int64)
    fields = {field for queues in flags.values() for field in queues}
    for field in fields:
        queues = [flags[each].get(field) for each in Module]
        bits = np.array([0 if each is None else 1 << each for each in queues])
        mask |= bits[module] * (instructions[field] != 0)
    return mask


def _run(
    rows: Words, times: Words, order: Words, left: Words, config: HardwareConfig
) -> tuple[Words, list[int]]:
    """Run the event loop over a launch whose token queues hold `left` tokens; fill `times` and `order`.

    Return the tokens that are left after it, and the numbers of instructions that wait for tokens for ever.
    """
    queue = np.argsort(rows[:, 0], kind="stable")
    state = np.zeros(1, STATE)
    state["begin"] = np.searchsorted(rows[queue, 0], list(Module))
    state["pushed"] = left
    state["count"] = len(rows)
    state["fetch_interval"] = config.fetch_cycles * config.bus_bytes
    state["depth"] = config.queue_depth
    capacity = state["capacity"] = len(rows) + int(left.max())
    tokens = np.zeros((len(TokenQueue), capacity), np.int64)
    arrays = (state, rows, times, queue, tokens, order)
    _compiled().functions[FUNCTION](*(each.ctypes.data for each in arrays))
    final = state[0]
    heads = (final["begin"] + final["next"])[final["next"] < final["delivered"]]
    return final["pushed"] - final["popped"], sorted(queue[heads].tolist())


@cache
def _compiled() -> CompiledText:
    """Return the event loop, compiled once in a process."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_void_p,) * 6)
    return CompiledText(cycles_ir(), {FUNCTION: prototype})


def _deadlock(
    launch: int, heads: Sequence[int], instructions: Instructions
) -> Deadlock:
    """Say which instructions wait for tokens that never come."""
    modules = module_of(instructions[heads]).tolist()
    waiting = ", ".join(
        f"{Module(module).name.lower()} at {named(instructions, head)}"
        for head, module in zip(heads, modules, strict=True)
    )
    return Deadlock(
        f"launch {launch} never ends: waiting for tokens are {waiting}", *heads
    )
