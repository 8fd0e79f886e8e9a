"""Convolutions and matrix products."""

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from partita.dialects.relay.base import (
    NUMBERS,
    Fusion,
    FusionPattern,
    RelayOp,
    broadcast,
    dense,
    integer,
    ints,
)
from partita.dialects.relay.window import window_shape
from partita.shapes import DYNAMIC, element_of, shape_of, tensor_of


@irdl_op_definition
class Conv2dOp(RelayOp):
    """Slide filters over an image of channels, `NCHW`.

    `result[n, k, y, x] = sum over c, r, s of
    data[n, g * C + c, y * strides[0] + r * dilation[0] - padding[0], x * strides[1] + s * dilation[1] - padding[1]]
    * weight[k, c, r, s]`, where `g` is the group of `k` and reads outside the image give zero.

    ```mlir
    %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
    ```
    """

    name = "relay.conv2d"

    data = operand_def(AnyTensorTypeConstr)
    """Images, `(n, c, h, w)`."""

    weight = operand_def(AnyTensorTypeConstr)
    """Filters, `(k, c / groups, r, s)`; `(k / b, c / groups, r, s, b)` if `kernel_layout` is `OIHWbo`."""

    strides = prop_def(DenseArrayBase.constr(i64))
    """Vertical, horizontal."""

    padding = prop_def(DenseArrayBase.constr(i64))
    """Zeros added at the top, left, bottom and right."""

    dilation = prop_def(DenseArrayBase.constr(i64))
    """Vertical, horizontal distance between two taps."""

    groups = prop_def(IntegerAttr.constr(i64))
    """Channels fall into this many groups that do not see each other."""

    kernel_layout = opt_prop_def(StringAttr)
    """`OIHW` if absent; `OIHW16o` has output channels in blocks of 16 as the last axis."""

    result = result_def(AnyTensorTypeConstr)
    """`(n, k, y, x)`."""

    traits = traits_def(Fusion(FusionPattern.OUT_FUSABLE))

    assembly_format = (
        "$data `,` $weight attr-dict `:` "
        "`(` type($data) `,` type($weight) `)` `->` type($result)"
    )

    def __init__(
        self,
        data: SSAValue,
        weight: SSAValue,
        *,
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
        groups: int = 1,
        kernel_layout: str | None = None,
    ):
        super().__init__(
            (data, weight),
            {
                "strides": dense(strides),
                "padding": dense(padding),
                "dilation": dense(dilation),
                "groups": integer(groups),
                "kernel_layout": None
                if kernel_layout is None
                else StringAttr(kernel_layout),
            },
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        data, weight = shape_of(self.data), shape_of(self.weight)
        block = kernel_block(self.kernel_layout, "OIHW", "kernel_layout")
        if len(data) != 4:
            raise VerifyException(f"expected data of rank 4, got {len(data)}")
        if len(weight) != (4 if block is None else 5):
            raise VerifyException(
                f"expected weight of rank {4 if block is None else 5}, got {len(weight)}"
            )
        element = same_element(self.data, self.weight, "data and weight")
        if block is not None and weight[4] not in (block, DYNAMIC):
            raise VerifyException(
                f"expected weight with last dimension {block}, got {weight[4]}"
            )
        groups = self.groups.value.data
        features = unblocked(weight[0], block)
        if groups < 1 or (features != DYNAMIC and features % groups):
            raise VerifyException(
                f"expected groups to divide output channels {features}, got {groups}"
            )
        if DYNAMIC not in (data[1], weight[1]) and data[1] != weight[1] * groups:
            raise VerifyException(
                f"expected data with {weight[1] * groups} channels, got {data[1]}"
            )
        spatial = window_shape(
            data[2:],
            weight[2:4],
            ints(self.strides),
            ints(self.padding),
            ints(self.dilation),
        )
        return (tensor_of((data[0], features, *spatial), element),)


@irdl_op_definition
class DenseOp(RelayOp):
    """Multiply rows by a transposed weight matrix.

    `result[n, m] = sum over k of data[n, k] * weight[m, k]`

    ```mlir
    %y = relay.dense %x, %w : (tensor<1x4xf32>, tensor<8x4xf32>) -> tensor<1x8xf32>
    ```
    """

    name = "relay.dense"

    data = operand_def(AnyTensorTypeConstr)
    """Rows, `(n, k)`."""

    weight = operand_def(AnyTensorTypeConstr)
    """One row for each output feature, `(m, k)`; `(m / b, k, b)` if `weight_layout` is `OIbo`."""

    weight_layout = opt_prop_def(StringAttr)
    """`OI` if absent; `OI16o` has output features in blocks of 16 as the last axis."""

    result = result_def(AnyTensorTypeConstr)
    """`(n, m)`."""

    traits = traits_def(Fusion(FusionPattern.OUT_FUSABLE))

    assembly_format = (
        "$data `,` $weight attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self, data: SSAValue, weight: SSAValue, *, weight_layout: str | None = None
    ):
        super().__init__(
            (data, weight),
            {
                "weight_layout": None
                if weight_layout is None
                else StringAttr(weight_layout)
            },
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        data, weight = shape_of(self.data), shape_of(self.weight)
        block = kernel_block(self.weight_layout, "OI", "weight_layout")
        rank = 2 if block is None else 3
        if len(data) != 2 or len(weight) != rank:
            raise VerifyException(
                f"expected data of rank 2 and weight of rank {rank}, got {len(data)} and {len(weight)}"
            )
        element = same_element(self.data, self.weight, "data and weight")
        if block is not None and weight[2] not in (block, DYNAMIC):
            raise VerifyException(
                f"expected weight with last dimension {block}, got {weight[2]}"
            )
        check_equal(data[1], weight[1], "data and weight with equal second dimensions")
        return (tensor_of((data[0], unblocked(weight[0], block)), element),)


@irdl_op_definition
class MatmulOp(RelayOp):
    """Multiply matrices, or stacks of matrices that broadcast, as numpy's `matmul` does.

    A vector on the left is a row, one on the right a column, and the result lacks that axis.

    `result[..., m, n] = sum over k of lhs[..., m, k] * rhs[..., k, n]`

    ```mlir
    %y = relay.matmul %a, %b : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
    ```
    """

    name = "relay.matmul"

    lhs = operand_def(AnyTensorTypeConstr)

    rhs = operand_def(AnyTensorTypeConstr)

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.OUT_FUSABLE))

    assembly_format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__((lhs, rhs))

    def infer(self) -> tuple[AnyTensorType, ...]:
        lhs, rhs = shape_of(self.lhs), shape_of(self.rhs)
        element = same_element(self.lhs, self.rhs, "lhs and rhs")
        if not lhs or not rhs:
            raise VerifyException(
                f"expected lhs and rhs of rank 1 or more, got {len(lhs)} and {len(rhs)}"
            )
        check_equal(
            lhs[-1],
            rhs[-2:][0],
            "lhs and rhs with equal inner dimensions",
        )
        shape = (
            *broadcast(lhs[:-2], rhs[:-2]),
            *lhs[-2:-1],
            *(rhs[-1:] if len(rhs) > 1 else ()),
        )
        return (tensor_of(shape, element),)


def kernel_block(layout: StringAttr | None, plain: str, name: str) -> int | None:
    """Return the size of the innermost block of output features, `None` for a plain layout.

    Raises `VerifyException` if the layout is neither the plain one nor followed by `<n>o`.
    """
    if layout is None or layout.data == plain:
        return None
    match = re.fullmatch(plain + r"([1-9]\d*)o", layout.data)
    if match is None:
        raise VerifyException(
            f"expected {name} {plain} or {plain}<n>o, got {layout.data}"
        )
    return int(match[1])


def unblocked(blocks: int, block: int | None) -> int:
    """Return how many output features a weight has, from its first dimension and its layout's block."""
    return blocks if block is None or blocks == DYNAMIC else blocks * block


def same_element(first: SSAValue, second: SSAValue, names: str) -> Attribute:
    """Return the element type of two operands; raise `VerifyException` if they differ or are no numbers."""
    element, other = element_of(first), element_of(second)
    if element != other or element not in NUMBERS.types:
        raise VerifyException(
            f"expected {names} of one numeric element type, got {element} and {other}"
        )
    return element


def check_equal(first: int, second: int, what: str) -> None:
    """Raise `VerifyException` if two dimensions are known and differ."""
    if DYNAMIC not in (first, second) and first != second:
        raise VerifyException(f"expected {what}, got {first} and {second}")


NN_OPS: tuple[type[RelayOp], ...] = (Conv2dOp, DenseOp, MatmulOp)
