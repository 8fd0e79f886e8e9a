"""Pooling over windows of an image."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
    BoolAttr,
    DenseArrayBase,
    StringAttr,
    i1,
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
    FLOATS,
    NUMBERS,
    Domain,
    Fusion,
    FusionPattern,
    RelayOp,
    dense,
    flag,
    ints,
)
from partita.dialects.relay.layout import (
    Layout,
    blocked_shape,
    extents_of,
    layout_of,
)
from partita.dialects.relay.window import window_shape
from partita.shapes import shape_of, tensor_of


class Pool2dOp(RelayOp):
    """Base of ops that make one element from a window of each channel."""

    DOMAIN: ClassVar[Domain] = NUMBERS

    data = operand_def(AnyTensorTypeConstr)
    """Images, `(n, c, h, w)` or as `layout` says."""

    kernel = prop_def(DenseArrayBase.constr(i64))
    """Height, width of the window."""

    strides = prop_def(DenseArrayBase.constr(i64))
    """Vertical, horizontal."""

    padding = prop_def(DenseArrayBase.constr(i64))
    """Rows and columns added at the top, left, bottom and right."""

    dilation = prop_def(DenseArrayBase.constr(i64))
    """Vertical, horizontal distance between two elements of a window."""

    ceil_mode = prop_def(BoolAttr.constr(i1))
    """Whether a last window may hang over the end."""

    layout = opt_prop_def(StringAttr)
    """That of data and result: `NCHW` if absent; `NCHW16c` has channels in blocks of 16 as the last axis."""

    result = result_def(AnyTensorTypeConstr)
    """`(n, c, y, x)` or as `layout` says."""

    traits = traits_def(Fusion(FusionPattern.OUT_FUSABLE))

    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"

    def __init__(
        self,
        data: SSAValue,
        *,
        kernel: Sequence[int],
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
        ceil_mode: bool = False,
        layout: str | None = None,
        **choices: bool,
    ):
        """Build the op; `choices` are the flags of a subclass."""
        super().__init__(
            (data,),
            {
                "layout": None if layout is None else StringAttr(layout),
                "kernel": dense(kernel),
                "strides": dense(strides),
                "padding": dense(padding),
                "dilation": dense(dilation),
                "ceil_mode": flag(ceil_mode),
                **{name: flag(choice) for name, choice in choices.items()},
            },
        )

    @property
    def data_layout(self) -> Layout:
        """The layout; raises `VerifyException` if it is none of those allowed."""
        return layout_of(self.layout, "NCHW", "c", "layout")

    def infer(self) -> tuple[AnyTensorType, ...]:
        element = self.DOMAIN.check(self.data, "data")
        layout = self.data_layout
        data = extents_of(layout, shape_of(self.data), "data")
        kernel = ints(self.kernel)
        if len(kernel) != 2 or min(kernel) < 1:
            raise VerifyException(
                f"expected kernel of 2 positive values, got {', '.join(map(str, kernel))}"
            )
        y, x = window_shape(
            (data["H"], data["W"]),
            kernel,
            ints(self.strides),
            ints(self.padding),
            ints(self.dilation),
            bool(self.ceil_mode),
        )
        extents = {**data, "H": y, "W": x}
        return (tensor_of(blocked_shape(layout, extents, "result"), element),)


@irdl_op_definition
class MaxPool2dOp(Pool2dOp):
    """Take the largest element of each window, NaN if there is one; padding never counts.

    `result[n, c, y, x] = max over r, s of
    data[n, c, y * strides[0] + r * dilation[0] - padding[0], x * strides[1] + s * dilation[1] - padding[1]]`;
    a window without any element gives the least value of the type.

    ```mlir
    %y = relay.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x16x8x8xf32> -> tensor<1x16x4x4xf32>
    ```
    """

    name = "relay.max_pool2d"


@irdl_op_definition
class AvgPool2dOp(Pool2dOp):
    """Average the elements of each window.

    The divisor is the number of window positions inside the image, or inside the padded image with
    `count_include_pad`; positions that `ceil_mode` adds beyond it never count.

    ```mlir
    %y = relay.avg_pool2d %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, ceil_mode = false, count_include_pad = true} : tensor<1x16x8x8xf32> -> tensor<1x16x8x8xf32>
    ```
    """

    name = "relay.avg_pool2d"

    DOMAIN: ClassVar[Domain] = FLOATS

    count_include_pad = prop_def(BoolAttr.constr(i1))
    """Whether padding counts as zeros."""

    def __init__(
        self,
        data: SSAValue,
        *,
        kernel: Sequence[int],
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
        ceil_mode: bool = False,
        count_include_pad: bool = False,
        layout: str | None = None,
    ):
        super().__init__(
            data,
            kernel=kernel,
            strides=strides,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            layout=layout,
            count_include_pad=count_include_pad,
        )


POOL_OPS: tuple[type[RelayOp], ...] = (MaxPool2dOp, AvgPool2dOp)
