"""What a program has in DRAM: named buffers in one arena."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from partita.errors import PartitaError
from partita.runtime.plan import ALIGNMENT, DTYPES

Role = Literal["uop", "constant", "input", "output", "scratch"]
"""What a buffer is for: micro-ops and constants come with the program, inputs with each run."""

ROLES: tuple[Role, ...] = get_args(Role)

NAME = re.compile(r'[^\s";=]+')
"""What buffers may be called: a word in the text of a program."""

Bytes = NDArray[np.uint8]


class ProgramError(PartitaError):
    """A program is broken or foreign, or does not fit the data or the place that it is given."""


@dataclass(frozen=True, eq=False)
class Buffer:
    """A piece of the arena. Raises `ProgramError` for what contradicts itself."""

    name: str
    role: Role
    size: int
    """In bytes."""

    offset: int
    """Where it starts in the arena, in bytes, a multiple of 64."""

    dtype: str | None = None
    """The element type of the tensor in it, by its numpy name."""

    shape: tuple[int, ...] | None = None
    """The shape of that tensor, as it lies in memory."""

    layout: str | None = None
    """What the dimensions mean, such as `NCHW1n16c`: a text for whoever packs the data."""

    contents: Bytes | None = None
    """What is in it before a run, `uint8[size]`; required of micro-ops and constants."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or not self.name.isprintable():
            raise ProgramError(
                f"expected a buffer name without spaces, quotes, ; and =, got {self.name!r}"
            )
        if self.role not in ROLES:
            raise self._fail(f"expected a role of {', '.join(ROLES)}, got {self.role}")
        if self.size < 0 or self.offset < 0 or self.offset % ALIGNMENT:
            raise self._fail(
                f"expected an offset that is a multiple of {ALIGNMENT}, got {self.size} bytes at {self.offset}"
            )
        self._check_tensor()
        if self.contents is None:
            if self.role in ("uop", "constant"):
                raise self._fail("has no contents")
        elif self.contents.dtype != np.uint8 or self.contents.shape != (self.size,):
            raise self._fail(f"expected contents of {self.size} bytes")

    def _check_tensor(self) -> None:
        """Raise unless dtype and shape are those of a tensor that has room in the buffer, or both are missing."""
        if (self.dtype is None) != (self.shape is None):
            raise self._fail("expected a dtype and a shape, or neither")
        if self.dtype is not None and self.dtype not in DTYPES:
            raise self._fail(f"expected a dtype of {', '.join(DTYPES)}")
        if any(extent < 0 for extent in self.shape or ()):
            raise self._fail(f"expected a shape, got {list(self.shape or ())}")
        if self.tensor_bytes > self.size:
            raise self._fail(
                f"{self.dtype}{list(self.shape or ())} has {self.tensor_bytes} bytes, and the buffer {self.size}"
            )

    @property
    def end(self) -> int:
        return self.offset + self.size

    @property
    def tensor_bytes(self) -> int:
        """The size of the tensor in the buffer; 0 where none is declared."""
        if self.dtype is None or self.shape is None:
            return 0
        return tensor_bytes(self.dtype, self.shape)

    def _fail(self, why: str) -> ProgramError:
        return ProgramError(f"buffer {self.name}: {why}")


def tensor_bytes(dtype: str, shape: Sequence[int]) -> int:
    """Return the size of a tensor; raises `ProgramError` for an element type that does not exist."""
    if dtype not in DTYPES:
        raise ProgramError(f"expected a dtype of {', '.join(DTYPES)}, got {dtype}")
    return prod(shape) * np.dtype(dtype).itemsize


@dataclass(frozen=True)
class Layer:
    """Instructions that belong together."""

    name: str
    origin: str
    """The nodes of the model that they compute, as `partita.origin` has it; may be empty."""

    range: range
    """Which instructions."""


def role_of(text: str) -> Role | None:
    """Return the role that a text names."""
    return next((each for each in ROLES if each == text), None)


def overlaps(buffers: tuple[Buffer, ...]) -> tuple[Buffer, Buffer] | None:
    """Return a buffer that holds what comes with the program, and another that shares bytes with it, if any do.

    All others may share memory: their maker knows when each is in use.
    """
    ordered = sorted(
        (each for each in buffers if each.size), key=lambda each: each.offset
    )
    fixed = last = None
    for each in ordered:
        keeps = each.role in ("uop", "constant")
        if fixed is not None and each.offset < fixed.end:
            return fixed, each
        if keeps and last is not None and each.offset < last.end:
            return each, last
        if keeps and (fixed is None or each.end > fixed.end):
            fixed = each
        if last is None or each.end > last.end:
            last = each
    return None
