"""What every relay op is: pure, of an inferred type, with a pattern that fusion goes by."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from xdsl.dialects.builtin import AnyTensorType, DenseArrayBase, TensorType, f32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, traits_def
from xdsl.rewriter import Rewriter
from xdsl.traits import OpTrait, Pure
from xdsl.utils.exceptions import VerifyException

from partita.shapes import DYNAMIC, Shape


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


@dataclass(frozen=True)
class Fusion(OpTrait):
    """The fusion pattern of an op."""

    pattern: FusionPattern


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
        unknown: Attribute = TensorType(f32, ())
        super().__init__(
            operands=operands,
            properties=properties or {},
            result_types=(unknown,)
            if result_count is None
            else ((unknown,) * result_count,),
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


def dense(values: Sequence[int]) -> DenseArrayBase:
    """Make the attribute that holds a list of integers."""
    return DenseArrayBase.from_list(i64, tuple(values))


def ints(attr: DenseArrayBase) -> tuple[int, ...]:
    """Read the attribute that holds a list of integers."""
    return tuple(int(value) for value in attr.get_values())


def broadcast(*shapes: Shape) -> Shape:
    """Broadcast shapes as numpy does; a dynamic dimension beside a static one above 1 takes the static one.

    Raises `VerifyException` if they do not broadcast.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[int] = []
    for axis in range(-rank, 0):
        extents = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        known = extents - {DYNAMIC}
        if len(known) > 1:
            raise VerifyException(
                "expected shapes that broadcast, got "
                + " and ".join(str(shape) for shape in shapes)
            )
        result.append((known or extents or {1}).pop())
    return tuple(result)


def normalize_axis(axis: int, rank: int, name: str = "axis") -> int:
    """Count a negative axis from the end; raise `VerifyException` if it is out of range."""
    if not -rank <= axis < rank:
        raise VerifyException(f"expected {name} in [-{rank}, {rank}), got {axis}")
    return axis % rank
