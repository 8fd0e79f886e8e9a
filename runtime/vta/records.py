"""Records of what the original stack ran: streams in `.npz` files, mostly with memory before and after.

A record gives absolute addresses. What its instructions touch becomes buffers: pieces of DRAM that instructions or the
record's segments connect, at the distances that they had. `tests/golden/vta/README.txt` describes the files.
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from partita.errors import PartitaError
from partita.runtime.plan import ALIGNMENT
from partita.runtime.vta import isa
from partita.runtime.vta.buffers import Buffer, Bytes, Layer, Role
from partita.runtime.vta.config import HardwareConfig

ADDRESS_SPACE = 1 << 32
"""Physical addresses of the original have 32 bits."""

EVERYWHERE = -1
"""The launch that memory belongs to which all launches share."""

Json = dict[str, Any]


class RecordError(PartitaError):
    """A file is no record, or a broken one."""


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


@dataclass(frozen=True, eq=False)
class Record:
    """A record, as the parts of a program, with what memory holds after it."""

    name: str
    config: HardwareConfig
    instructions: isa.Instructions
    """With `dram_base` relative to buffers."""

    launches: tuple[range, ...]
    buffers: tuple[Buffer, ...]
    relocations: NDArray[np.int64]
    layers: tuple[Layer, ...]
    after: Bytes | None
    """The arena after all launches, where the record says."""

    meta: Mapping[str, Any]
    """What the record says about its origin."""

    @staticmethod
    def read(
        path: str | PathLike[str], config: HardwareConfig | None = None
    ) -> "Record":
        """Read a record; a `config` takes the place of the one in it.

        Raises `RecordError` for another file, and what `isa.decode` and `HardwareConfig.load` raise.
        """
        path = Path(path)
        arrays = _arrays(path)
        try:
            return _record(path.stem, arrays, config)
        except PartitaError as error:
            raise type(error)(f"{path}: {error}") from None


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return all arrays of an `.npz` file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise RecordError(f"cannot read record {path}: {reason}") from None
    try:
        content = np.load(BytesIO(data), allow_pickle=False)
        if isinstance(content, np.lib.npyio.NpzFile):
            return {name: content[name] for name in content.files}
    except (OSError, ValueError, EOFError, KeyError, BadZipFile, zlib.error):
        pass
    raise RecordError(
        f"{path}: expected an .npz record; this is another file, or a damaged one"
    )


def _record(
    name: str, arrays: Mapping[str, NDArray[Any]], config: HardwareConfig | None
) -> Record:
    if "insns" not in arrays:
        held = ", ".join(sorted(arrays)) or "nothing"
        raise RecordError(f"expected a record with insns, got one of {held}")
    config = config or HardwareConfig.load(_json(arrays, "config_json"))
    insns = _array(arrays, "insns", np.uint8)
    if insns.ndim != 2 or insns.shape[1] != isa.INSTRUCTION_BYTES:
        raise RecordError(f"expected insns of shape [N, 16], got {list(insns.shape)}")
    stream = isa.decode(insns, config)
    launches = _launches(arrays, len(stream))
    segments = tuple(_segments(arrays, len(launches)))
    meta = _json(arrays, "meta_json") if "meta_json" in arrays else {}
    places = _places(stream, launches, config)
    _check_places(places, segments, complete="mem_after" in arrays)
    tensors = _tensors(meta, arrays)
    regions, owner = _regions(places, segments, tensors)
    names = _Names(tensors)
    buffers: list[Buffer] = []
    end = 0
    for region in regions:
        offset = end + -end % region.alignment
        buffers.append(region.buffer(offset, names))
        end = offset + region.size
    starts = np.array([each.start for each in regions], np.int64)
    stream["dram_base"][places.rows] -= starts[owner] // places.element
    after = None
    if "mem_after" in arrays:
        after = np.zeros(end, np.uint8)
        for region, buffer in zip(regions, buffers, strict=True):
            after[buffer.offset : buffer.end] = region.content(after=True)
    return Record(
        name=name,
        config=config,
        instructions=stream,
        launches=launches,
        buffers=tuple(buffers),
        relocations=np.stack([places.rows, owner], axis=1),
        layers=tuple(
            Layer(f"launch {number}", "", each)
            for number, each in enumerate(launches)
            if len(launches) > 1
        ),
        after=after,
        meta=meta,
    )


@dataclass(frozen=True)
class _Places:
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


def _places(
    stream: isa.Instructions, launches: tuple[range, ...], config: HardwareConfig
) -> _Places:
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
    return _Places(
        rows=rows,
        start=start,
        end=start + isa.dram_elements(accesses) * element,
        element=element,
        launch=launch,
        loads_uops=loads_uops,
        stores=accesses["opcode"] == isa.Opcode.STORE,
    )


def _check_places(
    places: _Places, segments: tuple[Segment, ...], complete: bool
) -> None:
    """Raise if an instruction is somewhere where the record, if it is a `complete` one, has no memory."""
    beyond = places.end > ADDRESS_SPACE
    if beyond.any():
        at = int(beyond.argmax())
        raise RecordError(
            f"instruction {places.rows[at]} moves data at address {places.start[at]:#x} and on, beyond 32 bits"
        )
    inside = np.zeros(len(places.rows), bool)
    ends_inside = inside.copy()
    for each in segments:
        owned = places.launch == each.launch
        inside |= owned & (places.start >= each.start) & (places.start < each.end)
        ends_inside |= owned & (places.end > each.start) & (places.end <= each.end)
    astray = ~(inside & ends_inside)
    if not complete:
        astray &= places.loads_uops
    if astray.any():
        at = int(astray.argmax())
        raise RecordError(
            f"instruction {places.rows[at]} moves data at address {places.start[at]:#x}, "
            "of which the record has no memory; is the config right?"
        )


@dataclass(frozen=True)
class _Tensor:
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


def _tensors(
    meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> tuple[_Tensor, ...]:
    addresses: object = meta.get("phys")
    if not _is_object(addresses):
        return ()
    return tuple(
        _Tensor(name, address, arrays.get(name, arrays.get(f"arg_{name}")))
        for name, address in addresses.items()
        if isinstance(address, int) and address % ALIGNMENT == 0
    )


@dataclass(frozen=True, eq=False)
class _Region:
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

    def buffer(self, offset: int, names: "_Names") -> Buffer:
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


def _regions(
    places: _Places, segments: tuple[Segment, ...], tensors: tuple[_Tensor, ...]
) -> tuple[list[_Region], NDArray[np.int64]]:
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
    loads_uops, stored = np.ones(count, bool), np.zeros(count, bool)
    np.logical_and.at(loads_uops, owner, places.loads_uops)
    np.logical_or.at(stored, owner, places.stores)
    ends = np.maximum.reduceat(end, heads) if count else end
    owned: list[list[Segment]] = [[] for _ in range(count)]
    for piece, number in zip(pieces, region_of.tolist(), strict=False):
        owned[number].append(piece)
    regions = [
        _Region(
            start=int(start[head]) // int(alignment[number]) * int(alignment[number]),
            end=int(ends[number]),
            alignment=int(alignment[number]),
            pieces=tuple(owned[number]),
            loads_uops=bool(loads_uops[number]),
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


class _Names:
    """What buffers are called: by the tensors in them, where the record knows where those were."""

    def __init__(self, tensors: tuple[_Tensor, ...]):
        self.tensors = tensors
        self.taken: set[str] = set()

    def of(self, region: _Region) -> tuple[str, str | None, tuple[int, ...] | None]:
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


def _launches(arrays: Mapping[str, NDArray[Any]], count: int) -> tuple[range, ...]:
    """Return the instructions of each launch."""
    if "run_offsets" not in arrays:
        return (range(count),)
    offsets = _offsets(arrays, "run_offsets", count)
    return tuple(range(*pair) for pair in pairwise(offsets))


def _segments(arrays: Mapping[str, NDArray[Any]], launches: int) -> Iterator[Segment]:
    """Yield the pieces of memory that the record has."""
    starts = _array(arrays, "seg_addr", np.uint32).tolist()
    sizes = _array(arrays, "seg_size", np.uint32).tolist()
    before = _array(arrays, "mem_before", np.uint8)
    after = _array(arrays, "mem_after", np.uint8) if "mem_after" in arrays else None
    if len(starts) != len(sizes) or any(
        len(each) != sum(sizes) for each in (before, after) if each is not None
    ):
        raise RecordError(
            "expected seg_addr, seg_size, mem_before and mem_after to fit each other"
        )
    owners = [EVERYWHERE] * len(starts)
    if launches > 1:
        offsets = _offsets(arrays, "seg_run_offsets", len(starts))
        if len(offsets) != launches + 1:
            raise RecordError(f"expected seg_run_offsets of {launches} launches")
        owners = np.repeat(np.arange(launches), np.diff(offsets)).tolist()
    position = 0
    for start, size, owner in zip(starts, sizes, owners, strict=True):
        content = slice(position, position + size)
        position += size
        yield Segment(
            start, before[content], None if after is None else after[content], owner
        )


def _offsets(arrays: Mapping[str, NDArray[Any]], name: str, count: int) -> list[int]:
    """Return offsets from 0 up to a count."""
    offsets: list[int] = _array(arrays, name, np.uint32).tolist()
    if offsets[:1] != [0] or offsets[-1] != count or sorted(offsets) != offsets:
        raise RecordError(f"expected {name} to rise from 0 to {count}")
    return offsets


def _array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: type[np.generic]
) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim < 1:
        wanted = np.dtype(dtype).name
        raise RecordError(f"expected a record with {name}, an array of {wanted}")
    return array


def _json(arrays: Mapping[str, NDArray[Any]], name: str) -> Json:
    text = arrays.get(name)
    if text is None or text.dtype.kind != "U" or text.ndim:
        raise RecordError(f"expected a record with {name}, a text")
    try:
        content: object = json.loads(str(text))
    except (ValueError, RecursionError):
        content = None
    if not _is_object(content):
        raise RecordError(f"expected {name} to be a JSON object")
    return content


def _is_object(value: object) -> TypeGuard[Json]:
    return isinstance(value, dict)
