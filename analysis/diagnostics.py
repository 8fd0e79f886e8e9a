"""How a pass says that it cannot go on."""

from typing import NoReturn

from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from partita.dialects.partita import origin_of


def fail(op: Operation, message: str) -> NoReturn:
    """Raise `PassFailedException` at an op, with the model's nodes that it came from in the message."""
    origin = origin_of(op)
    if origin is not None:
        message = f"{message} (from {origin})"
    op.emit_error(message, PassFailedException(message))
