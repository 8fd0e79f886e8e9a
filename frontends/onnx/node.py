"""One node of a model, as converters see it: checked attributes, operands, and a place to put ops."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import onnx
from onnx import AttributeProto
from xdsl.ir import Attribute, SSAValue

from partita.dialects.relay import (
    CastOp,
    RelayOp,
)
from partita.errors import ModelError
from partita.frontends.onnx.builder import Builder, Initializer, array_of, constant
from partita.frontends.onnx.tensors import Array, to_array
from partita.shapes import DYNAMIC, Shape, dtype_of, element_of, shape_of

Operand = SSAValue | Initializer | None
"""An input of a node; `None` where it is left out."""


class DynamicShape(ModelError):
    """A value has dynamic dimensions where it must not; the user can make them static."""


@dataclass
class Node:
    """A node with its operands. Methods raise `ModelError`, in terms of the node, if it is not as they expect."""

    proto: onnx.NodeProto

    label: str
    """Its name, or one made up, for messages and as the origin of ops."""

    opset: int
    """The version of its domain that the model uses."""

    operands: tuple[Operand, ...]

    attributes: Mapping[str, AttributeProto]

    builder: Builder

    way_out: str
    """How the user can make dynamic dimensions static, for messages."""

    @property
    def op_type(self) -> str:
        return self.proto.op_type

    def fail(self, message: str) -> NoReturn:
        """Raise a `ModelError` that names the node."""
        raise ModelError(self.told(message))

    def told(self, message: str) -> str:
        """Return a message that names the node."""
        return f"node {self.label} ({self.op_type}): {message}"

    # Operands

    def has(self, index: int) -> bool:
        """Say whether the node has this input."""
        return index < len(self.operands) and self.operands[index] is not None

    def operand(self, index: int) -> SSAValue:
        """Return an input that must be there."""
        value = self.optional(index)
        if value is None:
            self.fail(f"expected input {index + 1}, got none")
        return value

    def optional(self, index: int) -> SSAValue | None:
        """Return an input that may be left out."""
        operand = self.operands[index] if index < len(self.operands) else None
        return operand.value if isinstance(operand, Initializer) else operand

    def all(self) -> tuple[SSAValue, ...]:
        """Return all inputs, of which none may be left out."""
        return tuple(self.operand(index) for index in range(len(self.operands)))

    def constant(self, index: int, what: str) -> Array:
        """Return the content of an input that must be known at compile time."""
        operand = self.operands[index] if index < len(self.operands) else None
        if isinstance(operand, Initializer):
            return operand.array
        array = None if operand is None else array_of(operand)
        if array is None:
            self.fail(
                f"expected input {index + 1} ({what}) to be a constant, got a value known only at run time"
            )
        return array

    def is_constant(self, index: int) -> bool:
        """Say whether the node has this input and its content is known at compile time."""
        operand = self.operands[index] if index < len(self.operands) else None
        if operand is None or isinstance(operand, Initializer):
            return operand is not None
        return array_of(operand) is not None

    def one_element(self, index: int, what: str) -> Array:
        """Return the content of an input that must be known and have one element, as a rank-0 array."""
        array = self.constant(index, what)
        if array.size != 1:
            self.fail(f"expected {what} of one element, got {array.size}")
        return array.reshape(())

    def scalar_constant(self, index: int) -> float | None:
        """Return the number that an input is known to be, `None` if it is left out or known only at run time."""
        if not self.is_constant(index):
            return None
        return self.one_element(index, f"input {index + 1}").item()

    def constant_integers(self, index: int, what: str) -> tuple[int, ...]:
        """Return the content of an input as a list of integers, which old opsets give as floats."""
        array = self.constant(index, what)
        integers = array.astype(np.int64)
        if array.dtype.kind not in "iuf" or np.any(integers != array):
            self.fail(f"expected {what} of integers, got {array.dtype}")
        return tuple(int(value) for value in integers.reshape(-1))

    def static(self, value: SSAValue, what: str) -> Shape:
        """Return the shape of a value that must not have dynamic dimensions."""
        shape = shape_of(value)
        if DYNAMIC in shape:
            text = "x".join(
                "?" if extent == DYNAMIC else str(extent) for extent in shape
            )
            raise DynamicShape(
                self.told(
                    f"expected {what} of static shape, got {text}; {self.way_out}"
                )
            )
        return shape

    def check_rank(self, value: SSAValue, least: int, what: str) -> None:
        """Refuse a value of too few axes."""
        if len(shape_of(value)) < least:
            self.fail(
                f"expected {what} of rank {least} or more, got {len(shape_of(value))}"
            )

    # Attributes

    def _attribute(self, name: str, code: int) -> AttributeProto | None:
        attribute = self.attributes.get(name)
        if attribute is not None and attribute.type != code:
            wanted, got = (
                AttributeProto.AttributeType.Name(each).lower()
                for each in (code, attribute.type)
            )
            self.fail(f"expected attribute {name} of type {wanted}, got {got}")
        return attribute

    def integer(self, name: str, default: int) -> int:
        attribute = self._attribute(name, AttributeProto.INT)
        return default if attribute is None else attribute.i

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self.integer(name, default))

    def real(self, name: str, default: float) -> float:
        attribute = self._attribute(name, AttributeProto.FLOAT)
        return default if attribute is None else attribute.f

    def text(self, name: str, default: str) -> str:
        attribute = self._attribute(name, AttributeProto.STRING)
        return default if attribute is None else attribute.s.decode(errors="replace")

    def integers(self, name: str) -> tuple[int, ...] | None:
        attribute = self._attribute(name, AttributeProto.INTS)
        return None if attribute is None else tuple(attribute.ints)

    def required_integers(self, name: str) -> tuple[int, ...]:
        values = self.integers(name)
        if values is None:
            self.fail(f"expected attribute {name}, got none")
        return values

    def tensor(self, name: str) -> Array | None:
        attribute = self._attribute(name, AttributeProto.TENSOR)
        if attribute is None:
            return None
        return to_array(attribute.t, None, f"attribute {name} of node {self.label}")

    def output_used(self, index: int) -> bool:
        """Say whether the node names this output."""
        return len(self.proto.output) > index and bool(self.proto.output[index])

    # Ops

    def emit(self, op: RelayOp) -> SSAValue:
        """Append an op of one result."""
        return self.builder.append(op, self.label)[0]

    def emit_all(self, op: RelayOp) -> tuple[SSAValue, ...]:
        """Append an op of several results."""
        return self.builder.append(op, self.label)

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """Make a rank-0 constant of the element type of another value."""
        return constant(np.array(value, dtype_of(element_of(like))))

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Convert, unless the element type is right."""
        if element_of(value) == element:
            return value
        return self.emit(CastOp(value, element_type=element))


Results = SSAValue | Sequence[SSAValue | None]

Converter = Callable[[Node], Results]
"""Makes relay ops for a node; returns as many values as it has outputs, `None` for those left out."""

Table = Mapping[tuple[str, str], Converter]
"""Converters by domain ("" is ONNX's own) and op type."""


def table(converters: Mapping[str, Converter]) -> Table:
    """Make a table of ops of ONNX's own domain."""
    return {("", name): converter for name, converter in converters.items()}
