"""Constants: small ones in the IR, large ones as handles."""

import re
from io import StringIO
from typing import cast

import numpy as np
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyTensorType,
    AnyTensorTypeConstr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    AnyOf,
    BaseAttr,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import VerifyException

from partita.dialects.partita import WeightAttr
from partita.dialects.relay.base import ELEMENTS, Fusion, FusionPattern, RelayOp
from partita.shapes import (
    DYNAMIC,
    dtype_of,
    element_type,
    is_float,
    tensor_of,
    tensor_type,
)
from partita.weights import Array, weight

MAX_INLINE = 16
"""Constants of more elements than this, unless all are one value, are weights."""


@irdl_op_definition
class ConstantOp(RelayOp):
    """Give a tensor that is known at compile time.

    ```mlir
    %c = relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    ```
    """

    name = "relay.constant"

    value = prop_def(AnyOf((BaseAttr(DenseIntOrFPElementsAttr), BaseAttr(WeightAttr))))
    """The elements themselves, one if all are the same, or a handle on them."""

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.OPAQUE), ConstantLike())

    def __init__(
        self, value: DenseIntOrFPElementsAttr | WeightAttr, type: AnyTensorType
    ):
        IRDLOperation.__init__(self, properties={"value": value}, result_types=(type,))

    @staticmethod
    def of(array: Array) -> "ConstantOp":
        """Make a constant of an array, which becomes a weight if it is large and has several values."""
        type = tensor_of(array.shape, element_type(array.dtype))
        if array.size <= MAX_INLINE or bool(np.all(_same(array))):
            return ConstantOp(_elements(array, type), type)
        return ConstantOp(WeightAttr(weight(array)), type)

    def array(self) -> Array:
        """Return the elements, read-only; raise `WeightsError` if they are a weight that is not loaded."""
        if isinstance(self.value, WeightAttr):
            return self.value.data.content()
        type = tensor_type(self.result)
        raw = np.frombuffer(self.value.data.data, _stored(type.element_type))
        flat = raw != 0 if dtype_of(type.element_type) == np.bool_ else raw
        if flat.size == 1:
            return np.broadcast_to(flat.reshape(()), type.get_shape())
        array = flat.reshape(type.get_shape())
        array.flags.writeable = False
        return array

    def splat(self) -> np.generic | None:
        """Return the one value that all elements have, `None` if they differ or are a weight."""
        if isinstance(self.value, WeightAttr):
            return None
        array = self.array()
        if not array.size or not np.all(_same(array)):
            return None
        return array.reshape(-1)[0]

    def infer(self) -> tuple[AnyTensorType, ...]:
        type = tensor_type(self.result)
        shape = type.get_shape()
        if type.element_type not in ELEMENTS.types:
            raise VerifyException(
                f"expected result of numeric or i1 elements, got {type.element_type}"
            )
        if DYNAMIC in shape:
            raise VerifyException(f"expected result of static shape, got {type}")
        if isinstance(self.value, WeightAttr):
            array = self.value.data.array
            if array is not None and (
                array.shape != shape or array.dtype != dtype_of(type.element_type)
            ):
                raise VerifyException(
                    f"expected weight of type {type}, got "
                    f"{tensor_of(array.shape, element_type(array.dtype))}"
                )
            return (type,)
        if self.value.type != type:
            raise VerifyException(
                f"expected value of type {type}, got {self.value.type}"
            )
        return (type,)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        if isinstance(self.value, WeightAttr):
            printer.print_attribute(self.value)
            printer.print_string(" : ")
            printer.print_attribute(self.result.type)
        else:
            print_elements(self.value, printer)

    @classmethod
    def parse(cls, parser: Parser) -> "ConstantOp":
        attributes = parser.parse_optional_attr_dict()
        value = parser.parse_attribute()
        if isinstance(value, WeightAttr):
            parser.parse_punctuation(":")
            type = parser.parse_type()
        elif isinstance(value, DenseIntOrFPElementsAttr):
            value = cast(DenseIntOrFPElementsAttr, value)
            type = value.get_type()
        else:
            parser.raise_error(f"expected dense elements or a weight, got {value}")
        if not AnyTensorTypeConstr.verifies(type):
            parser.raise_error(f"expected a tensor type, got {type}")
        op = ConstantOp(value, type)
        op.attributes = attributes
        if not isinstance(value, WeightAttr) and type.element_type in ELEMENTS.types:
            op.value = _elements(op.array(), type)
        return op


def print_elements(value: DenseIntOrFPElementsAttr, printer: Printer) -> None:
    """Print a `dense` attribute so that parsing gives the same elements.

    The parser takes floats without a decimal point, which stand for those that have no short decimal form,
    for integers; all elements as one string of bytes are read as they are.
    """
    text = StringIO()
    value.print_without_type(Printer(text))
    numbers = re.findall(r"[-+.\w]+", text.getvalue().removeprefix("dense"))
    if is_float(value.get_element_type()) and not all("." in each for each in numbers):
        printer.print_string(f'dense<"0x{value.data.data.hex().upper()}">')
    else:
        printer.print_string(text.getvalue())
    printer.print_string(" : ")
    printer.print_attribute(value.get_type())


def _same(array: Array) -> Array:
    """Say which elements are, bit by bit, the first one (NaN is itself, -0.0 is not 0.0)."""
    flat = _flat(array)
    bits = flat.view(f"u{flat.dtype.itemsize}")
    return bits == bits[:1]


def _flat(array: Array) -> Array:
    """Return the elements in order; just one of those that only a stride of zero repeats."""
    if array.size and not any(array.strides):
        array = array[(slice(1),) * array.ndim]
    return np.ascontiguousarray(array).reshape(-1)


def _stored(element: Attribute) -> np.dtype[np.generic]:
    """Return the dtype of elements in a `dense` attribute, which holds `i1` as 0 and -1."""
    dtype = dtype_of(element)
    return np.dtype(np.int8) if dtype == np.bool_ else dtype


def _elements(array: Array, type: AnyTensorType) -> DenseIntOrFPElementsAttr:
    """Make the attribute that holds an array: one element if all are the same, as a text of it parses to."""
    flat = _flat(array)
    if flat.size and np.all(_same(flat)):
        flat = flat[:1]
    if flat.dtype == np.bool_:
        flat = -flat.astype(np.int8)
    return DenseIntOrFPElementsAttr(
        cast(TensorType[AnyDenseElement], type), BytesAttr(flat.tobytes())
    )
