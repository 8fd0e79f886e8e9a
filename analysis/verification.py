"""Whether IR is well formed: each op by its own rules, and each use after its definition."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TypeAlias

from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException


def verify(op: Operation) -> None:
    """Check an op, all that is nested in it, and that definitions dominate uses.

    Raises `VerifyException`.
    """
    try:
        op.verify()
    except ValueError as error:
        # What xDSL raises where blocks, ops and values are linked wrongly.
        raise VerifyException(str(error)) from error
    verify_dominance(op)


def verify_dominance(op: Operation) -> None:
    """Check that every operand nested in the op, which must not use outer values, is defined before its use.

    A value is visible to the ops that follow it in its block, to the blocks that its
    block dominates, and to the regions nested in those; blocks that control flow cannot
    reach are not checked. Time is linear in ops and operands; nothing recurses.

    Raises `VerifyException`, naming the op and the value.
    """
    pending: list[_Walk] = [_check_regions(op, set())]
    while pending:
        nested = next(pending[-1], None)
        if nested is None:
            pending.pop()
        else:
            pending.append(nested)


_Walk: TypeAlias = "Iterator[_Walk]"
"""A suspended check, which yields the checks that have to run before it goes on."""


def _check_regions(op: Operation, visible: set[SSAValue]) -> _Walk:
    if op.has_trait(IsolatedFromAbove):
        visible = set()
    for region in op.regions:
        if (entry := region.first_block) is not None:
            yield _check_block(entry, _dominated_blocks(region), visible)


def _check_block(
    block: Block, dominated: dict[Block, list[Block]], visible: set[SSAValue]
) -> _Walk:
    defined: list[SSAValue] = [*block.args]
    visible.update(block.args)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                _refuse(op, index, operand)
        if op.regions:
            yield _check_regions(op, visible)
        visible.update(op.results)
        defined.extend(op.results)
    for child in dominated.get(block, ()):
        yield _check_block(child, dominated, visible)
    visible.difference_update(defined)


def _refuse(op: Operation, index: int, operand: SSAValue) -> None:
    message = (
        f"expected operand {index} of {op.name} to be defined before its use, "
        f"got {_describe(operand)}"
    )
    op.emit_error(message, VerifyException(message))


def _describe(value: SSAValue) -> str:
    match value:
        case OpResult():
            home = f"result {value.index} of {value.op.name}"
        case BlockArgument():
            home = f"argument {value.index} of another block"
        case _:
            home = "a value that no op defines"
    return home if value.name_hint is None else f"%{value.name_hint}, {home}"


def _dominated_blocks(region: Region) -> dict[Block, list[Block]]:
    """Return the blocks that each reachable block immediately dominates."""
    entry = region.first_block
    if entry is None or entry.next_block is None:
        return {}
    order = _reverse_postorder(entry)
    result: dict[Block, list[Block]] = {}
    for block, dominator in zip(
        order[1:], _immediate_dominators(order)[1:], strict=True
    ):
        result.setdefault(order[dominator], []).append(block)
    return result


def _immediate_dominators(order: Sequence[Block]) -> list[int]:
    """Return the position of each block's immediate dominator; the first block's is its own.

    As in Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm" (2001).
    """
    position = {block: index for index, block in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for index, block in enumerate(order):
        for successor in _successors(block):
            predecessors[position[successor]].append(index)
    unknown = len(order)
    dominators = [0] + [unknown] * (len(order) - 1)
    changed = True
    while changed:
        changed = False
        for index in range(1, len(order)):
            found = reduce(
                lambda a, b: _nearest_common(a, b, dominators),
                (each for each in predecessors[index] if dominators[each] != unknown),
            )
            if found != dominators[index]:
                dominators[index] = found
                changed = True
    return dominators


def _nearest_common(a: int, b: int, dominators: Sequence[int]) -> int:
    while a != b:
        a, b = min(a, b), dominators[max(a, b)]
    return a


def _reverse_postorder(entry: Block) -> list[Block]:
    postorder: list[Block] = []
    seen = {entry}
    pending = [(entry, iter(_successors(entry)))]
    while pending:
        block, rest = pending[-1]
        for successor in rest:
            if successor not in seen:
                seen.add(successor)
                pending.append((successor, iter(_successors(successor))))
                break
        else:
            postorder.append(block)
            pending.pop()
    return postorder[::-1]


def _successors(block: Block) -> tuple[Block, ...]:
    return () if block.last_op is None else tuple(block.last_op.successors)
