"""What ops of a graph say about where they run, and what passes write there."""

from collections.abc import Iterator

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp as HostCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator

from partita.dialects.byoc import HOST, REJECTED, TARGET, CallOp
from partita.dialects.partita import KERNEL
from partita.dialects.relay import ConstantOp


def graphs(module: ModuleOp) -> Iterator[FuncOp]:
    """Yield the functions that are graphs: not kernels, and not declarations."""
    for function in module.body.block.ops:
        if (
            isinstance(function, FuncOp)
            and KERNEL not in function.attributes
            and len(function.body.blocks) == 1
        ):
            yield function


def placed_ops(block: Block) -> list[Operation]:
    """Return the ops of a graph that run somewhere: all but constants, which go where they are used, and calls."""
    return [
        op
        for op in block.ops
        if op.results
        and not isinstance(op, ConstantOp | CallOp | HostCallOp)
        and not op.has_trait(IsTerminator)
    ]


def target_of(op: Operation) -> str | None:
    """Return the target that an op was given to, with its options; `None` if that is the host."""
    target = op.attributes.get(TARGET)
    if not isinstance(target, StringAttr) or target.data == HOST:
        return None
    return target.data


def reject(op: Operation, target: str, reason: str) -> None:
    """Write down why a target does not run an op."""
    old = op.attributes.get(REJECTED)
    reasons = dict(old.data) if isinstance(old, DictionaryAttr) else {}
    reasons[target] = StringAttr(reason)
    op.attributes[REJECTED] = DictionaryAttr(reasons)
