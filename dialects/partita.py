"""What all levels share: handles on weights, and the names of the attributes that functions and ops carry."""

from xdsl.ir import Data, Dialect
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

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

HEX_DIGITS = 32


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


Partita = Dialect("partita", [], [WeightAttr])
