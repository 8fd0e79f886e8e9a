"""Compiled code means what relay means: every op in every variant, scheduled and not, for several processors.

Cases are compiled together, many to one executable: what surrounds kernels costs more than they do.
"""

from collections.abc import Iterator, Sequence

import pytest
from compiled import assemble, lower, run
from relay_cases import CASES, Case, assert_close, joined

from partita.interpreters.scalar import Array
from partita.runtime import Machine
from partita.targets.host.processors import machine_named

GROUP = 60
"""Cases in one executable."""

GROUPS = [CASES[first : first + GROUP] for first in range(0, len(CASES), GROUP)]

SOME = CASES[::8]
"""Enough of them to see whether code for another processor, or of plain loops, works."""

on_x86 = pytest.mark.skipif(
    Machine.host().architecture != "x86_64", reason="runs code for x86-64"
)


def check(
    cases: Sequence[Case], machine: Machine, scheduled: bool, threads: int = 1
) -> None:
    """Compile cases, run them, and compare; report every case that differs."""
    module = joined(cases)
    lower(module, machine, scheduled)
    inputs = [case.inputs() for case in cases]
    outputs: Iterator[Array] = iter(
        run(
            assemble(module, machine), [each for one in inputs for each in one], threads
        )
    )
    failed: list[str] = []
    for case, given in zip(cases, inputs, strict=True):
        expected = case.expected(given)
        try:
            assert_close([next(outputs) for _ in expected], expected)
        except AssertionError as error:
            failed.append(f"{case}: {error}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("cases", GROUPS, ids=lambda cases: str(cases[0]))
def test_every_op(cases: Sequence[Case]) -> None:
    check(cases, Machine.host(), scheduled=True, threads=2)


@pytest.mark.full
def test_plain_loops() -> None:
    check(SOME, Machine.host(), scheduled=False)


@pytest.mark.full
@pytest.mark.parametrize("cases", GROUPS, ids=lambda cases: str(cases[0]))
def test_every_op_in_plain_loops(cases: Sequence[Case]) -> None:
    check(cases, Machine.host(), scheduled=False)


@on_x86
@pytest.mark.parametrize(
    "cpu", [pytest.param("x86-64", marks=pytest.mark.full), "x86-64-v3"]
)
def test_other_processors(cpu: str) -> None:
    """Code for vectors of 128 and 256 bits gives the same as code for this processor."""
    check(SOME, machine_named(cpu=cpu), scheduled=True)


@on_x86
@pytest.mark.full
@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3"])
@pytest.mark.parametrize("cases", GROUPS, ids=lambda cases: str(cases[0]))
def test_every_op_on_other_processors(cases: Sequence[Case], cpu: str) -> None:
    check(cases, machine_named(cpu=cpu), scheduled=True)


def test_another_architecture() -> None:
    """LLVM makes objects of all kernels for a processor that cannot be here."""
    machine = machine_named("aarch64-unknown-linux-gnu", "cortex-a72")
    module = joined(SOME)
    lower(module, machine)
    elf_of_aarch64 = 0xB7
    for content in assemble(module, machine).objects.values():
        assert content[:4] == b"\x7fELF"
        assert content[18] == elf_of_aarch64
