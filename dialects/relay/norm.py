"""Normalization."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
    FloatAttr,
    IntegerAttr,
    f64,
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
    FLOATS,
    Fusion,
    FusionPattern,
    RelayOp,
    broadcast,
    check_axes,
    integer,
    normalize_axis,
    real,
)
from partita.shapes import DYNAMIC, element_of, shape_of, shape_text, tensor_type


@irdl_op_definition
class BatchNormOp(RelayOp):
    """Normalize each channel by mean and variance that are known, then scale and shift it.

    `result = (data - mean) / sqrt(variance + epsilon) * gamma + beta`, all by channel

    ```mlir
    %y = relay.batch_norm %x, %g, %b, %m, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x8x8xf32>
    ```
    """

    name = "relay.batch_norm"

    data = operand_def(AnyTensorTypeConstr)

    gamma = operand_def(AnyTensorTypeConstr)

    beta = operand_def(AnyTensorTypeConstr)

    mean = operand_def(AnyTensorTypeConstr)

    variance = operand_def(AnyTensorTypeConstr)

    axis = prop_def(IntegerAttr.constr(i64))
    """The axis of channels."""

    epsilon = prop_def(FloatAttr.constr(f64))

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.BROADCAST))

    assembly_format = (
        "$data `,` $gamma `,` $beta `,` $mean `,` $variance attr-dict `:` "
        "functional-type(operands, results)"
    )

    def __init__(
        self,
        data: SSAValue,
        gamma: SSAValue,
        beta: SSAValue,
        mean: SSAValue,
        variance: SSAValue,
        *,
        axis: int = 1,
        epsilon: float = 1e-5,
    ):
        axis = normalize_axis(axis, len(shape_of(data)))
        super().__init__(
            (data, gamma, beta, mean, variance),
            {"axis": integer(axis), "epsilon": real(epsilon)},
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        element = FLOATS.check(self.data, "data")
        axis = self.axis.value.data
        check_axes((axis,), len(shape_of(self.data)), "axis")
        channels = shape_of(self.data)[axis]
        for name, each in (
            ("gamma", self.gamma),
            ("beta", self.beta),
            ("mean", self.mean),
            ("variance", self.variance),
        ):
            shape = shape_of(each)
            if len(shape) != 1 or (
                DYNAMIC not in (channels, *shape) and shape[0] != channels
            ):
                raise VerifyException(
                    f"expected {name} of shape {shape_text((channels,))}, got {shape_text(shape)}"
                )
            if element_of(each) != element:
                raise VerifyException(
                    f"expected {name} of {element} elements, got {element_of(each)}"
                )
        return (tensor_type(self.data),)


@irdl_op_definition
class LayerNormOp(RelayOp):
    """Normalize by mean and variance over the last axes, then scale and shift.

    `result = (data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and (biased) variance
    over the axes from `axis` on

    ```mlir
    %y = relay.layer_norm %x, %g, %b {axis = 2 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x5x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32>
    ```
    """

    name = "relay.layer_norm"

    data = operand_def(AnyTensorTypeConstr)

    gamma = operand_def(AnyTensorTypeConstr)
    """Scale, of a shape that broadcasts to the normalized axes."""

    beta = operand_def(AnyTensorTypeConstr)
    """Shift, likewise."""

    axis = prop_def(IntegerAttr.constr(i64))
    """The first normalized axis."""

    epsilon = prop_def(FloatAttr.constr(f64))

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.OPAQUE))

    assembly_format = (
        "$data `,` $gamma `,` $beta attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        data: SSAValue,
        gamma: SSAValue,
        beta: SSAValue,
        *,
        axis: int = -1,
        epsilon: float = 1e-5,
    ):
        axis = normalize_axis(axis, len(shape_of(data)))
        super().__init__(
            (data, gamma, beta), {"axis": integer(axis), "epsilon": real(epsilon)}
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        element = FLOATS.check(self.data, "data")
        axis = self.axis.value.data
        check_axes((axis,), len(shape_of(self.data)), "axis")
        normalized = shape_of(self.data)[axis:]
        for name, each in (("gamma", self.gamma), ("beta", self.beta)):
            shape = shape_of(each)
            if (
                DYNAMIC not in (*shape, *normalized)
                and broadcast(shape, normalized) != normalized
            ):
                raise VerifyException(
                    f"expected {name} of a shape that broadcasts to {shape_text(normalized)}, got {shape_text(shape)}"
                )
            if element_of(each) != element:
                raise VerifyException(
                    f"expected {name} of {element} elements, got {element_of(each)}"
                )
        return (tensor_type(self.data),)


@irdl_op_definition
class LrnOp(RelayOp):
    """Divide each element by a power of the squares in a window of channels (local response normalization).

    `result[n, c, ...] = data[n, c, ...] / (bias + alpha / size * sum over i of data[n, i, ...] ** 2) ** beta`,
    for channels `i` from `c - floor((size - 1) / 2)` to `c + ceil((size - 1) / 2)` that exist

    ```mlir
    %y = relay.lrn %x {size = 5 : i64, alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64} : tensor<1x16x8x8xf32>
    ```
    """

    name = "relay.lrn"

    T: ClassVar = VarConstraint("T", AnyTensorTypeConstr)

    data = operand_def(T)
    """At least `(n, c)`."""

    size = prop_def(IntegerAttr.constr(i64))
    """How many channels a window has."""

    alpha = prop_def(FloatAttr.constr(f64))

    beta = prop_def(FloatAttr.constr(f64))

    bias = prop_def(FloatAttr.constr(f64))

    result = result_def(T)

    traits = traits_def(Fusion(FusionPattern.OPAQUE))

    assembly_format = "$data attr-dict `:` type($data)"

    def __init__(
        self,
        data: SSAValue,
        *,
        size: int,
        alpha: float = 1e-4,
        beta: float = 0.75,
        bias: float = 1.0,
    ):
        super().__init__(
            (data,),
            {
                "size": integer(size),
                "alpha": real(alpha),
                "beta": real(beta),
                "bias": real(bias),
            },
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        FLOATS.check(self.data, "data")
        if len(shape_of(self.data)) < 2:
            raise VerifyException(
                f"expected data of rank 2 or more, got {len(shape_of(self.data))}"
            )
        if self.size.value.data < 1:
            raise VerifyException(
                f"expected size of at least 1, got {self.size.value.data}"
            )
        return (tensor_type(self.data),)


NORM_OPS: tuple[type[RelayOp], ...] = (BatchNormOp, LayerNormOp, LrnOp)
