"""Steps that reshape loops, and that say how they run."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import (
    Attribute,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from partita.dialects.sched.sequence import (
    BLOCK,
    CHOICE,
    LOOP,
    BlockType,
    LoopType,
    parse_number,
)

INFERRED = -1
"""The factor of a split that follows from the others; printed as `?`."""

CHOSEN = -2
"""A factor that a choice says; choices come in order."""

Factor = int | SSAValue | None
"""Of a split: a number, a choice, or `None` for the one that follows from the others."""


def _stored(factor: Factor) -> int:
    match factor:
        case None:
            return INFERRED
        case int():
            return factor
        case _:
            return CHOSEN


def _print_factor(printer: Printer, factor: Factor) -> None:
    if isinstance(factor, SSAValue):
        printer.print_ssa_value(factor)
    else:
        printer.print_string("?" if factor is None else str(factor))


def _parse_factor(parser: Parser) -> Factor:
    if parser.parse_optional_punctuation("?"):
        return None
    choice = parser.parse_optional_unresolved_operand()
    if choice is not None:
        return parser.resolve_operand(choice, CHOICE)
    return parse_number(parser)


@irdl_op_definition
class SplitOp(IRDLOperation):
    """Split a loop into nested ones, outermost first; one factor may be `?`, others may be choices.

    Where the factors do not divide the extent, `tail` says what becomes of the rest:
    `guard` (the default) keeps one nest whose blocks test that they are inside; `peel`
    makes a nest of whole tiles and one for the rest.

    ```mlir
    %o, %i = sched.split %l [?, 16]
    ```
    """

    name = "sched.split"

    loop = operand_def(LOOP)

    choices = var_operand_def(CHOICE)
    """Factors that are choices."""

    factors = prop_def(DenseArrayBase.constr(i64))
    """Extents of the new loops, `INFERRED` for at most one, `CHOSEN` for choices."""

    tail = opt_prop_def(StringAttr)
    """`guard` or `peel`."""

    loops = var_result_def(LOOP)

    def __init__(
        self, loop: SSAValue, factors: Sequence[Factor], tail: str | None = None
    ):
        super().__init__(
            operands=(loop, [each for each in factors if isinstance(each, SSAValue)]),
            properties={
                "factors": DenseArrayBase.from_list(i64, tuple(map(_stored, factors))),
                "tail": None if tail is None else StringAttr(tail),
            },
            result_types=((LOOP,) * len(factors),),
        )

    @property
    def factor_values(self) -> tuple[Factor, ...]:
        """Extents of the new loops."""
        choices = iter(self.choices)
        return tuple(
            None if value == INFERRED else next(choices) if value == CHOSEN else value
            for value in map(int, self.factors.get_values())
        )

    def verify_(self) -> None:
        stored = tuple(self.factors.get_values())
        if stored.count(CHOSEN) != len(self.choices):
            raise VerifyException(
                f"expected {stored.count(CHOSEN)} choices, got {len(self.choices)}"
            )
        factors = self.factor_values
        if len(factors) < 2:
            raise VerifyException(f"expected at least two factors, got {len(factors)}")
        if len(factors) != len(self.loops):
            raise VerifyException(
                f"expected {len(factors)} loops, got {len(self.loops)}"
            )
        if factors.count(None) > 1:
            raise VerifyException("expected at most one inferred factor")
        if any(isinstance(factor, int) and factor < 1 for factor in factors):
            raise VerifyException("expected factors of at least 1")
        if self.tail is not None and self.tail.data not in ("guard", "peel"):
            raise VerifyException(f"expected tail guard or peel, got {self.tail.data}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        with printer.in_square_brackets():
            printer.print_list(
                self.factor_values, lambda each: _print_factor(printer, each)
            )
        if self.tail is not None:
            printer.print_string(f" {self.tail.data}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "SplitOp":
        loop = parser.parse_operand(LOOP)
        factors = parser.parse_comma_separated_list(
            Parser.Delimiter.SQUARE,
            lambda: _parse_factor(parser),
        )
        tail = next(
            (each for each in ("guard", "peel") if parser.parse_optional_keyword(each)),
            None,
        )
        attributes = parser.parse_optional_attr_dict()
        op = cls(loop, factors, tail)
        op.attributes |= attributes
        return op


@irdl_op_definition
class FuseOp(IRDLOperation):
    """Make one loop of several that are directly nested, outermost first.

    ```mlir
    %f = sched.fuse %o, %i
    ```
    """

    name = "sched.fuse"

    loops = var_operand_def(LOOP)

    fused = result_def(LOOP)

    assembly_format = "$loops attr-dict"

    def __init__(self, *loops: SSAValue):
        super().__init__(operands=(loops,), result_types=(LOOP,))


@irdl_op_definition
class ReorderOp(IRDLOperation):
    """Put loops of one nest into this order; loops not named keep their places.

    ```mlir
    sched.reorder %i, %o
    ```
    """

    name = "sched.reorder"

    loops = var_operand_def(LOOP)

    assembly_format = "$loops attr-dict"

    def __init__(self, *loops: SSAValue):
        super().__init__(operands=(loops,))


@irdl_op_definition
class VectorizeOp(IRDLOperation):
    """Run a loop's iterations as the lanes of vectors.

    ```mlir
    sched.vectorize %l
    ```
    """

    name = "sched.vectorize"

    loop = operand_def(LOOP)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue):
        super().__init__(operands=(loop,))


@irdl_op_definition
class ParallelOp(IRDLOperation):
    """Run a loop's iterations on several threads.

    ```mlir
    sched.parallel %l
    ```
    """

    name = "sched.parallel"

    loop = operand_def(LOOP)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue):
        super().__init__(operands=(loop,))


@irdl_op_definition
class UnrollOp(IRDLOperation):
    """Run a loop's iterations one after the other, without a loop; with a factor, so many at a time.

    ```mlir
    sched.unroll %l
    ```
    """

    name = "sched.unroll"

    loop = operand_def(LOOP)

    choice = opt_operand_def(CHOICE)
    """The factor, if it is a choice."""

    factor = opt_prop_def(IntegerAttr.constr(i64))

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$loop (`by` $choice^)? attr-dict"

    def __init__(self, loop: SSAValue, factor: int | SSAValue | None = None):
        choice = factor if isinstance(factor, SSAValue) else None
        super().__init__(
            operands=(loop, choice),
            properties={
                "factor": IntegerAttr(factor, i64) if isinstance(factor, int) else None
            },
        )

    def verify_(self) -> None:
        if self.choice is not None and self.factor is not None:
            raise VerifyException("expected a factor or a choice, got both")


@irdl_op_definition
class PipelineOp(IRDLOperation):
    """Let what fills buffers in a loop run ahead of what reads them, over buffers of `slots` slots.

    ```mlir
    sched.pipeline %l, 2
    ```
    """

    name = "sched.pipeline"

    loop = operand_def(LOOP)

    slots = prop_def(IntegerAttr.constr(i64))

    assembly_format = "$loop `,` $slots attr-dict"

    def __init__(self, loop: SSAValue, slots: int = 2):
        super().__init__(
            operands=(loop,), properties={"slots": IntegerAttr(slots, i64)}
        )

    def verify_(self) -> None:
        if self.slots.value.data < 2:
            raise VerifyException(
                f"expected at least two slots, got {self.slots.value.data}"
            )


@irdl_op_definition
class TensorizeOp(IRDLOperation):
    """Replace a loop and all that it holds by a call of an intrinsic that does the same.

    ```mlir
    sched.tensorize %l, @gemm_1x16x16
    ```
    """

    name = "sched.tensorize"

    loop = operand_def(LOOP)

    intrinsic = prop_def(FlatSymbolRefAttrConstr)
    """A function with the attribute `tir.intrinsic`."""

    assembly_format = "$loop `,` $intrinsic attr-dict"

    def __init__(self, loop: SSAValue, intrinsic: str):
        super().__init__(
            operands=(loop,), properties={"intrinsic": SymbolRefAttr(intrinsic)}
        )


@irdl_op_definition
class AnnotateOp(IRDLOperation):
    """Say something about a loop or a block to a back end that knows the key; results stay.

    ```mlir
    sched.annotate loop %l, "prefetch", 2 : i64
    ```
    """

    name = "sched.annotate"

    subject = operand_def(BlockType | LoopType)

    key = prop_def(StringAttr)

    value = prop_def(Attribute)

    def __init__(self, subject: SSAValue, key: str, value: Attribute):
        super().__init__(
            operands=(subject,), properties={"key": StringAttr(key), "value": value}
        )

    def verify_(self) -> None:
        if not self.key.data or "." in self.key.data:
            raise VerifyException(
                f"expected a key without dots, got {self.key.data or 'none'}"
            )

    def print(self, printer: Printer) -> None:
        kind = "loop" if self.subject.type == LOOP else "block"
        printer.print_string(f" {kind} ")
        printer.print_ssa_value(self.subject)
        printer.print_string(", ")
        printer.print_string_literal(self.key.data)
        printer.print_string(", ")
        printer.print_attribute(self.value)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "AnnotateOp":
        if parser.parse_optional_keyword("loop"):
            subject = parser.parse_operand(LOOP)
        else:
            parser.parse_keyword("block")
            subject = parser.parse_operand(BLOCK)
        parser.parse_punctuation(",")
        key = parser.parse_str_literal("a key")
        parser.parse_punctuation(",")
        value = parser.parse_attribute()
        attributes = parser.parse_optional_attr_dict()
        op = cls(subject, key, value)
        op.attributes |= attributes
        return op
