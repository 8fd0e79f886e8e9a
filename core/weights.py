"""Weights: large constants that IR refers to by digest, and never holds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from partita.errors import ArtifactError, WeightsError
from partita.runtime.files import replacing
from partita.runtime.tensors import Array, decode, digest, encode


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


def weight(array: Array) -> Weight:
    """Make a handle; the array is hashed once, made contiguous and read-only."""
    shape = array.shape
    array = np.ascontiguousarray(array).reshape(shape)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return Weight(digest(array), array)


def read_arrays(path: Path) -> dict[str, Array]:
    """Return the arrays of a safetensors file by name, mapped where they lie; raise `WeightsError` if it is not one."""
    try:
        with path.open("rb") as stream:
            data = memoryview(mmap(stream.fileno(), 0, access=ACCESS_READ))
        return decode(data, "the file")
    except (OSError, ValueError, ArtifactError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WeightsError(f"cannot read weights from {path}: {reason}") from None


class WeightFile(Mapping[str, Array]):
    """The arrays of a safetensors file, by digest, compared with it when asked for."""

    def __init__(self, path: Path):
        self._path = path
        self._arrays = read_arrays(path)

    def __getitem__(self, name: str) -> Array:
        array = self._arrays[name]
        if digest(array) != name:
            raise WeightsError(f"weight {name} of {self._path} does not match its name")
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._arrays))

    def __len__(self) -> int:
        return len(self._arrays)


def write_weights(path: Path, weights: Iterable[Weight]) -> None:
    """Write each weight once, under its digest; nothing is left behind on failure."""
    header, contents = encode({each.digest: each.content() for each in weights})
    try:
        with replacing(path) as stream:
            stream.writelines((header, *contents))
    except OSError as error:
        reason = error.strerror or error
        raise WeightsError(f"cannot write weights to {path}: {reason}") from None


__all__ = ["Array", "Weight", "WeightFile", "digest", "weight", "write_weights"]
