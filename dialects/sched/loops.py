"""Steps that reshape loops, and that say how they run."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import (
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from partita.dialects.sched.sequence import LOOP

INFERRED = -1
"""The factor of a split that follows from the others; printed as `?`."""


@irdl_op_definition
class SplitOp(IRDLOperation):
    """Split a loop into nested ones, outermost first; one factor may be `?`.

    Where the factors do not divide the extent, `tail` says what becomes of the rest:
    `guard` (the default) keeps one nest whose blocks test that they are inside; `peel`
    makes a nest of whole tiles and one for the rest.

    ```mlir
    %o, %i = sched.split %l [?, 16]
    ```
    """

    name = "sched.split"

    loop = operand_def(LOOP)

    factors = prop_def(DenseArrayBase.constr(i64))
    """Extents of the new loops, `INFERRED` for at most one."""

    tail = opt_prop_def(StringAttr)
    """`guard` or `peel`."""

    loops = var_result_def(LOOP)

    def __init__(
        self, loop: SSAValue, factors: Sequence[int | None], tail: str | None = None
    ):
        super().__init__(
            operands=(loop,),
            properties={
                "factors": DenseArrayBase.from_list(
                    i64, [INFERRED if each is None else each for each in factors]
                ),
                "tail": None if tail is None else StringAttr(tail),
            },
            result_types=((LOOP,) * len(factors),),
        )

    @property
    def factor_values(self) -> tuple[int | None, ...]:
        """Extents of the new loops, `None` for the inferred one."""
        return tuple(
            None if value == INFERRED else int(value)
            for value in self.factors.get_values()
        )

    def verify_(self) -> None:
        factors = self.factor_values
        if len(factors) < 2:
            raise VerifyException(f"expected at least two factors, got {len(factors)}")
        if len(factors) != len(self.loops):
            raise VerifyException(
                f"expected {len(factors)} loops, got {len(self.loops)}"
            )
        if factors.count(None) > 1:
            raise VerifyException("expected at most one inferred factor")
        if any(factor is not None and factor < 1 for factor in factors):
            raise VerifyException("expected factors of at least 1")
        if self.tail is not None and self.tail.data not in ("guard", "peel"):
            raise VerifyException(f"expected tail guard or peel, got {self.tail.data}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        with printer.in_square_brackets():
            printer.print_list(
                self.factor_values,
                lambda each: printer.print_string("?" if each is None else str(each)),
            )
        if self.tail is not None:
            printer.print_string(f" {self.tail.data}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "SplitOp":
        loop = parser.parse_operand(LOOP)
        factors = parser.parse_comma_separated_list(
            Parser.Delimiter.SQUARE,
            lambda: (
                None
                if parser.parse_optional_punctuation("?")
                else parser.parse_integer(allow_boolean=False, allow_negative=False)
            ),
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

    factor = opt_prop_def(IntegerAttr.constr(i64))

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue, factor: int | None = None):
        super().__init__(
            operands=(loop,),
            properties={"factor": None if factor is None else IntegerAttr(factor, i64)},
        )
