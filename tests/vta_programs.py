"""Random hardware and random legal programs for it: instructions first, then the tokens that their accesses need."""

from collections import defaultdict
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray
from vta_reference import COMPUTE, LOAD, STORE, Access, Machine, Row, module_of, rows_of

from partita.runtime.vta.config import ConfigError, HardwareConfig
from partita.runtime.vta.isa import (
    INSTRUCTION,
    UOP,
    AluOpcode,
    Instructions,
    Memory,
    Opcode,
    Uops,
    encode_uops,
)

SIM = HardwareConfig.load("sim")

SMALL = replace(
    SIM,
    **{"log_uop_buff_size": 7, "log_inp_buff_size": 8},
    **{"log_wgt_buff_size": 12, "log_acc_buff_size": 10},
)
"""The default hardware with 32 micro-ops, 16 inputs, weights and accumulators."""

CONFIGS = {
    "small": SMALL,
    "default": SIM,
    "batch": replace(SMALL, log_batch=1, log_block_in=3, log_block_out=4),
    "wide_in": replace(
        *(SMALL,),
        **{"log_block_in": 6, "log_block_out": 2, "log_wgt_width": 4},
        **{"log_inp_buff_size": 10, "alu_mul": False},
    ),
    "one": replace(
        *(SMALL,),
        **{"log_block_in": 0, "log_block_out": 0},
        **{"log_inp_buff_size": 4, "log_wgt_buff_size": 4, "log_acc_buff_size": 6},
    ),
    "wide_out": replace(
        *(SMALL,),
        **{"log_block_in": 3, "log_block_out": 5, "log_out_width": 4},
        **{"log_inp_width": 4, "log_acc_buff_size": 11},
    ),
    "narrow_acc": replace(SMALL, log_acc_width=4, acc_8bit=False, log_acc_buff_size=9),
    "words": replace(
        *(SMALL,),
        **{"log_inp_width": 5, "log_wgt_width": 5, "log_out_width": 5},
        **{"log_block_in": 2, "log_block_out": 3},
    ),
}
"""Hardware of every shape, by name."""

DRAM_BASE = 1 << 16
"""The address of memory: a multiple of every element's size."""


def random_config(random: Random) -> HardwareConfig:
    """Return any small hardware that is possible."""
    while True:
        try:
            return HardwareConfig(
                log_inp_width=random.randint(3, 5),
                log_wgt_width=random.randint(3, 5),
                log_acc_width=random.randint(4, 5),
                log_out_width=random.randint(3, 5),
                log_batch=random.randint(0, 2),
                log_block_in=random.randint(0, 6),
                log_block_out=random.randint(0, 6),
                log_uop_buff_size=random.randint(4, 9),
                log_inp_buff_size=random.randint(4, 14),
                log_wgt_buff_size=random.randint(4, 16),
                log_acc_buff_size=random.randint(4, 14),
                alu_mul=random.random() < 0.8,
                acc_8bit=random.random() < 0.8,
            )
        except ConfigError:
            continue


@dataclass(frozen=True)
class Case:
    """A launch with absolute addresses, and memory from `DRAM_BASE` on."""

    config: HardwareConfig
    instructions: Instructions
    memory: NDArray[np.uint8]


def random_case(
    random: Random, config: HardwareConfig, length: int = 12, *, shows_all: bool = False
) -> Case:
    """Return a legal launch of about so many instructions, with the tokens that it needs and no others.

    One that `shows_all` stores at its end all bits of all accumulators that it uses.
    """
    maker = _Maker(random, config)
    rows = maker.rows(length)
    if shows_all:
        rows[-1:] = [*maker.dump(), rows[-1]]
    memory = maker.memory()
    machine = Machine(config, memory.copy(), DRAM_BASE)
    tokened = add_tokens([(row, machine.execute(row)) for row in rows])
    return Case(config, instructions_of(tokened), memory)


def instructions_of(rows: list[Row]) -> Instructions:
    names = INSTRUCTION.names or ()
    return np.array([tuple(row[name] for name in names) for row in rows], INSTRUCTION)


def row(opcode: Opcode, **fields: int) -> Row:
    return {**dict.fromkeys(INSTRUCTION.names or (), 0), "opcode": opcode, **fields}


class _Maker:
    """Makes instructions that stay within memories; every element is loaded before it is used."""

    def __init__(self, random: Random, config: HardwareConfig):
        self._random = random
        self._config = c = config
        self._uops: list[int] = []
        self._sizes = {
            Memory.WGT: c.wgt_bytes,
            Memory.INP: c.inp_bytes,
            Memory.ACC: c.acc_bytes,
            Memory.ACC_8BIT: c.acc8_bytes,
            Memory.OUT: c.out_bytes,
        }
        self._depths = {
            Memory.WGT: min(c.wgt_depth, 16, max(2, 8192 // c.wgt_bytes)),
            Memory.INP: min(c.inp_depth, 16),
            Memory.ACC: min(c.acc_depth, 16),
        }
        self._depths[Memory.ACC_8BIT] = self._depths[Memory.ACC]
        self._depths[Memory.OUT] = self._depths[Memory.ACC]
        largest = max(size * self._depths[each] for each, size in self._sizes.items())
        self._data = -(-largest // 64) * 64
        """Bytes of memory that are data; micro-ops come behind it."""

    def memory(self) -> NDArray[np.uint8]:
        seed = self._random.randrange(1 << 32)
        data = np.random.default_rng(seed).integers(0, 256, self._data, np.uint8)
        uops = np.array(self._uops, np.uint32).view(np.uint8)
        return np.concatenate([data, uops])

    def rows(self, length: int) -> list[Row]:
        """Return loads of everything, a few instructions of every kind, and FINISH."""
        rows = [
            row(
                *(Opcode.LOAD,),
                **{"memory": each, "dram_base": DRAM_BASE // self._sizes[each]},
                **{"y_size": 1, "x_size": self._depths[each]},
            )
            for each in (Memory.WGT, Memory.INP, Memory.ACC)
        ]
        kinds = (self._load, self._gemm, self._alu, self._store, self._idle)
        while len(rows) < length + 3:
            rows += self._random.choices(kinds, (4, 3, 3, 4, 1))[0]()
        return [*rows, row(Opcode.FINISH)]

    def dump(self) -> list[Row]:
        """Return stores of all accumulators: their lowest bits first, then after shifts those above."""
        c, count = self._config, self._depths[Memory.OUT]
        number = self._uop(np.zeros(1, UOP))
        load = row(Opcode.LOAD, memory=Memory.UOP, dram_base=number, y_size=1, x_size=1)
        shift = row(
            *(Opcode.ALU,),
            **{"alu_opcode": AluOpcode.SHR, "use_imm": 1, "imm": 1 << c.log_out_width},
            **{"uop_end": 1, "iter_out": 1, "iter_in": count, "dst_factor_in": 1},
        )
        rows = [load]
        for part in range(c.acc_bytes // c.out_bytes):
            place = DRAM_BASE // c.out_bytes + part * count
            to = {"memory": Memory.OUT, "dram_base": place}
            rows += [row(Opcode.STORE, y_size=1, x_size=count, **to), shift]
        return rows[:-1]

    def _load(self) -> list[Row]:
        kinds = [Memory.WGT, Memory.INP, Memory.ACC]
        if self._config.acc_8bit:
            kinds.append(Memory.ACC_8BIT)
        memory = self._random.choice(kinds)
        pads = ("y_pad_0", "y_pad_1", "x_pad_0", "x_pad_1")
        return [
            self._move(
                Opcode.LOAD,
                memory,
                {name: max(0, self._random.randint(-2, 2)) for name in pads},
            )
        ]

    def _store(self) -> list[Row]:
        return [self._move(Opcode.STORE, Memory.OUT, {})]

    def _idle(self) -> list[Row]:
        choose = self._random.choice
        opcode = choose((Opcode.LOAD, Opcode.STORE, Opcode.GEMM))
        memory = choose(list(Memory)) if opcode is not Opcode.GEMM else 0
        return [row(opcode, memory=memory)]

    def _move(self, opcode: Opcode, memory: Memory, pads: dict[str, int]) -> Row:
        """Return rows of a few elements anywhere, if need be without pads."""
        depth, size = self._depths[memory], self._sizes[memory]
        here = self._data // size
        integer = self._random.randint
        while True:
            y, x = integer(0, 3), integer(1, 4)
            stride = integer(0, x + 2)
            height = y + pads.get("y_pad_0", 0) + pads.get("y_pad_1", 0)
            width = x + pads.get("x_pad_0", 0) + pads.get("x_pad_1", 0)
            reach = max(0, y - 1) * stride + x
            if height * width <= depth and reach <= here:
                break
            pads = {name: max(0, pad - 1) for name, pad in pads.items()}
        return row(
            *(opcode,),
            **{"memory": memory, "y_size": y, "x_size": x, "x_stride": stride},
            **{"sram_base": integer(0, depth - height * width)},
            **{"dram_base": DRAM_BASE // size + integer(0, here - reach)},
            **pads,
        )

    def _gemm(self) -> list[Row]:
        limits = {
            "dst": self._depths[Memory.ACC],
            "src": self._depths[Memory.INP],
            "wgt": self._depths[Memory.WGT],
        }
        resets = int(self._random.random() < 0.3)
        return self._loops(Opcode.GEMM, limits, {"reset": resets})

    def _alu(self) -> list[Row]:
        accumulators = self._depths[Memory.ACC]
        choose = self._random.choice
        opcodes = [
            each
            for each in AluOpcode
            if self._config.alu_mul or each is not AluOpcode.MUL
        ]
        amounts = (*range(-3, 9), 31, 32, 33, -31, -32, -33, 32767, -32768)
        operation = {
            "alu_opcode": choose(opcodes),
            "use_imm": choose((0, 1)),
            "imm": choose(amounts),
        }
        limits = {"dst": accumulators, "src": accumulators}
        return self._loops(Opcode.ALU, limits, operation)

    def _loops(
        self, opcode: Opcode, limits: dict[str, int], others: dict[str, int]
    ) -> list[Row]:
        """Return a LOAD of new micro-ops, and an instruction that uses them in loops."""
        integer = self._random.randint
        loops = (integer(0, 3) or 1, integer(0, 3) or 1)
        factors: dict[str, int] = {}
        uops = np.zeros(integer(1, min(4, self._config.uop_depth - 1)), UOP)
        for name, limit in limits.items():
            room = limit - 1
            for loop, times in zip(("out", "in"), loops, strict=True):
                most = room // max(1, times - 1)
                factor = integer(0, most) if self._random.random() < 0.7 else 0
                factors[f"{name}_factor_{loop}"] = factor
                room -= factor * (times - 1)
            uops[name] = [integer(0, room) for _ in uops]
        first = integer(0, self._config.uop_depth - len(uops))
        place = self._uop(uops)
        load = row(
            *(Opcode.LOAD,),
            **{"memory": Memory.UOP, "sram_base": first, "dram_base": place},
            **{"y_size": 1, "x_size": len(uops), "x_stride": len(uops)},
        )
        limited = {
            name: min(value, (1 << self._width(opcode, name)) - 1)
            for name, value in factors.items()
        }
        return [
            load,
            row(
                *(opcode,),
                **{"uop_bgn": first, "uop_end": first + len(uops)},
                **{"iter_out": loops[0], "iter_in": loops[1]},
                **limited,
                **others,
            ),
        ]

    def _uop(self, uops: Uops) -> int:
        """Put micro-ops behind others in memory; returns where, in micro-ops."""
        place = (DRAM_BASE + self._data) // 4 + len(self._uops)
        self._uops += encode_uops(uops, self._config).tolist()
        return place

    def _width(self, opcode: Opcode, name: str) -> int:
        fields = self._config.fields
        layout = fields.gemm if opcode is Opcode.GEMM else fields.alu
        return layout[name].width


FLAGS = {
    (LOAD, COMPUTE): ("push_next", "pop_prev"),
    (COMPUTE, LOAD): ("push_prev", "pop_next"),
    (COMPUTE, STORE): ("push_next", "pop_prev"),
    (STORE, COMPUTE): ("push_prev", "pop_next"),
}
"""The flags of the instructions that push to and pop from a queue, by the modules at its ends."""


def add_tokens(steps: list[tuple[Row, list[Access]]]) -> list[Row]:
    """Return instructions with tokens that order whatever touches the same, and FINISH after all; no token is for nothing.

    Loads and stores have no queue between them: an instruction of nothing is put into compute for those.
    """
    return _Tokens().place(steps)


class _Tokens:
    """Places tokens in program order; instructions of a module are counted from 1."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._members: dict[int, list[int]] = {each: [] for each in range(3)}
        self._clocks: dict[int, dict[int, int]] = {
            each: dict.fromkeys(range(3), 0) for each in range(3)
        }
        """What each module knows of each."""

        self._past: dict[tuple[int, int], dict[int, int]] = {}
        """What was known at the end of an instruction, by module and number."""

        self._users: dict[tuple[str, int], dict[tuple[int, bool], int]]
        self._users = defaultdict(dict)
        """The last instruction of each module that read or wrote an element."""

    def place(self, steps: list[tuple[Row, list[Access]]]) -> list[Row]:
        for row, accesses in steps:
            module = module_of(row)
            needs: dict[int, int] = {}
            if row["opcode"] == Opcode.FINISH:
                needs = {each: self._last_move(each) for each in (LOAD, STORE)}
            for access in accesses:
                using = self._users[access.memory, access.element]
                for (other, wrote), number in using.items():
                    if other != module and (wrote or access.writes):
                        needs[other] = max(needs.get(other, 0), number)
            self._put(dict(row), module, needs)
            for access in accesses:
                using = self._users[access.memory, access.element]
                using[module, access.writes] = len(self._members[module])
        return self._rows

    def _last_move(self, module: int) -> int:
        """Return the last instruction of a module that moves data."""
        moves = [self._rows[each]["x_size"] > 0 for each in self._members[module]]
        return max((number + 1 for number, each in enumerate(moves) if each), default=0)

    def _put(self, row: Row, module: int, needs: dict[int, int]) -> None:
        clock = self._clocks[module]
        for other, number in sorted(needs.items()):
            if {module, other} == {LOAD, STORE} and clock[other] < number:
                if self._clocks[COMPUTE][other] < number:
                    idle = instruction_of_nothing()
                    self._put(idle, COMPUTE, {other: number})
                needs = {**needs, COMPUTE: len(self._members[COMPUTE])}
        for other in (COMPUTE, LOAD, STORE):
            number = needs.get(other, 0)
            if clock[other] >= number or {module, other} == {LOAD, STORE}:
                continue
            push, pop = FLAGS[other, module]
            self._rows[self._members[other][number - 1]][push] = 1
            row[pop] = 1
            for each, known in self._past[other, number].items():
                clock[each] = max(clock[each], known)
        self._members[module].append(len(self._rows))
        self._rows.append(row)
        clock[module] += 1
        self._past[module, clock[module]] = dict(clock)


def instruction_of_nothing() -> Row:
    return row(Opcode.GEMM)


def in_series(instructions: Instructions) -> Instructions:
    """Return the same instructions, each of which waits for the one before it."""
    steps = [
        (
            {
                **each,
                **dict.fromkeys(("pop_prev", "pop_next", "push_prev", "push_next"), 0),
            }
        )
        for each in rows_of(instructions)
    ]
    everything = [Access("everything", 0, True)]
    return instructions_of(add_tokens([(each, everything) for each in steps]))
