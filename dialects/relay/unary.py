"""Ops that make each element from the element of the same index, and have no attributes."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)

from partita.dialects.relay.base import (
    BOOLEANS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    Canonical,
    Domain,
    Fusion,
    FusionPattern,
    RelayOp,
)
from partita.shapes import tensor_type


class UnaryOp(RelayOp):
    """Base of ops that make a tensor of its operand's type, element by element."""

    DOMAIN: ClassVar[Domain] = FLOATS

    T: ClassVar = VarConstraint("T", AnyTensorTypeConstr)

    data = operand_def(T)

    result = result_def(T)

    traits = traits_def(Fusion(FusionPattern.ELEMENTWISE))

    assembly_format = "$data attr-dict `:` type($data)"

    def __init__(self, data: SSAValue):
        super().__init__((data,))

    def infer(self) -> tuple[AnyTensorType, ...]:
        self.DOMAIN.check(self.data, "data")
        return (tensor_type(self.data),)


@irdl_op_definition
class ReluOp(UnaryOp):
    """Replace negative elements by zero.

    `result = max(data, 0)`

    ```mlir
    %y = relay.relu %x : tensor<2x3xf32>
    ```
    """

    name = "relay.relu"

    DOMAIN: ClassVar[Domain] = NUMBERS

    traits = traits_def(Canonical())


@irdl_op_definition
class NegativeOp(UnaryOp):
    """Negate elements.

    ```mlir
    %y = relay.negative %x : tensor<2x3xf32>
    ```
    """

    name = "relay.negative"

    DOMAIN: ClassVar[Domain] = NUMBERS

    traits = traits_def(Canonical())


@irdl_op_definition
class AbsOp(UnaryOp):
    """Drop the sign of elements.

    ```mlir
    %y = relay.abs %x : tensor<2x3xf32>
    ```
    """

    name = "relay.abs"

    DOMAIN: ClassVar[Domain] = NUMBERS


@irdl_op_definition
class SignOp(UnaryOp):
    """Give -1, 0 or 1 as elements are negative, zero or positive; NaN stays NaN.

    ```mlir
    %y = relay.sign %x : tensor<2x3xf32>
    ```
    """

    name = "relay.sign"

    DOMAIN: ClassVar[Domain] = NUMBERS


@irdl_op_definition
class ExpOp(UnaryOp):
    """Raise e to the power of elements.

    ```mlir
    %y = relay.exp %x : tensor<2x3xf32>
    ```
    """

    name = "relay.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """Take the natural logarithm of elements.

    ```mlir
    %y = relay.log %x : tensor<2x3xf32>
    ```
    """

    name = "relay.log"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """Take the square root of elements.

    ```mlir
    %y = relay.sqrt %x : tensor<2x3xf32>
    ```
    """

    name = "relay.sqrt"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """Take the reciprocal of the square root of elements.

    `result = 1 / sqrt(data)`

    ```mlir
    %y = relay.rsqrt %x : tensor<2x3xf32>
    ```
    """

    name = "relay.rsqrt"


@irdl_op_definition
class ReciprocalOp(UnaryOp):
    """Take the reciprocal of elements.

    `result = 1 / data`

    ```mlir
    %y = relay.reciprocal %x : tensor<2x3xf32>
    ```
    """

    name = "relay.reciprocal"


@irdl_op_definition
class TanhOp(UnaryOp):
    """Take the hyperbolic tangent of elements.

    ```mlir
    %y = relay.tanh %x : tensor<2x3xf32>
    ```
    """

    name = "relay.tanh"


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """Squash elements into (0, 1).

    `result = 1 / (1 + exp(-data))`

    ```mlir
    %y = relay.sigmoid %x : tensor<2x3xf32>
    ```
    """

    name = "relay.sigmoid"


@irdl_op_definition
class ErfOp(UnaryOp):
    """Take the error function of elements.

    ```mlir
    %y = relay.erf %x : tensor<2x3xf32>
    ```
    """

    name = "relay.erf"


@irdl_op_definition
class FloorOp(UnaryOp):
    """Round elements down.

    ```mlir
    %y = relay.floor %x : tensor<2x3xf32>
    ```
    """

    name = "relay.floor"


@irdl_op_definition
class CeilOp(UnaryOp):
    """Round elements up.

    ```mlir
    %y = relay.ceil %x : tensor<2x3xf32>
    ```
    """

    name = "relay.ceil"


@irdl_op_definition
class RoundOp(UnaryOp):
    """Round elements to the nearest integer, halves to the even one.

    ```mlir
    %y = relay.round %x : tensor<2x3xf32>
    ```
    """

    name = "relay.round"


@irdl_op_definition
class TruncOp(UnaryOp):
    """Round elements toward zero.

    ```mlir
    %y = relay.trunc %x : tensor<2x3xf32>
    ```
    """

    name = "relay.trunc"


@irdl_op_definition
class SinOp(UnaryOp):
    """Take the sine of elements.

    ```mlir
    %y = relay.sin %x : tensor<2x3xf32>
    ```
    """

    name = "relay.sin"


@irdl_op_definition
class CosOp(UnaryOp):
    """Take the cosine of elements.

    ```mlir
    %y = relay.cos %x : tensor<2x3xf32>
    ```
    """

    name = "relay.cos"


@irdl_op_definition
class TanOp(UnaryOp):
    """Take the tangent of elements.

    ```mlir
    %y = relay.tan %x : tensor<2x3xf32>
    ```
    """

    name = "relay.tan"


@irdl_op_definition
class AsinOp(UnaryOp):
    """Take the inverse sine of elements.

    ```mlir
    %y = relay.asin %x : tensor<2x3xf32>
    ```
    """

    name = "relay.asin"


@irdl_op_definition
class AcosOp(UnaryOp):
    """Take the inverse cosine of elements.

    ```mlir
    %y = relay.acos %x : tensor<2x3xf32>
    ```
    """

    name = "relay.acos"


@irdl_op_definition
class AtanOp(UnaryOp):
    """Take the inverse tangent of elements.

    ```mlir
    %y = relay.atan %x : tensor<2x3xf32>
    ```
    """

    name = "relay.atan"


@irdl_op_definition
class SinhOp(UnaryOp):
    """Take the hyperbolic sine of elements.

    ```mlir
    %y = relay.sinh %x : tensor<2x3xf32>
    ```
    """

    name = "relay.sinh"


@irdl_op_definition
class CoshOp(UnaryOp):
    """Take the hyperbolic cosine of elements.

    ```mlir
    %y = relay.cosh %x : tensor<2x3xf32>
    ```
    """

    name = "relay.cosh"


@irdl_op_definition
class AsinhOp(UnaryOp):
    """Take the inverse hyperbolic sine of elements.

    ```mlir
    %y = relay.asinh %x : tensor<2x3xf32>
    ```
    """

    name = "relay.asinh"


@irdl_op_definition
class AcoshOp(UnaryOp):
    """Take the inverse hyperbolic cosine of elements.

    ```mlir
    %y = relay.acosh %x : tensor<2x3xf32>
    ```
    """

    name = "relay.acosh"


@irdl_op_definition
class AtanhOp(UnaryOp):
    """Take the inverse hyperbolic tangent of elements.

    ```mlir
    %y = relay.atanh %x : tensor<2x3xf32>
    ```
    """

    name = "relay.atanh"


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """Negate truth values.

    ```mlir
    %y = relay.logical_not %x : tensor<2x3xi1>
    ```
    """

    name = "relay.logical_not"

    DOMAIN: ClassVar[Domain] = BOOLEANS

    traits = traits_def(Canonical())


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """Flip every bit of elements.

    ```mlir
    %y = relay.bitwise_not %x : tensor<2x3xi8>
    ```
    """

    name = "relay.bitwise_not"

    DOMAIN: ClassVar[Domain] = INTEGERS

    traits = traits_def(Canonical())


UNARY_OPS: tuple[type[RelayOp], ...] = (
    ReluOp,
    NegativeOp,
    AbsOp,
    SignOp,
    ExpOp,
    LogOp,
    SqrtOp,
    RsqrtOp,
    ReciprocalOp,
    TanhOp,
    SigmoidOp,
    ErfOp,
    FloorOp,
    CeilOp,
    RoundOp,
    TruncOp,
    SinOp,
    CosOp,
    TanOp,
    AsinOp,
    AcosOp,
    AtanOp,
    SinhOp,
    CoshOp,
    AsinhOp,
    AcoshOp,
    AtanhOp,
    LogicalNotOp,
    BitwiseNotOp,
)
