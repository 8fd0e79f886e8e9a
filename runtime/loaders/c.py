"""Modules of target `c`: a shared object, called through ctypes.

The function that the options name takes three arrays of pointers: to inputs, outputs and weights.
"""

import ctypes
import os
import weakref
from collections.abc import Mapping, Sequence
from tempfile import NamedTemporaryFile

from partita.errors import ArtifactError
from partita.runtime.loaders import LoaderContext
from partita.runtime.plan import TensorSpec
from partita.runtime.tensors import Array

MEMBER = "module.so"
"""The name of the shared object among the files of a module."""

FUNCTION = "function"
"""The option that names the function to call."""


def load(
    files: Mapping[str, bytes],
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    weights: Sequence[Array],
    options: Mapping[str, object],
    context: LoaderContext,
) -> "Function":
    """Load a shared object, once for all modules of it; raise `ArtifactError` if it is none, or lacks the function."""
    if MEMBER not in files:
        raise ArtifactError(f"it has no file {MEMBER}")
    name = options.get(FUNCTION)
    if not isinstance(name, str):
        raise ArtifactError(f"it does not name its {FUNCTION}")
    content = files[MEMBER]
    library = context.shared.get((MEMBER, content))
    if not isinstance(library, SharedObject):
        library = context.shared[MEMBER, content] = SharedObject(content)
    return Function(library, name, weights)


class SharedObject:
    """A shared object, which stays loaded as long as this lives.

    Each instance has memory of its own, but one only: calls of its functions must not overlap.
    """

    def __init__(self, content: bytes):
        self.library = _open(content)
        self._finalizer = weakref.finalize(self, _close, self.library)


class Function:
    """A function of a shared object, with its weights."""

    def __init__(self, owner: SharedObject, name: str, weights: Sequence[Array]):
        try:
            self._call = owner.library[name]
        except AttributeError:
            raise ArtifactError(f"its shared object has no function {name}") from None
        self._call.restype = None
        self._kept = (owner, *weights)
        self._weights = _pointers(weights)

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        self._call(_pointers(inputs), _pointers(outputs), self._weights)


def _pointers(arrays: Sequence[Array]) -> "ctypes.Array[ctypes.c_void_p]":
    return (ctypes.c_void_p * max(1, len(arrays)))(
        *(each.ctypes.data for each in arrays)
    )


def _open(content: bytes) -> ctypes.CDLL:
    """Load a shared object from memory, by way of a file that is gone afterwards."""
    with NamedTemporaryFile(prefix="partita-", suffix=".so", delete=False) as file:
        file.write(content)
    try:
        return ctypes.CDLL(file.name, mode=os.RTLD_LOCAL | os.RTLD_NOW)
    except OSError as error:
        reason = str(error).removeprefix(f"{file.name}: ")
        raise ArtifactError(f"its shared object cannot be loaded: {reason}") from None
    finally:
        os.unlink(file.name)


def _close(library: ctypes.CDLL) -> None:
    """Unload a shared object, where the system lets us."""
    close = getattr(ctypes.CDLL(None), "dlclose", None)
    if close is not None:
        close(ctypes.c_void_p(library._handle))
