"""What modules wait for between instructions."""

from collections.abc import Mapping
from enum import StrEnum

import numpy as np

from partita.runtime.vta.isa import Module
from partita.runtime.vta.kernels.queues import TokenQueue
from partita.runtime.vta.timing import Timing, Words, token_times


class Cause(StrEnum):
    """Why a module does nothing."""

    LOAD_TOKEN = "load_token"
    """It waits for a token from load."""

    COMPUTE_TOKEN = "compute_token"
    STORE_TOKEN = "store_token"
    DRAM = "dram"
    """It has all its tokens, and waits for the memory channel."""

    FETCH = "fetch"
    """Its next instruction has not arrived: fetch takes its time, or another module's queue is full."""

    EMPTY = "empty"
    """The launch has no more instructions for it."""


TOKEN_CAUSES = {
    TokenQueue.LOAD_TO_COMPUTE: Cause.LOAD_TOKEN,
    TokenQueue.COMPUTE_TO_LOAD: Cause.COMPUTE_TOKEN,
    TokenQueue.COMPUTE_TO_STORE: Cause.COMPUTE_TOKEN,
    TokenQueue.STORE_TO_COMPUTE: Cause.STORE_TOKEN,
}
"""What waiting for a token of each queue is, in the order in which compute pops its tokens."""

CAUSES: Mapping[Module, tuple[Cause, ...]] = {
    Module.LOAD: (Cause.FETCH, Cause.COMPUTE_TOKEN, Cause.DRAM, Cause.EMPTY),
    Module.COMPUTE: (
        *(Cause.FETCH, Cause.LOAD_TOKEN, Cause.STORE_TOKEN, Cause.DRAM, Cause.EMPTY),
    ),
    Module.STORE: (Cause.FETCH, Cause.COMPUTE_TOKEN, Cause.DRAM, Cause.EMPTY),
}
"""What each module can wait for."""


def previous_ends(timing: Timing) -> Words:
    """Return when the module of each instruction ended the instruction before; 0 for the first of a launch."""
    ended = np.zeros(len(timing.end), np.int64)
    for module in Module:
        mine = np.flatnonzero(timing.module == module)
        same = timing.launch[mine[1:]] == timing.launch[mine[:-1]]
        ended[mine[1:]] = np.where(same, timing.end[mine[:-1]], 0)
    return ended


def wait_times(timing: Timing) -> Mapping[Cause, Words]:
    """Divide the time between the end of the instruction before each one and its own begin among causes.

    In this order: the instruction is fetched, the token of the previous module is popped, then that of the next
    module, then the memory channel serves it. Who waits for two things at once waits for the first.
    """
    waits = {cause: np.zeros(len(timing.end), np.int64) for cause in Cause}
    ended = previous_ends(timing)
    now = np.maximum(ended, timing.arrival)
    waits[Cause.FETCH] += now - ended
    for queue, cause in TOKEN_CAUSES.items():
        later = np.maximum(now, token_times(timing, queue))
        waits[cause] += later - now
        now = later
    waits[Cause.DRAM] += timing.granted - timing.start
    return waits
