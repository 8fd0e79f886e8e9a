"""A slow VTA, written to be obviously right: what the simulator is compared with.

Nothing here is shared with `partita.runtime.vta` but the names of fields and the configuration.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.isa import AluOpcode, Instructions, Memory, Opcode

Row = dict[str, int]

LOAD, COMPUTE, STORE = range(3)

QUEUES = {
    # What pops and pushes by flag: the modules at both ends of the queue.
    (LOAD, "pop_next"): (COMPUTE, LOAD),
    (LOAD, "push_next"): (LOAD, COMPUTE),
    (COMPUTE, "pop_prev"): (LOAD, COMPUTE),
    (COMPUTE, "push_prev"): (COMPUTE, LOAD),
    (COMPUTE, "pop_next"): (STORE, COMPUTE),
    (COMPUTE, "push_next"): (COMPUTE, STORE),
    (STORE, "pop_prev"): (COMPUTE, STORE),
    (STORE, "push_prev"): (STORE, COMPUTE),
}


@dataclass(frozen=True)
class Access:
    """An element or a byte that an instruction reads or writes."""

    memory: str
    element: int
    writes: bool


class OutOfRangeAccess(Exception):
    """An element does not exist."""


def rows_of(instructions: Instructions) -> list[Row]:
    names = instructions.dtype.names or ()
    return [
        dict(zip(names, map(int, row), strict=True)) for row in instructions.tolist()
    ]


def module_of(row: Row) -> int:
    if row["opcode"] == Opcode.STORE:
        return STORE
    inputs = row["memory"] in (Memory.INP, Memory.WGT)
    return LOAD if row["opcode"] == Opcode.LOAD and inputs else COMPUTE


def wrapped(values: NDArray[Any], bits: int) -> NDArray[np.int64]:
    """Return integers modulo 2^bits, as two's complement has them."""
    half = 1 << bits - 1
    wide = np.asarray(values, object)
    return ((wide + half) % (1 << bits) - half).astype(np.int64)


def integers(data: NDArray[np.uint8], dtype: "np.dtype[Any]") -> NDArray[np.int64]:
    return np.ascontiguousarray(data).view(dtype).astype(np.int64)


class Machine:
    """On-chip memories, DRAM, and what each instruction does to them."""

    def __init__(self, config: HardwareConfig, memory: NDArray[np.uint8], base: int):
        self.config = c = config
        self.dram = memory
        self.base = base
        self.uop = np.zeros(c.uop_depth, np.uint32)
        self.inp = np.zeros((c.inp_depth, c.batch, c.block_in), np.int64)
        self.wgt = np.zeros((c.wgt_depth, c.block_out, c.block_in), np.int64)
        self.acc = np.zeros((c.acc_depth, c.batch, c.block_out), np.int64)
        self.accesses: list[Access] = []
        self.executed = {"gemm": 0, "reset": 0, "alu": 0}

    def execute(self, row: Row) -> list[Access]:
        """Execute an instruction; returns what it accessed, in order. Raises `OutOfRangeAccess` in the midst of it."""
        self.accesses = []
        match row["opcode"]:
            case Opcode.LOAD if row["x_size"]:
                self._load(row)
            case Opcode.STORE if row["x_size"]:
                self._store(row)
            case Opcode.GEMM:
                self._gemm(row)
            case Opcode.ALU:
                self._alu(row)
            case _:
                pass
        return self.accesses

    def _touch(self, memory: str, element: int, writes: bool) -> int:
        if not 0 <= element < len(getattr(self, memory)):
            raise OutOfRangeAccess(memory)
        self.accesses.append(Access(memory, element, writes))
        return element

    def _bytes(self, first: int, size: int, writes: bool) -> slice:
        start = first - self.base
        for byte in (start, start + size - 1):
            if not 0 <= byte < len(self.dram):
                raise OutOfRangeAccess("dram")
        self.accesses += [
            Access("dram", byte, writes) for byte in range(start, start + size)
        ]
        return slice(start, start + size)

    def _load(self, row: Row) -> None:
        c = self.config
        kind = Memory(row["memory"])
        name = "acc" if kind is Memory.ACC_8BIT else kind.name.lower()
        target: NDArray[Any] = getattr(self, name)
        dtype, size = {
            Memory.UOP: (np.dtype(np.uint32), c.uop_bytes),
            Memory.WGT: (c.wgt_dtype, c.wgt_bytes),
            Memory.INP: (c.inp_dtype, c.inp_bytes),
            Memory.ACC: (c.acc_dtype, c.acc_bytes),
            Memory.ACC_8BIT: (np.dtype(np.int8), c.batch * c.block_out),
        }[kind]
        element = row["sram_base"]
        height = row["y_pad_0"] + row["y_size"] + row["y_pad_1"]
        width = row["x_pad_0"] + row["x_size"] + row["x_pad_1"]
        for y, x in product(range(height), range(width)):
            self._touch(name, element, True)
            y_in, x_in = y - row["y_pad_0"], x - row["x_pad_0"]
            if 0 <= y_in < row["y_size"] and 0 <= x_in < row["x_size"]:
                index = row["dram_base"] + y_in * row["x_stride"] + x_in
                data = self.dram[self._bytes(index * size, size, False)]
                target[element] = integers(data, dtype).reshape(target[element].shape)
            else:
                target[element] = 0
            element += 1

    def _store(self, row: Row) -> None:
        size, dtype = self.config.out_bytes, self.config.out_dtype
        element = row["sram_base"]
        for y, x in product(range(row["y_size"]), range(row["x_size"])):
            value = self.acc[self._touch("acc", element, False)]
            index = row["dram_base"] + y * row["x_stride"] + x
            place = self._bytes(index * size, size, True)
            low = wrapped(value, 8 * dtype.itemsize).astype(dtype)
            self.dram[place] = low.reshape(-1).view(np.uint8)
            element += 1

    def _indices(self, row: Row) -> Iterator[tuple[int, int, int]]:
        fields = self.config.fields.uop
        loops = (range(row["iter_out"]), range(row["iter_in"]))
        numbers = range(row["uop_bgn"], row["uop_end"])
        if row["iter_out"] and row["iter_in"]:
            for number in numbers:
                self._touch("uop", number, False)
        for outer, inner in product(*loops):
            for number in numbers:
                uop = int(self.uop[number])
                dst, src, wgt = (
                    (uop >> fields[name].first) % (1 << fields[name].width)
                    + outer * row[f"{name}_factor_out"]
                    + inner * row[f"{name}_factor_in"]
                    for name in ("dst", "src", "wgt")
                )
                yield dst, src, wgt

    def _gemm(self, row: Row) -> None:
        for dst, src, wgt in self._indices(row):
            if row["reset"]:
                self.executed["reset"] += 1
                self.acc[self._touch("acc", dst, True)] = 0
                continue
            self.executed["gemm"] += 1
            before = self.acc[self._touch("acc", dst, False)]
            inputs = self.inp[self._touch("inp", src, False)]
            weights = self.wgt[self._touch("wgt", wgt, False)]
            product = inputs.astype(object) @ weights.astype(object).T
            self._write(dst, before.astype(object) + product)

    def _alu(self, row: Row) -> None:
        for dst, src, _ in self._indices(row):
            self.executed["alu"] += 1
            left = self.acc[self._touch("acc", dst, False)].astype(object)
            if row["use_imm"]:
                right = np.full(left.shape, row["imm"]).astype(object)
            else:
                right = self.acc[self._touch("acc", src, False)].astype(object)
            self._write(
                dst, np.vectorize(alu, [object])(row["alu_opcode"], left, right)
            )

    def _write(self, element: int, values: NDArray[Any]) -> None:
        bits = 8 * self.config.acc_dtype.itemsize
        self.acc[self._touch("acc", element, True)] = wrapped(values, bits)


def alu(opcode: int, left: int, right: int) -> int:
    match opcode:
        case AluOpcode.MIN:
            return min(left, right)
        case AluOpcode.MAX:
            return max(left, right)
        case AluOpcode.ADD:
            return left + right
        case AluOpcode.MUL:
            return left * right
        case _ if right >= 0:
            return left >> min(right, 64)
        case _:
            return left << min(-right, 64)


@dataclass
class Findings:
    """What a run showed."""

    memory: NDArray[np.uint8]
    problems: set[str] = field(default_factory=set[str])
    """Of deadlock, finish, race, uninitialized and range."""

    executed: dict[str, int] = field(default_factory=dict[str, int])
    tokens_left: int = 0


def examine(
    instructions: Instructions,
    config: HardwareConfig,
    memory: NDArray[np.uint8],
    base: int = 0,
) -> Findings:
    """Run one launch on a copy of memory and look for everything that can be wrong."""
    rows = rows_of(instructions)
    found = Findings(memory.copy())
    order, before, found.tokens_left = order_of(rows)
    if len(order) < len(rows):
        found.problems.add("deadlock")
        return found
    idle = {
        number
        for number, row in enumerate(rows)
        if row["opcode"] not in (Opcode.LOAD, Opcode.STORE) or not row["x_size"]
    }
    if set(range(len(rows) - 1)) - before[-1] - idle:
        found.problems.add("finish")
    machine = Machine(config, found.memory, base)
    accesses: dict[int, list[Access]] = {}
    for number in order:
        try:
            machine.execute(rows[number])
        except OutOfRangeAccess:
            found.problems.add("range")
        accesses[number] = machine.accesses
    found.problems |= _hazards(accesses, before)
    found.executed = machine.executed
    return found


def _hazards(accesses: dict[int, list[Access]], before: list[set[int]]) -> set[str]:
    """Compare every access with every other to the same place; instructions come as they were executed."""
    problems: set[str] = set()
    users: dict[tuple[str, int], set[tuple[int, bool]]] = defaultdict(set)
    written: set[tuple[str, int]] = set()
    for number, each in accesses.items():
        for access in each:
            place = (access.memory, access.element)
            users[place].add((number, access.writes))
            if access.writes:
                written.add(place)
            elif access.memory != "dram" and place not in written:
                problems.add("uninitialized")
    for using in users.values():
        for (one, writes), (other, writes_too) in combinations(using, 2):
            ordered = one == other or one in before[other] or other in before[one]
            if (writes or writes_too) and not ordered:
                problems.add("race")
    return problems


def order_of(rows: list[Row]) -> tuple[list[int], list[set[int]], int]:
    """Return an order that tokens allow, what is complete before each instruction starts, and how many tokens are left.

    The order is shorter than the program if there is a deadlock.
    """
    waiting = [
        [number for number, row in enumerate(rows) if module_of(row) == module]
        for module in range(3)
    ]
    tokens: dict[tuple[int, int], list[int]] = defaultdict(list)
    before: list[set[int]] = [set() for _ in rows]
    last: dict[int, int] = {}
    order: list[int] = []
    moved = True
    while moved:
        moved = False
        for module in range(3):
            if not waiting[module]:
                continue
            number = waiting[module][0]
            queues = {
                action: [
                    queue
                    for (who, flag), queue in QUEUES.items()
                    if who == module and flag.startswith(action) and rows[number][flag]
                ]
                for action in ("pop", "push")
            }
            if not all(tokens[queue] for queue in queues["pop"]):
                continue
            pushers = [tokens[queue].pop(0) for queue in queues["pop"]]
            if module in last:
                pushers.append(last[module])
            for pusher in pushers:
                before[number] |= {pusher} | before[pusher]
            for queue in queues["push"]:
                tokens[queue].append(number)
            last[module] = number
            order.append(waiting[module].pop(0))
            moved = True
    return order, before, sum(map(len, tokens.values()))
