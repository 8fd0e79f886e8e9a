"""What element types are in C: as values, and in memory; numbers as literals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isinf, isnan

import numpy as np
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute

from partita.shapes import Shape, dtype_of
from partita.weights import Array


@dataclass(frozen=True)
class CType:
    """An element type."""

    name: str
    """What C computes with."""

    memory: str
    """What C keeps in memory: `uint8_t` for truth values, the bits of an `f16`."""

    suffix: str
    """What names of support functions end with."""

    bits: int

    is_float: bool = False

    @property
    def is_bool(self) -> bool:
        """Whether values are true and false."""
        return self.bits == 1

    @property
    def is_half(self) -> bool:
        """Whether it is `f16`: a `float` that is rounded after every operation."""
        return self.suffix == "f16"

    @property
    def is_integer(self) -> bool:
        """Whether values wrap around."""
        return not self.is_float and not self.is_bool


BOOL = CType("bool", "uint8_t", "bool", 1)

I64 = CType("int64_t", "int64_t", "i64", 64)

F16 = CType("float", "uint16_t", "f16", 16, is_float=True)

F32 = CType("float", "float", "f32", 32, is_float=True)

F64 = CType("double", "double", "f64", 64, is_float=True)

_TYPES = {
    "bool": BOOL,
    "int8": CType("int8_t", "int8_t", "i8", 8),
    "int16": CType("int16_t", "int16_t", "i16", 16),
    "int32": CType("int32_t", "int32_t", "i32", 32),
    "int64": I64,
    "float16": F16,
    "float32": F32,
    "float64": F64,
}
"""By the name of the dtype that signless elements have."""


def c_type(type: Attribute) -> CType:
    """Return the C type of a scalar; `KeyError` for one that has none here."""
    return I64 if isinstance(type, IndexType) else _TYPES[dtype_of(type).name]


def literal(value: float, type: CType) -> str:
    """Write a number so that C reads back the very same value."""
    if type.is_bool:
        return "true" if value else "false"
    if not type.is_float:
        return _integer(int(value))
    if isnan(value):
        return "NAN"
    if isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    if type is F64:
        return repr(float(value))
    rounded = np.float32(np.float16(value)) if type is F16 else np.float32(value)
    if np.isinf(rounded):
        return literal(float(rounded), type)
    return f"{rounded!s}f"


def _integer(value: int) -> str:
    if value == -(1 << 63):
        return "INT64_MIN"
    if value == -(1 << 31):
        return "INT32_MIN"
    if -(1 << 31) < value < 1 << 31:
        return str(value)
    return f"INT64_C({value})"


def dimensions(shape: Shape, first: str = "") -> str:
    """Write the extents of an array, after `first` within the first brackets; one element if it has no axes."""
    extents = [str(each) for each in shape] or ["1"]
    extents[0] = first + extents[0]
    return "".join(f"[{each}]" for each in extents)


def table(array: Array, type: CType, indent: str = "  ") -> str:
    """Write the content of an array as an initializer, nested as its axes are."""
    flat = list(_elements(np.ascontiguousarray(array).reshape(-1), type))
    return _nested(flat, array.shape[1:], indent)


def _elements(flat: Array, type: CType) -> Iterable[str]:
    if type is F16:
        return map(str, flat.view(np.uint16).tolist())
    if not type.is_float:
        return map(
            _integer, flat.view(np.int8).tolist() if type is BOOL else flat.tolist()
        )
    form = "%.17g" if type is F64 else "%.9g"
    return (
        form % each if np.isfinite(each) else literal(each, type)
        for each in flat.tolist()
    )


def _nested(flat: Sequence[str], inner: Shape, indent: str) -> str:
    """Write elements in braces: whole rows of the last axis, or lines of a few."""
    if not inner:
        return "{" + _lines(flat, indent) + "}"
    size = int(np.prod(inner))
    parts = [
        _nested(flat[start : start + size], inner[1:], indent)
        for start in range(0, len(flat), size)
    ]
    return "{" + f",\n{indent}".join(parts) + "}"


PER_LINE = 12
"""Elements of a row that stand on one line."""


def _lines(flat: Sequence[str], indent: str) -> str:
    return f",\n{indent}".join(
        ", ".join(flat[start : start + PER_LINE])
        for start in range(0, len(flat), PER_LINE)
    )
