"""Records of what the original stack ran: streams in `.npz` files, mostly with memory before and after.

A record gives absolute addresses. What its instructions touch becomes buffers: pieces of DRAM that instructions or the
record's segments connect, at the distances that they had. `tests/golden/vta/README.txt` describes the files.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from partita.errors import PartitaError
from partita.runtime.plan import ALIGNMENT
from partita.runtime.vta import isa
from partita.runtime.vta.buffers import Buffer, Bytes, Layer
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.regions import (
    ADDRESS_SPACE,
    EVERYWHERE,
    Names,
    Places,
    Segment,
    Tensor,
    places_of,
    regions_of,
)

Json = dict[str, Any]

MENTIONED = 5
"""How many arrays of a file that is no record are named."""


class RecordError(PartitaError):
    """A file is no record, or a broken one."""


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
    except Exception:
        pass  # What zipfile and numpy raise for damaged files is of a dozen kinds; all mean the same.
    raise RecordError(
        f"{path}: expected an .npz record; this is another file, or a damaged one"
    )


def _record(
    name: str, arrays: Mapping[str, NDArray[Any]], config: HardwareConfig | None
) -> Record:
    if "insns" not in arrays:
        held = ", ".join(sorted(arrays)[:MENTIONED]) or "nothing"
        more = len(arrays) - MENTIONED
        held += f" and {more} more" if more > 0 else ""
        raise RecordError(f"expected a record with insns, got one of {held}")
    config = config or HardwareConfig.load(_json(arrays, "config_json"))
    insns = _array(arrays, "insns", np.uint8)
    if insns.ndim != 2 or insns.shape[1] != isa.INSTRUCTION_BYTES:
        raise RecordError(f"expected insns of shape [N, 16], got {list(insns.shape)}")
    stream = isa.decode(insns, config)
    launches = _launches(arrays, len(stream))
    segments = tuple(_segments(arrays, len(launches)))
    meta = _json(arrays, "meta_json") if "meta_json" in arrays else {}
    places = places_of(stream, launches, config)
    _check_places(places, segments, complete="mem_after" in arrays)
    tensors = _tensors(meta, arrays)
    regions, owner = regions_of(places, segments, tensors)
    names = Names(tensors)
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


def _check_places(
    places: Places, segments: tuple[Segment, ...], complete: bool
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


def _tensors(
    meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> tuple[Tensor, ...]:
    """Return the tensors whose addresses the record gives."""
    addresses: object = meta.get("phys")
    if not _is_object(addresses):
        return ()
    return tuple(
        Tensor(name, address, arrays.get(name, arrays.get(f"arg_{name}")))
        for name, address in addresses.items()
        if isinstance(address, int) and address % ALIGNMENT == 0
    )


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
