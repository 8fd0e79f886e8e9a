"""What all levels share: handles on weights, and the names of the attributes that functions and ops carry."""

from typing import ClassVar

from xdsl.dialects.builtin import AnyFloatConstr, ModuleOp, StringAttr
from xdsl.ir import Data, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import OpTrait, Pure
from xdsl.utils.exceptions import VerifyException

from partita.weights import Weight

ENTRY = "partita.entry"
"""Unit attribute of the one function that a compiled artifact runs."""

KERNEL = "partita.kernel"
"""Unit attribute of a function that becomes one kernel: made by fusion, lowered as a whole."""

PARAM = "partita.param"
"""String attribute of a function argument that is an unbound parameter: its name."""

NAME = "partita.name"
"""String attribute of a function argument or result: the name that users give and get it by."""

ORIGIN = "partita.origin"
"""String attribute of an op: the model's nodes that it came from, separated by commas."""

SIGNATURE = "partita.signature"
"""Type attribute of a function over buffers: the function type on tensors that it was lowered from.

Its results are the last arguments, in order.
"""

OFFSET = "partita.offset"
"""Integer attribute of a `memref.alloc` of the entry: where in the arena it stands, in bytes."""

ARENA = "partita.arena"
"""Integer attribute of the entry over buffers: the size of its arena, in bytes."""

WEIGHTS = "partita.weights"
"""List attribute of a module over buffers: each weight that is read at run time, once."""

MAX_ORIGINS = 64
"""More nodes than this are not listed in one origin, so that long chains merge in linear time."""

ELLIPSIS = "..."
"""Last entry of an origin that does not list all nodes."""

HEX_DIGITS = 32


class IsolatedFromHost(OpTrait):
    """An op that belongs to another target: passes that are not target-aware never see it.

    It stands directly in a module, uses no values and has no results, so that it can be
    taken out and put back.
    """

    def verify(self, op: Operation) -> None:
        if not isinstance(op.parent_op(), ModuleOp | None):
            raise VerifyException(f"expected {op.name} directly in a builtin.module")
        if op.operands or op.results:
            raise VerifyException(f"expected {op.name} without operands and results")


def origin_of(op: Operation) -> str | None:
    """Return the model's nodes that an op came from, separated by commas; `None` if it does not say."""
    origin = op.attributes.get(ORIGIN)
    return origin.data if isinstance(origin, StringAttr) else None


def merge_origins(*ops: Operation) -> StringAttr | None:
    """Return the origin of what replaces all of these ops: each node once, in order of first mention."""
    texts = tuple(dict.fromkeys(filter(None, map(origin_of, ops))))
    if len(texts) < 2:
        return StringAttr(texts[0]) if texts else None
    nodes = dict.fromkeys(node for text in texts for node in text.split(", "))
    if nodes.pop(ELLIPSIS, 0) is None or len(nodes) > MAX_ORIGINS:
        return StringAttr(", ".join((*tuple(nodes)[:MAX_ORIGINS], ELLIPSIS)))
    return StringAttr(", ".join(nodes))


def inherit_origins(new: Operation, *old: Operation) -> None:
    """Let an op that takes the place of others, or is one of them rewritten, carry their merged origin."""
    if (origin := merge_origins(*old)) is not None:
        new.attributes[ORIGIN] = origin


@irdl_attr_definition
class WeightAttr(Data[Weight]):
    """A constant that is known by its digest, and whose content IR does not hold.

    ```mlir
    #partita.weight<"00112233445566778899aabbccddeeff">
    ```
    """

    name = "partita.weight"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Weight:
        with parser.in_angle_brackets():
            digest = parser.parse_str_literal("the digest of a weight")
        if len(digest) != HEX_DIGITS or not set(digest) <= set("0123456789abcdef"):
            parser.raise_error(
                f"expected a digest of {HEX_DIGITS} hexadecimal digits, got {digest!r}"
            )
        return Weight(digest)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.digest)


@irdl_op_definition
class RemainderOp(IRDLOperation):
    """Take the remainder of a division of floats, with the sign of the dividend, exactly: C's `fmod`.

    It stands here as `arith` and `math` have no such op.

    ```mlir
    %r = partita.remainder %x, %y : f32
    ```
    """

    name = "partita.remainder"

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    dividend = operand_def(T)

    divisor = operand_def(T)

    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$dividend `,` $divisor attr-dict `:` type($result)"

    def __init__(self, dividend: SSAValue, divisor: SSAValue):
        super().__init__(operands=(dividend, divisor), result_types=(dividend.type,))


Partita = Dialect("partita", [RemainderOp], [WeightAttr])
