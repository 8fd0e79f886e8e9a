"""The cycle model: the original's streams take what they should, and random ones what a slow model says."""

import json
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vta_baseline import ADDS, FILES, GOLDEN, LAUNCHES, NETWORK
from vta_programs import (
    CONFIGS,
    DRAM_BASE,
    instructions_of,
    random_case,
    random_config,
    row,
)
from vta_reference import Row, rows_of
from vta_timing_reference import Reference

from partita.runtime.vta import (
    HardwareConfig,
    Layer,
    Memory,
    Module,
    Opcode,
    Program,
)
from partita.runtime.vta.cycles import (
    CycleReport,
    time_program,
    time_stream,
)
from partita.runtime.vta.faults import Deadlock
from partita.runtime.vta.isa import (
    COLUMNS,
    Instructions,
    IsaError,
    decode,
    decode_uops,
    layout_of,
)
from partita.runtime.vta.stalls import Cause
from partita.runtime.vta.timing import TimingError

SIM = HardwareConfig.load("sim")

EXAMPLES = settings(max_examples=40, deadline=None)
SEEDS = st.integers(0, (1 << 32) - 1)


@pytest.mark.parametrize("file", FILES)
def test_a_launch_takes_what_the_baseline_says(file: str) -> None:
    report = time_program(Program.of_record(GOLDEN / file))
    expected, total = FILES[file], report.total
    assert report.cycles == expected["cycles"]
    assert total.instructions == expected["insns"]
    assert total.gemm == expected["GEMM"]
    assert round(total.dram_busy) == expected["DRAM busy"]
    assert SIM.alu_ii * total.alu == expected["ALU"]
    assert total.reset == expected.get("reset", total.reset)
    assert total.dram_bytes == expected.get("DRAM bytes", total.dram_bytes)


def test_the_network_takes_what_the_baseline_says_launch_by_launch() -> None:
    name = "streams/resnet18_v1_tophub_alucpu_e2e.npz"
    report = time_program(Program.of_record(GOLDEN / name))
    assert len(report.launches) == len(LAUNCHES)
    for launch, expected in zip(report.launches, LAUNCHES, strict=True):
        assert launch.cycles == expected["cycles"]
        assert launch.instructions == expected["insns"]
        assert launch.gemm == expected["GEMM"]
        assert launch.gemm_bound == expected["valid"]
        assert launch.reset == expected["reset"]
        assert launch.dram_busy == expected["DRAM busy"]
        assert launch.dram_bytes == expected["DRAM bytes"]
    assert report.cycles == sum(each["cycles"] for each in LAUNCHES)


def test_the_network_with_its_adds_takes_what_the_baseline_says() -> None:
    """The launch after an add finds a token left over, and pops it with one instruction more."""
    file = np.load(GOLDEN / "streams" / "resnet18_v1_tophub_e2e.npz")
    report = time_stream(decode(file["insns"], SIM), SIM)
    starts = [each.start for each in report.timing.launches]
    assert [*starts, len(report.layer)] == file["run_offsets"].tolist()
    adds = [each for each in report.launches if each.gemm == 0]
    others = [each for each in report.launches if each.gemm]
    assert len(adds) == 8
    assert sum(each.cycles for each in adds) == ADDS
    for launch, expected in zip(others, LAUNCHES, strict=True):
        more = launch.instructions - expected["insns"]
        assert more in (0, 1)
        assert launch.cycles == pytest.approx(expected["cycles"], abs=5 * more)
    assert report.cycles == pytest.approx(NETWORK, rel=0.001)


def modelled(random: Random, config: HardwareConfig) -> HardwareConfig:
    """Return the hardware with any parameters of the model, small ones so that a slow model ends."""
    return replace(
        config,
        latency=random.randint(0, 20),
        bus_bytes=random.choice((1, 2, 3, 8)),
        gemm_ii=random.randint(1, 3),
        alu_ii=random.randint(1, 3),
        setup_cycles=random.randint(0, 5),
        row_cycles=random.randint(0, 3),
        fetch_cycles=random.choice((1, 2, 30)),
        queue_depth=random.choice((1, 2, 5, 512)),
    )


def check(instructions: Instructions, config: HardwareConfig) -> CycleReport:
    """Expect of the model what the slow one says, and that it accounts for all of the time."""
    report = time_stream(instructions, config)
    reference = Reference(instructions, config)
    timing = report.timing
    for launch, length in zip(timing.launches, timing.length, strict=True):
        assert reference.launch(launch, length + 1)
    for field in ("arrival", "start", "granted", "end"):
        expected = [getattr(each, field) for each in reference.times]
        assert getattr(timing, field).tolist() == expected
    check_accounts(report)
    return report


def check_accounts(report: CycleReport) -> None:
    ticks = report.timing.ticks
    for launch, length in zip(report.launches, report.timing.length, strict=True):
        assert launch.cycles == round(length / ticks)
        for module in launch.modules.values():
            assert module.busy + sum(module.stalls.values()) == pytest.approx(
                length / ticks
            )
    for field in ("instructions", "gemm", "reset", "alu", "read", "written"):
        parts = [getattr(each, field) for each in report.launches]
        assert getattr(report.total, field) == sum(parts)
    assert report.cycles == sum(each.cycles for each in report.launches)
    assert report.total.compute_bound <= report.cycles * 1.001 + 1
    assert report.total.dram_bound <= report.cycles + len(report.launches)


@EXAMPLES
@given(st.sampled_from(sorted(CONFIGS)), SEEDS)
def test_random_launches(name: str, seed: int) -> None:
    random = Random(seed)
    case = random_case(random, modelled(random, CONFIGS[name]))
    check(case.instructions, case.config)


@pytest.mark.full
@settings(max_examples=300, deadline=None)
@given(SEEDS)
def test_random_launches_on_any_hardware(seed: int) -> None:
    random = Random(seed)
    config = modelled(random, random_config(random))
    case = random_case(random, config, random.randint(1, 60))
    report = check(case.instructions, config)
    known = time_stream(case.instructions, config, memory=case.memory, base=DRAM_BASE)
    expected = padding_read(rows_of(case.instructions), config, case.memory)
    assert known.total.padding == expected
    assert known.total.cycles == report.total.cycles


@EXAMPLES
@given(SEEDS)
def test_launches_begin_idle_and_keep_tokens(seed: int) -> None:
    """A launch that leaves tokens, and one that pops them, takes as long as both alone but for the pops."""
    random = Random(seed)
    config = modelled(random, CONFIGS["small"])
    case = random_case(random, config, 6)
    rows = rows_of(case.instructions)
    left = [
        *(
            row(Opcode.STORE, push_prev=1),
            row(Opcode.LOAD, memory=Memory.INP, push_next=1),
        ),
        *rows,
    ]
    takes = [row(Opcode.GEMM, pop_prev=1, pop_next=1), *rows]
    if random.random() < 0.5:
        takes = [row(Opcode.GEMM, pop_next=1), row(Opcode.GEMM, pop_prev=1), *rows]
    # Tokens that were left over are popped first, so that all others are matched as before.
    report = check(instructions_of([*left[2:-1], *left[:2], left[-1], *takes]), config)
    assert len(report.launches) == 2
    assert report.timing.arrival[len(left)] == config.fetch_cycles * config.bus_bytes


@EXAMPLES
@given(st.sampled_from(sorted(CONFIGS)), SEEDS)
def test_multiplications_by_padding_are_counted(name: str, seed: int) -> None:
    case = random_case(Random(seed), CONFIGS[name], 20)
    report = time_stream(
        case.instructions, case.config, memory=case.memory, base=DRAM_BASE
    )
    expected = padding_read(rows_of(case.instructions), case.config, case.memory)
    assert report.total.padding == expected


def padding_read(
    rows: list[Row],
    config: HardwareConfig,
    memory: "np.ndarray[tuple[int], np.dtype[np.uint8]]",
) -> int:
    """Count element by element, in program order."""
    sources: dict[int, int] = {}
    padding: set[int] = set()
    count = 0
    for each in rows:
        if each["opcode"] == Opcode.LOAD and each["x_size"]:
            for element, place in moved(each):
                if each["memory"] == Memory.INP:
                    (padding.add if place is None else padding.discard)(element)
                elif each["memory"] == Memory.UOP and place is not None:
                    data = memory[4 * place - DRAM_BASE :][:4]
                    sources[element] = int(decode_uops(data, config)["src"][0])
        elif each["opcode"] == Opcode.GEMM and not each["reset"]:
            loops = (each["iter_out"], each["iter_in"])
            for outer, inner in product(*map(range, loops)):
                for uop in range(each["uop_bgn"], each["uop_end"]):
                    source = sources[uop] + outer * each["src_factor_out"]
                    count += source + inner * each["src_factor_in"] in padding
    return count


def moved(load: Row) -> list[tuple[int, int | None]]:
    """Return the elements that a LOAD writes, with where each comes from; nowhere for padding."""
    height = load["y_pad_0"] + load["y_size"] + load["y_pad_1"]
    width = load["x_pad_0"] + load["x_size"] + load["x_pad_1"]
    found: list[tuple[int, int | None]] = []
    for y, x in product(range(height), range(width)):
        row, column = y - load["y_pad_0"], x - load["x_pad_0"]
        inside = 0 <= row < load["y_size"] and 0 <= column < load["x_size"]
        place = load["dram_base"] + row * load["x_stride"] + column
        found.append((load["sram_base"] + len(found), place if inside else None))
    return found


LOAD_INP = {"memory": Memory.INP, "y_size": 1, "x_size": 4, "x_stride": 4}
"""64 bytes: 34 cycles of latency and a row, and 8 on the channel."""


def test_stalls_have_causes() -> None:
    stream = instructions_of(
        [
            row(Opcode.LOAD, **LOAD_INP, push_next=1),  # arrives at 2, ends at 44
            row(Opcode.LOAD, **LOAD_INP),  # 44 to 86
            row(
                Opcode.GEMM, iter_out=10, iter_in=10, uop_end=1, pop_prev=1, push_next=1
            ),  # 44 to 148
            row(
                Opcode.STORE,
                memory=Memory.OUT,
                y_size=1,
                x_size=4,
                pop_prev=1,
                push_prev=1,
            ),  # 148 to 190
            row(
                Opcode.LOAD, memory=Memory.ACC, y_size=1, x_size=2
            ),  # 148: the channel is free at 156
            row(Opcode.FINISH, pop_next=1),
        ]
    )
    report = time_stream(stream, SIM)
    load, compute, store = (report.total.modules[each] for each in Module)
    assert report.cycles == 207
    assert (load.busy, compute.busy, store.busy) == (84, 104 + 50 + 1, 42)
    assert load.stalls == {
        **{Cause.FETCH: 2, Cause.COMPUTE_TOKEN: 0, Cause.DRAM: 0},
        Cause.EMPTY: 207 - 86,
    }
    # Both are ready at 148, and compute is served before store.
    assert compute.stalls == {
        **{Cause.FETCH: 6, Cause.LOAD_TOKEN: 38, Cause.STORE_TOKEN: 8},
        **{Cause.DRAM: 0, Cause.EMPTY: 0},
    }
    assert store.stalls == {
        **{Cause.FETCH: 8, Cause.COMPUTE_TOKEN: 140, Cause.DRAM: 16},
        Cause.EMPTY: 1,
    }


def test_a_full_queue_stalls_fetch() -> None:
    config = replace(SIM, queue_depth=2)
    waits = [row(Opcode.LOAD, **LOAD_INP)] * 4
    stream = instructions_of([*waits, row(Opcode.GEMM), row(Opcode.FINISH)])
    report = check(stream, config)
    ticks = config.bus_bytes
    assert (report.timing.arrival // ticks).tolist() == [2, 4, 6, 44, 46, 48]
    # The fourth LOAD has a place when the second one starts; until then nothing gets past it.
    assert report.total.modules[Module.COMPUTE].stalls[Cause.FETCH] == 46


def test_a_missing_token_is_a_deadlock() -> None:
    rows = [row(Opcode.FINISH), row(Opcode.GEMM, pop_prev=1), row(Opcode.FINISH)]
    stream = instructions_of(rows)
    with pytest.raises(Deadlock) as caught:
        time_stream(stream, SIM)
    assert str(caught.value) == (
        "launch 1 never ends: waiting for tokens are compute at instruction 1 (gemm uops=0:0 loops=0x0 dst=0,0 src=0,0 wgt=0,0 pop=prev)"
    )
    assert caught.value.instructions == (1,)


def test_time_that_cannot_be_counted_is_refused() -> None:
    most = {"iter_out": 16383, "iter_in": 16383, "uop_end": 8192}
    longest = row(Opcode.ALU, **most)
    ends = row(Opcode.FINISH)
    assert time_stream(instructions_of([longest, ends]), SIM).cycles == 4397509656583
    stream = instructions_of([longest, longest, ends])
    config = replace(SIM, bus_bytes=1 << 11)
    with pytest.raises(
        TimingError, match=r"^expected a program that takes less than 2\^53 ticks$"
    ):
        time_stream(stream, config)


def test_random_bits_are_timed_or_refused() -> None:
    """Whatever instructions say, nothing outside of arrays is touched."""
    rng = np.random.default_rng(0)
    outcomes: set[str] = set()
    for number in range(300):
        stream = random_instructions(rng, pops=0.5 if number % 2 else 0)
        memory = rng.integers(0, 256, 1 << 12, np.uint8)
        try:
            report = time_stream(stream, SIM, memory=memory)
        except Deadlock:
            outcomes.add("deadlock")
        else:
            outcomes.add("unknown" if report.total.padding is None else "known")
            check_accounts(report)
    assert outcomes == {"deadlock", "unknown", "known"}


def random_instructions(rng: np.random.Generator, pops: float) -> Instructions:
    """Return instructions whose fields are any bits, but for what is no instruction, and small addresses."""
    bits = rng.integers(0, 256, (rng.integers(1, 40), 16), np.uint8)
    bits[:, 0] &= 0b0111_1000  # LOAD
    bits[:, 1] &= 0b1111_1100  # of micro-ops
    stream = decode(bits, SIM)
    stream["opcode"] = rng.choice(list(Opcode), len(stream))
    stores = stream["opcode"] == Opcode.STORE
    loads = stream["opcode"] == Opcode.LOAD
    memories = [Memory.UOP, Memory.WGT, Memory.INP, Memory.ACC, Memory.ACC_8BIT]
    stream["memory"] = np.where(loads, rng.choice(memories, len(stream)), 0)
    stream["memory"][stores] = Memory.OUT
    loops = ~loads & ~stores
    for name, most in (
        ("iter_out", 50),
        ("iter_in", 50),
        ("uop_bgn", 64),
        ("uop_end", 64),
    ):
        stream[name] = np.where(loops, rng.integers(0, most, len(stream)), 0)
    if rng.random() < 0.5:
        for name in ("dram_base", "sram_base", "x_size", "y_size"):
            stream[name] %= 32
    for name in ("pop_prev", "pop_next"):
        stream[name] &= rng.random(len(stream)) < pops
    for each in stream:
        for name in set(COLUMNS) - set(layout_of(each["opcode"], SIM)):
            each[name] = 0
    return stream


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            row(Opcode.GEMM, iter_out=-5, iter_in=-5, uop_end=1),
            r"0 \(GEMM\): expected iter_out from 0 to 16383, of 14 bits, got -5",
        ),
        (row(Opcode.GEMM, iter_out=1 << 62, iter_in=4, uop_end=1), "expected iter_out"),
        (row(Opcode.LOAD, memory=6, x_size=1), "expected memory 0 to 5, got 6"),
        (row(Opcode.FINISH, y_size=9), "has no field y_size, got 9"),
    ],
)
def test_what_is_no_instruction_is_not_timed(bad: Row, message: str) -> None:
    with pytest.raises(IsaError, match=message):
        time_stream(instructions_of([bad, row(Opcode.FINISH)]), SIM)


def test_an_empty_program() -> None:
    report = time_stream(instructions_of([])[:0], SIM)
    assert (report.cycles, report.launches, report.layers) == (0, (), ())


def test_layers_share_the_time_of_compute() -> None:
    program = Program.of_record(GOLDEN / "conv3x3_s1_p1.npz")
    layers = (Layer("a", "conv_1", range(40)), Layer("b", "conv_2", range(40, 100)))
    report = time_program(replace(program, layers=layers))
    assert [each.name for each in report.layers] == ["a", "b", ""]
    assert [each.instructions for each in report.layers] == [40, 60, 25]
    assert sum(each.cycles for each in report.layers) == report.cycles
    compute = report.timing.end[report.timing.module == Module.COMPUTE]
    number = np.count_nonzero(report.timing.module[:40] == Module.COMPUTE)
    assert report.layers[0].cycles == compute[number - 1] / SIM.bus_bytes
    for field in ("gemm", "padding", "reset", "alu", "read", "written", "gemm_bound"):
        parts = [getattr(each, field) for each in report.layers]
        assert getattr(report.total, field) == sum(parts)
    whole = time_program(replace(program, layers=(Layer("all", "", range(125)),)))
    assert [each.name for each in whole.layers] == ["all"]
    assert whole.layers[0].cycles == report.cycles


def test_padding_is_not_known_without_micro_ops() -> None:
    program = Program.of_record(GOLDEN / "conv3x3_s1_p1.npz")
    stream = program.resolved()
    blind = time_stream(stream, SIM).total
    assert blind.padding is None
    assert blind.gemm_bound == blind.gemm == 7056
    known = time_program(program).total
    assert (known.padding, known.gemm_bound) == (656, 6400)
    plain = stream[stream["memory"] != Memory.INP]
    for name in ("pop_prev", "pop_next"):
        plain[name] = 0
    assert time_stream(plain, SIM).total.padding == 0


def test_a_report_as_json() -> None:
    program = Program.of_record(GOLDEN / "acc_padded_load.npz")
    found = json.loads(json.dumps(time_program(program).to_json()))
    assert found["cycles"] == 426
    assert found["instructions"] == 7
    assert found["busy"]["dram"] == found["bounds"]["dram"] == 190.5
    assert found["bounds"]["compute"] == 70
    assert found["dram_bytes"] == 1524
    assert set(found["stalls"]["compute"]) == {
        *("fetch", "load_token", "store_token", "dram", "empty"),
    }
    (launch,) = found["launches"]
    assert launch["name"] == "0"
    assert {**launch, "launches": [], "layers": []}.keys() - {"name"} == found.keys()


def test_parameters_of_the_model_have_keys() -> None:
    program = Program.of_record(GOLDEN / "gemm_64x64x64.npz")
    content = program.config.to_json()
    slower = HardwareConfig.load(
        {**content, "MODEL_LATENCY": 100, "MODEL_BUS_BYTES": 4}
    )
    before, after = (
        time_program(replace(program, config=each)).total
        for each in (program.config, slower)
    )
    assert after.dram_busy == 2 * before.dram_busy
    assert after.cycles > before.cycles
