"""Machines with instructions on tiles: intrinsics, calls of them, and memories of limited size.

An intrinsic is a private function with the attribute `tir.intrinsic`, over the tiles that
the instruction reads and writes, in the memory scopes where it finds them. Its body is
`tir` text: one nest of loops around one block; or it is `te` text before `lower-te-to-tir`,
whose arguments and results say their memory scope as `tir.scope`. This text is all that says what the instruction does. `sched.tensorize` matches loops with it,
interpreters run it, and a target without the instruction inlines it.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from partita.dialects.access import (
    access_attr,
    interval,
    parse_access,
    print_access,
    without_unused,
)
from partita.dialects.tir.block import index_interval
from partita.dialects.tir.memory import buffer_type
from partita.shapes import Shape

INTRINSIC = "tir.intrinsic"
"""Attribute of functions that say what an instruction does."""

SCOPE = "tir.scope"
"""Attribute of a tensor argument or result that becomes a buffer in a memory scope, a string."""


@irdl_op_definition
class MemoryOp(IRDLOperation):
    """State that the machine has a memory scope, and how many bytes it holds.

    ```mlir
    tir.memory "acc" of 2048 bytes
    ```
    """

    name = "tir.memory"

    scope = prop_def(StringAttr)

    capacity = prop_def(IntegerAttr.constr(i64))
    """Bytes."""

    assembly_format = "$scope `of` $capacity `bytes` attr-dict"

    def __init__(self, scope: str, capacity: int):
        super().__init__(
            properties={
                "scope": StringAttr(scope),
                "capacity": IntegerAttr(capacity, i64),
            }
        )

    def verify_(self) -> None:
        if self.capacity.value.data < 1:
            raise VerifyException(
                f"expected a capacity of at least 1, got {self.capacity.value.data}"
            )


@irdl_op_definition
class CallOp(IRDLOperation):
    """Run an intrinsic on tiles of buffers: for each an index where it begins, and its sizes.

    Sizes of 1 do not count where a tile is compared with the intrinsic's argument.

    ```mlir
    tir.call "conv2d" @gemm(%acc[%h, %w, 0][1, 1, 16], %inp[%h + 1, 0][1, 16], %wgt[0, 0][16, 16]) : memref<4x4x16xi32, "acc">, memref<6x16xi8, "inp">, memref<16x16xi8, "wgt">
    ```
    """

    name = "tir.call"

    buffers = var_operand_def(MemRefType)

    indices = var_operand_def(IndexType)
    """Loop variables that positions are made of."""

    label = prop_def(StringAttr)
    """That of the block that it stands for."""

    callee = prop_def(FlatSymbolRefAttrConstr)

    map = prop_def(AffineMapAttr)
    """Indices to where the tile of each buffer begins, those of all buffers one after the other."""

    sizes = prop_def(DenseArrayBase.constr(i64))
    """Of the tile of each buffer, one after the other."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        label: str,
        callee: str,
        buffers: Sequence[SSAValue],
        map: AffineMap,
        indices: Sequence[SSAValue],
        sizes: Sequence[int],
    ):
        map, indices = without_unused(map, indices)
        super().__init__(
            operands=(buffers, indices),
            properties={
                "label": StringAttr(label),
                "callee": SymbolRefAttr(callee),
                "map": access_attr(map),
                "sizes": DenseArrayBase.from_list(i64, tuple(sizes)),
            },
        )

    @property
    def tiles(self) -> tuple[tuple[SSAValue, tuple[AffineExpr, ...], Shape], ...]:
        """Each buffer, with where its tile begins, as expressions of `indices`, and the tile's sizes."""
        sizes = tuple(int(each) for each in self.sizes.get_values())
        found: list[tuple[SSAValue, tuple[AffineExpr, ...], Shape]] = []
        start = 0
        for buffer in self.buffers:
            end = start + len(buffer_type(buffer).get_shape())
            begin = self.map.data.results[start:end]
            found.append((buffer, begin, sizes[start:end]))
            start = end
        return tuple(found)

    def verify_(self) -> None:
        rank = sum(len(buffer_type(buffer).get_shape()) for buffer in self.buffers)
        if not rank == len(self.map.data.results) == len(self.sizes.get_values()):
            raise VerifyException(
                f"expected {rank} indices and sizes, got {len(self.map.data.results)} and {len(self.sizes.get_values())}"
            )
        ranges = [each for index in self.indices if (each := index_interval(index))]
        if len(ranges) != len(self.indices):
            raise VerifyException("expected indices to be loop variables")
        for position, (buffer, begin, sizes) in enumerate(self.tiles):
            shape = buffer_type(buffer).get_shape()
            for axis, (expr, size, extent) in enumerate(
                zip(begin, sizes, shape, strict=True)
            ):
                low, high = interval(expr, ranges)
                if low < 0 or high + size > extent:
                    raise VerifyException(
                        f"expected axis {axis} of tile {position} in [0, {extent}), got [{low}, {high + size - 1}]"
                    )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.print_string(" ")
        printer.print_attribute(self.callee)

        def print_tile(tile: tuple[SSAValue, tuple[AffineExpr, ...], Shape]) -> None:
            buffer, begin, sizes = tile
            printer.print_ssa_value(buffer)
            map = AffineMap(len(self.indices), 0, begin)
            print_access(printer, map, self.indices)
            with printer.in_square_brackets():
                printer.print_list(sizes, printer.print_int)

        with printer.in_parens():
            printer.print_list(self.tiles, print_tile)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(
            self.buffers, lambda each: printer.print_attribute(each.type)
        )

    @classmethod
    def parse(cls, parser: Parser) -> "CallOp":
        label = parser.parse_str_literal("a label")
        callee = parser.parse_symbol_name()
        results: list[AffineExpr] = []
        indices: list[SSAValue] = []
        sizes: list[int] = []

        def parse_tile() -> UnresolvedOperand:
            buffer = parser.parse_unresolved_operand()
            map, operands = parse_access(parser)
            dims = [
                AffineExpr.dimension(len(indices) + i) for i in range(len(operands))
            ]
            indices.extend(operands)
            results.extend(
                each.replace_dims_and_symbols(dims, ()) for each in map.results
            )
            sizes.extend(
                parser.parse_comma_separated_list(
                    Parser.Delimiter.SQUARE,
                    lambda: parser.parse_integer(allow_boolean=False),
                )
            )
            return buffer

        unresolved = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, parse_tile
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(
            Parser.Delimiter.NONE, parser.parse_type
        )
        if len(types) != len(unresolved):
            parser.raise_error(f"expected {len(unresolved)} types, got {len(types)}")
        for each in types:
            if not isa(each, MemRefType[Attribute]):
                parser.raise_error(f"expected a memref type, got {each}")
        buffers = [
            parser.resolve_operand(operand, type)
            for operand, type in zip(unresolved, types, strict=True)
        ]
        map = AffineMap(len(indices), 0, tuple(results))
        op = cls(label, callee.data, buffers, map, indices, sizes)
        op.attributes |= attributes
        return op
