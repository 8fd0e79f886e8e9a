"""Buffers as C arrays, and their elements as expressions."""

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from partita.shapes import Shape
from partita.targets.c.expressions import Level, Value, call
from partita.targets.c.support import Support
from partita.targets.c.types import BOOL, CType, c_type, dimensions


@dataclass(frozen=True)
class Buffer:
    """An array with a name."""

    name: str

    type: CType

    shape: Shape

    order: tuple[int, ...] = ()
    """The axes as they lie in memory, outermost first; as in the shape if none are given."""

    @staticmethod
    def of(
        name: str, type: MemRefType[Attribute], order: tuple[int, ...] = ()
    ) -> "Buffer":
        """Return the buffer of a type; `KeyError` for an element type that C has not."""
        return Buffer(name, c_type(type.element_type), type.get_shape(), order)

    @property
    def count(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def size(self) -> str:
        """The size in bytes, as C computes it."""
        return f"{self.count} * sizeof({self.type.memory})"

    def parameter(self, constant: bool) -> str:
        """Declare it as what a function is given: nothing else points into it while the function writes it."""
        qualified = f"const {self.type.memory}" if constant else self.type.memory
        if not self.count:
            return f"{qualified} *restrict {self.name}"
        return f"{qualified} {self.name}{dimensions(self.shape, 'restrict ')}"

    def local(self) -> str:
        """Declare it as what a function keeps."""
        extents = tuple(self.shape[axis] for axis in self.order) or self.shape
        return f"{self.type.memory} {self.name}{dimensions(extents)}"

    def element(self, indices: tuple[str, ...]) -> str:
        """Write the place of an element, given its index on each axis."""
        indices = tuple(indices[axis] for axis in self.order) or indices
        return self.name + "".join(f"[{each}]" for each in indices or ("0",))

    def loaded(self, place: str, support: Support) -> Value:
        """Write the value at a place."""
        if self.type.is_bool:
            return Value(f"{place} != 0", BOOL, Level.EQUAL)
        value = Value(place, self.type)
        if self.type.is_half:
            return call(support.half("half_value"), self.type, value)
        return value

    def stored(self, value: Value, support: Support) -> str:
        """Write what is put into memory for a value."""
        if not self.type.is_half:
            return value.text
        rounding = "half_rounded("
        if value.level is Level.ATOM and value.text.startswith(rounding):
            return f"{support.half('half_bits')}({value.text.removeprefix(rounding)}"
        return f"{support.half('half_bits')}({value.text})"
