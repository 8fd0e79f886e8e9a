"""A schedule as text that a database keeps: one `sched.sequence`, for no kernel in particular."""

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from partita.analysis.ir_text import check_strings
from partita.analysis.verification import verify
from partita.dialects.sched import SequenceOp
from partita.errors import IRError

NAME, KERNEL = "schedule", "task"
"""What a sequence and its kernel are called in text."""


def schedule_text(sequence: SequenceOp) -> str:
    """Return the text of a sequence, equal for sequences that differ only in names of kernels."""
    return str(_named(sequence.clone(), NAME, KERNEL))


def parse_schedule(ctx: Context, text: str, kernel: str) -> SequenceOp:
    """Return the sequence that a text holds, for a kernel of this name.

    Raises `IRError`, with one sentence, for text that is not one valid sequence.
    """
    try:
        check_strings(text, kernel)
        module = Parser(ctx, text).parse_module()
        verify(module)
    except ParseError as error:
        raise IRError(f"expected a sched.sequence: {error.msg}") from None
    except VerifyException as error:
        raise IRError(" ".join(str(error).split())) from None
    except RecursionError:
        raise IRError("expected a sched.sequence, got ops within ops") from None
    match tuple(module.body.block.ops):
        case (SequenceOp() as sequence,):
            sequence.detach()
            return _named(sequence, f"{kernel}_schedule", kernel)
        case ops:
            got = ", ".join(each.name for each in ops) or "nothing"
            raise IRError(f"expected one sched.sequence, got {got}")


def _named(sequence: SequenceOp, name: str, kernel: str) -> SequenceOp:
    sequence.properties["sym_name"] = StringAttr(name)
    sequence.properties["kernel"] = SymbolRefAttr(kernel)
    return sequence
