"""Steps that choose numbers: with the decisions a sequence is one schedule, without them a space of schedules."""

from collections.abc import Sequence
from math import isclose

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, f64, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from partita.dialects.sched.sequence import CHOICE, LOOP, parse_number


def _parse_integers(parser: Parser) -> list[int]:
    return parser.parse_comma_separated_list(
        Parser.Delimiter.SQUARE,
        lambda: parse_number(parser),
    )


def _print_list(printer: Printer, values: Sequence[int | float]) -> None:
    with printer.in_square_brackets():
        printer.print_list(values, lambda each: printer.print_string(str(each)))


@irdl_op_definition
class SamplePerfectTileOp(IRDLOperation):
    """Choose factors of a loop's extent whose product it is, the innermost one not above `innermost`.

    ```mlir
    %o, %i = sched.sample_perfect_tile %l innermost 16 -> 2 decision [4, 16]
    ```
    """

    name = "sched.sample_perfect_tile"

    loop = operand_def(LOOP)

    innermost = prop_def(IntegerAttr.constr(i64))
    """The greatest factor that the last one may be."""

    decision = opt_prop_def(DenseArrayBase.constr(i64))
    """The factors, outermost first, once they are chosen."""

    factors = var_result_def(CHOICE)

    def __init__(
        self,
        loop: SSAValue,
        count: int,
        innermost: int = 16,
        decision: Sequence[int] | None = None,
    ):
        super().__init__(
            operands=(loop,),
            properties={"innermost": IntegerAttr(innermost, i64)},
            result_types=((CHOICE,) * count,),
        )
        if decision is not None:
            self.decide(decision)

    def decide(self, factors: Sequence[int]) -> None:
        """Record what was chosen."""
        self.properties["decision"] = DenseArrayBase.from_list(i64, tuple(factors))

    @property
    def decided(self) -> tuple[int, ...] | None:
        """The factors, outermost first, `None` before they are chosen."""
        if self.decision is None:
            return None
        return tuple(int(each) for each in self.decision.get_values())

    def verify_(self) -> None:
        if len(self.factors) < 2:
            raise VerifyException(
                f"expected at least two factors, got {len(self.factors)}"
            )
        if self.innermost.value.data < 1:
            raise VerifyException(
                f"expected innermost of at least 1, got {self.innermost.value.data}"
            )
        decided = self.decided
        if decided is not None and len(decided) != len(self.factors):
            raise VerifyException(
                f"expected a decision of {len(self.factors)} factors, got {len(decided)}"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(
            f" innermost {self.innermost.value.data} -> {len(self.factors)}"
        )
        if self.decided is not None:
            printer.print_string(" decision ")
            _print_list(printer, self.decided)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "SamplePerfectTileOp":
        loop = parser.parse_operand(LOOP)
        parser.parse_keyword("innermost")
        innermost = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation("->")
        count = parser.parse_integer(allow_boolean=False, allow_negative=False)
        decision = (
            _parse_integers(parser)
            if parser.parse_optional_keyword("decision")
            else None
        )
        attributes = parser.parse_optional_attr_dict()
        op = cls(loop, count, innermost, decision)
        op.attributes |= attributes
        return op


@irdl_op_definition
class SampleCategoricalOp(IRDLOperation):
    """Choose one of several numbers, each as likely as `weights` say, else all equally.

    The decision is the position of the number in the list.

    ```mlir
    %u = sched.sample_categorical [1, 2, 4] weights [0.5, 0.25, 0.25] decision 1
    ```
    """

    name = "sched.sample_categorical"

    candidates = prop_def(DenseArrayBase.constr(i64))

    weights = opt_prop_def(DenseArrayBase.constr(f64))
    """How likely each candidate is; they add up to 1."""

    decision = opt_prop_def(IntegerAttr.constr(i64))
    """The position of the candidate that was chosen, once one is."""

    chosen = result_def(CHOICE)

    def __init__(
        self,
        candidates: Sequence[int],
        weights: Sequence[float] | None = None,
        decision: int | None = None,
    ):
        super().__init__(
            properties={
                "candidates": DenseArrayBase.from_list(i64, tuple(candidates)),
                "weights": None
                if weights is None
                else DenseArrayBase.from_list(f64, tuple(weights)),
            },
            result_types=(CHOICE,),
        )
        if decision is not None:
            self.decide(decision)

    def decide(self, position: int) -> None:
        """Record what was chosen."""
        self.properties["decision"] = IntegerAttr(position, i64)

    @property
    def candidate_values(self) -> tuple[int, ...]:
        """The numbers to choose from."""
        return tuple(int(each) for each in self.candidates.get_values())

    @property
    def weight_values(self) -> tuple[float, ...] | None:
        """How likely each is, `None` if all are equally."""
        if self.weights is None:
            return None
        return tuple(float(each) for each in self.weights.get_values())

    @property
    def decided(self) -> int | None:
        """The position of what was chosen, `None` before."""
        return None if self.decision is None else self.decision.value.data

    def verify_(self) -> None:
        count = len(self.candidate_values)
        if not count:
            raise VerifyException("expected at least one candidate, got none")
        weights = self.weight_values
        if weights is not None and (
            len(weights) != count
            or min(weights) < 0
            or not isclose(sum(weights), 1, abs_tol=1e-6)
        ):
            raise VerifyException(
                f"expected {count} weights of at least 0 that add up to 1, got "
                + ", ".join(map(str, weights))
            )
        if self.decided is not None and not 0 <= self.decided < count:
            raise VerifyException(
                f"expected a decision in [0, {count}), got {self.decided}"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_list(printer, self.candidate_values)
        if self.weight_values is not None:
            printer.print_string(" weights ")
            _print_list(printer, self.weight_values)
        if self.decided is not None:
            printer.print_string(f" decision {self.decided}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "SampleCategoricalOp":
        candidates = _parse_integers(parser)
        weights = None
        if parser.parse_optional_keyword("weights"):
            weights = parser.parse_comma_separated_list(
                Parser.Delimiter.SQUARE, lambda: float(parser.parse_number())
            )
        decision = None
        if parser.parse_optional_keyword("decision"):
            decision = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        op = cls(candidates, weights, decision)
        op.attributes |= attributes
        return op
