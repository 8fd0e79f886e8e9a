"""Arrays in numpy's files, read without trust and written whole or not at all."""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError, OptionError
from partita.runtime.files import replacing

Array = NDArray[Any]

SUFFIX = ".npy"
"""Of a file of one array, and of the members of an `.npz` file."""


def read_arrays(path: Path) -> dict[str, Array]:
    """Return the arrays of an `.npz` file by name, or that of an `.npy` file under an empty name.

    Raises `InputError` for what is neither, is truncated, or holds Python objects.
    """
    try:
        with path.open("rb") as stream:
            if not zipfile.is_zipfile(stream):
                stream.seek(0)
                return {"": _native(np.lib.format.read_array(stream))}
        with zipfile.ZipFile(path) as archive:
            arrays: dict[str, Array] = {}
            for member in archive.namelist():
                with archive.open(member) as stream:
                    array = np.lib.format.read_array(stream)
                arrays[member.removesuffix(SUFFIX)] = _native(array)
            return arrays
    except (
        *(ValueError, EOFError, SyntaxError, MemoryError, NotImplementedError),
        *(zipfile.BadZipFile, zlib.error, RuntimeError),
    ):
        raise InputError(
            f"{path} is no .npy or .npz file of numbers, or is truncated"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def _native(array: Array) -> Array:
    """Return the array in this machine's byte order."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name, which may be any: `numpy.savez` cannot write one called `file`."""
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                with archive.open(name + SUFFIX, "w", force_zip64=True) as stream:
                    np.lib.format.write_array(stream, array, allow_pickle=False)
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror or error}") from None
