"""Write `te.compute` ops as functions of their axes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from partita.dialects.partita import ORIGIN
from partita.dialects.relay import RelayOp
from partita.dialects.te import ComputeOp
from partita.shapes import (
    Shape,
    dtype_of,
    element_of,
    is_float,
    is_unsigned,
    scalar_type,
    shape_of,
    tensor_of,
)
from partita.transforms.te_rules.body import (
    Axes,
    Body,
    Number,
    Scalar,
    constant_attr,
)

Combine = Callable[[Scalar, Scalar], Scalar]


@dataclass(frozen=True)
class Monoid:
    """How elements are reduced: a neutral value to start from, and how two combine."""

    neutral: Callable[[Attribute], Number]
    """The neutral value, by element type."""

    combine: Combine


def least(element: Attribute) -> Number:
    """Return the least value of an element type."""
    if is_float(element):
        return -inf
    width = dtype_of(element).itemsize * 8
    return 0 if is_unsigned(element) else -(1 << (width - 1))


def greatest(element: Attribute) -> Number:
    """Return the greatest value of an element type."""
    if is_float(element):
        return inf
    if dtype_of(element).kind == "b":
        return 1
    width = dtype_of(element).itemsize * 8
    return (1 << (width if is_unsigned(element) else width - 1)) - 1


SUM = Monoid(lambda element: 0, lambda x, y: x + y)
PRODUCT = Monoid(lambda element: 1, lambda x, y: x * y)
MAXIMUM = Monoid(least, lambda x, y: x.maximum(y))
LARGEST = Monoid(least, lambda x, y: x.largest(y))
"""The maximum where the sign of a zero makes no difference, which is cheaper."""

MINIMUM = Monoid(greatest, lambda x, y: x.minimum(y))


class Labels:
    """Labels that are unique in a function: the first keeps its name, others are numbered."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def take(self, name: str) -> str:
        """Return a label that was not taken before."""
        label = name
        while label in self._taken:
            self._counts[name] = self._counts.get(name, 0) + 1
            label = f"{name}_{self._counts[name]}"
        self._taken.add(label)
        return label


@dataclass(frozen=True)
class TeBuilder:
    """Puts computes in place of one op."""

    op: Operation
    """Computes are inserted before it, and carry its origin."""

    labels: Labels

    splats: Mapping[SSAValue, Number]
    """Constant tensors that hold one repeated value."""

    @property
    def name(self) -> str:
        """What the op is called without its dialect: the label of what it becomes."""
        return self.op.name.partition(".")[2]

    def compute(
        self,
        shape: Shape,
        element: Attribute,
        body: Callable[[Body, Axes], Scalar],
        label: str | None = None,
    ) -> SSAValue:
        """Define a tensor by its element at an index; the label is the op's name unless given.

        The body is not asked for where there are no elements, so it may assume some.
        """
        block, axes = _block(len(shape))
        writer = Body(block, shape, self.splats)
        empty = 0 in shape
        writer.finish(writer.constant(0, element) if empty else body(writer, axes))
        compute = ComputeOp(
            self.labels.take(label or self.name),
            Region(block),
            (tensor_of(shape, element),),
        )
        return self._insert(compute)[0]

    def reduce(
        self,
        shape: Shape,
        reduction: Shape,
        element: Attribute,
        body: Callable[[Body, Axes, Axes], Scalar],
        monoid: Monoid,
        label: str | None = None,
    ) -> SSAValue:
        """Define a tensor by a reduction of elements at axes and reduction axes.

        Without reduction axes there is nothing to combine, and the body is the element.
        """
        if not reduction or 0 in shape:
            return self.compute(
                shape, element, lambda writer, axes: body(writer, axes, ()), label
            )
        return self.fold(
            shape,
            reduction,
            (element,),
            lambda writer, axes, reduced: (body(writer, axes, reduced),),
            (monoid.neutral(element),),
            lambda x, y: (monoid.combine(x[0], y[0]),),
            label,
        )[0]

    def fold(
        self,
        shape: Shape,
        reduction: Shape,
        elements: Sequence[Attribute],
        body: Callable[[Body, Axes, Axes], Sequence[Scalar]],
        inits: Sequence[Number],
        combine: Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]],
        label: str | None = None,
    ) -> tuple[SSAValue, ...]:
        """Define several tensors of one shape by a reduction of tuples."""
        block, axes = _block(len(shape), len(reduction))
        writer = Body(block, shape, self.splats)
        writer.finish(*body(writer, axes[: len(shape)], axes[len(shape) :]))
        count = len(elements)
        combiner = Block(
            arg_types=[scalar_type(each) for each in (*elements, *elements)]
        )
        inner = Body(combiner, (), {})
        arguments = [
            Scalar(inner, argument, element)
            for argument, element in zip(
                combiner.args, (*elements, *elements), strict=True
            )
        ]
        inner.finish(*combine(arguments[:count], arguments[count:]))
        compute = ComputeOp(
            self.labels.take(label or self.name),
            Region(block),
            tuple(tensor_of(shape, element) for element in elements),
            reduction,
            tuple(
                constant_attr(init, element)
                for init, element in zip(inits, elements, strict=True)
            ),
            Region(combiner),
        )
        return self._insert(compute)

    def cast(self, source: SSAValue, element: Attribute) -> SSAValue:
        """Convert a tensor, if its element type is another."""
        if element_of(source) == element:
            return source
        return self.compute(
            shape_of(source),
            element,
            lambda body, axes: body.read(source, axes).cast(element),
            f"{self.name}_cast",
        )

    def _insert(self, compute: ComputeOp) -> tuple[SSAValue, ...]:
        origin = self.op.attributes.get(ORIGIN)
        if origin is not None:
            compute.attributes[ORIGIN] = origin
        block = self.op.parent
        assert block is not None
        block.insert_op_before(compute, self.op)
        return tuple(compute.outputs)


def _block(rank: int, reduced: int = 0) -> tuple[Block, tuple[AffineExpr, ...]]:
    """Make an empty body and the index expressions of its axes and reduction axes."""
    count = rank + reduced
    block = Block(arg_types=(IndexType(),) * count)
    for axis, argument in enumerate(block.args):
        argument.name_hint = f"i{axis}" if axis < rank else f"r{axis - rank}"
    return block, tuple(AffineExpr.dimension(axis) for axis in range(count))


Rule = Callable[[Any, TeBuilder], Sequence[SSAValue]]
"""An op, whose operands are lowered, and where to write, to the values of its results."""

Rules = Mapping[type[RelayOp], Rule]
"""The rule of each op."""
