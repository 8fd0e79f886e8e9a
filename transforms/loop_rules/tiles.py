"""Which tile of a result is kept in registers: measured limits of a processor, and a cost for each shape."""

from dataclasses import dataclass

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

    rows: int
    """Along an axis on which vectors are shared."""

    vectors: int
    """Registers along the axis of lanes, for each row."""


TILE_OVERHEAD = 20
"""Cycles to start and end a tile, per step of the reduction that it is paid for by; small beside any real one."""


def best_tile(registers: Registers, rows: int, vectors: int, depth: int) -> Tile:
    """Choose rows and vectors of a tile of a result of `rows` by `vectors` registers.

    A step of the reduction takes as long as its fused multiply-adds (two a cycle, but no
    fewer than hide their latency) or as its loads (two a cycle), whichever is more; tiles
    at the end of an axis may be cut off. `depth` is the number of steps.
    """
    best: tuple[float, Tile] | None = None
    for nv in range(1, vectors + 1):
        if vectors % nv or nv > registers.accumulators:
            continue
        for tr in range(1, min(rows, registers.accumulators // nv) + 1):
            full, rest = divmod(rows, tr)
            cost = 0.0
            for size, count in ((tr, full), (rest, 1 if rest else 0)):
                step = max(4.0, nv * size / 2, (nv + size) / 2)
                cost += count * (step * depth + TILE_OVERHEAD)
            cost *= vectors // nv
            if best is None or cost < best[0] * 0.999:
                best = (cost, Tile(tr, nv))
    assert best is not None
    return best[1]


def lane_count(extent: int, lanes: int) -> int:
    """Return how many lanes to use along an axis: all of a short one, else a large divisor, else all lanes."""
    if extent <= lanes:
        return extent
    divisors = [each for each in range(lanes, lanes // 2, -1) if extent % each == 0]
    return divisors[0] if divisors else lanes
