"""What oneDNN can do to the results of an op before it writes them (its post-ops)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from partita.dialects.relay import (
    AddOp,
    ClipOp,
    Conv2dOp,
    DenseOp,
    DivideOp,
    LeakyReluOp,
    MatmulOp,
    MultiplyOp,
    ReluOp,
    SigmoidOp,
    SubtractOp,
    TanhOp,
)
from partita.shapes import Shape, shape_of
from partita.targets.onednn.program import padded

UNARY: Mapping[type[Operation], str] = {
    ClipOp: "clip",
    LeakyReluOp: "relu",
    ReluOp: "relu",
    SigmoidOp: "sigmoid",
    TanhOp: "tanh",
}
"""What elementwise ops are called in programs."""

BINARY: Mapping[type[Operation], str] = {
    AddOp: "add",
    DivideOp: "divide",
    MultiplyOp: "multiply",
    SubtractOp: "subtract",
}
"""What ops of two operands are called in programs."""

ORDERED = (DivideOp, SubtractOp)
"""Those whose operands cannot change places."""

LINEAR = (Conv2dOp, DenseOp, MatmulOp)
"""What others are fused onto, if they can be."""

LONGEST = 8
"""Ops that are fused onto one; oneDNN takes up to 32."""


@dataclass(frozen=True)
class Follower:
    """An op that works on the results of the one before it."""

    op: Operation

    other: SSAValue | None = None
    """Its other operand, if it has two."""


@dataclass(frozen=True)
class Chain:
    """An op and those that are fused onto it."""

    first: Operation

    rest: tuple[Follower, ...] = ()

    @property
    def ops(self) -> Sequence[Operation]:
        return (self.first, *(each.op for each in self.rest))

    @property
    def last(self) -> Operation:
        return self.ops[-1]


def chains(block: Block) -> Sequence[Chain]:
    """Return the chains, each as long as can be; an op is in one at most.

    Linear ops come first, then ops of two operands that none of these took. A result
    inside a chain is used by nothing but the next op of it, so that a chain may stand
    where its last op does.
    """
    found: list[Chain] = []
    taken: set[Operation] = set()
    linear = [op for op in block.ops if isinstance(op, LINEAR)]
    others = [op for op in block.ops if type(op) in BINARY]
    for op in (*linear, *others):
        if op in taken:
            continue
        rest: list[Follower] = []
        value: SSAValue = op.results[0]
        while len(rest) < LONGEST and (next := _follower(op, value)) is not None:
            if next.op in taken:
                break
            rest.append(next)
            value = next.op.results[0]
        taken.update(each.op for each in rest)
        found.append(Chain(op, tuple(rest)))
    return found


def _follower(first: Operation, value: SSAValue) -> Follower | None:
    """Return the one user of a value, if it can be fused."""
    if not value.has_one_use() or (use := value.first_use) is None:
        return None
    op = use.operation
    if type(op) in UNARY:
        return Follower(op)
    if type(op) not in BINARY or (isinstance(op, ORDERED) and use.index):
        return None
    other = op.operands[1 - use.index]
    shape = shape_of(value)
    if shape_of(op.results[0]) == shape and _is_fast(first, shape_of(other), shape):
        return Follower(op, other)
    return None


def feature_axis(first: Operation, rank: int) -> int:
    """Return the axis of a result that features are along: channels of an image, columns of a product."""
    return rank - 1 if isinstance(first, DenseOp | MatmulOp) else 1


def _is_fast(first: Operation, other: Shape, shape: Shape) -> bool:
    """Say whether all of oneDNN's implementations take an operand: a full one, one for each feature, or one value."""
    rank = len(shape)
    if rank < 2 or len(other) > rank:
        return False
    other = padded(other, rank)
    return other in (shape, (1,) * rank, along_features(first, shape))


def along_features(first: Operation, shape: Shape) -> Shape:
    """Return the shape of an operand with one element for each feature of a result."""
    axis = feature_axis(first, len(shape))
    return tuple(extent if index == axis else 1 for index, extent in enumerate(shape))
