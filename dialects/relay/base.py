"""What every relay op is: pure, of an inferred type, with a pattern that fusion goes by."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import (
    I64,
    AnyTensorType,
    BoolAttr,
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.rewriter import Rewriter
from xdsl.traits import HasCanonicalizationPatternsTrait, OpTrait, Pure
from xdsl.utils.exceptions import VerifyException

from partita.shapes import (
    DYNAMIC,
    Shape,
    element_of,
    is_float,
    shape_text,
    ui8,
    ui16,
    ui32,
    ui64,
)


class FusionPattern(IntEnum):
    """How results depend on operands, from the easiest to fuse to the hardest (Relay's `OpPatternKind`)."""

    ELEMENTWISE = 0
    """One element of each operand makes the element of the same index."""

    BROADCAST = 1
    """One element of each operand makes an element; some indices are dropped."""

    INJECTIVE = 2
    """One element of one operand makes an element, at a computed index."""

    REDUCTION = 3
    """Many elements make one."""

    OUT_FUSABLE = 4
    """A complex reduction, whose result elementwise ops can be fused onto."""

    OPAQUE = 8
    """Never fused."""


UNKNOWN: Attribute = TensorType(f32, ())
"""The type that results have until theirs is inferred."""


@dataclass(frozen=True)
class Fusion(OpTrait):
    """The fusion pattern of an op."""

    pattern: FusionPattern


class Canonical(HasCanonicalizationPatternsTrait):
    """The op has entries in the dialect's table of canonicalization patterns."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return ()

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        # The patterns import the ops, so the ops look them up late.
        from partita.dialects.relay.canonicalize import PATTERNS

        return PATTERNS.get(op, ())


@dataclass(frozen=True)
class Domain:
    """Element types that an op accepts."""

    name: str
    """How messages call them."""

    types: frozenset[Attribute]

    def check(self, value: SSAValue, operand: str) -> Attribute:
        """Return the element type of an operand; raise `VerifyException` if it is not of these."""
        element = element_of(value)
        if element not in self.types:
            raise VerifyException(
                f"expected {operand} of {self.name} elements, got {element}"
            )
        return element


SIGNED = Domain("signed integer", frozenset({i8, i16, i32, i64}))
INTEGERS = Domain("integer", SIGNED.types | {ui8, ui16, ui32, ui64})
FLOATS = Domain("floating-point", frozenset({f16, f32, f64}))
NUMBERS = Domain("numeric", INTEGERS.types | FLOATS.types)
BOOLEANS = Domain("i1", frozenset({i1}))
ELEMENTS = Domain("numeric or i1", NUMBERS.types | BOOLEANS.types)


class RelayOp(IRDLOperation, ABC):
    """Base of all relay ops.

    A subclass defines operands, properties and results, its `Fusion` trait, and `infer`.
    """

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(Pure())

    def __init__(
        self,
        operands: Sequence[SSAValue | Sequence[SSAValue]],
        properties: Mapping[str, Attribute | None] | None = None,
        result_count: int | None = None,
    ):
        """Build the op with inferred result types; `result_count` is given where results are variadic.

        Raises `VerifyException` if operands and properties do not fit together.
        """
        super().__init__(
            operands=operands,
            properties=properties or {},
            result_types=(UNKNOWN,)
            if result_count is None
            else ((UNKNOWN,) * result_count,),
        )
        self.update_result_types()

    def update_result_types(self) -> None:
        """Give results the types that follow from the operands' present types."""
        for result, inferred in zip(tuple(self.results), self.infer(), strict=True):
            if result.type != inferred:
                Rewriter.replace_value_with_new_type(result, inferred)

    @abstractmethod
    def infer(self) -> tuple[AnyTensorType, ...]:
        """Return the result types that follow from operands and properties.

        Raises `VerifyException`, in terms of the operands' and attributes' names, if they do not fit together.
        """

    def verify_(self) -> None:
        for result, inferred in zip(self.results, self.infer(), strict=True):
            if result.type != inferred:
                raise VerifyException(
                    f"expected result of type {inferred}, got {result.type}"
                )

    @classmethod
    def fusion(cls) -> FusionPattern:
        """Return the op's fusion pattern; `OPAQUE` if it states none."""
        trait = cls.get_trait(Fusion)
        return FusionPattern.OPAQUE if trait is None else trait.pattern


def dense(values: Iterable[int]) -> DenseArrayBase:
    """Make the attribute that holds a list of integers."""
    return _dense(tuple(values))


@lru_cache(maxsize=4096)
def _dense(values: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


@lru_cache(maxsize=4096)
def integer(value: int) -> IntegerAttr[I64]:
    """Make the attribute that holds an integer."""
    return IntegerAttr(value, i64)


@lru_cache(maxsize=2)
def flag(value: bool) -> BoolAttr:
    """Make the attribute that holds a choice."""
    return IntegerAttr.from_bool(value)


def real(value: float) -> FloatAttr[Float64Type]:
    """Make the attribute that holds a real number."""
    return FloatAttr(value, f64)


def ints(attr: DenseArrayBase) -> tuple[int, ...]:
    """Read the attribute that holds a list of integers."""
    return tuple(np.frombuffer(attr.data.data, np.int64).tolist())


def broadcast(*shapes: Shape) -> Shape:
    """Broadcast shapes as numpy does; a dynamic dimension beside a static one above 1 takes the static one.

    Raises `VerifyException` if they do not broadcast.
    """
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[int] = []
    for axis in range(-rank, 0):
        extents = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        known = extents - {DYNAMIC}
        if len(known) > 1:
            raise VerifyException(
                "expected shapes that broadcast, got "
                + " and ".join(shape_text(shape) for shape in shapes)
            )
        result.append((known or extents or {1}).pop())
    return tuple(result)


def normalize_axis(axis: int, rank: int, name: str = "axis") -> int:
    """Count a negative axis from the end; raise `VerifyException` if it is out of range."""
    if not -rank <= axis < rank:
        raise VerifyException(f"expected {name} in [-{rank}, {rank}), got {axis}")
    return axis % rank


def number(
    value: float, element: Attribute
) -> FloatAttr[Float64Type] | IntegerAttr[I64]:
    """Make the attribute that holds a number to be used with elements of this type."""
    return real(value) if is_float(element) else integer(int(value))


def check_axes(axes: Sequence[int], rank: int, name: str = "axes") -> None:
    """Raise `VerifyException` unless axes are ascending, distinct and in range."""
    if any(not 0 <= axis < rank for axis in axes):
        raise VerifyException(
            f"expected {name} in [0, {rank}), got {', '.join(map(str, axes))}"
        )
    if any(first >= second for first, second in pairwise(axes)):
        raise VerifyException(
            f"expected {name} in ascending order, got {', '.join(map(str, axes))}"
        )
