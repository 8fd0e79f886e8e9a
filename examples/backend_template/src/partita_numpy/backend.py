"""The `numpy` target: which ops it takes, and the programs that it makes of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from partita.analysis.patterns import Match, anything, op
from partita.dialects import relay
from partita.dialects.byoc import CompositeOp
from partita.dialects.partita import WeightAttr
from partita.shapes import element_of, is_float
from partita.targets.backend import (
    Accept,
    CodegenContext,
    CompositePattern,
    ExternalBackend,
    ExternalModule,
    Reject,
)
from partita.weights import Weight, weight

FUNCTIONS: Mapping[type[Operation], str] = {
    relay.AddOp: "add",
    relay.SubtractOp: "subtract",
    relay.MultiplyOp: "multiply",
    relay.DivideOp: "divide",
    relay.ExpOp: "exp",
    relay.SqrtOp: "sqrt",
    relay.TanhOp: "tanh",
    relay.MatmulOp: "matmul",
}

LINEAR = op(
    relay.AddOp,
    op(relay.DenseOp, anything(), anything()),
    anything(),
    commutative=True,
)


def of_three(match: Match) -> Accept | Reject:
    """Take what reads data, weight and bias; one value in two places would leave fewer."""
    count = len(match.inputs)
    return Accept() if count == 3 else Reject(f"expected three inputs, got {count}")


@dataclass(frozen=True)
class Numpy(ExternalBackend):
    """Floating-point arithmetic and matrix products, by numpy."""

    name: ClassVar[str] = "numpy"

    minimum_ops: ClassVar[int] = 2

    checked: bool = False
    """Whether a run fails where a result overflows or is no number."""

    def patterns(self) -> Sequence[CompositePattern]:
        return (CompositePattern("numpy.linear", LINEAR, of_three),)

    def supports(self, op: Operation) -> Accept | Reject:
        if type(op) not in FUNCTIONS:
            return Reject(f"numpy has no function for {op.name}")
        element = element_of(op.results[0])
        if not is_float(element):
            return Reject(f"expected floating-point elements, got {element}")
        return Accept()

    def codegen(self, function: FuncOp, context: CodegenContext) -> ExternalModule:
        block = function.body.block
        constants = [each for each in block.ops if isinstance(each, relay.ConstantOp)]
        known = (*block.args, *(each.result for each in constants))
        numbers: dict[SSAValue, int] = {each: n for n, each in enumerate(known)}
        steps: list[Mapping[str, object]] = []
        results: list[int] = []
        for each in block.ops:
            reads = [numbers[value] for value in each.operands]
            match each:
                case relay.ConstantOp():
                    continue
                case ReturnOp():
                    results = reads
                    continue
                case CompositeOp():
                    name = each.label.data
                case _:
                    name = FUNCTIONS[type(each)]
            steps.append({"function": name, "reads": reads})
            numbers[each.results[0]] = len(numbers)
        program = json.dumps({"steps": steps, "results": results})
        return ExternalModule(
            {"program.json": program.encode()},
            tuple(_weight(each) for each in constants),
            {"checked": self.checked},
        )


def _weight(constant: relay.ConstantOp) -> Weight:
    value = constant.value
    return value.data if isinstance(value, WeightAttr) else weight(constant.array())
