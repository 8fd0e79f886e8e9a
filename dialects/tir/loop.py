"""Loops with constant bounds."""

from enum import StrEnum

from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from partita.dialects.access import INDEX


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

    PIPELINED = "pipelined"
    """One after the other; what fills buffers of several slots runs ahead of what reads them."""


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
        if self.kind.data not in tuple(LoopKind):
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
        printer.print_region(
            self.body, print_entry_block_args=False, print_empty_block=False
        )
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
