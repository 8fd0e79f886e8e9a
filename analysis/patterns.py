"""Patterns of ops in a graph: what a back end runs as one is written down, and found, here.

A pattern is built bottom-up, from operands to the op that is matched last, its root:

    convolution = op(Conv2dOp, anything(), constant(), attributes={"groups": 1}).named("conv")
    biased = op(AddOp, convolution, constant(), commutative=True) | convolution
    pattern = optional(ReluOp, biased)

A match is a set of ops. By default nothing else may use what the ops before the root compute; one that is `shared` may
have users that stand after the root. Alternatives are tried in order, commutative operands as they stand first; roots
are tried from the last op of a block to the first, so that the longest chain wins, and no op is in two matches.
Matching recurses over the pattern, never over the graph.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from partita.dialects.relay import ConstantOp
from partita.dialects.relay.base import ints

Plain = int | float | str | tuple[int, ...]
"""How attributes are written in patterns; anything else is compared as an attribute."""

Wanted = Mapping[str, Plain | Attribute]


@dataclass(frozen=True)
class _Found:
    """What a pattern has matched so far."""

    operations: tuple[Operation, ...] = ()
    """Operands before users."""
    shared: frozenset[Operation] = frozenset()
    constants: tuple[ConstantOp, ...] = ()
    captures: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])


@dataclass(frozen=True)
class Match:
    """Ops that a pattern matched."""

    root: Operation

    operations: tuple[Operation, ...]
    """All of them, operands before users; the root is the last one."""

    constants: tuple[ConstantOp, ...]
    """Constants that the pattern asks for; others may use them too."""

    captures: Mapping[str, SSAValue]
    """What each named part of the pattern matched; parts that are not there are missing."""

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        """Return the values that the ops use and neither they nor the constants make, in order of use."""
        inside = {*self.operations, *self.constants}
        return tuple(
            dict.fromkeys(
                operand
                for each in self.operations
                for operand in each.operands
                if operand.owner not in inside
            )
        )

    @property
    def results(self) -> tuple[SSAValue, ...]:
        """Return the values that others use, and all of the root."""
        inside = set(self.operations)
        return tuple(
            result
            for each in self.operations
            for result in each.results
            if each is self.root
            or any(use.operation not in inside for use in result.uses)
        )

    def captured(self, name: str) -> Operation | None:
        """Return the op that made what a named part matched; `None` if the part is not there, or was no op."""
        value = self.captures.get(name)
        return value.op if isinstance(value, OpResult) else None


class Pattern(ABC):
    """What a value of a graph may come from."""

    @property
    @abstractmethod
    def heads(self) -> frozenset[type[Operation]]:
        """The types of op that can be the root of a match."""

    @abstractmethod
    def matches(self, value: SSAValue, found: _Found) -> Iterator[_Found]:
        """Yield every way in which this value, beside what was found already, matches."""

    def __or__(self, other: "Pattern") -> "Pattern":
        """Match the one or, where it does not match, the other."""
        return _Alternatives((self, other))

    def named(self, name: str) -> "Pattern":
        """Capture the value; parts of equal names must match one value."""
        return _Named(self, name)

    def match(
        self, root: Operation, allowed: Callable[[Operation], bool] = lambda op: True
    ) -> Match | None:
        """Return the first match of allowed ops with this root."""
        for result in root.results:
            for found in self.matches(result, _Found()):
                # An optional part may have matched another op, or none.
                if not found.operations or found.operations[-1] is not root:
                    continue
                if all(map(allowed, found.operations)) and _is_closed(root, found):
                    return Match(
                        root, found.operations, found.constants, found.captures
                    )
        return None


def _is_closed(root: Operation, found: _Found) -> bool:
    """Say whether the ops can be replaced by one that stands where the root does."""
    inside = set(found.operations)
    block = root.parent
    for each in found.operations[:-1]:
        if each.parent is not block:
            return False
        for result in each.results:
            for use in result.uses:
                user = use.operation
                if user in inside:
                    continue
                if each not in found.shared or user.parent is not block:
                    return False
                if user.is_before_in_block(root):
                    return False
    return True


@dataclass(frozen=True)
class _Anything(Pattern):
    where: Callable[[SSAValue], bool] | None

    @property
    def heads(self) -> frozenset[type[Operation]]:
        return frozenset()

    def matches(self, value: SSAValue, found: _Found) -> Iterator[_Found]:
        if self.where is None or self.where(value):
            yield found


@dataclass(frozen=True)
class _Constant(Pattern):
    where: Callable[[ConstantOp], bool] | None

    @property
    def heads(self) -> frozenset[type[Operation]]:
        return frozenset()

    def matches(self, value: SSAValue, found: _Found) -> Iterator[_Found]:
        op = value.owner
        if not isinstance(op, ConstantOp) or (self.where and not self.where(op)):
            return
        constants = tuple(dict.fromkeys((*found.constants, op)))
        yield _Found(found.operations, found.shared, constants, found.captures)


@dataclass(frozen=True)
class _Operator(Pattern):
    types: tuple[type[Operation], ...]
    operands: tuple[Pattern, ...] | None
    attributes: Wanted
    where: Callable[[Operation], bool] | None
    commutative: bool
    shared: bool
    result: int | None

    @property
    def heads(self) -> frozenset[type[Operation]]:
        return frozenset(self.types)

    def matches(self, value: SSAValue, found: _Found) -> Iterator[_Found]:
        if not isinstance(value, OpResult) or not isinstance(value.op, self.types):
            return
        if self.result is not None and value.index != self.result:
            return
        op = value.op
        if not _has(op, self.attributes) or (self.where and not self.where(op)):
            return
        for each in self._operands(op, found):
            operations = each.operations
            if op not in operations:
                operations = (*operations, op)
            shared = each.shared | {op} if self.shared else each.shared
            yield _Found(operations, shared, each.constants, each.captures)

    def _operands(self, op: Operation, found: _Found) -> Iterator[_Found]:
        if self.operands is None:
            yield found
        elif len(self.operands) == len(op.operands):
            yield from _all(self.operands, op.operands, found)
            if self.commutative:
                yield from _all(self.operands, op.operands[::-1], found)


def _all(
    patterns: Sequence[Pattern], values: Sequence[SSAValue], found: _Found
) -> Iterator[_Found]:
    """Yield every way in which all values match their patterns."""
    if not patterns:
        yield found
        return
    for each in patterns[0].matches(values[0], found):
        yield from _all(patterns[1:], values[1:], each)


@dataclass(frozen=True)
class _Alternatives(Pattern):
    patterns: tuple[Pattern, ...]

    @property
    def heads(self) -> frozenset[type[Operation]]:
        return frozenset[type[Operation]]().union(*(p.heads for p in self.patterns))

    def matches(self, value: SSAValue, found: _Found) -> Iterator[_Found]:
        for each in self.patterns:
            yield from each.matches(value, found)


@dataclass(frozen=True)
class _Named(Pattern):
    pattern: Pattern
    name: str

    @property
    def heads(self) -> frozenset[type[Operation]]:
        return self.pattern.heads

    def matches(self, value: SSAValue, found: _Found) -> Iterator[_Found]:
        for each in self.pattern.matches(value, found):
            if each.captures.get(self.name, value) is value:
                captures = {**each.captures, self.name: value}
                yield _Found(each.operations, each.shared, each.constants, captures)


def anything(where: Callable[[SSAValue], bool] | None = None) -> Pattern:
    """Match any value; its op, if it has one, is no part of the match."""
    return _Anything(where)


def constant(where: Callable[[ConstantOp], bool] | None = None) -> Pattern:
    """Match a constant, which becomes part of the match."""
    return _Constant(where)


def op(
    kinds: type[Operation] | Collection[type[Operation]],
    *operands: Pattern,
    attributes: Wanted | None = None,
    where: Callable[[Operation], bool] | None = None,
    commutative: bool = False,
    shared: bool = False,
    result: int | None = None,
) -> Pattern:
    """Match an op of one of these types, whose operands match; without patterns for them, any operands do.

    `attributes` have to be as given, in plain values; `where` may ask for anything else. A
    `commutative` op's operands match in either order. What a `shared` op computes may be used
    outside of the match. `result` is the number of the result that the match goes through, if
    it matters.
    """
    types = (kinds,) if isinstance(kinds, type) else tuple(kinds)
    wanted: Wanted = {} if attributes is None else attributes
    return _Operator(
        types, operands or None, wanted, where, commutative, shared, result
    )


def optional(
    kinds: type[Operation] | Collection[type[Operation]],
    operand: Pattern,
    *,
    attributes: Wanted | None = None,
    where: Callable[[Operation], bool] | None = None,
) -> Pattern:
    """Match an op of one operand that matches, or the operand alone."""
    return op(kinds, operand, attributes=attributes, where=where) | operand


def _has(op: Operation, wanted: Wanted) -> bool:
    for name, value in wanted.items():
        attribute = op.properties.get(name, op.attributes.get(name))
        if attribute is None or (attribute != value and plain(attribute) != value):
            return False
    return True


def plain(attribute: Attribute) -> Plain | Attribute:
    """Return what an attribute of numbers or text is in Python; other attributes as they are."""
    match attribute:
        case StringAttr(data=text):
            return text
        case IntegerAttr(value=number):
            return number.data
        case FloatAttr(value=number):
            return number.data
        case DenseArrayBase() if attribute.elt_type == i64:
            return ints(attribute)
        case _:
            return attribute


KeyT = TypeVar("KeyT")


@dataclass(frozen=True)
class Finder(Generic[KeyT]):
    """Finds patterns, each known by a key; those that come first are tried first at each root."""

    patterns: Sequence[tuple[KeyT, Pattern]]

    def find(
        self,
        block: Block,
        allowed: Callable[[KeyT, Operation], bool],
        check: Callable[[KeyT, Match], bool] = lambda key, match: True,
    ) -> Iterator[tuple[KeyT, Match]]:
        """Yield matches of allowed ops that pass the check; none shares an op with another."""
        by_head: dict[type[Operation], list[tuple[KeyT, Pattern]]] = {}
        for key, pattern in self.patterns:
            for head in pattern.heads:
                by_head.setdefault(head, []).append((key, pattern))
        taken: set[Operation] = set()
        for root in reversed(tuple(block.ops)):
            if root in taken:
                continue
            for key, pattern in by_head.get(type(root), ()):
                match = pattern.match(
                    root, lambda op, key=key: op not in taken and allowed(key, op)
                )
                if match is not None and check(key, match):
                    taken.update(match.operations)
                    yield key, match
                    break
