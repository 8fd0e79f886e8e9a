"""Blocks: what loops compute, in terms of axes of its own."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    IndexType,
    StringAttr,
    i64,
)
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

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
from partita.dialects.tir.loop import ForOp
from partita.shapes import Shape


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
        self._check_maps()
        self._check_regions()
        ranges = [each for index in self.indices if (each := index_interval(index))]
        if len(ranges) != len(self.indices):
            raise VerifyException("expected indices to be loop variables")
        if self.guard is not None:
            return
        for axis, (expr, extent) in enumerate(
            zip(self.binding_exprs, self.extents, strict=True)
        ):
            low, high = interval(expr, ranges)
            if low < 0 or high >= extent:
                raise VerifyException(
                    f"expected axis {axis} in [0, {extent}), got [{low}, {high}]; state a where"
                )

    def _check_maps(self) -> None:
        count = len(self.indices)
        for name, map in (("bindings", self.bindings), ("guard", self.guard)):
            if map is not None and (map.data.num_dims, map.data.num_symbols) != (
                count,
                0,
            ):
                raise VerifyException(
                    f"expected {name} of {count} dimensions and no symbols, got {map.data}"
                )
        if len(self.binding_exprs) != len(self.extents):
            raise VerifyException(
                f"expected {len(self.extents)} bindings, got {len(self.binding_exprs)}"
            )

    def _check_regions(self) -> None:
        count = len(self.extents)
        if tuple(arg.type for arg in self.axes) != (INDEX,) * count:
            raise VerifyException(f"expected a body of {count} index axes")
        if not self.init.blocks:
            return
        if not self.reduction_shape:
            raise VerifyException("expected no init without reduction axes")
        rank = len(self.spatial_shape)
        if tuple(arg.type for arg in self.init.block.args) != (INDEX,) * rank:
            raise VerifyException(f"expected an init of {rank} index axes")

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
        printer.print_region(
            self.body, print_entry_block_args=False, print_empty_block=False
        )
        if self.init.blocks:
            printer.print_string(" init ")
            with printer.in_parens():
                printer.print_list(self.init.block.args, printer.print_ssa_value)
            printer.print_string(" ")
            printer.print_region(
                self.init, print_entry_block_args=False, print_empty_block=False
            )
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
