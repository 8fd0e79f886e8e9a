"""Ops that a back end runs as one."""

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class CompositeOp(IRDLOperation):
    """Hold ops that a back end runs as one; operands are the arguments of the body.

    ```mlir
    %r = byoc.composite "c.add_relu" (%a, %b) {
    ^bb0(%x : tensor<4xf32>, %y : tensor<4xf32>):
      %s = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %t = relay.relu %s : tensor<4xf32>
      byoc.yield %t : tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "byoc.composite"

    irdl_options = (ParsePropInAttrDict(),)

    label = prop_def(StringAttr)
    """The name of the pattern."""

    inputs = var_operand_def()

    outputs = var_result_def()

    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), Pure())

    def __init__(
        self,
        label: str,
        inputs: Sequence[SSAValue],
        types: Sequence[Attribute],
        body: Region,
    ):
        super().__init__(
            operands=(inputs,),
            properties={"label": StringAttr(label)},
            result_types=(types,),
            regions=(body,),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.print_string(" (")
        printer.print_list(self.inputs, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_string(" : ")
        printer.print_function_type(self.inputs.types, self.outputs.types)

    @classmethod
    def parse(cls, parser: Parser) -> "CompositeOp":
        label = parser.parse_str_literal("the name of a pattern")
        inputs = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region()
        parser.parse_characters(":")
        start = parser.pos
        type = parser.parse_attribute()
        if not isinstance(type, FunctionType):
            parser.raise_error("expected a function type", start, parser.pos)
        operands = parser.resolve_operands(inputs, type.inputs.data, start)
        op = cls(label, operands, type.outputs.data, body)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def verify_(self) -> None:
        block = self.body.block
        if block.arg_types != self.inputs.types:
            raise VerifyException(
                f"expected arguments of types {_listed(self.inputs.types)}, got {_listed(block.arg_types)}"
            )
        last = block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("expected byoc.composite to end with byoc.yield")
        if last.values.types != self.outputs.types:
            raise VerifyException(
                f"expected byoc.yield of types {_listed(self.outputs.types)}, got {_listed(last.values.types)}"
            )


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types)) or "none"


@irdl_op_definition
class YieldOp(IRDLOperation):
    """End a composite with its results.

    ```mlir
    byoc.yield %t : tensor<4xf32>
    ```
    """

    name = "byoc.yield"

    values = var_operand_def()

    traits = traits_def(HasParent(CompositeOp), IsTerminator())

    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=(values,))
