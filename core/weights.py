"""Weights: large constants that IR refers to by digest, and never holds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from partita.errors import WeightsError

Array = NDArray[np.generic]


@dataclass(frozen=True)
class Weight:
    """A handle on an array: equal to another if their contents are."""

    digest: str
    """Hex blake2b-128 over dtype, shape and bytes."""

    array: Array | None = field(default=None, compare=False, repr=False)
    """The read-only content, or `None` where IR was read without its weights."""

    def content(self) -> Array:
        """Return the array; raise `WeightsError` if it is not loaded."""
        if self.array is None:
            raise WeightsError(
                f"weight {self.digest} is not loaded; pass --weights FILE"
            )
        return self.array


def digest(array: Array) -> str:
    """Return the hex blake2b-128 over dtype, shape and little-endian bytes of an array."""
    state = blake2b(digest_size=16)
    state.update(f"{array.dtype.str}{array.shape}".encode())
    state.update(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data)
    return state.hexdigest()


def weight(array: Array) -> Weight:
    """Make a handle; the array is hashed once, made contiguous and read-only."""
    shape = array.shape
    array = np.ascontiguousarray(array).reshape(shape)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return Weight(digest(array), array)


class WeightFile(Mapping[str, Array]):
    """The arrays of a safetensors file, by digest, read when asked for."""

    def __init__(self, path: Path):
        self._path = path
        try:
            self._file = safe_open(path, framework="numpy")
            self._names = frozenset(self._file.keys())
        except (OSError, SafetensorError) as error:
            raise WeightsError(f"cannot read weights from {path}: {error}") from None

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise KeyError(name)
        array: Array = self._file.get_tensor(name)
        if digest(array) != name:
            raise WeightsError(f"weight {name} of {self._path} does not match its name")
        array.flags.writeable = False
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)


def write_weights(path: Path, weights: Iterable[Weight]) -> None:
    """Write each weight once, under its digest; nothing is left behind on failure."""
    partial = path.with_name(path.name + ".partial")
    try:
        save_file({each.digest: each.content() for each in weights}, partial)
        partial.replace(path)
    except OSError as error:
        raise WeightsError(f"cannot write weights to {path}: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
