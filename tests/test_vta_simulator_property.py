"""Random programs for random hardware: the simulator does what the slow reference does, and finds what it finds."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vta_programs import (
    CONFIGS,
    DRAM_BASE,
    FLAGS,
    SIM,
    Case,
    in_series,
    random_case,
    random_config,
)
from vta_reference import Findings, examine, module_of, rows_of

from partita.runtime.vta.faults import (
    Deadlock,
    Finish,
    OutOfRange,
    Race,
    SimulationError,
    Uninitialized,
)
from partita.runtime.vta.isa import COLUMNS, Opcode, columns
from partita.runtime.vta.simulator import OrderName, SimulationReport, simulate

PROBLEMS: dict[type[SimulationError], str] = {
    Deadlock: "deadlock",
    Finish: "finish",
    OutOfRange: "range",
    Race: "race",
    Uninitialized: "uninitialized",
}

GUARD = 1 << 14
"""Bytes before and after memory that nobody may touch."""

Bytes = NDArray[np.uint8]

ORDERS: tuple[OrderName, ...] = ("program", "early_loads", "late_loads", "random")

SEEDS = st.integers(0, (1 << 32) - 1)
NAMES = st.sampled_from(sorted(CONFIGS))

EXAMPLES = settings(max_examples=20, deadline=None)


def run(
    case: Case, order: OrderName = "program", seed: int = 0
) -> tuple[SimulationReport, Bytes]:
    """Run a case on a copy of its memory, and see that nothing around that is touched."""
    room = np.full(len(case.memory) + 2 * GUARD, 0xA5, np.uint8)
    memory = room[GUARD:-GUARD]
    memory[:] = case.memory
    program = (case.instructions, case.config)
    try:
        report = simulate(program, memory, base=DRAM_BASE, order=order, seed=seed)
    finally:
        assert np.all(room[:GUARD] == 0xA5)
        assert np.all(room[-GUARD:] == 0xA5)
    return report, memory


def check(case: Case) -> Findings:
    """Compare the simulator with the reference on a legal program, in every order; returns what that found."""
    expected = examined(case)
    assert not expected.problems
    for order in ORDERS:
        report, memory = run(case, order)
        np.testing.assert_array_equal(memory, expected.memory)
        assert report.micro_ops == expected.executed
        assert sum(report.tokens.values()) == expected.tokens_left
    return expected


def examined(case: Case) -> Findings:
    return examine(case.instructions, case.config, case.memory, DRAM_BASE)


@EXAMPLES
@given(NAMES, SEEDS)
def test_legal_programs(name: str, seed: int) -> None:
    check(random_case(Random(seed), CONFIGS[name], shows_all=True))


@pytest.mark.parametrize("block", [5, 7])
def test_large_blocks(block: int) -> None:
    """GEMM with 32 and 128 columns and rows, whose instructions others could not encode, is exact."""
    config = replace(SIM, log_block_in=block, log_block_out=block)
    cases = (random_case(Random(seed), config, 6, shows_all=True) for seed in range(4))
    assert sum(check(case).executed["gemm"] for case in cases) > 20


@pytest.mark.full
@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_any_hardware(seed: int) -> None:
    random = Random(seed)
    config = random_config(random)
    for _ in range(5):
        check(random_case(random, config, shows_all=True))


@pytest.mark.full
@settings(max_examples=500, deadline=None)
@given(NAMES, SEEDS)
def test_many_legal_programs(name: str, seed: int) -> None:
    check(random_case(Random(seed), CONFIGS[name], 24, shows_all=True))


@EXAMPLES
@given(NAMES, SEEDS)
def test_random_orders_agree(name: str, seed: int) -> None:
    case = random_case(Random(seed), CONFIGS[name], 20, shows_all=True)
    memories = [run(case, "random", each)[1].tobytes() for each in range(8)]
    assert len(set(memories)) == 1


@EXAMPLES
@given(NAMES, SEEDS)
def test_in_series_is_the_same(name: str, seed: int) -> None:
    """Where every instruction waits for the one before, the result is that of the fewest tokens."""
    case = random_case(Random(seed), CONFIGS[name], shows_all=True)
    series = Case(case.config, in_series(case.instructions), case.memory)
    np.testing.assert_array_equal(run(case)[1], run(series)[1])
    check(series)


@EXAMPLES
@given(NAMES, SEEDS)
def test_a_missing_token_is_found(name: str, seed: int) -> None:
    """Every push and pop of these programs is needed: without it there is a deadlock, a race or an early FINISH."""
    random = Random(seed)
    case = random_case(random, CONFIGS[name])
    table = columns(case.instructions)
    flags = slice(COLUMNS["pop_prev"], COLUMNS["push_next"] + 1)
    needed = np.argwhere(table[:, flags]).tolist()
    for number, flag in random.sample(needed, min(5, len(needed))):
        broken = case.instructions.copy()
        columns(broken)[number, flags.start + flag] = 0
        mutant = Case(case.config, broken, case.memory)
        expected = examined(mutant).problems
        assert expected & {"deadlock", "race", "finish"}
        order = random.choice(ORDERS)
        with pytest.raises((Deadlock, Race, Finish, Uninitialized)) as caught:
            run(mutant, order)
        if order == "program" or expected == {"deadlock"}:
            assert PROBLEMS[type(caught.value)] in expected


@EXAMPLES
@given(NAMES, SEEDS)
def test_a_redundant_token_changes_nothing(name: str, seed: int) -> None:
    """A push and a pop that match each other, and leave all others matched as they were, only make something wait."""
    random = Random(seed)
    case = random_case(random, CONFIGS[name])
    places = redundant(case)
    if not places:
        return
    pusher, push, popper, pop = random.choice(places)
    more = case.instructions.copy()
    more[push][pusher] = 1
    more[pop][popper] = 1
    report, memory = run(Case(case.config, more, case.memory), random.choice(ORDERS))
    np.testing.assert_array_equal(memory, run(case)[1])
    assert not any(report.tokens.values())


def redundant(case: Case) -> list[tuple[int, str, int, str]]:
    """Return where a push and a pop can be added: as many tokens are pushed before the one as popped before the other."""
    rows = rows_of(case.instructions)
    found: list[tuple[int, str, int, str]] = []
    for (source, target), (push, pop) in FLAGS.items():
        pushes = popped = 0
        before: dict[int, list[int]] = {}
        for number, row in enumerate(rows):
            if module_of(row) == source:
                if not row[push]:
                    before.setdefault(pushes, []).append(number)
                pushes += row[push]
            elif module_of(row) == target:
                if not row[pop]:
                    found += [
                        (each, push, number, pop) for each in before.get(popped, [])
                    ]
                popped += row[pop]
    return found


@EXAMPLES
@given(NAMES, SEEDS)
def test_changed_fields(name: str, seed: int) -> None:
    """With any field changed, the simulator reports what the reference finds, or does what it does."""
    random = Random(seed)
    case = random_case(random, CONFIGS[name])
    changed = case.instructions.copy()
    for _ in range(random.randint(1, 2)):
        number = random.randrange(len(changed) - 1)
        stores = changed["opcode"][number] == Opcode.STORE
        field = random.choice(MOVED if stores else CHANGED)
        changed[field][number] = max(0, changed[field][number] + random.randint(-2, 2))
    mutant = Case(case.config, changed, case.memory)
    expected = examined(mutant)
    problem, memory = outcome(mutant)
    assert (problem in expected.problems) if problem else not expected.problems
    if problem is None:
        np.testing.assert_array_equal(memory, expected.memory)


CHANGED = list(COLUMNS)[COLUMNS["sram_base"] : COLUMNS["alu_opcode"]]
"""The fields that say where an instruction works and how often."""

MOVED = CHANGED[: CHANGED.index("y_pad_0")]
"""Those of a STORE, which has no pads."""


def outcome(case: Case) -> tuple[str | None, Bytes]:
    """Return what the simulator reports, if anything, and memory."""
    try:
        return None, run(case)[1]
    except SimulationError as error:
        return PROBLEMS[type(error)], case.memory
