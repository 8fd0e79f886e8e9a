"""Zip archives of stored members, each at an aligned address, read as views of the mapped file."""

import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import BinaryIO

from partita.errors import ArtifactError
from partita.runtime.plan import ALIGNMENT

LOCAL_HEADER = struct.Struct("<4s22xHH")
"""Of what stands before a member: its signature, and the sizes of its name and of its extra fields."""

PADDING = struct.Struct("<HH")
PADDING_ID = 0xD935
"""The extra field that Android's `zipalign` fills with padding."""

ZIP64_FIELD = 20
LARGE = 1 << 30
"""Members from this size on have 64-bit sizes."""

DAMAGED = "not an artifact, or a damaged one"


@dataclass(frozen=True)
class Member:
    """A member to be written: its name, its size and its content in pieces."""

    name: str
    size: int
    content: Iterable[bytes | memoryview]


def write_archive(stream: BinaryIO, members: Iterable[Member]) -> None:
    """Write members in order, with fixed dates: equal members make equal files."""
    with zipfile.ZipFile(stream, "w") as archive:
        for member in members:
            info = zipfile.ZipInfo(member.name)
            info.file_size = member.size
            large = member.size >= LARGE
            start = stream.tell() + LOCAL_HEADER.size + len(member.name.encode())
            start += PADDING.size + (ZIP64_FIELD if large else 0)
            padding = -start % ALIGNMENT
            info.extra = PADDING.pack(PADDING_ID, padding) + bytes(padding)
            with archive.open(info, "w", force_zip64=large) as target:
                for piece in member.content:
                    target.write(piece)


def read_archive(path: Path, summed: str) -> dict[str, memoryview]:
    """Return the members of an archive by name, as views of the mapped file, after checking their bounds.

    Only the checksum of the member called `summed` is compared; it has to guard the others by other means.
    """
    try:
        with path.open("rb") as stream:
            infos = _directory(stream)
            data = memoryview(mmap(stream.fileno(), 0, access=ACCESS_READ))
    except OSError as error:
        reason = error.strerror or error
        raise ArtifactError(f"cannot be read: {reason}") from None
    members: dict[str, memoryview] = {}
    for info in infos:
        if info.filename in members:
            raise ArtifactError(f"two members are named {info.filename!r}")
        content = members[info.filename] = _content(info, data)
        if info.filename == summed and zlib.crc32(content) != info.CRC:
            raise ArtifactError(DAMAGED)
    return members


def _directory(stream: BinaryIO) -> list[zipfile.ZipInfo]:
    try:
        return zipfile.ZipFile(stream).infolist()
    except (
        *(zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError),
        *(ValueError, IndexError, OverflowError, struct.error),
    ):
        raise ArtifactError(DAMAGED) from None


def _content(info: zipfile.ZipInfo, data: memoryview) -> memoryview:
    start = info.header_offset
    header = data[start : start + LOCAL_HEADER.size]
    if start < 0 or len(header) < LOCAL_HEADER.size:
        raise ArtifactError(DAMAGED)
    signature, name_size, extra_size = LOCAL_HEADER.unpack(header)
    start += LOCAL_HEADER.size
    name = bytes(data[start : start + name_size])
    start += name_size + extra_size
    stored = (
        signature == b"PK\x03\x04"
        and name == info.filename.encode()
        and info.compress_type == zipfile.ZIP_STORED
        and info.compress_size == info.file_size
        and not info.flag_bits & 1
        and start + info.file_size <= len(data)
    )
    if not stored:
        raise ArtifactError(DAMAGED)
    return data[start : start + info.file_size]
