"""What programs compute, case by case, against numpy; and programs of several launches and buffers."""

import doctest
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from vta_programs import SIM, SMALL

from partita.runtime.vta import (
    AluOpcode,
    Deadlock,
    HardwareConfig,
    Memory,
    Module,
    OutOfRange,
    Program,
    ProgramBuilder,
    Race,
    Tokens,
    Uninitialized,
    simulate,
)

Integers = NDArray[Any]


def bytes_of(array: Integers) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class Bench:
    """Builds a serial program that loads accumulators, does something to them, and stores them as bytes."""

    def __init__(self, config: HardwareConfig, accumulators: Integers):
        self.config = config
        self.shape = accumulators.shape
        self.builder = ProgramBuilder(config, serial=True)
        acc = self.builder.constant("acc", accumulators.astype(config.acc_dtype))
        size = len(accumulators) * config.out_bytes
        self.out = self.builder.output("out", size)
        self.builder.load(Memory.ACC, acc, columns=len(accumulators))

    def uops(self, uops: Sequence[tuple[int, int, int]], sram: int = 0) -> range:
        """Load micro-ops; returns where they are."""
        name = f"uops_{len(self.builder.build().instructions)}"
        handle = self.builder.uops(name, list(uops))
        self.builder.load(Memory.UOP, handle, sram=sram, columns=len(uops))
        return range(sram, sram + len(uops))

    def result(self) -> Integers:
        """Store everything and return it."""
        self.builder.store(self.out, columns=self.shape[0])
        self.builder.finish()
        program = self.builder.build()
        memory = program.memory()
        simulate(program, memory)
        data = program.outputs(memory)["out"]
        return data.view(self.config.out_dtype).reshape(self.shape)


ZEROS = np.zeros((16, 16), np.int32)

RANDOM = np.random.default_rng(0).integers(-(1 << 31), 1 << 31, (16, 16))


@pytest.mark.parametrize(
    "amount", [0, 1, 7, 31, 32, 100, 32767, -1, -5, -31, -32, -32768]
)
@pytest.mark.parametrize("by_vector", [False, True])
def test_shifts(amount: int, by_vector: bool) -> None:
    """Shift right rounds down, and by a negative amount multiplies; whole numbers know no largest amount."""
    values = RANDOM.copy()
    values[1] = amount
    bench = Bench(replace(SIM, log_out_width=5), values)
    once = bench.uops([(0, 1, 0)])
    bench.builder.alu(AluOpcode.SHR, once, imm=None if by_vector else amount)
    expected = [
        each >> amount if amount >= 0 else each << -amount
        for each in values[0].tolist()
    ]
    low = [(each + (1 << 31)) % (1 << 32) - (1 << 31) for each in expected]
    assert bench.result()[0].tolist() == low
    assert amount != -31 or any(low)


@pytest.mark.parametrize(
    ("opcode", "function"),
    [
        (AluOpcode.MIN, np.minimum),
        (AluOpcode.MAX, np.maximum),
        (AluOpcode.ADD, np.add),
        (AluOpcode.MUL, np.multiply),
    ],
)
def test_alu(opcode: AluOpcode, function: Any) -> None:
    """Both kinds of second operand; sums and products wrap around."""
    config = replace(SIM, log_out_width=5)
    values = RANDOM.astype(np.int32)
    bench = Bench(config, values)
    first = bench.uops([(0, 1, 0), (2, 3, 0)])
    bench.builder.alu(opcode, first[:1])
    bench.builder.alu(opcode, first[1:], imm=-12345)
    result = bench.result()
    np.testing.assert_array_equal(result[0], function(values[0], values[1]))
    np.testing.assert_array_equal(result[2], function(values[2], np.int32(-12345)))
    np.testing.assert_array_equal(result[3:], values[3:])


def test_one_micro_op_in_a_loop_stays() -> None:
    bench = Bench(SIM, ZEROS)
    once = bench.uops([(3, 0, 0)])
    bench.builder.alu(AluOpcode.ADD, once, loops=(4, 4), imm=1)
    assert bench.result()[:, 0].tolist() == [0] * 3 + [16] + [0] * 12


def test_two_micro_ops_at_offset_one() -> None:
    bench = Bench(SIM, ZEROS)
    bench.uops([(9, 0, 0)])
    two = bench.uops([(1, 0, 0), (2, 0, 0)], sram=1)
    bench.builder.alu(AluOpcode.ADD, two, loops=(1, 3), dst=(0, 4), imm=1)
    found = bench.result()[:, 0]
    assert np.flatnonzero(found).tolist() == [1, 2, 5, 6, 9, 10]


def test_thousands_of_micro_ops() -> None:
    bench = Bench(SIM, ZEROS)
    many = bench.uops([(each % 16, 0, 0) for each in range(8000)])
    bench.builder.alu(AluOpcode.ADD, many, imm=1)
    assert (bench.result() == (500 + 128) % 256 - 128).all()


def test_more_micro_ops_than_the_buffer_holds() -> None:
    """The buffer is filled again and again; what was in it before is gone."""
    bench = Bench(SMALL, ZEROS)
    for round_ in range(5):
        places = [(round_ + each) % 16 for each in range(32)]
        part = bench.uops([(each, 0, 0) for each in places])
        bench.builder.alu(AluOpcode.ADD, part, imm=round_)
    assert (bench.result() == 2 * (0 + 1 + 2 + 3 + 4)).all()


def test_sign_of_8_bit_accumulators() -> None:
    bench = Bench(replace(SIM, log_out_width=5), ZEROS)
    data = np.arange(-128, 128, dtype=np.int8).reshape(16, 16)
    source = bench.builder.constant("data", data)
    bench.builder.load(Memory.ACC_8BIT, source, columns=16)
    np.testing.assert_array_equal(bench.result(), data)


@pytest.mark.parametrize("log_width", [3, 4, 5])
def test_stores_keep_low_bits(log_width: int) -> None:
    config = replace(SIM, log_out_width=log_width)
    dtype = config.out_dtype
    np.testing.assert_array_equal(Bench(config, RANDOM).result(), RANDOM.astype(dtype))


def test_padded_load_of_long_rows() -> None:
    """An ACC load with 1 and 2 rows and 1 and 2 columns of zeros around rows of 100 elements."""
    data = np.random.default_rng(1).integers(-99, 99, (3, 120, 16), np.int32)
    bench = Bench(SIM, np.full((6 * 103, 16), 5))
    source = bench.builder.constant("data", data)
    bench.builder.load(
        Memory.ACC, source, dram=7, rows=3, columns=100, stride=120, pads=(1, 2, 1, 2)
    )
    padded = np.pad(data[:, 7:107], ((1, 2), (1, 2), (0, 0)))
    np.testing.assert_array_equal(bench.result().reshape(6, 103, 16), padded)


@pytest.mark.parametrize(
    ("batch", "block_in", "block_out"),
    [(0, 4, 5), (1, 5, 3), (0, 0, 6), (2, 7, 0)],
)
def test_two_tiles_of_outputs_where_blocks_differ(
    batch: int, block_in: int, block_out: int
) -> None:
    """A matrix product: inputs and outputs have blocks of different sizes, and each its own size in DRAM."""
    config = replace(
        *(SMALL,),
        **{"log_batch": batch, "log_block_in": block_in, "log_block_out": block_out},
        **{"log_inp_buff_size": 4 + batch + block_in},
        **{"log_wgt_buff_size": 4 + block_in + block_out},
        **{"log_acc_buff_size": 6 + batch + block_out},
    )
    random = np.random.default_rng(2)
    rows, columns, depth = config.batch, 2 * config.block_out, 2 * config.block_in
    left = random.integers(-128, 128, (rows, depth), np.int8)
    right = random.integers(-128, 128, (columns, depth), np.int8)
    bench = Bench(config, random.integers(-999, 999, (2, rows, config.block_out)))
    inp = left.reshape(rows, 2, config.block_in).transpose(1, 0, 2)
    wgt = right.reshape(2, config.block_out, 2, config.block_in).transpose(0, 2, 1, 3)
    for memory, data in ((Memory.INP, inp), (Memory.WGT, wgt)):
        source = bench.builder.constant(memory.name, np.ascontiguousarray(data))
        tiles = 2 if memory is Memory.INP else 4
        bench.builder.load(memory, source, columns=tiles)
    resets = bench.uops([(0, 0, 0)])
    bench.builder.gemm(resets, loops=(1, 2), dst=(0, 1), reset=True)
    once = bench.uops([(0, 0, 0)])
    bench.builder.gemm(once, loops=(2, 2), dst=(1, 0), src=(0, 1), wgt=(2, 1))
    product = left.astype(np.int64) @ right.astype(np.int64).T
    tiles = product.reshape(rows, 2, config.block_out).transpose(1, 0, 2)
    np.testing.assert_array_equal(bench.result(), tiles.astype(np.int8))


def test_sums_wrap_around() -> None:
    """The largest products, of 16-bit factors, beyond 32 bits and back."""
    config = replace(SIM, log_inp_width=4, log_wgt_width=4, log_out_width=5)
    bench = Bench(config, ZEROS)
    least = np.full((1, 16), -(1 << 15), np.int16)
    for memory, data in ((Memory.INP, least), (Memory.WGT, np.tile(least, (16, 1)))):
        source = bench.builder.constant(memory.name, data)
        bench.builder.load(memory, source, columns=1)
    bench.builder.gemm(bench.uops([(0, 0, 0)]), loops=(1, 3), dst=(0, 0))
    assert (bench.result()[0] == np.int64(48 << 30).astype(np.int32)).all()


def test_launches_keep_what_is_on_the_chip() -> None:
    """Tokens and memories carry over; all of a launch is complete before the next one begins."""
    builder = ProgramBuilder(SMALL)
    start = builder.constant("start", np.arange(16, dtype=np.int32))
    out = builder.output("out", 48)
    once = builder.uops("once", [(0, 0, 0)])
    builder.load(Memory.ACC, start, columns=1)
    builder.load(Memory.UOP, once, columns=1)
    for number in range(3):
        builder.alu(AluOpcode.ADD, range(1), imm=1, tokens=Tokens(push_next=True))
        wait = Tokens(pop_prev=True, push_prev=True)
        builder.store(out, dram=number, columns=1, tokens=wait)
        builder.finish(Tokens(pop_next=True))
    program = builder.build()
    assert len(program.launches) == 3
    memory = program.memory()
    report = simulate(program, memory)
    values = program.outputs(memory)["out"].reshape(3, 16)
    assert values.tolist() == [[each + n for each in range(16)] for n in (1, 2, 3)]
    assert not any(report.tokens.values())
    assert report.moved[Memory.OUT] == 48


def test_what_launches_order_needs_no_tokens() -> None:
    """The same accesses race in one launch, and not where a launch ends between them."""

    def program(finish_between: bool) -> Program:
        builder = ProgramBuilder(SMALL)
        data = builder.constant("data", np.zeros(16, np.int8))
        out = builder.output("out", 16)
        acc = builder.constant("acc", np.zeros(16, np.int32))
        builder.load(Memory.ACC, acc, columns=1, tokens=Tokens(push_next=True))
        wait = Tokens(pop_prev=True, push_prev=True)
        builder.store(out, columns=1, tokens=wait)
        if finish_between:
            builder.finish(Tokens(pop_next=True))
        builder.load(Memory.ACC_8BIT, data, columns=1)
        builder.finish(Tokens(pop_next=not finish_between))
        return builder.build()

    simulate(program(True), program(True).memory())
    with pytest.raises(
        Race, match=r"instruction 2 \(load\.acc_8bit .* writes element 0"
    ):
        simulate(program(False), program(False).memory())


def test_loads_need_no_tokens_for_what_launches_before_stored() -> None:
    """The load module pops nothing, and knows of the store only because a launch ended after it."""

    def program(finish_between: bool) -> Program:
        builder = ProgramBuilder(SMALL)
        acc = builder.constant("acc", np.zeros(16, np.int32))
        scratch = builder.scratch("scratch", 64)
        builder.load(Memory.ACC, acc, columns=1, tokens=Tokens(push_next=True))
        wait = Tokens(pop_prev=True, push_prev=True)
        builder.store(scratch, columns=1, tokens=wait)
        if finish_between:
            builder.finish(Tokens(pop_next=True))
        builder.load(Memory.INP, scratch, columns=1, tokens=Tokens(push_next=True))
        builder.finish(Tokens(pop_prev=True, pop_next=not finish_between))
        return builder.build()

    simulate(program(True), program(True).memory())
    with pytest.raises(Race, match=r"instruction 2 \(load\.inp .* byte 0 of scratch"):
        simulate(program(False), program(False).memory())


def test_tokens_carry_over() -> None:
    """A token that one launch leaves is there for the next, and missing if it does not."""

    def program(pushes: bool) -> Program:
        builder = ProgramBuilder(SMALL)
        builder.finish(Tokens(push_prev=pushes))
        builder.token(Module.LOAD, Tokens(pop_next=True))
        builder.finish()
        return builder.build()

    nothing = np.zeros(0, np.uint8)
    assert not any(simulate(program(True), nothing).tokens.values())
    with pytest.raises(Deadlock, match=r"load waits at instruction 1 .* from compute"):
        simulate(program(False), nothing)


def scratch_user(stores_first: bool) -> Program:
    builder = ProgramBuilder(SMALL, serial=True)
    start = builder.input("start", 64)
    scratch = builder.scratch("scratch", 64)
    out = builder.output("out", 16)
    builder.load(Memory.ACC, start, columns=1)
    if stores_first:
        builder.store(scratch, dram=1, columns=1)
    builder.load(Memory.ACC_8BIT, scratch, dram=1, columns=1)
    builder.store(out, columns=1)
    builder.finish()
    return builder.build()


def test_scratch_that_nothing_has_stored() -> None:
    data = {"start": np.zeros(64, np.uint8)}
    good, bad = scratch_user(True), scratch_user(False)
    simulate(good, good.memory(data), check_scratch=True)
    simulate(bad, bad.memory(data))
    with pytest.raises(
        Uninitialized,
        match=r"reads byte 16 of scratch, which nothing before it has written",
    ):
        simulate(bad, bad.memory(data), check_scratch=True)


def test_faults_name_the_buffer() -> None:
    program = scratch_user(True)
    stream = program.instructions.copy()
    moves = np.flatnonzero(stream["memory"] == Memory.ACC_8BIT)
    stream["dram_base"][moves] = 4
    wrong = replace_unchecked(program, stream)
    with pytest.raises(
        OutOfRange,
        match=r"accesses bytes 64 to 79 of scratch, which are not within 0 to 63",
    ):
        simulate(wrong, wrong.memory({"start": np.zeros(64, np.uint8)}))


def replace_unchecked(program: Program, stream: Any) -> Program:
    """Return a program whose stream was not looked at when it was made."""
    changed = object.__new__(Program)
    changed.__dict__.update(program.__dict__ | {"instructions": stream})
    return changed


def test_resolved_streams_do_the_same() -> None:
    """At any place in memory, a program does what it does in its arena."""
    program = scratch_user(True)
    memory = program.memory({"start": np.arange(64, dtype=np.uint8)})
    base = 1 << 20
    elsewhere = memory.copy()
    stream = (program.resolved(base), program.config)
    simulate(stream, elsewhere, base=base)
    simulate(program, memory)
    np.testing.assert_array_equal(elsewhere, memory)


def test_the_example_of_the_page() -> None:
    page = Path(__file__).parent.parent / "docs" / "vta-simulator.md"
    (text,) = re.findall(r"^```pycon\n(.*?)^```$", page.read_text(), re.S | re.M)
    example = doctest.DocTestParser().get_doctest(text, {}, page.name, None, None)
    assert len(example.examples) > 8
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
