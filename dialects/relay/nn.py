"""Convolutions, dense layers, pooling and normalization."""

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
from xdsl.ir import SSAValue
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
    Fusion,
    FusionPattern,
    RelayOp,
    dense,
    ints,
)
from partita.shapes import DYNAMIC, Shape, element_of, shape_of, tensor_of


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
                "groups": IntegerAttr(groups, i64),
                "kernel_layout": None
                if kernel_layout is None
                else StringAttr(kernel_layout),
            },
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        data, weight = shape_of(self.data), shape_of(self.weight)
        block = kernel_block(self.kernel_layout)
        if len(data) != 4:
            raise VerifyException(f"expected data of rank 4, got {len(data)}")
        if len(weight) != (4 if block is None else 5):
            raise VerifyException(
                f"expected weight of rank {4 if block is None else 5}, got {len(weight)}"
            )
        if element_of(self.data) != element_of(self.weight):
            raise VerifyException(
                "expected data and weight of one element type, "
                f"got {element_of(self.data)} and {element_of(self.weight)}"
            )
        if block is not None and weight[4] != block:
            raise VerifyException(
                f"expected weight with last dimension {block}, got {weight[4]}"
            )
        groups = self.groups.value.data
        features = weight[0] * (block or 1)
        if groups < 1 or features % groups:
            raise VerifyException(
                f"expected groups to divide output channels {features}, got {groups}"
            )
        if data[1] not in (DYNAMIC, weight[1] * groups):
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
        return (tensor_of((data[0], features, *spatial), element_of(self.data)),)


def kernel_block(layout: StringAttr | None) -> int | None:
    """Return the size of the innermost block of output channels, `None` for a plain layout.

    Raises `VerifyException` if the layout is neither `OIHW` nor `OIHW<n>o`.
    """
    if layout is None or layout.data == "OIHW":
        return None
    match = re.fullmatch(r"OIHW([1-9]\d*)o", layout.data)
    if match is None:
        raise VerifyException(
            f"expected kernel_layout OIHW or OIHW<n>o, got {layout.data}"
        )
    return int(match[1])


def window_shape(
    image: Shape,
    kernel: Shape,
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool = False,
) -> Shape:
    """Return how many windows fit along each of two axes.

    `padding` is top, left, bottom, right. With `ceil_mode` a last window may hang over
    the end, but never starts beyond data and leading padding (as ONNX and PyTorch say).
    Raises `VerifyException` for attributes of wrong length or value, and where no window fits.
    """
    for name, values, count, least in (
        ("strides", strides, 2, 1),
        ("padding", padding, 4, None),
        ("dilation", dilation, 2, 1),
    ):
        if len(values) != count:
            raise VerifyException(
                f"expected {name} of {count} values, got {len(values)}"
            )
        if least is not None and min(values) < least:
            raise VerifyException(
                f"expected {name} of at least {least}, got {min(values)}"
            )
    result: list[int] = []
    for axis, (extent, taps) in enumerate(zip(image, kernel, strict=True)):
        if extent == DYNAMIC:
            result.append(DYNAMIC)
            continue
        before, after = padding[axis], padding[axis + 2]
        room = extent + before + after - dilation[axis] * (taps - 1) - 1
        if room < 0:
            raise VerifyException(
                f"expected windows no larger than padded data, got {dilation[axis] * (taps - 1) + 1} "
                f"on {extent + before + after}"
            )
        windows = room // strides[axis] + 1
        if (
            ceil_mode
            and room % strides[axis]
            and windows * strides[axis] < extent + before
        ):
            windows += 1
        result.append(windows)
    return tuple(result)
