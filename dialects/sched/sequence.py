"""Sequences of steps, and the handles on blocks and loops that steps pass on."""

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import (
    Block,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, SymbolOpInterface


def parse_number(parser: Parser) -> int:
    """Parse an integer that is not negative and fits 63 bits."""
    start = parser.pos
    number = parser.parse_integer(allow_boolean=False, allow_negative=False)
    if number.bit_length() > 63:
        parser.raise_error(f"expected a number of 63 bits, got {number}", start)
    return number


@irdl_attr_definition
class BlockType(ParametrizedAttribute, TypeAttribute):
    """A handle on a `tir.block`."""

    name = "sched.block"


@irdl_attr_definition
class LoopType(ParametrizedAttribute, TypeAttribute):
    """A handle on a `tir.for`."""

    name = "sched.loop"


@irdl_attr_definition
class ChoiceType(ParametrizedAttribute, TypeAttribute):
    """A number that a `sched.sample_…` chose."""

    name = "sched.choice"


BLOCK = BlockType()
LOOP = LoopType()
CHOICE = ChoiceType()


@irdl_op_definition
class SequenceOp(IRDLOperation):
    """Hold the steps that schedule one kernel.

    ```mlir
    sched.sequence @relu_schedule for @relu {
    ```
    """

    name = "sched.sequence"

    sym_name = prop_def(SymbolNameConstraint())

    kernel = prop_def(FlatSymbolRefAttrConstr)

    body = region_def("single_block")

    traits = traits_def(NoTerminator(), SymbolOpInterface())

    def __init__(self, sym_name: str, kernel: str, body: Region):
        super().__init__(
            properties={
                "sym_name": StringAttr(sym_name),
                "kernel": SymbolRefAttr(kernel),
            },
            regions=(body,),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" for ")
        printer.print_attribute(self.kernel)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> "SequenceOp":
        name = parser.parse_symbol_name()
        parser.parse_characters("for")
        kernel = parser.parse_symbol_name()
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name.data, kernel.data, body)
        if attributes is not None:
            op.attributes |= attributes.data
        return op


@irdl_op_definition
class FindBlockOp(IRDLOperation):
    """Find the block of this label.

    ```mlir
    %b = sched.block "conv2d"
    ```
    """

    name = "sched.block"

    label = prop_def(StringAttr)

    block = result_def(BLOCK)

    assembly_format = "$label attr-dict"

    def __init__(self, label: str):
        super().__init__(properties={"label": StringAttr(label)}, result_types=(BLOCK,))


@irdl_op_definition
class LoopsOp(IRDLOperation):
    """Give the loops around a block, outermost first; or of as many as there are the `innermost` ones.

    ```mlir
    %l:3 = sched.loops %b -> 3
    ```
    """

    name = "sched.loops"

    block = operand_def(BLOCK)

    innermost = opt_prop_def(UnitAttr)
    """Whether there may be more loops around these."""

    loops = var_result_def(LOOP)

    def __init__(self, block: SSAValue, count: int, innermost: bool = False):
        super().__init__(
            operands=(block,),
            properties={"innermost": UnitAttr() if innermost else None},
            result_types=((LOOP,) * count,),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.block)
        printer.print_string(f" -> {len(self.loops)}")
        if self.innermost is not None:
            printer.print_string(" innermost")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "LoopsOp":
        block = parser.parse_operand(BLOCK)
        parser.parse_punctuation("->")
        count = parser.parse_integer(allow_boolean=False, allow_negative=False)
        innermost = parser.parse_optional_keyword("innermost") is not None
        attributes = parser.parse_optional_attr_dict()
        op = cls(block, count, innermost)
        op.attributes |= attributes
        return op
