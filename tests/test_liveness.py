"""Arenas: what is alive together does not overlap, and little is wasted."""

import random
import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.analysis.liveness import (
    ALIGNMENT,
    Arena,
    Lifetime,
    least_size,
    plan_arena,
)


@st.composite
def lifetimes(draw: st.DrawFn) -> Lifetime:
    """Draw a buffer, often of a size like others."""
    sizes = st.sampled_from([0, 1, 64, 65, 100, 128, 1000, 4096])
    first = draw(st.integers(0, 30))
    return Lifetime(
        draw(sizes | st.integers(0, 5000)), first, first + draw(st.integers(0, 20))
    )


def check(needs: Sequence[Lifetime], arena: Arena) -> None:
    """Compare all pairs, by definition."""
    assert len(arena.offsets) == len(needs)
    placed = list(zip(needs, arena.offsets, strict=True))
    for need, offset in placed:
        assert offset >= 0
        assert offset % ALIGNMENT == 0
        assert offset + need.size <= arena.size
    for number, (a, start_a) in enumerate(placed):
        for b, start_b in placed[:number]:
            if a.first <= b.last and b.first <= a.last:
                assert start_a != start_b
                assert start_a + a.size <= start_b or start_b + b.size <= start_a
    assert arena.size >= least_size(needs)


@settings(max_examples=300, deadline=None)
@given(st.lists(lifetimes(), max_size=40))
def test_buffers_alive_together_do_not_overlap(needs: list[Lifetime]) -> None:
    check(needs, plan_arena(needs))


def test_buffers_of_one_step_do_not_share() -> None:
    """What a step reads last and what it writes first are different memory."""
    assert plan_arena([Lifetime(64, 0, 1), Lifetime(64, 1, 2)]).size == 2 * ALIGNMENT
    assert plan_arena([Lifetime(64, 0, 1), Lifetime(64, 2, 3)]).size == ALIGNMENT


def test_nothing_needs_nothing() -> None:
    assert plan_arena([]) == Arena(0, ())


def residual(rng: random.Random) -> list[Lifetime]:
    """Make blocks of three convolutions around which a value stays."""
    needs: list[Lifetime] = []
    step = 0
    for block in range(48):
        stage = block // 12
        size = 4 * 64 * 2**stage * (56 >> stage) ** 2
        needs += (Lifetime(size, step + i, step + i + 1) for i in range(2))
        needs += (Lifetime(4 * size, step + 2, step + 6),)
        step += 3
    return needs


def densely_connected(rng: random.Random) -> list[Lifetime]:
    """Make layers whose results all later layers of a block read."""
    needs: list[Lifetime] = []
    step = 0
    for block in range(6):
        size = 256 + 4 * 64 * (32 >> block) ** 2
        for layer in range(10):
            needs.append(Lifetime(size * (layer + 2) // 2, step, step + 1))
            needs.append(Lifetime(size, step + 1, step + 2 * (10 - layer)))
            step += 2
    return needs


def attention(rng: random.Random) -> list[Lifetime]:
    """Make encoder layers: three projections, scores, and two sums with what came before."""
    needs: list[Lifetime] = []
    value, scores = 4 * 128 * 768, 4 * 12 * 128 * 128
    for step in range(0, 108, 9):
        needs += (Lifetime(value, step + i, step + 4) for i in range(3))
        needs += (Lifetime(scores, step + i, step + i + 1) for i in (4, 5))
        needs += (
            Lifetime(value, step + 6, step + 7),
            Lifetime(value, step + 7, step + 9),
        )
        needs += (
            Lifetime(4 * value, step + 8, step + 9),
            Lifetime(value, step + 9, step + 18),
        )
    return needs


def branching(rng: random.Random) -> list[Lifetime]:
    """Make blocks of four branches of different lengths, concatenated at the end."""
    needs: list[Lifetime] = []
    step = 0
    for _ in range(12):
        size = 4 * rng.choice([35 * 35 * 192, 17 * 17 * 768, 8 * 8 * 1280])
        lengths = [rng.randint(1, 4) for _ in range(4)]
        end = step + sum(lengths)
        for length in lengths:
            needs += (
                Lifetime(size // rng.randint(2, 5), step + i, step + i + 1)
                for i in range(length - 1)
            )
            step += length
            needs.append(Lifetime(size // 4, step - 1, end))
        needs.append(Lifetime(size, end, end + sum(lengths)))
        step = end + 1
    return needs


@pytest.mark.parametrize("trace", [residual, densely_connected, attention, branching])
@pytest.mark.parametrize("seed", range(5))
def test_little_is_wasted(
    trace: Callable[[random.Random], list[Lifetime]], seed: int
) -> None:
    needs = trace(random.Random(seed))
    arena = plan_arena(needs)
    check(needs, arena)
    assert arena.size <= 1.3 * least_size(needs)


def chain(count: int) -> list[Lifetime]:
    return [Lifetime(64 * (1 + index % 7), index, index + 1) for index in range(count)]


def crowd(count: int) -> list[Lifetime]:
    """Return buffers that are all alive at one step, and end in another order than they began."""
    rng = random.Random(0)
    return [
        Lifetime(rng.randrange(1, 1 << 20), index, count + rng.randrange(count))
        for index in range(count)
    ]


@pytest.mark.parametrize("trace", [chain, crowd])
def test_many_buffers_take_little_time(trace: Callable[[int], list[Lifetime]]) -> None:
    """Ten times as many buffers take about ten times as long: far from a hundred times."""

    def seconds(count: int) -> float:
        needs = trace(count)
        start = time.process_time()
        plan_arena(needs)
        return time.process_time() - start

    least = min(seconds(1_000) for _ in range(3))
    assert min(seconds(10_000) for _ in range(3)) < 30 * least + 0.1
