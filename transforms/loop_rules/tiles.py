"""Which tile of a result is kept in registers: measured limits of a processor, and a cost for each shape."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from partita.runtime.machine import Machine

PARALLEL_WORK = 16 * 1024
"""Runs of a block's body below which threads cost more than they give."""


@dataclass(frozen=True)
class Registers:
    """The vector registers of a processor."""

    bits: int
    """Of one register."""

    accumulators: int
    """How many can hold results while operands stream through the others."""

    @staticmethod
    def of(machine: Machine) -> "Registers":
        """Return those of a machine, by its features; 128 bits where none says more."""
        if "avx512f" in machine.features:
            return Registers(512, 28)
        if "avx2" in machine.features or "avx" in machine.features:
            return Registers(256, 12)
        if machine.architecture == "aarch64":
            return Registers(128, 24)
        return Registers(128, 12)

    def lanes(self, bits: int) -> int:
        """Return how many elements of so many bits fit into a register."""
        return max(1, self.bits // max(bits, 8))


@dataclass(frozen=True)
class Tile:
    """A part of a result that is computed at once."""

    rows: tuple[int, ...]
    """Along each of the axes on which vectors are shared."""

    vectors: int
    """Registers along the axis that has vectors side by side, for each row."""


TILE_OVERHEAD = 20
"""Cycles to start and end a tile, per step of the reduction that it is paid for by; small beside any real one."""


STREAM_OVERHEAD = 0.25
"""Cycles that a vector costs that comes from a farther cache, although it comes ahead of its use."""


def best_tile(
    registers: Registers, rows: Sequence[int], vectors: int, depth: int
) -> Tile:
    """Choose rows and vectors of a tile of a result of `rows`, along one or two axes, by `vectors` registers.

    A step of the reduction takes as long as its fused multiply-adds (two a cycle, but no
    fewer than hide their latency) or as its loads (two a cycle), whichever is more; tiles
    at the end of an axis may be cut off. `depth` is the number of steps.
    """
    best: tuple[float, Tile] | None = None
    for count in range(1, vectors + 1):
        if vectors % count or count > registers.accumulators:
            continue
        for shape in _shapes(rows, registers.accumulators // count):
            cost = vectors // count * _cost(rows, shape, count, depth)
            if best is None or cost < best[0] * 0.999:
                best = (cost, Tile(shape, count))
    assert best is not None
    return best[1]


def _shapes(rows: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield the rows along each axis that tiles of at most so many rows may have, few along later axes first."""
    if not rows:
        yield ()
        return
    for rest in _shapes(rows[1:], most):
        for size in range(1, min(rows[0], most // prod(rest)) + 1):
            yield (size, *rest)


def _cost(
    rows: Sequence[int], shape: tuple[int, ...], vectors: int, depth: int
) -> float:
    """Return the cycles of all tiles of a column of vectors, those cut off at the ends of axes too."""
    sizes = [
        ((size, extent // size), (extent % size, 1 if extent % size else 0))
        for size, extent in zip(shape, rows, strict=True)
    ]
    cost = 0.0
    for parts in product(*sizes):
        pixels, count = prod(part[0] for part in parts), prod(part[1] for part in parts)
        step = max(4.0, vectors * pixels / 2, (vectors + pixels) / 2)
        step += STREAM_OVERHEAD * vectors
        cost += count * (step * depth + TILE_OVERHEAD)
    return cost


def lane_count(extent: int, lanes: int) -> int:
    """Return how many lanes to use along an axis: all of a short one, else a large divisor, else all lanes."""
    if extent <= lanes:
        return extent
    divisors = [each for each in range(lanes, lanes // 2, -1) if extent % each == 0]
    return divisors[0] if divisors else lanes
