"""Find an order in which the three modules may execute a program, and what each instruction knows to be complete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from partita.runtime.compiled import WORD_FUNCTION, CompiledText
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.faults import Deadlock, Finish
from partita.runtime.vta.isa import Instructions, Module, Opcode, module_of
from partita.runtime.vta.kernels.queues import (
    OFFSETS,
    ORDER,
    ORDER_WORDS,
    POPS,
    Outcome,
    Policy,
    TokenQueue,
    order_ir,
)
from partita.runtime.vta.naming import named

Numbers = NDArray[np.int32]

SPREAD = 0x9E3779B97F4A7C15
"""An odd number that makes different random numbers of consecutive seeds."""


@dataclass(frozen=True)
class Order:
    """An order of execution that the tokens of a program allow."""

    sequence: Numbers
    """The instruction at each place, `int32[N]`."""

    clocks: Numbers
    """How many instructions of each module each one knows to be complete when it starts, `int32[N, 3]`."""

    done: Mapping[Module, int]
    """How many instructions each module executes."""

    tokens: Mapping[TokenQueue, int]
    """Tokens that are left over."""


@cache
def _compiled() -> CompiledText:
    return CompiledText(order_ir(), {ORDER: WORD_FUNCTION})


def find_order(
    instructions: Instructions,
    launches: Sequence[range],
    config: HardwareConfig,
    policy: Policy = Policy.PROGRAM,
    seed: int = 0,
) -> Order:
    """Order a stream of instructions, contiguous in memory, launch by launch; all token queues start empty.

    Raises `Deadlock` if some instruction cannot ever be executed, and `Finish` unless each launch ends with its only
    FINISH and that waits, directly or not, for every instruction that moves data.
    """
    _check_finish(instructions, launches)
    count = len(instructions)
    order, clocks = np.empty(count, np.int32), np.empty((count, 3), np.int32)
    queues = np.empty((len(Module), max(count, 1)), np.int32)
    tokens = np.empty((len(TokenQueue), max(count, 1)), np.int32)
    words = np.zeros(ORDER_WORDS, np.int64)
    for name, value in (
        ("instructions", instructions.ctypes.data),
        ("order", order.ctypes.data),
        ("clocks", clocks.ctypes.data),
        ("queues", queues.ctypes.data),
        ("tokens", tokens.ctypes.data),
        ("capacity", queues.shape[1]),
        ("depth", config.queue_depth),
        ("policy", policy),
    ):
        words[OFFSETS[name]] = value
    mixed = (seed + 1) * SPREAD % (1 << 64) or 1
    words[OFFSETS["random"]] = np.uint64(mixed).view(np.int64)
    function = _compiled().functions[ORDER]
    for launch in launches:
        outcome = function(words.ctypes.data, launch.start, launch.stop)
        if outcome == Outcome.DEADLOCK:
            raise _deadlock(instructions, launch, words, queues)
        if outcome == Outcome.EARLY_FINISH:
            raise _early(instructions, launch, words, queues)
    return Order(
        order,
        clocks,
        {each: int(words[OFFSETS["done"] + each]) for each in Module},
        {each: _left(words, each) for each in TokenQueue},
    )


def _left(words: NDArray[np.int64], queue: TokenQueue) -> int:
    return int(words[OFFSETS["pushed"] + queue] - words[OFFSETS["popped"] + queue])


def _check_finish(instructions: Instructions, launches: Sequence[range]) -> None:
    finishes = np.flatnonzero(instructions["opcode"] == Opcode.FINISH)
    ends = np.array([each.stop - 1 for each in launches], np.int64)
    if np.array_equal(finishes, ends):
        return
    early = np.setdiff1d(finishes, ends)
    missing = np.setdiff1d(ends, finishes)
    if len(early):
        number = int(early[0])
        raise Finish(
            f"{named(instructions, number)} is not the last instruction of its launch",
            number,
        )
    number = int(missing[0])
    if number < 0:
        raise Finish("expected a launch that ends with FINISH, got no instructions")
    raise Finish(
        f"expected FINISH as the last instruction of a launch, got {named(instructions, number)}",
        number,
    )


def _deadlock(
    instructions: Instructions,
    launch: range,
    words: NDArray[np.int64],
    queues: Numbers,
) -> Deadlock:
    """Say what the first instruction of each module waits for."""
    waiting: list[int] = []
    reasons: list[str] = []
    fetched = int(words[OFFSETS["fetched"]])
    for module in Module:
        done = int(words[OFFSETS["done"] + module])
        if done == int(words[OFFSETS["queued"] + module]):
            reasons.append(_idle(instructions, launch, fetched, module))
            continue
        number = int(queues[module, done])
        lacking = [
            _source(queue)
            for flag, queue in POPS[module].items()
            if instructions[flag][number] and not _left(words, queue)
        ]
        waiting.append(number)
        reasons.append(
            f"{module.name.lower()} waits at {named(instructions, number)} for a token from {' and '.join(lacking)}"
        )
    return Deadlock(f"deadlock: {'; '.join(reasons)}", *waiting)


def _idle(
    instructions: Instructions, launch: range, fetched: int, module: Module
) -> str:
    """Say why a module has no instruction."""
    if fetched == launch.stop:
        return f"{module.name.lower()} has done all its instructions"
    full = Module(int(module_of(instructions[fetched : fetched + 1])[0]))
    return (
        f"{module.name.lower()} has no instruction, since fetch waits at {named(instructions, fetched)} "
        f"for room in the queue of {full.name.lower()}"
    )


def _source(queue: TokenQueue) -> str:
    return queue.name.partition("_")[0].lower()


def _early(
    instructions: Instructions,
    launch: range,
    words: NDArray[np.int64],
    queues: Numbers,
) -> Finish:
    number = launch.stop - 1
    for module in (Module.STORE, Module.LOAD):
        moved = int(words[OFFSETS["moved"] + module])
        if moved > int(words[OFFSETS["finish"] + module]):
            other = int(queues[module, moved - 1])
            return Finish(
                f"{named(instructions, number)} does not wait for {named(instructions, other)}",
                *(number, other),
            )
    raise AssertionError("FINISH waits for all others")
