"""Which pieces of DRAM the instructions of a record use, found from the addresses in them.

Accesses and segments are intervals of addresses; those that overlap make up a region, which becomes a buffer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.runtime.plan import ALIGNMENT
from partita.runtime.vta import isa
from partita.runtime.vta.buffers import Buffer, Bytes, Role
from partita.runtime.vta.config import HardwareConfig

ADDRESS_SPACE = 1 << 32
"""Physical addresses of the original have 32 bits."""

EVERYWHERE = -1
"""The launch that memory belongs to which all launches share."""


@dataclass(frozen=True)
class Segment:
    """A piece of DRAM whose content a record gives."""

    start: int
    before: Bytes
    after: Bytes | None
    launch: int

    @property
    def end(self) -> int:
        return self.start + len(self.before)


@dataclass(frozen=True)
class Places:
    """What the instructions that move data touch in DRAM."""

    rows: NDArray[np.int64]
    """The instructions."""

    start: NDArray[np.int64]
    """The address of the first byte."""

    end: NDArray[np.int64]
    element: NDArray[np.int64]
    """The size of an element."""

    launch: NDArray[np.int64]
    """Whose memory it is: the host gives each launch its own micro-ops."""

    loads_uops: NDArray[np.bool_]
    stores: NDArray[np.bool_]


def places_of(
    stream: isa.Instructions, launches: tuple[range, ...], config: HardwareConfig
) -> Places:
    """Return what a stream with absolute addresses touches."""
    moves = isa.moves_data(stream) & (stream["y_size"] != 0)
    rows = np.flatnonzero(moves)
    accesses = stream[rows]
    element = isa.element_bytes(config)[accesses["memory"]]
    start = accesses["dram_base"] * element
    loads_uops = accesses["memory"] == isa.Memory.UOP
    launch = np.full(len(rows), EVERYWHERE)
    if len(launches) > 1:
        stops = np.array([each.stop for each in launches])
        owner = np.searchsorted(stops, rows, side="right")
        launch[loads_uops] = owner[loads_uops]
    return Places(
        rows=rows,
        start=start,
        end=start + isa.dram_elements(accesses) * element,
        element=element,
        launch=launch,
        loads_uops=loads_uops,
        stores=accesses["opcode"] == isa.Opcode.STORE,
    )


@dataclass(frozen=True)
class Tensor:
    """A tensor that the record knows the place of."""

    name: str
    start: int
    array: NDArray[Any] | None

    @property
    def cuts(self) -> tuple[int, ...]:
        """The addresses where memory is divided: its start, and its end if it is known."""
        if self.array is None:
            return (self.start,)
        end = self.start + self.array.nbytes
        return (self.start, end + -end % ALIGNMENT)


@dataclass(frozen=True, eq=False)
class Region:
    """A piece of DRAM that belongs together."""

    start: int
    end: int
    alignment: int
    pieces: tuple[Segment, ...]
    """What is known of its content."""

    loads_uops: bool
    """Whether nothing else is done with it."""

    stored: bool
    launch: int

    @property
    def size(self) -> int:
        return self.end - self.start

    def content(self, after: bool) -> Bytes:
        data = np.zeros(self.size, np.uint8)
        for each in self.pieces:
            known = each.after if after and each.after is not None else each.before
            data[each.start - self.start : each.end - self.start] = known
        return data

    def buffer(self, offset: int, names: "Names") -> Buffer:
        role: Role = "constant"
        if not self.pieces:
            role = "scratch"
        elif self.stored:
            role = "output"
        elif self.loads_uops:
            role = "uop"
        name, dtype, shape = names.of(self)
        return Buffer(
            name=name,
            role=role,
            size=self.size,
            offset=offset,
            dtype=dtype,
            shape=shape,
            contents=self.content(after=False) if self.pieces else None,
        )


def regions_of(
    places: Places, segments: tuple[Segment, ...], tensors: tuple[Tensor, ...]
) -> tuple[list[Region], NDArray[np.int64]]:
    """Return the pieces of DRAM that are in use, by launch and address, and which of them each access is in.

    A region is a run of lines of 64 bytes that segments or instructions touch. It is divided where a tensor or segment
    starts or ends, unless an instruction works across.
    """
    cuts = sorted({cut for each in tensors for cut in each.cuts})
    pieces = [piece for each in segments for piece in _cut(each, cuts)]
    start = np.concatenate(
        [np.array([each.start for each in pieces], np.int64), places.start]
    )
    end = np.concatenate(
        [np.array([each.end for each in pieces], np.int64), places.end]
    )
    launch = np.concatenate(
        [np.array([each.launch for each in pieces], np.int64), places.launch]
    )
    start, end = start - start % ALIGNMENT, end + -end % ALIGNMENT
    order = np.lexsort((start, launch))
    start, end, launch = start[order], end[order], launch[order]
    # Launches come one after another, so that the furthest end so far can be kept for all of them at once.
    apart = (launch - EVERYWHERE) * (2 * ADDRESS_SPACE)
    reach = np.maximum.accumulate(end + apart)
    borders = np.array(
        [*cuts, *(each.start for each in pieces), *(each.end for each in pieces)]
    )
    free = start[1:] + apart[1:] - reach[:-1]
    first = np.ones(len(start), bool)
    first[1:] = (free > 0) | ((free == 0) & np.isin(start[1:], borders))
    region_of = np.empty(len(start), np.int64)
    region_of[order] = np.cumsum(first) - 1
    heads = np.flatnonzero(first)
    owner = region_of[len(pieces) :]
    count = len(heads)
    alignment = np.full(count, ALIGNMENT, np.int64)
    np.maximum.at(alignment, owner, places.element)
    loads_uops, others, stored = (np.zeros(count, bool) for _ in range(3))
    np.logical_or.at(loads_uops, owner, places.loads_uops)
    np.logical_or.at(others, owner, ~places.loads_uops)
    np.logical_or.at(stored, owner, places.stores)
    ends = np.maximum.reduceat(end, heads) if count else end
    owned: list[list[Segment]] = [[] for _ in range(count)]
    for piece, number in zip(pieces, region_of.tolist(), strict=False):
        owned[number].append(piece)
    regions = [
        Region(
            start=int(start[head]) // int(alignment[number]) * int(alignment[number]),
            end=int(ends[number]),
            alignment=int(alignment[number]),
            pieces=tuple(owned[number]),
            loads_uops=bool(loads_uops[number] and not others[number]),
            stored=bool(stored[number]),
            launch=int(launch[head]),
        )
        for number, head in enumerate(heads.tolist())
    ]
    return regions, owner


def _cut(segment: Segment, cuts: list[int]) -> Iterator[Segment]:
    """Divide a segment at some addresses."""
    inside = [each for each in cuts if segment.start < each < segment.end]
    for start, end in pairwise((segment.start, *inside, segment.end)):
        part = slice(start - segment.start, end - segment.start)
        after = None if segment.after is None else segment.after[part]
        yield Segment(start, segment.before[part], after, segment.launch)


class Names:
    """What buffers are called: by the tensors in them, where the record knows where those were."""

    def __init__(self, tensors: tuple[Tensor, ...]):
        self.tensors = tensors
        self.taken: set[str] = set()

    def of(self, region: Region) -> tuple[str, str | None, tuple[int, ...] | None]:
        """Return a name that no other buffer has, and dtype and shape if one tensor is all that is there."""
        inside = [
            each for each in self.tensors if region.start <= each.start < region.end
        ]
        kind = "uops" if region.loads_uops else "memory"
        wanted = "+".join(each.name for each in inside) or kind
        if region.launch != EVERYWHERE and not inside:
            wanted = f"{kind}_{region.launch}"
        name, number = wanted, 1
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        self.taken.add(name)
        if len(inside) == 1 and inside[0].start == region.start:
            array = inside[0].array
            if array is not None and array.nbytes <= region.size:
                return name, array.dtype.name, array.shape
        return name, None, None
