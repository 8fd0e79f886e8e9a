"""Arrays in memory and in files: aligned buffers, digests, and the safetensors format.

Weights are stored so that they can be used where they lie: a file that starts at an aligned address has every tensor
aligned whose size is a multiple of the alignment. Those come first; the others follow, largest first.
"""

import ctypes
import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import ArtifactError
from partita.runtime.json_reader import Node
from partita.runtime.plan import ALIGNMENT

Array = NDArray[np.generic]

SAFETENSORS = {
    "bool": "BOOL",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
}
"""What the safetensors format calls the element types."""


def digest(array: Array) -> str:
    """Return the hex blake2b-128 over dtype, shape and little-endian bytes of an array."""
    state = blake2b(digest_size=16)
    state.update(f"{array.dtype.str}{array.shape}".encode())
    state.update(content(array))
    return state.hexdigest()


def content(array: Array) -> memoryview:
    """Return the bytes of an array, copied only if it is not contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def is_aligned(array: Array) -> bool:
    """Return whether an array is contiguous and starts at a multiple of `ALIGNMENT`."""
    return array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0


def aligned_empty(shape: tuple[int, ...], dtype: "np.dtype[Any]") -> Array:
    """Return an uninitialized array that starts at a multiple of `ALIGNMENT`."""
    return placed_empty(shape, dtype)[0]


def placed_empty(shape: tuple[int, ...], dtype: "np.dtype[Any]") -> tuple[Array, int]:
    """Return an uninitialized array that starts at a multiple of `ALIGNMENT`, and its address, in a microsecond."""
    block = np.empty(prod(shape) * dtype.itemsize + ALIGNMENT, np.uint8)
    address = ctypes.addressof(ctypes.c_char.from_buffer(block.data))
    start = -address % ALIGNMENT
    return np.ndarray(shape, dtype, block.data, start), address + start


def aligned(array: Array) -> Array:
    """Return the array, or a read-only aligned copy if it is not aligned."""
    if is_aligned(array):
        return array
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    copy.flags.writeable = False
    return copy


def encode(arrays: Mapping[str, Array]) -> tuple[bytes, Iterator[memoryview]]:
    """Return the header of a safetensors file, and the bytes of its arrays one after another."""

    def order(name: str) -> tuple[bool, int, str]:
        size = arrays[name].nbytes
        return size % ALIGNMENT != 0, -size, name

    names = sorted(arrays, key=order)
    entries: dict[str, object] = {}
    end = 0
    for name in names:
        array = arrays[name]
        start, end = end, end + array.nbytes
        entries[name] = {
            "dtype": SAFETENSORS[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    header = len(text).to_bytes(8, "little") + text
    return header, (content(arrays[name]) for name in names)


def header_size(data: memoryview, where: str) -> int:
    """Return how many bytes of a safetensors file come before the content of its arrays."""
    size = int.from_bytes(data[:8], "little") + 8
    if len(data) < 8 or size > len(data):
        raise ArtifactError(f"{where} is no safetensors file")
    return size


def decode(data: memoryview, where: str) -> dict[str, Array]:
    """Return the arrays of a safetensors file as read-only views of `data`."""
    size = header_size(data, where)
    entries = Node.parse(bytes(data[8:size]), f"{where}: header").fields()
    entries.pop("__metadata__", None)

    def place(name: str) -> tuple[int, ...]:
        return entries[name]["data_offsets"].each(Node.integer)

    dtypes = {name: np.dtype(dtype) for dtype, name in SAFETENSORS.items()}
    body = np.frombuffer(data[size:], np.uint8)
    body.flags.writeable = False
    arrays: dict[str, Array] = {}
    position = 0
    for name in sorted(entries, key=place):
        node = entries[name]
        dtype = dtypes.get(node["dtype"].string())
        if dtype is None:
            raise node["dtype"].fail(f"one of {', '.join(dtypes)}")
        shape = node["shape"].each(Node.integer)
        start, end = position, position + prod(shape) * dtype.itemsize
        if place(name) != (start, end) or end > len(body):
            raise node["data_offsets"].fail(f"[{start}, {end}]")
        arrays[name] = body[start:end].view(dtype).reshape(shape)
        position = end
    if position != len(body):
        raise ArtifactError(f"{where} has {len(body) - position} bytes too many")
    return arrays
