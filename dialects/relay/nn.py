"""Convolutions and matrix products."""

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
from partita.dialects.relay.layout import (
    Layout,
    blocked_shape,
    extents_of,
    layout_of,
)
from partita.dialects.relay.window import window_shape
from partita.shapes import DYNAMIC, element_of, shape_of, tensor_of


@irdl_op_definition
class Conv2dOp(RelayOp):
    """Slide filters over an image of channels.

    `result[n, k, y, x] = sum over c, r, s of
    data[n, g * C + c, y * strides[0] + r * dilation[0] - padding[0], x * strides[1] + s * dilation[1] - padding[1]]
    * weight[k, c, r, s]`, where `g` is the group of `k` and reads outside the image give zero. Layouts say where these
    elements lie, and change no value.

    ```mlir
    %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
    ```
    """

    name = "relay.conv2d"

    data = operand_def(AnyTensorTypeConstr)
    """Images, `(n, c, h, w)` or as `data_layout` says."""

    weight = operand_def(AnyTensorTypeConstr)
    """Filters, `(k, c / groups, r, s)` or as `kernel_layout` says."""

    strides = prop_def(DenseArrayBase.constr(i64))
    """Vertical, horizontal."""

    padding = prop_def(DenseArrayBase.constr(i64))
    """Zeros added at the top, left, bottom and right."""

    dilation = prop_def(DenseArrayBase.constr(i64))
    """Vertical, horizontal distance between two taps."""

    groups = prop_def(IntegerAttr.constr(i64))
    """Channels fall into this many groups that do not see each other."""

    kernel_layout = opt_prop_def(StringAttr)
    """`OIHW` if absent; `OIHW16o` has output channels in blocks of 16 as the last axis, `OIHW8i16o` input channels in
    blocks of 8 before them."""

    data_layout = opt_prop_def(StringAttr)
    """`NCHW` if absent; `NCHW16c` has channels in blocks of 16 as the last axis."""

    result_layout = opt_prop_def(StringAttr)
    """That of the result, likewise."""

    result = result_def(AnyTensorTypeConstr)
    """`(n, k, y, x)` or as `result_layout` says."""

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
        data_layout: str | None = None,
        result_layout: str | None = None,
    ):
        super().__init__(
            (data, weight),
            {
                "strides": dense(strides),
                "padding": dense(padding),
                "dilation": dense(dilation),
                "groups": integer(groups),
                "kernel_layout": optional_text(kernel_layout),
                "data_layout": optional_text(data_layout),
                "result_layout": optional_text(result_layout),
            },
        )

    @property
    def layouts(self) -> tuple[Layout, Layout, Layout]:
        """The layouts of data, weight and result; raises `VerifyException` if one is none of those allowed."""
        return (
            layout_of(self.data_layout, "NCHW", "c", "data_layout"),
            layout_of(self.kernel_layout, "OIHW", "io", "kernel_layout"),
            layout_of(self.result_layout, "NCHW", "c", "result_layout"),
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        data_layout, kernel_layout, result_layout = self.layouts
        data = extents_of(data_layout, shape_of(self.data), "data")
        weight = extents_of(kernel_layout, shape_of(self.weight), "weight")
        element = same_element(self.data, self.weight, "data and weight")
        groups, features = self.groups.value.data, weight["O"]
        if groups < 1 or (features != DYNAMIC and features % groups):
            raise VerifyException(
                f"expected groups to divide output channels {features}, got {groups}"
            )
        channels = weight["I"]
        if DYNAMIC not in (data["C"], channels) and data["C"] != channels * groups:
            raise VerifyException(
                f"expected data with {channels * groups} channels, got {data['C']}"
            )
        y, x = window_shape(
            (data["H"], data["W"]),
            (weight["H"], weight["W"]),
            ints(self.strides),
            ints(self.padding),
            ints(self.dilation),
        )
        extents = {"N": data["N"], "C": features, "H": y, "W": x}
        return (tensor_of(blocked_shape(result_layout, extents, "result"), element),)


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
            {"weight_layout": optional_text(weight_layout)},
        )

    @property
    def layout(self) -> Layout:
        """The layout of the weight; raises `VerifyException` if it is none of those allowed."""
        return layout_of(self.weight_layout, "OI", "o", "weight_layout")

    def infer(self) -> tuple[AnyTensorType, ...]:
        data, weight = shape_of(self.data), shape_of(self.weight)
        layout = self.layout
        rank = len(layout.axes)
        if len(data) != 2 or len(weight) != rank:
            raise VerifyException(
                f"expected data of rank 2 and weight of rank {rank}, got {len(data)} and {len(weight)}"
            )
        element = same_element(self.data, self.weight, "data and weight")
        features = extents_of(layout, weight, "weight")["O"]
        check_equal(data[1], weight[1], "data and weight with equal second dimensions")
        return (tensor_of((data[0], features), element),)


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


def optional_text(text: str | None) -> StringAttr | None:
    """Make the attribute of a text that may be absent."""
    return None if text is None else StringAttr(text)


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
