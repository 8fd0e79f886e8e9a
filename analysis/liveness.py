"""Which buffers of a function are needed when, and where in one arena they can stand."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = 64
"""Every buffer of an arena starts at a multiple of this many bytes: a cache line, and the widest vector."""


@dataclass(frozen=True)
class Lifetime:
    """A buffer's need for memory."""

    size: int
    """Bytes."""

    first: int
    """The step that first touches it."""

    last: int
    """The step that last touches it."""


@dataclass(frozen=True)
class Arena:
    """Where buffers stand."""

    size: int
    """Bytes of the whole."""

    offsets: tuple[int, ...]
    """Where each buffer starts."""


def plan_arena(lifetimes: Sequence[Lifetime]) -> Arena:
    """Place buffers so that those alive at one step do not overlap.

    Buffers are placed in order of their first step, each in the smallest gap that holds
    it, or at the end; linear scan with best fit, near-linear in practice.
    """
    offsets = [0] * len(lifetimes)
    gaps = _Gaps()
    ends: list[tuple[int, int]] = []
    for index in sorted(
        range(len(lifetimes)), key=lambda each: (lifetimes[each].first, each)
    ):
        lifetime = lifetimes[index]
        while ends and ends[0][0] < lifetime.first:
            _, done = ends.pop(0)
            gaps.free(offsets[done], _rounded(lifetimes[done].size))
        offsets[index] = gaps.take(_rounded(lifetime.size))
        insort(ends, (lifetime.last, index))
    return Arena(gaps.size, tuple(offsets))


def _rounded(size: int) -> int:
    return max(ALIGNMENT, -(-size // ALIGNMENT) * ALIGNMENT)


class _Gaps:
    """The free parts of an arena that grows when none fits."""

    def __init__(self) -> None:
        self.size = 0
        self._starts: list[int] = []
        self._lengths: list[int] = []

    def take(self, length: int) -> int:
        """Return the start of so many bytes, and use them up."""
        fitting = [
            (have, position)
            for position, have in enumerate(self._lengths)
            if have >= length
        ]
        if not fitting:
            return self._grow(length)
        have, position = min(fitting)
        start = self._starts[position]
        if have == length:
            del self._starts[position], self._lengths[position]
        else:
            self._starts[position] += length
            self._lengths[position] -= length
        return start

    def free(self, start: int, length: int) -> None:
        """Give bytes back, joined with free neighbours."""
        position = bisect_left(self._starts, start)
        if position < len(self._starts) and start + length == self._starts[position]:
            length += self._lengths[position]
            del self._starts[position], self._lengths[position]
        if (
            position
            and self._starts[position - 1] + self._lengths[position - 1] == start
        ):
            self._lengths[position - 1] += length
            return
        self._starts.insert(position, start)
        self._lengths.insert(position, length)

    def _grow(self, length: int) -> int:
        """Take bytes at the end, beginning with a gap that reaches it."""
        if self._starts and self._starts[-1] + self._lengths[-1] == self.size:
            start = self._starts.pop()
            self._lengths.pop()
        else:
            start = self.size
        self.size = start + length
        return start
