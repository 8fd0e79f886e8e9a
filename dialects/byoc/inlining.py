"""Put ops in the place of what stands for them."""

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from partita.dialects.byoc.call import CallOp
from partita.dialects.byoc.composite import CompositeOp


def inline_composite(composite: CompositeOp) -> list[Operation]:
    """Put copies of the ops of a composite in its place, and return them; composites among them stay."""
    return _inline(composite, composite.inputs, composite.body.block)


def inline_function(call: CallOp, function: FuncOp) -> list[Operation]:
    """Put copies of the ops of a function in the place of a call, and return them."""
    return _inline(call, call.arguments, function.body.block)


def _inline(
    place: Operation, arguments: Sequence[SSAValue], block: Block
) -> list[Operation]:
    """Replace an op by copies of a block's ops, all but the last, whose operands replace its results."""
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    inlined: list[Operation] = []
    last = block.last_op
    assert last is not None
    assert place.parent is not None
    for op in block.ops:
        if op is not last:
            clone = op.clone(values)
            place.parent.insert_op_before(clone, place)
            inlined.append(clone)
    for old, new in zip(place.results, last.operands, strict=True):
        old.replace_all_uses_with(values[new])
    place.detach()
    place.erase()
    return inlined
