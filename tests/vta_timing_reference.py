"""A slow cycle model, written to be obviously right: time passes tick by tick.

Nothing here is shared with `partita.runtime.vta` but the names of fields and the configuration.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field

from vta_reference import COMPUTE, LOAD, QUEUES, STORE, Row, module_of, rows_of

from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.isa import Instructions, Memory, Opcode

MODULES = (LOAD, COMPUTE, STORE)


@dataclass
class Times:
    """When an instruction arrives, has its tokens, is served, and ends, in ticks of its launch."""

    arrival: int = -1
    start: int = -1
    granted: int = -1
    end: int = -1


@dataclass
class Worker:
    """A module: its queue, and what it is at."""

    queue: deque[int] = field(default_factory=lambda: deque[int]())
    current: int | None = None
    """The instruction that it has begun, if any."""


class Reference:
    """A machine that executes launches; tokens are kept between them."""

    def __init__(self, instructions: Instructions, config: HardwareConfig):
        self._rows = rows_of(instructions)
        self._config = config
        self._tokens: dict[tuple[int, int], int] = defaultdict(int)
        self.times = [Times() for _ in self._rows]

    def launch(self, numbers: range, limit: int) -> bool:
        """Execute a launch; say whether it ends before `limit` ticks."""
        self._to_fetch = deque(numbers)
        self._fetch_interval = self._config.fetch_cycles * self._config.bus_bytes
        self._next_fetch = self._fetch_interval
        self._workers = {each: Worker() for each in MODULES}
        self._waiting: deque[int] = deque()
        self._channel_free = 0
        for now in range(limit):
            while (
                self._finish(now)
                or self._fetch(now)
                or self._serve(now)
                or self._start(now)
            ):
                pass
            if not self._to_fetch and not any(
                each.queue or each.current is not None
                for each in self._workers.values()
            ):
                return True
        return False

    def _finish(self, now: int) -> bool:
        """Let one instruction end that is over now; say whether there is one."""
        for worker in self._workers.values():
            number = worker.current
            if number is not None and self.times[number].end == now:
                worker.current = None
                self._push(number)
                return True
        return False

    def _fetch(self, now: int) -> bool:
        """Let one instruction arrive, if it is time and its queue has room."""
        if not self._to_fetch or now < self._next_fetch:
            return False
        queue = self._workers[module_of(self._rows[self._to_fetch[0]])].queue
        if len(queue) == self._config.queue_depth:
            return False
        number = self._to_fetch.popleft()
        queue.append(number)
        self.times[number].arrival = now
        self._next_fetch = now + self._fetch_interval
        return True

    def _start(self, now: int) -> bool:
        """Let one module take its next instruction, if it is idle and has all tokens for it."""
        for worker in self._workers.values():
            if worker.current is None and worker.queue and self._pop(worker.queue[0]):
                number = worker.current = worker.queue.popleft()
                self.times[number].start = now
                if self._rows[number]["opcode"] in (Opcode.LOAD, Opcode.STORE):
                    self._waiting.append(number)
                else:
                    self._begin(number, now)
                return True
        return False

    def _serve(self, now: int) -> bool:
        """Let the memory channel take its next request, if it is free."""
        if not self._waiting or now < self._channel_free:
            return False
        number = self._waiting.popleft()
        self._channel_free = now + self._bytes(self._rows[number])
        self._begin(number, now)
        return True

    def _begin(self, number: int, now: int) -> None:
        row, times = self._rows[number], self.times[number]
        times.granted = now
        times.end = now + self._cycles(row) * self._config.bus_bytes + self._bytes(row)

    def _queues(self, row: Row, what: str) -> list[tuple[int, int]]:
        return [
            queue
            for (module, flag), queue in QUEUES.items()
            if module == module_of(row) and flag.startswith(what) and row[flag]
        ]

    def _push(self, number: int) -> None:
        for queue in self._queues(self._rows[number], "push"):
            self._tokens[queue] += 1

    def _pop(self, number: int) -> bool:
        """Take all tokens that an instruction needs, or none."""
        queues = self._queues(self._rows[number], "pop")
        if not all(self._tokens[each] for each in queues):
            return False
        for each in queues:
            self._tokens[each] -= 1
        return True

    def _bytes(self, row: Row) -> int:
        if row["opcode"] not in (Opcode.LOAD, Opcode.STORE):
            return 0
        c = self._config
        sizes = {
            Memory.UOP: 4,
            Memory.WGT: c.block_in * c.block_out * c.wgt_dtype.itemsize,
            Memory.INP: c.batch * c.block_in * c.inp_dtype.itemsize,
            Memory.ACC: c.batch * c.block_out * c.acc_dtype.itemsize,
            Memory.OUT: c.batch * c.block_out * c.out_dtype.itemsize,
            Memory.ACC_8BIT: c.batch * c.block_out,
        }
        return row["x_size"] * row["y_size"] * sizes[Memory(row["memory"])]

    def _cycles(self, row: Row) -> int:
        """Return what an instruction takes besides moving bytes."""
        c = self._config
        loops = row["iter_out"] * row["iter_in"] * (row["uop_end"] - row["uop_bgn"])
        match row["opcode"]:
            case Opcode.GEMM:
                return c.setup_cycles + c.gemm_ii * loops
            case Opcode.ALU:
                return c.setup_cycles + c.alu_ii * loops
            case Opcode.FINISH:
                return 1
            case _:
                filled = 0
                if row["opcode"] == Opcode.LOAD and row["x_size"]:
                    height = row["y_pad_0"] + row["y_size"] + row["y_pad_1"]
                    width = row["x_pad_0"] + row["x_size"] + row["x_pad_1"]
                    filled = height * width - row["y_size"] * row["x_size"]
                return c.latency + c.row_cycles * row["y_size"] + filled
