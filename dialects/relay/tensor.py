"""Ops that give the same elements another shape, order or layout."""

from abc import abstractmethod
from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
    DenseArrayBase,
    StringAttr,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from partita.dialects.relay.base import (
    Canonical,
    Fusion,
    FusionPattern,
    RelayOp,
    check_axes,
    dense,
    ints,
    normalize_axis,
)
from partita.dialects.relay.layout import Layout
from partita.shapes import DYNAMIC, Shape, element_of, shape_of, shape_text, tensor_of


class ViewOp(RelayOp):
    """Base of ops that move or repeat the elements of one tensor."""

    data = operand_def(AnyTensorTypeConstr)

    result = result_def(AnyTensorTypeConstr)

    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"

    def infer(self) -> tuple[AnyTensorType, ...]:
        return (
            tensor_of(self.infer_shape(shape_of(self.data)), element_of(self.data)),
        )

    @abstractmethod
    def infer_shape(self, data: Shape) -> Shape:
        """Return the result's shape, given the data's; raise `VerifyException` if attributes do not fit."""


@irdl_op_definition
class ReshapeOp(ViewOp):
    """Give the same elements, in the same (row-major) order, another shape.

    ```mlir
    %y = relay.reshape %x {shape = array<i64: 3, 4>} : tensor<2x6xf32> -> tensor<3x4xf32>
    ```
    """

    name = "relay.reshape"

    shape = prop_def(DenseArrayBase.constr(i64))
    """The result's shape. Where data is dynamic, one extent may be -1: what the number of elements leaves."""

    traits = traits_def(Fusion(FusionPattern.INJECTIVE), Canonical())

    def __init__(self, data: SSAValue, *, shape: Sequence[int]):
        super().__init__((data,), {"shape": dense(solve(shape, shape_of(data)))})

    def infer_shape(self, data: Shape) -> Shape:
        shape = solve(ints(self.shape), data)
        if sum(extent < 0 for extent in shape) > 1 or min(shape, default=0) < -1:
            raise VerifyException(
                "expected shape of at most one extent that is -1, "
                f"got {', '.join(map(str, shape))}"
            )
        if DYNAMIC not in data and (-1 in shape or prod(shape) != prod(data)):
            raise VerifyException(
                f"expected shape of {prod(data)} elements, got {', '.join(map(str, shape))}"
            )
        return tuple(DYNAMIC if extent < 0 else extent for extent in shape)


def solve(shape: Sequence[int], data: Shape) -> Shape:
    """Return a shape to give to data, with an extent of -1 replaced if the others and data determine it."""
    rest = prod(extent for extent in shape if extent != -1)
    if shape.count(-1) != 1 or DYNAMIC in data or rest <= 0 or prod(data) % rest:
        return tuple(shape)
    return tuple(prod(data) // rest if extent == -1 else extent for extent in shape)


@irdl_op_definition
class TransposeOp(ViewOp):
    """Permute axes: axis `i` of the result is axis `axes[i]` of the data.

    ```mlir
    %y = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>} : tensor<1x3x8x9xf32> -> tensor<1x8x9x3xf32>
    ```
    """

    name = "relay.transpose"

    axes = prop_def(DenseArrayBase.constr(i64))

    traits = traits_def(Fusion(FusionPattern.INJECTIVE), Canonical())

    def __init__(self, data: SSAValue, *, axes: Sequence[int]):
        rank = len(shape_of(data))
        axes = tuple(normalize_axis(axis, rank, "axes") for axis in axes)
        super().__init__((data,), {"axes": dense(axes)})

    def infer_shape(self, data: Shape) -> Shape:
        axes = ints(self.axes)
        if sorted(axes) != list(range(len(data))):
            raise VerifyException(
                f"expected axes that permute {len(data)} axes, got {', '.join(map(str, axes))}"
            )
        return tuple(data[axis] for axis in axes)


@irdl_op_definition
class SqueezeOp(ViewOp):
    """Drop axes of extent 1.

    ```mlir
    %y = relay.squeeze %x {axes = array<i64: 2, 3>} : tensor<1x10x1x1xf32> -> tensor<1x10xf32>
    ```
    """

    name = "relay.squeeze"

    axes = prop_def(DenseArrayBase.constr(i64))
    """The axes to drop, ascending."""

    traits = traits_def(Fusion(FusionPattern.INJECTIVE), Canonical())

    def __init__(self, data: SSAValue, *, axes: Sequence[int]):
        rank = len(shape_of(data))
        axes = sorted(normalize_axis(axis, rank, "axes") for axis in axes)
        super().__init__((data,), {"axes": dense(axes)})

    def infer_shape(self, data: Shape) -> Shape:
        axes = ints(self.axes)
        check_axes(axes, len(data))
        for axis in axes:
            if data[axis] not in (1, DYNAMIC):
                raise VerifyException(
                    f"expected data of extent 1 along axis {axis}, got {data[axis]}"
                )
        return tuple(extent for axis, extent in enumerate(data) if axis not in axes)


@irdl_op_definition
class ExpandDimsOp(ViewOp):
    """Insert axes of extent 1.

    ```mlir
    %y = relay.expand_dims %x {axes = array<i64: 0, 2>} : tensor<3x4xf32> -> tensor<1x3x1x4xf32>
    ```
    """

    name = "relay.expand_dims"

    axes = prop_def(DenseArrayBase.constr(i64))
    """The new axes, ascending, as the result counts them."""

    traits = traits_def(Fusion(FusionPattern.INJECTIVE), Canonical())

    def __init__(self, data: SSAValue, *, axes: Sequence[int]):
        rank = len(shape_of(data)) + len(axes)
        axes = sorted(normalize_axis(axis, rank, "axes") for axis in axes)
        super().__init__((data,), {"axes": dense(axes)})

    def infer_shape(self, data: Shape) -> Shape:
        axes = ints(self.axes)
        rank = len(data) + len(axes)
        check_axes(axes, rank)
        kept = iter(data)
        return tuple(1 if axis in axes else next(kept) for axis in range(rank))


@irdl_op_definition
class BroadcastToOp(ViewOp):
    """Repeat data along new axes and those of extent 1, as numpy broadcasts to a shape.

    ```mlir
    %y = relay.broadcast_to %x {shape = array<i64: 4, 2, 3>} : tensor<2x1xf32> -> tensor<4x2x3xf32>
    ```
    """

    name = "relay.broadcast_to"

    shape = prop_def(DenseArrayBase.constr(i64))
    """The result's shape."""

    traits = traits_def(Fusion(FusionPattern.BROADCAST), Canonical())

    def __init__(self, data: SSAValue, *, shape: Sequence[int]):
        super().__init__((data,), {"shape": dense(shape)})

    def infer_shape(self, data: Shape) -> Shape:
        shape = ints(self.shape)
        fits = len(data) <= len(shape) and all(
            extent in (1, DYNAMIC, wanted)
            for extent, wanted in zip(reversed(data), reversed(shape), strict=False)
        )
        if not fits or min(shape, default=0) < 0:
            raise VerifyException(
                f"expected shape that data of shape {shape_text(data)} broadcasts to, got {shape_text(shape)}"
            )
        return shape


@irdl_op_definition
class TileOp(ViewOp):
    """Repeat the whole of the data along each axis.

    ```mlir
    %y = relay.tile %x {repeats = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<2x6xf32>
    ```
    """

    name = "relay.tile"

    repeats = prop_def(DenseArrayBase.constr(i64))
    """How often, for each axis."""

    traits = traits_def(Fusion(FusionPattern.INJECTIVE), Canonical())

    def __init__(self, data: SSAValue, *, repeats: Sequence[int]):
        super().__init__((data,), {"repeats": dense(repeats)})

    def infer_shape(self, data: Shape) -> Shape:
        repeats = ints(self.repeats)
        if len(repeats) != len(data) or min(repeats, default=0) < 0:
            raise VerifyException(
                f"expected repeats of {len(data)} values that are not negative, "
                f"got {', '.join(map(str, repeats))}"
            )
        return tuple(
            DYNAMIC if extent == DYNAMIC else extent * count
            for extent, count in zip(data, repeats, strict=True)
        )


@irdl_op_definition
class LayoutTransformOp(ViewOp):
    """Move data from one layout of axes to another, which splits, merges and permutes them.

    A capital letter is an axis. A number and its small letter after it is the inner part of that axis, in
    blocks of this size. An axis that does not fill its blocks cannot be split: pad it first.

    ```mlir
    %y = relay.layout_transform %x {source = "OIHW", target = "OIHW16o"} : tensor<32x3x5x7xf32> -> tensor<2x3x5x7x16xf32>
    ```
    """

    name = "relay.layout_transform"

    source = prop_def(StringAttr)
    """The data's layout."""

    target = prop_def(StringAttr)
    """The result's layout."""

    traits = traits_def(Fusion(FusionPattern.INJECTIVE), Canonical())

    def __init__(self, data: SSAValue, *, source: str, target: str):
        super().__init__(
            (data,), {"source": StringAttr(source), "target": StringAttr(target)}
        )

    def infer_shape(self, data: Shape) -> Shape:
        try:
            source, target = (
                Layout.parse(self.source.data),
                Layout.parse(self.target.data),
            )
            return target.shape(source.extents(data))
        except ValueError as error:
            raise VerifyException(str(error)) from None


TENSOR_OPS: tuple[type[RelayOp], ...] = (
    ReshapeOp,
    TransposeOp,
    SqueezeOp,
    ExpandDimsOp,
    BroadcastToOp,
    TileOp,
    LayoutTransformOp,
)
