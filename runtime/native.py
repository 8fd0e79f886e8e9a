"""A table of kernel calls that runs natively, and the worker threads that share it."""

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.runtime.executor_ir import (
    LINE,
    STATE_BYTES,
    STEP_WORDS,
    WORKER_BYTES,
    executor_ir,
)
from partita.runtime.llvm import native_object
from partita.runtime.machine import Machine
from partita.runtime.objects import LoadedObjects
from partita.runtime.tensors import aligned_empty

EXECUTOR = "partita executor"
"""What the executor's own object is called beside those of an artifact."""

COPY = "partita_copy"
CLOCK = "partita_clock"

FUNCTIONS = {
    "partita_run_alone": ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64),
    "partita_run": ctypes.CFUNCTYPE(None, ctypes.c_void_p),
    "partita_prepare": ctypes.CFUNCTYPE(None, ctypes.c_void_p),
    "partita_start": ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p),
    "partita_stop": ctypes.CFUNCTYPE(None, ctypes.c_void_p),
    "partita_join": ctypes.CFUNCTYPE(None, ctypes.c_void_p),
}


@cache
def executor_object() -> bytes:
    """Return the executor's object code for this machine, made once in a process."""
    machine = Machine.host()
    text = executor_ir(machine.architecture, machine.system)
    return native_object(text, passes=False)


class Code:
    """The kernels of an artifact and the executor, linked into this process."""

    def __init__(self, objects: Mapping[str, bytes], kernels: Mapping[str, str]):
        """Link `objects`; `kernels` says which of them defines each kernel."""
        exports = {**kernels, **dict.fromkeys((*FUNCTIONS, COPY, CLOCK), EXECUTOR)}
        self._loaded = LoadedObjects({EXECUTOR: executor_object(), **objects}, exports)
        functions = {
            name: prototype(self._loaded[name]) for name, prototype in FUNCTIONS.items()
        }
        self.run_alone = functions["partita_run_alone"]
        self.run = functions["partita_run"]
        self.prepare = functions["partita_prepare"]
        self.start = functions["partita_start"]
        self.stop = functions["partita_stop"]
        self.join = functions["partita_join"]

    def address(self, kernel: str) -> int:
        return self._loaded[kernel]

    def close(self) -> None:
        self._loaded.close()


@dataclass(frozen=True)
class Call:
    """One row of a table: a function, where its arguments start in the pointer array, and its grid."""

    function: int
    arguments: int
    grid: int
    parallel: bool


class Table:
    """Calls to be made in order, with pointers that may change between runs."""

    def __init__(self, code: Code, calls: Sequence[Call], pointers: int):
        self._code = code
        self.pointers: NDArray[np.uint64] = np.zeros(max(pointers, 1), np.uint64)
        """The arguments of all calls, one call after another."""

        self._calls = calls
        self._rows = np.zeros((max(len(calls), 1), STEP_WORDS), np.uint64)
        self._start = self._rows.ctypes.data
        base = self.pointers.ctypes.data
        for row, call in zip(self._rows, calls, strict=False):
            row[:] = (
                *(call.function, base + 8 * call.arguments),
                *(call.grid, call.parallel, 0),
            )
        self._any_parallel = any(call.parallel for call in calls)
        self._team: Team | None = None

    def run(self, threads: int) -> None:
        """Make all calls with at most this many threads; the caller is one of them."""
        if threads == 1 or not self._any_parallel:
            self._code.run_alone(self._start, len(self._calls))
            return
        team = self._team
        if team is None or not team.fits(threads):
            self.dismiss()
            self._place_counters(threads)
            team = self._team = Team(
                self._code, self._rows, len(self._calls), self._counters, threads
            )
        team.run()

    def _place_counters(self, threads: int) -> None:
        """Give counters to every call that somebody waits for: parallel ones, and serial ones before a parallel one."""
        calls = self._calls
        awaited = [
            index
            for index, call in enumerate(calls)
            if call.parallel or (index + 1 < len(calls) and calls[index + 1].parallel)
        ]
        size = LINE * (threads + 1)
        self._counters = aligned_empty((size * len(awaited),), np.dtype(np.uint8))
        base = self._counters.ctypes.data
        for place, index in enumerate(awaited):
            self._rows[index, 4] = base + size * place

    def dismiss(self) -> None:
        """End the worker threads; the next run starts them again."""
        if self._team is not None:
            self._team.dismiss()
            self._team = None


class Team:
    """Worker threads that run one table together with the caller, parked between runs."""

    def __init__(
        self,
        code: Code,
        rows: NDArray[np.uint64],
        number: int,
        counters: NDArray[Any],
        threads: int,
    ):
        self._code = code
        self._kept = (rows, counters)
        self._wanted = threads
        self._process = os.getpid()
        words = np.dtype(np.uint64)
        self._state = aligned_empty((STATE_BYTES // 8,), words)
        self._workers = aligned_empty((threads, WORKER_BYTES // 8), words)
        self._state[:] = 0
        self._workers[:] = 0
        self._state[16:21] = (
            *(rows.ctypes.data, number),
            *(threads, counters.ctypes.data, counters.nbytes),
        )
        self._address = self._state.ctypes.data
        code.prepare(self._address)
        self._hands: list[int] = []
        for thread in range(1, threads):
            self._workers[thread, :2] = (self._address, thread)
            if code.start(self._workers[thread].ctypes.data):
                break
            self._hands.append(self._workers[thread].ctypes.data)
        self._state[21:23] = self._workers.ctypes.data, len(self._hands)

    def fits(self, threads: int) -> bool:
        """Return whether this team has this many threads, in this process and not in one it was forked from."""
        return self._wanted == threads and self._process == os.getpid()

    def run(self) -> None:
        self._code.run(self._address)

    def dismiss(self) -> None:
        """End the threads and wait for them."""
        if self._process == os.getpid() and self._hands:
            self._code.stop(self._address)
            for hand in self._hands:
                self._code.join(hand)
            self._hands.clear()
