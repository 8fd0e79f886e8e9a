"""Which buffers of a function are needed when, and where in one arena they can stand."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

ALIGNMENT = 64
"""Every buffer of an arena starts at a multiple of this many bytes: a cache line, and the widest vector."""

MEETINGS_PER_BUFFER = 50
"""Where buffers meet more others than this on average, they are placed in order of time only."""


@dataclass(frozen=True)
class Lifetime:
    """A buffer's need for memory."""

    size: int
    """Bytes."""

    first: int
    """The step that first touches it."""

    last: int
    """The step that last touches it."""

    @property
    def room(self) -> int:
        """Bytes that it takes of an arena; no two buffers start at the same place at the same time."""
        return max(ALIGNMENT, -(-self.size // ALIGNMENT) * ALIGNMENT)


@dataclass(frozen=True)
class Arena:
    """Where buffers stand."""

    size: int
    """Bytes of the whole."""

    offsets: tuple[int, ...]
    """Where each buffer starts."""


def least_size(lifetimes: Sequence[Lifetime]) -> int:
    """Return what no arena can be smaller than: the most bytes that are alive at one step."""
    changes: dict[int, int] = {}
    for each in lifetimes:
        changes[each.first] = changes.get(each.first, 0) + each.room
        changes[each.last + 1] = changes.get(each.last + 1, 0) - each.room
    most = alive = 0
    for step in sorted(changes):
        alive += changes[step]
        most = max(most, alive)
    return most


def plan_arena(lifetimes: Sequence[Lifetime]) -> Arena:
    """Place buffers so that those alive at one step do not overlap.

    Tries buffers in order of their first step, each in the smallest gap that holds it or
    at the end (`n log n`), and, if that takes more than the least possible and lifetimes
    are short, in order of size, each in the smallest gap that those it meets leave.
    The smaller arena counts.
    """
    by_time = _place_by_time(lifetimes)
    if by_time.size == least_size(lifetimes):
        return by_time
    meetings = _meetings(lifetimes)
    if meetings is None:
        return by_time
    by_size = _place_by_size(lifetimes, meetings)
    return by_size if by_size.size < by_time.size else by_time


def _by_first_step(lifetimes: Sequence[Lifetime]) -> list[int]:
    return sorted(
        range(len(lifetimes)), key=lambda index: (lifetimes[index].first, index)
    )


def _place_by_time(lifetimes: Sequence[Lifetime]) -> Arena:
    offsets = [0] * len(lifetimes)
    gaps = _Gaps()
    alive: list[tuple[int, int]] = []
    for index in _by_first_step(lifetimes):
        lifetime = lifetimes[index]
        while alive and alive[0][0] < lifetime.first:
            _, done = heappop(alive)
            gaps.free(offsets[done], lifetimes[done].room)
        offsets[index] = gaps.take(lifetime.room)
        heappush(alive, (lifetime.last, index))
    return Arena(gaps.size, tuple(offsets))


def _meetings(lifetimes: Sequence[Lifetime]) -> list[list[int]] | None:
    """Return, for each buffer, those alive at a step at which it is; `None` if that is too many to list."""
    met: list[list[int]] = [[] for _ in lifetimes]
    left = MEETINGS_PER_BUFFER * len(lifetimes)
    alive: list[tuple[int, int]] = []
    for index in _by_first_step(lifetimes):
        lifetime = lifetimes[index]
        while alive and alive[0][0] < lifetime.first:
            heappop(alive)
        left -= len(alive)
        if left < 0:
            return None
        for _, other in alive:
            met[index].append(other)
            met[other].append(index)
        heappush(alive, (lifetime.last, index))
    return met


def _place_by_size(lifetimes: Sequence[Lifetime], met: list[list[int]]) -> Arena:
    offsets: dict[int, int] = {}
    size = 0
    for index in sorted(
        range(len(lifetimes)), key=lambda index: (-lifetimes[index].room, index)
    ):
        room = lifetimes[index].room
        taken = sorted(
            (offsets[other], offsets[other] + lifetimes[other].room)
            for other in met[index]
            if other in offsets
        )
        offsets[index] = _smallest_gap(taken, room)
        size = max(size, offsets[index] + room)
    return Arena(size, tuple(offsets[index] for index in range(len(lifetimes))))


def _smallest_gap(taken: Sequence[tuple[int, int]], room: int) -> int:
    """Return the start of the smallest gap between spans that holds so many bytes, else the end of all."""
    gaps: list[tuple[int, int]] = []
    end = 0
    for (_, stop), (start, _) in pairwise([(0, 0), *taken]):
        end = max(end, stop)
        if start - end >= room:
            gaps.append((start - end, end))
    if gaps:
        return min(gaps)[1]
    return max((stop for _, stop in taken), default=0)


class _Gaps:
    """The free parts of an arena that grows when none fits."""

    def __init__(self) -> None:
        self.size = 0
        self._lengths: dict[int, int] = {}
        """By start."""
        self._starts: list[int] = []
        self._by_length: list[tuple[int, int]] = []
        """Length and start."""

    def take(self, length: int) -> int:
        """Return the start of so many bytes, and use them up."""
        position = bisect_left(self._by_length, (length, 0))
        if position == len(self._by_length):
            return self._grow(length)
        have, start = self._by_length[position]
        self._remove(start)
        if have > length:
            self._add(start + length, have - length)
        return start

    def free(self, start: int, length: int) -> None:
        """Give bytes back, joined with free neighbours."""
        position = bisect_left(self._starts, start)
        following = self._starts[position : position + 1]
        if following == [start + length]:
            length += self._remove(start + length)
        if position:
            before = self._starts[position - 1]
            if before + self._lengths[before] == start:
                length += self._remove(before)
                start = before
        self._add(start, length)

    def _grow(self, length: int) -> int:
        """Take bytes at the end, beginning with a gap that reaches it."""
        start = self.size
        if self._starts:
            last = self._starts[-1]
            if last + self._lengths[last] == self.size:
                self._remove(last)
                start = last
        self.size = start + length
        return start

    def _add(self, start: int, length: int) -> None:
        self._lengths[start] = length
        insort(self._starts, start)
        insort(self._by_length, (length, start))

    def _remove(self, start: int) -> int:
        length = self._lengths.pop(start)
        del self._starts[bisect_left(self._starts, start)]
        del self._by_length[bisect_left(self._by_length, (length, start))]
        return length
