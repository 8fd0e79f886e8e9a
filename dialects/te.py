"""Tensor expressions: what each element of a tensor is, never how or where it is computed.

A function at this level holds `te.compute` ops on tensors. Each states its axes, how one
element follows from elements of other tensors at index expressions, and, where axes are
reduced, the value to start from and how two values combine. There are no loops, no
memory and no order: a schedule, or any other consumer, is free to choose them.

`relay` enters through `lower-relay-to-te`, which needs no target; `lower-te-to-tir`
leaves. Scalars are signless here: the signedness of a `tensor<…xui8>` lives in the ops
that compute (`arith.divui`), and reading one gives an `i8`.

| op | meaning |
|---|---|
| `te.compute` | tensors whose elements are given by a scalar body, with or without reduction |
| `te.read` | one element of a tensor, or a stated value outside it |
| `te.yield` | the value of a body or of a combiner |
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyTensorTypeConstr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Dialect, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursivelySpeculatable
from xdsl.utils.exceptions import VerifyException

from partita.dialects.access import (
    INDEX,
    Interval,
    access_attr,
    interval,
    parse_axes,
    parse_element,
    print_axes,
    print_element,
    print_element_type,
    without_unused,
)
from partita.shapes import Shape, scalar_type, shape_of, tensor_type


def axis_interval(index: SSAValue) -> Interval | None:
    """Return the range of an index that is an axis of a compute, `None` for any other."""
    if not isinstance(index, BlockArgument):
        return None
    compute = index.block.parent_op()
    if not isinstance(compute, ComputeOp) or index.block.parent is not compute.body:
        return None
    extents = (*compute.shape, *compute.reduction_shape)
    return 0, extents[index.index] - 1


def _check_yield(block: Block, types: Sequence[Attribute], name: str) -> None:
    end = block.last_op
    if not isinstance(end, YieldOp):
        raise VerifyException(f"expected {name} to end with te.yield")
    if tuple(value.type for value in end.values) != tuple(types):
        raise VerifyException(
            f"expected {name} to yield "
            + ", ".join(str(type) for type in types)
            + ", got "
            + (", ".join(str(value.type) for value in end.values) or "nothing")
        )


@irdl_op_definition
class YieldOp(IRDLOperation):
    """End a body, or a combiner, with its values.

    ```mlir
    te.yield %v : f32
    ```
    """

    name = "te.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator())

    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, *values: SSAValue):
        super().__init__(operands=(values,))


@irdl_op_definition
class ReadOp(IRDLOperation):
    """Read the element of a tensor at an index, or take `otherwise` where the index lies outside.

    Without `else` the index is inside by construction, which the verifier proves. An
    index that depends on data always needs one.

    ```mlir
    %v = te.read %x[%n, %h * 2 + %r - 1] else %zero : tensor<1x8xf32>
    ```
    """

    name = "te.read"

    source = operand_def(AnyTensorTypeConstr)

    indices = var_operand_def(IndexType)
    """What the index expressions are made of: axes of the surrounding compute, or computed indices."""

    otherwise = opt_operand_def()
    """The value outside the tensor."""

    map = prop_def(AffineMapAttr)
    """Indices to the position in the tensor, a result for each of its dimensions."""

    result = result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        map: AffineMap,
        indices: Sequence[SSAValue],
        otherwise: SSAValue | None = None,
    ):
        map, indices = without_unused(map, indices)
        super().__init__(
            operands=(source, indices, otherwise),
            properties={"map": access_attr(map)},
            result_types=(scalar_type(tensor_type(source).element_type),),
        )

    @property
    def access(self) -> AffineMap:
        """The index expressions, a dimension for each of `indices`."""
        return self.map.data

    def verify_(self) -> None:
        shape, access = shape_of(self.source), self.access
        if access.num_symbols or access.num_dims != len(self.indices):
            raise VerifyException(
                f"expected a map of {len(self.indices)} dimensions and no symbols, got {access}"
            )
        if len(access.results) != len(shape):
            raise VerifyException(
                f"expected {len(shape)} indices, got {len(access.results)}"
            )
        scalar = scalar_type(tensor_type(self.source).element_type)
        if self.result.type != scalar:
            raise VerifyException(f"expected result {scalar}, got {self.result.type}")
        if self.otherwise is not None:
            if self.otherwise.type != scalar:
                raise VerifyException(
                    f"expected else value {scalar}, got {self.otherwise.type}"
                )
            return
        ranges = [axis_interval(index) for index in self.indices]
        if not all(ranges):
            raise VerifyException(
                "expected an else value for an index that depends on data, got none"
            )
        for axis, (expr, extent) in enumerate(zip(access.results, shape, strict=True)):
            low, high = interval(expr, [each for each in ranges if each])
            if low < 0 or high >= extent:
                raise VerifyException(
                    f"expected index {axis} in [0, {extent}), got [{low}, {high}]; state an else value"
                )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_element(printer, self.source, self.access, self.indices, self.otherwise)
        print_element_type(printer, self.source, self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "ReadOp":
        element = parse_element(parser, TensorType[Attribute], "a tensor type")
        op = cls(
            element.container,
            element.map,
            element.indices,
            element.otherwise(scalar_type(element.type.element_type)),
        )
        op.attributes |= element.attributes
        return op


@irdl_op_definition
class ComputeOp(IRDLOperation):
    """Define every element of one or several tensors of one shape by a scalar body.

    `result[axes] = fold over reduction axes, from init, with combine, of body[axes, reduction axes]`;
    without reduction axes, `result[axes] = body[axes]`. Elements are independent; the
    order of a reduction is not defined. The accumulator has the type of `init`, which is
    the type of the result's elements: converting it is another compute.

    ```mlir
    %y = te.compute "sum" (%i in 4) reduce (%k in 8) init (0.000000e+00 : f32) {
    ```
    """

    name = "te.compute"

    label = prop_def(StringAttr)
    """What schedules and people call it; unique in a function."""

    reduction = prop_def(DenseArrayBase.constr(i64))
    """Extents of the reduction axes."""

    inits = prop_def(ArrayAttr)
    """For each result, the value that a reduction starts from; none without reduction."""

    body = region_def("single_block")
    """Axes, then reduction axes, to a value for each result."""

    combine = region_def()
    """Accumulated values, then new ones, to accumulated ones; empty without reduction."""

    outputs = var_result_def(AnyTensorTypeConstr)

    traits = traits_def(Pure(), RecursivelySpeculatable())

    def __init__(
        self,
        label: str,
        body: Region,
        result_types: Sequence[Attribute],
        reduction: Sequence[int] = (),
        inits: Sequence[Attribute] = (),
        combine: Region | None = None,
    ):
        super().__init__(
            properties={
                "label": StringAttr(label),
                "reduction": DenseArrayBase.from_list(i64, tuple(reduction)),
                "inits": ArrayAttr(inits),
            },
            regions=(body, combine or Region()),
            result_types=(result_types,),
        )

    @property
    def shape(self) -> Shape:
        """Extents of the axes: the shape of every result."""
        return shape_of(self.outputs[0])

    @property
    def reduction_shape(self) -> Shape:
        """Extents of the reduction axes."""
        return tuple(int(extent) for extent in self.reduction.get_values())

    @property
    def axes(self) -> tuple[SSAValue, ...]:
        """The body's index of each axis."""
        return tuple(self.body.block.args[: len(self.shape)])

    @property
    def reduction_axes(self) -> tuple[SSAValue, ...]:
        """The body's index of each reduction axis."""
        return tuple(self.body.block.args[len(self.shape) :])

    def verify_(self) -> None:
        if not self.outputs:
            raise VerifyException("expected at least one result, got none")
        for output in self.outputs:
            if shape_of(output) != self.shape:
                raise VerifyException(
                    f"expected results of one shape, got {self.shape} and {shape_of(output)}"
                )
        scalars = tuple(
            scalar_type(tensor_type(output).element_type) for output in self.outputs
        )
        extents = (*self.shape, *self.reduction_shape)
        if tuple(arg.type for arg in self.body.block.args) != (INDEX,) * len(extents):
            raise VerifyException(f"expected a body of {len(extents)} index axes")
        _check_yield(self.body.block, scalars, "body")
        if not self.reduction_shape:
            if self.inits.data or self.combine.blocks:
                raise VerifyException(
                    "expected neither init nor combine without reduction axes"
                )
            return
        inits = tuple(getattr(init, "type", None) for init in self.inits.data)
        if inits != scalars:
            raise VerifyException(
                "expected an init of each result's element type, got "
                + (", ".join(str(init) for init in self.inits.data) or "none")
            )
        if len(self.combine.blocks) != 1:
            raise VerifyException("expected a combine region with reduction axes")
        if tuple(arg.type for arg in self.combine.block.args) != (*scalars, *scalars):
            raise VerifyException(
                "expected combine to take accumulated and new values of the results' element types"
            )
        _check_yield(self.combine.block, scalars, "combine")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        if self.attributes:
            printer.print_string(" ")
            printer.print_attr_dict(self.attributes)
        printer.print_string(" ")
        args = self.body.block.args
        rank = len(self.shape)
        print_axes(printer, args[:rank], self.shape)
        if self.reduction_shape:
            printer.print_string(" reduce ")
            print_axes(printer, args[rank:], self.reduction_shape)
            printer.print_string(" init ")
            with printer.in_parens():
                printer.print_list(self.inits.data, printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        if self.combine.blocks:
            printer.print_string(" combine ")
            with printer.in_parens():
                printer.print_list(
                    self.combine.block.args, printer.print_block_argument
                )
            printer.print_string(" ")
            printer.print_region(self.combine, print_entry_block_args=False)
        printer.print_string(" : ")
        printer.print_list(self.result_types, printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> "ComputeOp":
        label = parser.parse_str_literal("a label")
        attributes = parser.parse_optional_attr_dict()
        axes, _ = parse_axes(parser)
        reduction_axes: list[Parser.Argument] = []
        reduction: list[int] = []
        inits: Sequence[Attribute] = ()
        if parser.parse_optional_keyword("reduce"):
            reduction_axes, reduction = parse_axes(parser)
            parser.parse_keyword("init")
            inits = parser.parse_comma_separated_list(
                Parser.Delimiter.PAREN, parser.parse_attribute
            )
        body = parser.parse_region((*axes, *reduction_axes))
        combine = None
        if parser.parse_optional_keyword("combine"):
            arguments = parser.parse_comma_separated_list(
                Parser.Delimiter.PAREN, parser.parse_argument
            )
            combine = parser.parse_region(arguments)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(
            Parser.Delimiter.NONE, parser.parse_type
        )
        op = cls(label, body, types, reduction, inits, combine)
        op.attributes |= attributes
        return op


TE = Dialect("te", [ComputeOp, ReadOp, YieldOp])
