"""Which values do not depend on any argument."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from partita.dialects.relay import CarriedOp, ConstantOp, RelayOp


class ConstantValues:
    """The results of constants, and of relay ops on nothing but constants.

    A pass can thus rewrite weights as expressions, which `fold-constants` evaluates
    later, and go on treating them as weights meanwhile. Contents are never looked at:
    a handle that is not loaded is a constant, too.
    """

    def __init__(self, module: ModuleOp):
        self._values: set[SSAValue] = set()
        for op in module.walk():
            self.note(op)

    def note(self, op: Operation) -> None:
        """Classify the results of a new op; its operands have been seen before."""
        if isinstance(op, ConstantOp) or (
            isinstance(op, RelayOp)
            and not isinstance(op, CarriedOp)
            and op.operands
            and all(operand in self._values for operand in op.operands)
        ):
            self._values.update(op.results)

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._values
