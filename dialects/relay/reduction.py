"""Ops that make one element from many along axes, and those that need several such steps."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    i1,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from partita.dialects.relay.base import (
    ELEMENTS,
    FLOATS,
    NUMBERS,
    Domain,
    Fusion,
    FusionPattern,
    RelayOp,
    check_axes,
    dense,
    flag,
    integer,
    ints,
    normalize_axis,
)
from partita.shapes import Shape, shape_of, tensor_of, tensor_type


def reduced_shape(shape: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """Return what is left of a shape when axes are reduced to extent 1, or dropped."""
    return tuple(
        1 if axis in axes else extent
        for axis, extent in enumerate(shape)
        if keepdims or axis not in axes
    )


class ReductionOp(RelayOp):
    """Base of ops that combine all elements along axes."""

    DOMAIN: ClassVar[Domain] = NUMBERS

    data = operand_def(AnyTensorTypeConstr)

    axes = prop_def(DenseArrayBase.constr(i64))
    """The axes to reduce, ascending; none leaves the data as it is."""

    keepdims = prop_def(BoolAttr.constr(i1))
    """Whether reduced axes stay, with extent 1."""

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.REDUCTION))

    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"

    def __init__(
        self,
        data: SSAValue,
        axes: Sequence[int] | None = None,
        keepdims: bool = True,
    ):
        """Build the op; `axes` may be negative or in any order, and `None` means all."""
        rank = len(shape_of(data))
        if axes is None:
            axes = range(rank)
        axes = sorted({normalize_axis(axis, rank, "axes") for axis in axes})
        super().__init__((data,), {"axes": dense(axes), "keepdims": flag(keepdims)})

    def infer(self) -> tuple[AnyTensorType, ...]:
        element = self.DOMAIN.check(self.data, "data")
        shape, axes = shape_of(self.data), ints(self.axes)
        check_axes(axes, len(shape))
        return (tensor_of(reduced_shape(shape, axes, bool(self.keepdims)), element),)


@irdl_op_definition
class SumOp(ReductionOp):
    """Add elements along axes; the sum of none is 0.

    ```mlir
    %y = relay.sum %x {axes = array<i64: 1>, keepdims = false} : tensor<2x3xf32> -> tensor<2xf32>
    ```
    """

    name = "relay.sum"


@irdl_op_definition
class MeanOp(ReductionOp):
    """Average elements along axes; the mean of integers is rounded toward zero.

    ```mlir
    %y = relay.mean %x {axes = array<i64: 1>, keepdims = true} : tensor<2x3xf32> -> tensor<2x1xf32>
    ```
    """

    name = "relay.mean"


@irdl_op_definition
class MaxOp(ReductionOp):
    """Take the largest element along axes, NaN if there is one; of none, the least value of the type.

    ```mlir
    %y = relay.max %x {axes = array<i64: 0, 1>, keepdims = false} : tensor<2x3xf32> -> tensor<f32>
    ```
    """

    name = "relay.max"

    DOMAIN: ClassVar[Domain] = ELEMENTS


@irdl_op_definition
class MinOp(ReductionOp):
    """Take the smallest element along axes, NaN if there is one; of none, the largest value of the type.

    ```mlir
    %y = relay.min %x {axes = array<i64: 0, 1>, keepdims = false} : tensor<2x3xf32> -> tensor<f32>
    ```
    """

    name = "relay.min"

    DOMAIN: ClassVar[Domain] = ELEMENTS


@irdl_op_definition
class ProdOp(ReductionOp):
    """Multiply elements along axes; the product of none is 1.

    ```mlir
    %y = relay.prod %x {axes = array<i64: 1>, keepdims = false} : tensor<2x3xf32> -> tensor<2xf32>
    ```
    """

    name = "relay.prod"


class IndexReductionOp(RelayOp):
    """Base of ops that find where along an axis an element is."""

    data = operand_def(AnyTensorTypeConstr)

    axis = prop_def(IntegerAttr.constr(i64))

    keepdims = prop_def(BoolAttr.constr(i1))
    """Whether the axis stays, with extent 1."""

    select_last_index = prop_def(BoolAttr.constr(i1))
    """Whether the last of several equal elements counts; else the first."""

    result = result_def(AnyTensorTypeConstr)
    """Indices, i64."""

    traits = traits_def(Fusion(FusionPattern.REDUCTION))

    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"

    def __init__(
        self,
        data: SSAValue,
        axis: int,
        keepdims: bool = True,
        select_last_index: bool = False,
    ):
        super().__init__(
            (data,),
            {
                "axis": integer(normalize_axis(axis, len(shape_of(data)))),
                "keepdims": flag(keepdims),
                "select_last_index": flag(select_last_index),
            },
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        NUMBERS.check(self.data, "data")
        shape, axis = shape_of(self.data), self.axis.value.data
        check_axes((axis,), len(shape), "axis")
        if shape[axis] == 0:
            raise VerifyException(
                f"expected data with elements along axis {axis}, got none"
            )
        return (tensor_of(reduced_shape(shape, (axis,), bool(self.keepdims)), i64),)


@irdl_op_definition
class ArgmaxOp(IndexReductionOp):
    """Find the largest element along an axis; a NaN is larger than any.

    ```mlir
    %y = relay.argmax %x {axis = 1 : i64, keepdims = true, select_last_index = false} : tensor<2x3xf32> -> tensor<2x1xi64>
    ```
    """

    name = "relay.argmax"


@irdl_op_definition
class ArgminOp(IndexReductionOp):
    """Find the smallest element along an axis; a NaN is smaller than any.

    ```mlir
    %y = relay.argmin %x {axis = 1 : i64, keepdims = false, select_last_index = true} : tensor<2x3xf32> -> tensor<2xi64>
    ```
    """

    name = "relay.argmin"


class SoftmaxLikeOp(RelayOp):
    """Base of ops that normalize exponentials along an axis."""

    T: ClassVar = VarConstraint("T", AnyTensorTypeConstr)

    data = operand_def(T)

    axis = prop_def(IntegerAttr.constr(i64))

    result = result_def(T)

    traits = traits_def(Fusion(FusionPattern.OPAQUE))

    assembly_format = "$data attr-dict `:` type($data)"

    def __init__(self, data: SSAValue, *, axis: int = -1):
        rank = len(shape_of(data))
        super().__init__((data,), {"axis": integer(normalize_axis(axis, rank))})

    def infer(self) -> tuple[AnyTensorType, ...]:
        FLOATS.check(self.data, "data")
        check_axes((self.axis.value.data,), len(shape_of(self.data)), "axis")
        return (tensor_type(self.data),)


@irdl_op_definition
class SoftmaxOp(SoftmaxLikeOp):
    """Turn elements along an axis into positive ones that add up to 1.

    `result = exp(data - max) / sum of exp(data - max)`

    ```mlir
    %y = relay.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
    ```
    """

    name = "relay.softmax"


@irdl_op_definition
class LogSoftmaxOp(SoftmaxLikeOp):
    """Take the logarithm of the softmax, without ever leaving the logarithmic scale.

    `result = data - max - log(sum of exp(data - max))`

    ```mlir
    %y = relay.log_softmax %x {axis = 1 : i64} : tensor<2x3xf32>
    ```
    """

    name = "relay.log_softmax"


REDUCTION_OPS: tuple[type[RelayOp], ...] = (
    SumOp,
    MeanOp,
    MaxOp,
    MinOp,
    ProdOp,
    ArgmaxOp,
    ArgminOp,
    SoftmaxOp,
    LogSoftmaxOp,
)
