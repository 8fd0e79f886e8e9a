"""What pure ops compute, as data that is equal for equal computations and does not know how they were listed."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from partita.dialects.partita import ORIGIN

DIGITS = 32
"""Hexadecimal digits of a digest: blake2b-128."""

Part: TypeAlias = "str | int | Attribute | Key"
Key: TypeAlias = "tuple[Part, ...]"
"""Nested tuples of names, numbers and attributes."""

Describe: TypeAlias = Callable[[Operation], Key]
"""Says of an op what counts as structure, its operands and regions aside."""


@dataclass(frozen=True)
class Dataflow:
    """The ops behind some values, in the order in which operands lead to them."""

    operations: tuple[Operation, ...]
    """Operands first; independent of the order in which the ops stand in their block."""

    arguments: tuple[SSAValue, ...]
    """The values from outside, in order of first use."""

    results: tuple[SSAValue, ...]
    """What is computed."""

    key: Key
    """Equal to another's exactly if both compute the same from their arguments; says nothing of origins.

    What is the same, is what descriptions of ops say.
    """

    def digest(self) -> str:
        """Return the digest of the key; the same in every process."""
        return text_digest(key_text(self.key))


def signature(op: Operation, ignored: Container[str] = (ORIGIN,)) -> Key:
    """Return what an op is, apart from its operands, from where it came, or from what else is ignored.

    What may be ignored are names of properties and attributes.
    """
    return (
        op.op_name.data if isinstance(op, UnregisteredOp) else op.name,
        *(
            item
            for kind in (op.properties, op.attributes)
            for item in sorted(kind.items(), key=_first)
            if item[0] not in ignored
        ),
        *op.result_types,
    )


def dataflow(
    results: Sequence[SSAValue],
    inside: Callable[[Operation], bool],
    arguments: Sequence[SSAValue] = (),
    describe: Describe = signature,
) -> Dataflow:
    """Follow results back through the ops that are inside.

    `arguments` are values from outside whose order is given; those that are met beyond them follow.
    Only ops that results depend on are met: it takes pure ops to say that the others do not matter.
    """
    numbers: dict[SSAValue, int] = {}
    outside = dict.fromkeys(arguments)
    order: list[Operation] = []
    key: list[Part] = []

    def refer(value: SSAValue) -> Part:
        if value not in numbers:
            outside.setdefault(value)
            numbers[value] = ~len(numbers)
            key.append(value.type)
        return numbers[value]

    for value in outside:
        refer(value)
    for op in _operands_first(results, inside):
        operands = tuple(refer(operand) for operand in op.operands)
        regions = tuple(
            _region_key(region, refer, numbers, describe) for region in op.regions
        )
        key.append((describe(op), operands, regions))
        for result in op.results:
            numbers[result] = len(numbers)
        order.append(op)
    key.append(tuple(refer(result) for result in results))
    return Dataflow(tuple(order), tuple(outside), tuple(results), tuple(key))


def function_dataflow(function: FuncOp) -> Dataflow:
    """Return the dataflow from a function's arguments to what it returns.

    The function has one block of pure ops; those that its results do not depend on are left out.
    """
    block = function.body.block
    assert block.last_op is not None
    return dataflow(
        tuple(block.last_op.operands), lambda op: op.parent is block, block.args
    )


def key_text(key: Key) -> str:
    """Write a key so that equal keys, and no others, give equal texts.

    Recursion follows the nesting of regions only.
    """
    return " ".join(
        f"({key_text(each)})" if isinstance(each, tuple) else str(each) for each in key
    )


def text_digest(text: str) -> str:
    """Return the digest of a text."""
    return blake2b(text.encode(), digest_size=DIGITS // 2).hexdigest()


def _first(item: tuple[str, Attribute]) -> str:
    return item[0]


def _operands_first(
    results: Sequence[SSAValue], inside: Callable[[Operation], bool]
) -> Iterator[Operation]:
    """Yield each op inside that results depend on, after the ops it depends on."""
    met: set[Operation] = set()
    for root in results:
        pending = [iter((root,))]
        owners: list[Operation] = []
        while pending:
            value = next(pending[-1], None)
            if value is None:
                pending.pop()
                if owners:
                    yield owners.pop()
                continue
            owner = value.owner
            if isinstance(owner, Operation) and owner not in met and inside(owner):
                met.add(owner)
                owners.append(owner)
                pending.append(_inputs(owner))


def _inputs(op: Operation) -> Iterator[SSAValue]:
    """Yield the operands of an op and of all ops nested in it."""
    if not op.regions:
        return iter(op.operands)
    return (operand for nested in op.walk() for operand in nested.operands)


def _region_key(
    region: Region,
    refer: Callable[[SSAValue], Part],
    numbers: dict[SSAValue, int],
    describe: Describe,
) -> Part:
    """Return the key of a nested region, whose ops count in the order in which they are listed."""
    blocks: dict[Block, int] = {
        block: index for index, block in enumerate(region.blocks)
    }
    key: list[Part] = []
    for block in region.blocks:
        for argument in block.args:
            numbers[argument] = len(numbers)
        key.append(tuple(block.arg_types))
        for op in block.ops:
            key.append(
                (
                    describe(op),
                    tuple(refer(operand) for operand in op.operands),
                    tuple(blocks[successor] for successor in op.successors),
                    tuple(
                        _region_key(each, refer, numbers, describe)
                        for each in op.regions
                    ),
                )
            )
            for result in op.results:
                numbers[result] = len(numbers)
    return tuple(key)
