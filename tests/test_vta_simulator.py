"""The simulator against records of the original, and what it says of programs that go wrong."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vta_programs import (
    CONFIGS,
    SMALL,
    instructions_of,
    row,
)
from vta_reference import LOAD, STORE, Row, module_of, rows_of

from partita.errors import InputError, OptionError, PartitaError
from partita.runtime.vta import isa
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.faults import (
    Deadlock,
    Finish,
    Illegal,
    OutOfRange,
    Race,
    Uninitialized,
)
from partita.runtime.vta.isa import AluOpcode, Memory, Module, Opcode
from partita.runtime.vta.kernels.queues import TokenQueue
from partita.runtime.vta.program import Program
from partita.runtime.vta.records import Record
from partita.runtime.vta.simulator import OrderName, SimulationReport, simulate

GOLDEN = Path(__file__).parent / "golden" / "vta"
RECORDS = sorted(GOLDEN.glob("*.npz"))
STREAMS = sorted((GOLDEN / "streams").glob("*.npz"))

ORDERS: tuple[OrderName, ...] = ("program", "early_loads", "late_loads", "random")

Bytes = NDArray[np.uint8]


def test_there_are_records() -> None:
    assert (len(RECORDS), len(STREAMS)) == (22, 16)


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_record(path: Path) -> None:
    """Memory after the launch is what the original's is, in every order; micro-ops are as many as it counted."""
    record = Record.read(path)
    program = Program.of_record(record)
    for order in ORDERS:
        memory = program.memory()
        report = simulate(program, memory, order=order)
        np.testing.assert_array_equal(memory, record.after)
        if "profiler" in record.meta:
            assert report.micro_ops["gemm"] == record.meta["profiler"]["gemm_counter"]


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_stream(path: Path) -> None:
    """Streams of whole layers and networks have no races, and do the same in every order."""
    program = Program.of_record(path)
    filled = program.memory()
    random = np.random.default_rng(0)
    for each in program.buffers:
        if each.role == "scratch":
            filled[each.offset : each.end] = random.integers(0, 256, each.size)
    results: list[Bytes] = []
    for order in ORDERS:
        memory = filled.copy()
        simulate(program, memory, order=order)
        results.append(memory)
    for each in results[1:]:
        np.testing.assert_array_equal(each, results[0])


def run(
    *rows: Row,
    config: HardwareConfig = SMALL,
    memory: Bytes | None = None,
    order: OrderName = "program",
    check_races: bool = True,
    check_written: bool = True,
) -> SimulationReport:
    """Run a launch at address 0, by default on 4 KiB of zeros."""
    return simulate(
        (instructions_of(list(rows)), config),
        np.zeros(4096, np.uint8) if memory is None else memory,
        order=order,
        check_races=check_races,
        check_written=check_written,
    )


def load(memory: Memory, size: int = 1, **fields: int) -> Row:
    return row(Opcode.LOAD, memory=memory, y_size=1, x_size=size, **fields)


def store(size: int = 1, **fields: int) -> Row:
    return row(Opcode.STORE, memory=Memory.OUT, y_size=1, x_size=size, **fields)


def gemm(**fields: int) -> Row:
    return row(Opcode.GEMM, **{"uop_end": 1, "iter_out": 1, "iter_in": 1, **fields})


def alu(opcode: AluOpcode, imm: int | None = None, **fields: int) -> Row:
    immediate = {} if imm is None else {"use_imm": 1, "imm": imm}
    once = {"uop_end": 1, "iter_out": 1, "iter_in": 1}
    return row(Opcode.ALU, **{**once, "alu_opcode": opcode, **immediate, **fields})


FINISH = row(Opcode.FINISH)

ZERO_UOP = load(Memory.UOP)


def finished(rows: list[Row]) -> list[Row]:
    """Return rows with a FINISH that waits for the last load and the last store."""
    rows = [dict(each) for each in rows]
    finish = dict(FINISH)
    for module, push, pop in (
        (LOAD, "push_next", "pop_prev"),
        (STORE, "push_prev", "pop_next"),
    ):
        members = [each for each in rows if module_of(each) == module]
        if members:
            members[-1][push] = finish[pop] = 1
    return [*rows, finish]


def test_deadlock_names_what_every_module_waits_for() -> None:
    with pytest.raises(Deadlock) as caught:
        run(
            load(Memory.INP, pop_next=1),
            {**ZERO_UOP, "pop_prev": 1, "pop_next": 1},
            store(pop_prev=1),
            FINISH,
        )
    assert caught.value.instructions == (0, 1, 2)
    assert str(caught.value) == (
        "deadlock: load waits at instruction 0 (load.inp dram=0 y=1 x=1 stride=0 sram=0 pop=next) for a token from "
        "compute; compute waits at instruction 1 (load.uop dram=0 y=1 x=1 stride=0 sram=0 pop=prev,next) for a token "
        "from load and store; store waits at instruction 2 (store.out dram=0 y=1 x=1 stride=0 sram=0 pop=prev) for a "
        "token from compute"
    )


def test_deadlock_of_one_module() -> None:
    with pytest.raises(Deadlock, match=r"load has done all .* store has done all"):
        run(load(Memory.INP), {**FINISH, "pop_next": 1})


def test_full_queue_is_a_deadlock() -> None:
    """The token for compute comes from a load that fetch never reaches."""
    config = replace(SMALL, queue_depth=4)
    waits = gemm(uop_end=0, pop_prev=1)
    idle = gemm(uop_end=0)
    rows = [waits, *[idle] * 3, load(Memory.INP, 0, push_next=1), FINISH]
    assert run(*rows, config=config).instructions[Module.COMPUTE] == 5
    rows.insert(1, idle)
    with pytest.raises(
        Deadlock,
        match=r"fetch waits at instruction 4 \(gemm .*\) for room in the queue of compute; compute waits at",
    ):
        run(*rows, config=config)


def test_tokens_left_are_reported() -> None:
    report = run(
        load(Memory.INP, push_next=1), {**FINISH, "pop_prev": 1, "push_next": 1}
    )
    assert report.tokens == {
        **dict.fromkeys(TokenQueue, 0),
        TokenQueue.COMPUTE_TO_STORE: 1,
    }


def test_race_on_chip() -> None:
    """The second load may overwrite the input before GEMM has read it."""
    rows = [
        load(Memory.INP),
        load(Memory.WGT, push_next=1),
        load(Memory.INP, push_next=1),
        ZERO_UOP,
        load(Memory.ACC),
        gemm(pop_prev=1),
        {**FINISH, "pop_prev": 1},
    ]
    with pytest.raises(Race) as caught:
        run(*rows)
    assert set(caught.value.instructions) == {2, 5}
    assert str(caught.value) == (
        "race: instruction 5 (gemm uops=0:1 loops=1x1 dst=0,0 src=0,0 wgt=0,0 pop=prev) reads element 0 of INP, "
        "instruction 2 (load.inp dram=0 y=1 x=1 stride=0 sram=0 push=next) writes it, and no chain of tokens orders them"
    )
    for order in ORDERS:
        with pytest.raises(Race):
            run(*rows, order=order)
    run(*rows, check_races=False)


def test_race_in_dram_is_told_by_bytes() -> None:
    """A load of the 16 bytes behind those that a store writes is no race, one of the same bytes is."""
    rows = [load(Memory.ACC, push_next=1), store(dram_base=3, pop_prev=1, push_prev=1)]
    last = {**FINISH, "pop_prev": 1, "pop_next": 1}
    run(*rows, load(Memory.INP, dram_base=4, push_next=1), last)
    run(*rows, load(Memory.INP, dram_base=2, push_next=1), last)
    with pytest.raises(Race, match="reads byte 48 of DRAM"):
        run(*rows, load(Memory.INP, dram_base=3, push_next=1), last)


def test_races_in_dram_are_found_in_every_part_of_an_element() -> None:
    """A store of 2 by 2 outputs races with loads, of smaller and of larger elements, of just the bytes that it writes."""
    written = {*range(48, 80), *range(128, 160)}
    stores = store(2, dram_base=3, pop_prev=1, push_prev=1)
    first = [
        load(Memory.ACC, 4, dram_base=20, push_next=1),
        {**stores, "y_size": 2, "x_stride": 5},
    ]
    for memory, size in ((Memory.UOP, 4), (Memory.ACC_8BIT, 16), (Memory.ACC, 64)):
        racing: set[int] = set()
        for element in range(256 // size):
            rows = [*first, load(memory, dram_base=element, sram_base=8)]
            try:
                run(*rows, {**FINISH, "pop_next": 1})
            except Race:
                racing.add(element)
        assert racing == {each // size for each in written}


def test_race_between_an_accumulator_and_its_store() -> None:
    rows = [
        {**ZERO_UOP},
        load(Memory.ACC, push_next=1),
        store(pop_prev=1, push_prev=1),
        alu(AluOpcode.ADD, 1),
        {**FINISH, "pop_next": 1},
    ]
    with pytest.raises(Race, match=r"alu\.add .* writes element 0 of ACC"):
        run(*rows)
    rows[3]["pop_next"], rows[4]["pop_next"] = 1, 0
    run(*rows)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([load(Memory.INP, 17)], "accesses element 16 of INP, which has 16"),
        (
            [load(Memory.INP, 2, y_pad_0=7, x_pad_1=1, sram_base=9)],
            "accesses element 16 of INP, which has 16",
        ),
        ([load(Memory.WGT, sram_base=99)], "accesses element 99 of WGT, which has 16"),
        ([store(sram_base=16)], "accesses element 16 of OUT, which has 16"),
        ([gemm(uop_end=33)], "accesses element 32 of UOP, which has 32"),
        (
            [
                ZERO_UOP,
                load(Memory.ACC, 16),
                alu(AluOpcode.ADD, iter_in=5, src_factor_in=4),
            ],
            "accesses element 16 of ACC, which has 16",
        ),
        (
            [
                ZERO_UOP,
                gemm(
                    reset=1, iter_out=2, iter_in=2, dst_factor_out=15, dst_factor_in=1
                ),
            ],
            "accesses element 16 of ACC, which has 16",
        ),
        (
            [load(Memory.ACC, 2, dram_base=63)],
            "accesses bytes 4032 to 4159 of DRAM, which are not within 0 to 4095",
        ),
        (
            [row(Opcode.LOAD, memory=Memory.INP, y_size=3, x_size=1, x_stride=128)],
            "accesses bytes 0 to 4111 of DRAM, which are not within 0 to 4095",
        ),
        (
            [load(Memory.UOP, dram_base=(1 << 32) - 1)],
            "accesses bytes 17179869180 to 17179869183 of DRAM",
        ),
    ],
)
def test_out_of_range(rows: list[Row], message: str) -> None:
    for checked in (True, False):
        with pytest.raises(OutOfRange) as caught:
            run(*finished(rows), check_races=checked, check_written=False)
        assert message in str(caught.value)
        assert caught.value.instructions == (len(rows) - 1,)


def test_nothing_is_never_out_of_range() -> None:
    """Instructions without executions or elements access nothing, wherever they point."""
    run(
        row(Opcode.LOAD, memory=Memory.INP, sram_base=999, y_size=9, x_pad_0=9),
        row(Opcode.LOAD, memory=Memory.OUT),
        row(Opcode.STORE, memory=Memory.WGT, dram_base=1 << 31),
        row(Opcode.LOAD, memory=Memory.ACC, x_size=1, dram_base=1 << 31),
        gemm(iter_in=0, uop_bgn=50, uop_end=99),
        alu(AluOpcode.ADD, uop_bgn=7, uop_end=3),
        FINISH,
    )


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([gemm(reset=1)], "element 0 of UOP"),
        ([ZERO_UOP, alu(AluOpcode.ADD, 1)], "element 0 of ACC"),
        ([ZERO_UOP, load(Memory.ACC), gemm()], "element 0 of INP"),
        (
            [
                ZERO_UOP,
                load(Memory.ACC),
                alu(AluOpcode.MAX, src_factor_in=5, iter_in=2),
            ],
            "element 5 of ACC",
        ),
        ([store(sram_base=3)], "element 3 of ACC"),
    ],
)
def test_uninitialized(rows: list[Row], what: str) -> None:
    with pytest.raises(
        Uninitialized, match=rf"reads {what}, which nothing before it has written"
    ):
        run(*finished(rows))


def test_what_nothing_wrote_is_zero_where_that_is_not_checked() -> None:
    memory = np.full(64, 7, np.uint8)
    rows = [store(push_prev=1), {**FINISH, "pop_next": 1}]
    run(*rows, memory=memory, check_written=False)
    assert memory.tolist() == [0] * 16 + [7] * 48


def test_padding_and_reset_count_as_written() -> None:
    run(
        ZERO_UOP,
        gemm(reset=1),
        row(Opcode.LOAD, memory=Memory.ACC, x_size=1, y_pad_0=1, sram_base=1),
        alu(AluOpcode.ADD, src_factor_in=1, iter_in=2),
        FINISH,
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "expected a launch that ends with FINISH, got no instructions"),
        (
            [ZERO_UOP],
            "expected FINISH as the last instruction of a launch, got instruction 0",
        ),
        (
            [FINISH, FINISH],
            r"instruction 0 \(finish\) is not the last instruction of its launch",
        ),
        (
            [load(Memory.INP), FINISH],
            r"instruction 1 \(finish\) does not wait for instruction 0 \(load.inp",
        ),
        (
            [load(Memory.ACC, push_next=1), store(pop_prev=1), FINISH],
            r"instruction 2 \(finish\) does not wait for instruction 1 \(store.out",
        ),
    ],
)
def test_finish(rows: list[Row], message: str) -> None:
    memory = np.arange(128, dtype=np.uint8)
    with pytest.raises(Finish, match=message):
        run(*rows, memory=memory)
    assert memory.tolist() == list(range(128))


@pytest.mark.parametrize(
    "bad",
    [
        row(Opcode.LOAD, memory=Memory.OUT, x_size=1),
        row(Opcode.LOAD, memory=9, x_size=1),
        row(Opcode.STORE, memory=Memory.ACC, x_size=1),
        store(x_pad_0=1),
        alu(AluOpcode.ADD, alu_opcode=5),
        {**FINISH, "opcode": 7},
        {**FINISH, "opcode": -1},
        gemm(iter_out=1 << 40),
        gemm(uop_bgn=-1),
        load(Memory.INP, dram_base=-1),
        load(Memory.INP, dram_base=1 << 40),
        load(Memory.INP, sram_base=-(1 << 62)),
    ],
)
def test_illegal(bad: Row) -> None:
    with pytest.raises(
        Illegal, match="has fields that mean nothing to this hardware"
    ) as caught:
        run(*finished([ZERO_UOP, bad]), check_written=False)
    assert caught.value.instructions == (1,)


def test_features_that_hardware_lacks() -> None:
    lacking = replace(SMALL, alu_mul=False, acc_8bit=False)
    for each in (alu(AluOpcode.MUL, 3), load(Memory.ACC_8BIT)):
        rows = [ZERO_UOP, load(Memory.ACC), each, FINISH]
        run(*rows)
        with pytest.raises(Illegal, match="instruction 2"):
            run(*rows, config=lacking)


def test_arguments() -> None:
    stream = (instructions_of([FINISH]), SMALL)
    memory = np.zeros(64, np.uint8)
    with pytest.raises(
        OptionError, match=r"late_loads, random, got early; did you mean"
    ):
        simulate(stream, memory, order=cast(OrderName, "early"))
    with pytest.raises(InputError, match=r"contiguous bytes, got int32\[4\]"):
        simulate(stream, cast(Bytes, np.zeros(4, np.int32)))
    with pytest.raises(InputError, match="contiguous bytes"):
        simulate(stream, memory[::2])
    with pytest.raises(InputError, match="multiple of 64, got base 32"):
        simulate(stream, memory, base=32)
    others: list[Any] = [np.zeros(3, isa.UOP), np.zeros((1, 29), np.int64)]
    for other in others:
        with pytest.raises(isa.IsaError, match="expected a stream as one dimension"):
            simulate((other, SMALL), memory)
    memory.flags.writeable = False
    with pytest.raises(InputError, match="can be written"):
        simulate(stream, memory)
    program = Program.of_record(RECORDS[0])
    with pytest.raises(InputError, match=f"memory of {program.arena_bytes} bytes"):
        simulate(program, np.zeros(64, np.uint8))


def attempt(stream: isa.Instructions, *, check_written: bool) -> PartitaError | None:
    """Run a stream on memory in the midst of other memory, which stays as it is; returns what is wrong with it."""
    room = np.zeros(3 * 4096, np.uint8)
    try:
        simulate((stream, SMALL), room[4096:8192], check_written=check_written)
        return None
    except PartitaError as error:
        return error
    finally:
        assert not room[:4096].any()
        assert not room[8192:].any()


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=1, max_size=99))
def test_random_bytes(insns: bytes) -> None:
    """Bytes that are no program are one error, in one line."""
    try:
        stream = isa.decode(insns, SMALL)
    except isa.IsaError as error:
        found = error
    else:
        found = attempt(stream, check_written=True)
    assert found is None or "\n" not in str(found)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from([3, 5, 16, 40]))
def test_random_fields(seed: int, bits: int) -> None:
    """So are rows of numbers that were never encoded; most are out of range or mean nothing."""
    random = np.random.default_rng(seed)
    table = random.integers(-1, 1 << bits, (6, len(isa.COLUMNS)))
    table[:, 0] = random.integers(0, 5, 6)
    table[:, 1:5] = 0
    table[:, 5] = random.integers(0, 6, 6)
    rows = rows_of(table.view(isa.INSTRUCTION).reshape(-1))
    rows = [each for each in rows if each["opcode"] != Opcode.FINISH]
    found = attempt(instructions_of(finished(rows)), check_written=False)
    assert found is None or isinstance(found, (Illegal, OutOfRange, Race))


def test_configurations_have_every_shape() -> None:
    assert {each.batch for each in CONFIGS.values()} == {1, 2}
    assert any(each.block_in > each.block_out for each in CONFIGS.values())
    assert any(each.block_in < each.block_out for each in CONFIGS.values())
