"""Loops over buffers: what is computed, in which order, and where it is kept.

A function at this level takes and fills buffers (`memref`, outputs last) and returns
nothing. Loops have constant bounds; a loop says how it runs (serial, parallel,
vectorized, unrolled). What the loops compute stands in blocks: a `tir.block` names its
own axes, says for each whether it is spatial or reduced and how the surrounding loops
bind it, and its body reads and writes buffers in terms of these axes only. So a schedule
can split, reorder and move loops without looking into a block, and reads and writes of a
block follow from its body.

`te` enters through `lower-te-to-tir`; `sched` changes loops; back ends take it from here.
All integers are signless: signedness is a property of ops.

| op | meaning |
|---|---|
| `tir.for` | a loop with constant bounds, run in one of four ways |
| `tir.block` | a computation for one value of each of its axes |
| `tir.load`, `tir.store` | one element of a buffer, at affine indices |
| `tir.constant` | a buffer with constant content |
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyDenseElement,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Dialect, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from partita.dialects.access import (
    INDEX,
    Interval,
    access_attr,
    interval,
    parse_access,
    parse_axes,
    print_access,
    print_axes,
    without_unused,
)
from partita.dialects.partita import WeightAttr
from partita.shapes import Shape

LOCAL = StringAttr("local")
"""Memory space of a buffer that belongs to one thread; registers, once its loops are unrolled."""


class LoopKind(StrEnum):
    """How the iterations of a loop run."""

    SERIAL = "serial"
    """One after the other."""

    PARALLEL = "parallel"
    """On several threads; no iteration depends on another."""

    VECTORIZED = "vectorized"
    """As the lanes of vectors."""

    UNROLLED = "unrolled"
    """One after the other, without a loop."""


def buffer_type(value: SSAValue) -> MemRefType[Attribute]:
    """Return the type of a value that is known to be a buffer."""
    type_ = value.type
    assert isinstance(type_, MemRefType)
    return cast(MemRefType[Attribute], type_)


def index_interval(index: SSAValue) -> Interval | None:
    """Return the range of a loop variable or of a block's axis, `None` for any other value."""
    if not isinstance(index, BlockArgument):
        return None
    match index.block.parent_op():
        case ForOp() as loop:
            return loop.lower.value.data, loop.upper.value.data - 1
        case BlockOp() as block:
            return 0, block.extents[index.index] - 1
        case _:
            return None


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
class ForOp(IRDLOperation):
    """Run a body for each index from `lower` up to, not including, `upper`.

    ```mlir
    tir.for %i = 0 to 16 vectorized {
    ```
    """

    name = "tir.for"

    lower = prop_def(IntegerAttr[IndexType])

    upper = prop_def(IntegerAttr[IndexType])

    kind = prop_def(StringAttr)
    """A `LoopKind`."""

    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        upper: int,
        body: Region,
        *,
        lower: int = 0,
        kind: LoopKind = LoopKind.SERIAL,
    ):
        super().__init__(
            properties={
                "lower": IntegerAttr(lower, INDEX),
                "upper": IntegerAttr(upper, INDEX),
                "kind": StringAttr(kind),
            },
            regions=(body,),
        )

    @classmethod
    def empty(
        cls, extent: int, name: str | None = None, kind: LoopKind = LoopKind.SERIAL
    ) -> "ForOp":
        """Make a loop from 0 without ops, whose variable is called `name`."""
        block = Block(arg_types=(INDEX,))
        block.args[0].name_hint = name
        return cls(extent, Region(block), kind=kind)

    @property
    def variable(self) -> SSAValue:
        """The loop's index."""
        return self.body.block.args[0]

    @property
    def extent(self) -> int:
        """How many iterations it has."""
        return self.upper.value.data - self.lower.value.data

    @property
    def loop_kind(self) -> LoopKind:
        """How it runs."""
        return LoopKind(self.kind.data)

    @loop_kind.setter
    def loop_kind(self, kind: LoopKind) -> None:
        self.properties["kind"] = StringAttr(kind)

    def verify_(self) -> None:
        if self.kind.data not in LoopKind:
            raise VerifyException(
                f"expected kind {', '.join(LoopKind)}, got {self.kind.data}"
            )
        if self.extent < 1:
            raise VerifyException(
                f"expected lower bound below upper, got {self.lower.value.data} and {self.upper.value.data}"
            )
        if tuple(arg.type for arg in self.body.block.args) != (INDEX,):
            raise VerifyException("expected a body with one index argument")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.variable)
        printer.print_string(f" = {self.lower.value.data} to {self.upper.value.data} ")
        if self.kind.data != LoopKind.SERIAL:
            printer.print_string(f"{self.kind.data} ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> "ForOp":
        variable = parser.parse_argument(expect_type=False).resolve(INDEX)
        parser.parse_punctuation("=")
        lower = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("to")
        upper = parser.parse_integer(allow_boolean=False)
        kind = LoopKind.SERIAL
        for each in LoopKind:
            if parser.parse_optional_keyword(each):
                kind = each
        body = parser.parse_region((variable,))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(upper, body, lower=lower, kind=kind)
        if attributes is not None:
            op.attributes |= attributes.data
        return op


@irdl_op_definition
class BlockOp(IRDLOperation):
    """Compute something for one value of each axis.

    Axes are bound to affine expressions of the surrounding loops' variables. Spatial
    axes are independent of each other; along reduction axes the body updates what it
    wrote before, and `init` says what it starts from: it runs, on the spatial axes, at
    the first value of all reduction axes. Where a `where` expression is negative the
    block does nothing.

    ```mlir
    tir.block "sum" spatial (%a in 4) reduce (%b in 8) at [%i, %j * 4 + %k] where [7 - %j * 4 - %k] {
    ```
    """

    name = "tir.block"

    indices = var_operand_def(IndexType)
    """Loop variables that bindings and guards are made of."""

    label = prop_def(StringAttr)
    """What schedules and people call it; unique in a function."""

    spatial = prop_def(DenseArrayBase.constr(i64))
    """Extents of the spatial axes."""

    reduction = prop_def(DenseArrayBase.constr(i64))
    """Extents of the reduction axes."""

    bindings = prop_def(AffineMapAttr)
    """Indices to the value of each axis, spatial ones first."""

    guard = opt_prop_def(AffineMapAttr)
    """Indices to values that must not be negative for the block to run."""

    body = region_def("single_block")
    """On all axes."""

    init = region_def()
    """On the spatial axes; empty without reduction, and once it is decomposed."""

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        label: str,
        indices: Sequence[SSAValue],
        bindings: AffineMap,
        spatial: Sequence[int],
        reduction: Sequence[int],
        body: Region,
        init: Region | None = None,
        guard: AffineMap | None = None,
    ):
        rank = len(bindings.results)
        guards = () if guard is None else guard.results
        both, indices = without_unused(
            AffineMap(len(indices), 0, (*bindings.results, *guards)), indices
        )
        count = len(indices)
        super().__init__(
            operands=(indices,),
            properties={
                "label": StringAttr(label),
                "spatial": DenseArrayBase.from_list(i64, tuple(spatial)),
                "reduction": DenseArrayBase.from_list(i64, tuple(reduction)),
                "bindings": access_attr(AffineMap(count, 0, both.results[:rank])),
                "guard": access_attr(AffineMap(count, 0, both.results[rank:]))
                if guards
                else None,
            },
            regions=(body, init or Region()),
        )

    @property
    def spatial_shape(self) -> Shape:
        """Extents of the spatial axes."""
        return tuple(int(extent) for extent in self.spatial.get_values())

    @property
    def reduction_shape(self) -> Shape:
        """Extents of the reduction axes."""
        return tuple(int(extent) for extent in self.reduction.get_values())

    @property
    def extents(self) -> Shape:
        """Extents of all axes, spatial ones first."""
        return (*self.spatial_shape, *self.reduction_shape)

    @property
    def axes(self) -> tuple[SSAValue, ...]:
        """The body's index of each axis, spatial ones first."""
        return tuple(self.body.block.args)

    @property
    def binding_exprs(self) -> tuple[AffineExpr, ...]:
        """For each axis, its value in terms of `indices`."""
        return self.bindings.data.results

    @property
    def guard_exprs(self) -> tuple[AffineExpr, ...]:
        """Expressions of `indices` that must not be negative."""
        return () if self.guard is None else self.guard.data.results

    def verify_(self) -> None:
        extents = self.extents
        count = len(self.indices)
        for name, map in (("bindings", self.bindings), ("guard", self.guard)):
            if map is not None and (map.data.num_dims, map.data.num_symbols) != (
                count,
                0,
            ):
                raise VerifyException(
                    f"expected {name} of {count} dimensions and no symbols, got {map.data}"
                )
        if len(self.binding_exprs) != len(extents):
            raise VerifyException(
                f"expected {len(extents)} bindings, got {len(self.binding_exprs)}"
            )
        if tuple(arg.type for arg in self.axes) != (INDEX,) * len(extents):
            raise VerifyException(f"expected a body of {len(extents)} index axes")
        if self.init.blocks:
            if not self.reduction_shape:
                raise VerifyException("expected no init without reduction axes")
            rank = len(self.spatial_shape)
            if tuple(arg.type for arg in self.init.block.args) != (INDEX,) * rank:
                raise VerifyException(f"expected an init of {rank} index axes")
        ranges = [each for index in self.indices if (each := index_interval(index))]
        if len(ranges) != count:
            raise VerifyException("expected indices to be loop variables")
        if self.guard is None:
            for axis, (expr, extent) in enumerate(
                zip(self.binding_exprs, extents, strict=True)
            ):
                low, high = interval(expr, ranges)
                if low < 0 or high >= extent:
                    raise VerifyException(
                        f"expected axis {axis} in [0, {extent}), got [{low}, {high}]; state a where"
                    )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        rank = len(self.spatial_shape)

        if rank:
            printer.print_string(" spatial ")
            print_axes(printer, self.axes[:rank], self.spatial_shape)
        if self.reduction_shape:
            printer.print_string(" reduce ")
            print_axes(printer, self.axes[rank:], self.reduction_shape)
        if self.extents:
            printer.print_string(" at ")
            print_access(printer, self.bindings.data, self.indices)
        if self.guard is not None:
            printer.print_string(" where ")
            print_access(printer, self.guard.data, self.indices)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        if self.init.blocks:
            printer.print_string(" init ")
            with printer.in_parens():
                printer.print_list(self.init.block.args, printer.print_ssa_value)
            printer.print_string(" ")
            printer.print_region(self.init, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> "BlockOp":
        label = parser.parse_str_literal("a label")
        axes: list[Parser.Argument] = []
        extents: list[int] = []
        maps: list[tuple[AffineMap, tuple[SSAValue, ...]]] = []

        if parser.parse_optional_keyword("spatial"):
            axes, extents = parse_axes(parser)
        rank = len(axes)
        if parser.parse_optional_keyword("reduce"):
            reduction_axes, reduction = parse_axes(parser)
            axes, extents = [*axes, *reduction_axes], [*extents, *reduction]
        if axes:
            parser.parse_keyword("at")
            maps.append(parse_access(parser))
        if parser.parse_optional_keyword("where"):
            maps.append(parse_access(parser))
        body = parser.parse_region(axes)
        init = None
        if parser.parse_optional_keyword("init"):
            arguments = parser.parse_comma_separated_list(
                Parser.Delimiter.PAREN,
                lambda: parser.parse_argument(expect_type=False).resolve(INDEX),
            )
            init = parser.parse_region(arguments)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        operands: list[SSAValue] = []
        results: list[AffineExpr] = []
        for map, indices in maps:
            dims = [
                AffineExpr.dimension(len(operands) + i) for i in range(len(indices))
            ]
            operands.extend(indices)
            results.extend(
                each.replace_dims_and_symbols(dims, ()) for each in map.results
            )
        count = len(operands)
        op = cls(
            label,
            operands,
            AffineMap(count, 0, tuple(results[: len(axes)])),
            extents[:rank],
            extents[rank:],
            body,
            init,
            AffineMap(count, 0, tuple(results[len(axes) :]))
            if results[len(axes) :]
            else None,
        )
        if attributes is not None:
            op.attributes |= attributes.data
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
        printer.print_ssa_value(self.buffer)
        print_access(printer, self.access, self.indices)
        if self.otherwise is not None:
            printer.print_string(" else ")
            printer.print_ssa_value(self.otherwise)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)

    @classmethod
    def parse(cls, parser: Parser) -> "LoadOp":
        buffer = parser.parse_unresolved_operand()
        map, indices = parse_access(parser)
        otherwise = (
            parser.parse_unresolved_operand()
            if parser.parse_optional_keyword("else")
            else None
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isa(type, MemRefType[Attribute]):
            parser.raise_error(f"expected a memref type, got {type}")
        op = cls(
            parser.resolve_operand(buffer, type),
            map,
            indices,
            None
            if otherwise is None
            else parser.resolve_operand(otherwise, type.element_type),
        )
        op.attributes |= attributes
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
        printer.print_ssa_value(self.buffer)
        print_access(printer, self.access, self.indices)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)

    @classmethod
    def parse(cls, parser: Parser) -> "StoreOp":
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer = parser.parse_unresolved_operand()
        map, indices = parse_access(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isa(type, MemRefType[Attribute]):
            parser.raise_error(f"expected a memref type, got {type}")
        op = cls(
            parser.resolve_operand(value, type.element_type),
            parser.resolve_operand(buffer, type),
            map,
            indices,
        )
        op.attributes |= attributes
        return op


TIR = Dialect("tir", [BlockOp, ConstantOp, ForOp, LoadOp, StoreOp])
