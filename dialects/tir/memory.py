"""Buffers, and reading and writing one element of them."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyDenseElement,
    DenseIntOrFPElementsAttr,
    IndexType,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from partita.dialects.access import (
    access_attr,
    interval,
    parse_element,
    print_element,
    print_element_type,
    without_unused,
)
from partita.dialects.partita import WeightAttr
from partita.dialects.tir.block import index_interval
from partita.shapes import Shape

LOCAL = StringAttr("local")
"""Memory space of a buffer that belongs to one thread; registers, once its loops are unrolled."""


def buffer_type(value: SSAValue) -> MemRefType[Attribute]:
    """Return the type of a value that is known to be a buffer."""
    type_ = value.type
    assert isinstance(type_, MemRefType)
    return cast(MemRefType[Attribute], type_)


def check_access(
    name: str, map: AffineMap, indices: Sequence[SSAValue], shape: Shape, guarded: bool
) -> None:
    """Raise `VerifyException` unless a map indexes a shape, inside it where it is not guarded."""
    if map.num_symbols or map.num_dims != len(indices):
        raise VerifyException(
            f"expected {name} of {len(indices)} dimensions and no symbols, got {map}"
        )
    if len(map.results) != len(shape):
        raise VerifyException(f"expected {len(shape)} indices, got {len(map.results)}")
    if guarded:
        return
    ranges = [each for index in indices if (each := index_interval(index))]
    if len(ranges) != len(indices):
        raise VerifyException(
            "expected an else value for an index that depends on data, got none"
        )
    for axis, (expr, extent) in enumerate(zip(map.results, shape, strict=True)):
        low, high = interval(expr, ranges)
        if low < 0 or high >= extent:
            raise VerifyException(
                f"expected index {axis} in [0, {extent}), got [{low}, {high}]"
            )


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """Make a buffer with constant content, which is never written.

    ```mlir
    %w = tir.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> -> memref<2xf32>
    ```
    """

    name = "tir.constant"

    value = prop_def(WeightAttr | DenseIntOrFPElementsAttr)
    """A handle on a weight, or a tensor of the buffer's shape; integers may be unsigned there."""

    result = result_def(MemRefType)

    traits = traits_def(Pure())

    def __init__(
        self,
        value: WeightAttr | DenseIntOrFPElementsAttr[AnyDenseElement],
        type: MemRefType[Attribute],
    ):
        super().__init__(properties={"value": value}, result_types=(type,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.value)
        if self.attributes:
            printer.print_string(" ")
            printer.print_attr_dict(self.attributes)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> "ConstantOp":
        value = parser.parse_attribute()
        if not isa(value, WeightAttr | DenseIntOrFPElementsAttr[AnyDenseElement]):
            parser.raise_error(f"expected a weight or dense elements, got {value}")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        type = parser.parse_type()
        if not isa(type, MemRefType[Attribute]):
            parser.raise_error(f"expected a memref type, got {type}")
        op = cls(value, type)
        op.attributes |= attributes
        return op


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Read an element of a buffer; where the index lies outside, take `otherwise`.

    Without `else` the index is inside by construction, which the verifier proves.

    ```mlir
    %v = tir.load %x[%a, %b * 2 - 1] else %zero : memref<4x16xf32>
    ```
    """

    name = "tir.load"

    buffer = operand_def(MemRefType)

    indices = var_operand_def(IndexType)

    otherwise = opt_operand_def()
    """The value outside the buffer."""

    map = prop_def(AffineMapAttr)
    """Indices to the position in the buffer."""

    result = result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        buffer: SSAValue,
        map: AffineMap,
        indices: Sequence[SSAValue],
        otherwise: SSAValue | None = None,
    ):
        map, indices = without_unused(map, indices)
        super().__init__(
            operands=(buffer, indices, otherwise),
            properties={"map": access_attr(map)},
            result_types=(buffer_type(buffer).element_type,),
        )

    @property
    def access(self) -> AffineMap:
        """The index expressions, a dimension for each of `indices`."""
        return self.map.data

    def verify_(self) -> None:
        type = buffer_type(self.buffer)
        element = type.element_type
        if self.result.type != element:
            raise VerifyException(f"expected result {element}, got {self.result.type}")
        if self.otherwise is not None and self.otherwise.type != element:
            raise VerifyException(
                f"expected else value {element}, got {self.otherwise.type}"
            )
        check_access(
            "map",
            self.access,
            self.indices,
            type.get_shape(),
            self.otherwise is not None,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_element(printer, self.buffer, self.access, self.indices, self.otherwise)
        print_element_type(printer, self.buffer, self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "LoadOp":
        element = parse_element(parser, MemRefType[Attribute], "a memref type")
        op = cls(
            element.container,
            element.map,
            element.indices,
            element.otherwise(element.type.element_type),
        )
        op.attributes |= element.attributes
        return op


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Write an element of a buffer, at an index that is inside it by construction.

    ```mlir
    tir.store %v, %y[%a, %b] : memref<4x16xf32>
    ```
    """

    name = "tir.store"

    value = operand_def()

    buffer = operand_def(MemRefType)

    indices = var_operand_def(IndexType)

    map = prop_def(AffineMapAttr)
    """Indices to the position in the buffer."""

    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        buffer: SSAValue,
        map: AffineMap,
        indices: Sequence[SSAValue],
    ):
        map, indices = without_unused(map, indices)
        super().__init__(
            operands=(value, buffer, indices),
            properties={"map": access_attr(map)},
        )

    @property
    def access(self) -> AffineMap:
        """The index expressions, a dimension for each of `indices`."""
        return self.map.data

    def verify_(self) -> None:
        type = buffer_type(self.buffer)
        if self.value.type != type.element_type:
            raise VerifyException(
                f"expected value {type.element_type}, got {self.value.type}"
            )
        check_access("map", self.access, self.indices, type.get_shape(), False)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        print_element(printer, self.buffer, self.access, self.indices)
        print_element_type(printer, self.buffer, self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "StoreOp":
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        element = parse_element(parser, MemRefType[Attribute], "a memref type")
        op = cls(
            parser.resolve_operand(value, element.type.element_type),
            element.container,
            element.map,
            element.indices,
        )
        op.attributes |= element.attributes
        return op
