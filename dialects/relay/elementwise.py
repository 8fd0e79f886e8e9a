"""Ops that make each element from the element of the same index, as attributes say."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
    BoolAttr,
    FloatAttr,
    IntegerAttr,
    f64,
    i1,
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
    ELEMENTS,
    FLOATS,
    NUMBERS,
    Canonical,
    Domain,
    Fusion,
    FusionPattern,
    RelayOp,
    flag,
    number,
    real,
)
from partita.dialects.relay.unary import UnaryOp
from partita.shapes import element_of, is_float, shape_of, tensor_of, tensor_type


class PredicateOp(RelayOp):
    """Base of ops that say something about each element of a float tensor."""

    data = operand_def(AnyTensorTypeConstr)

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.ELEMENTWISE))

    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"

    def infer(self) -> tuple[AnyTensorType, ...]:
        FLOATS.check(self.data, "data")
        return (tensor_of(shape_of(self.data), i1),)


@irdl_op_definition
class IsNanOp(PredicateOp):
    """Say which elements are not a number.

    ```mlir
    %y = relay.isnan %x : tensor<2x3xf32> -> tensor<2x3xi1>
    ```
    """

    name = "relay.isnan"

    def __init__(self, data: SSAValue):
        super().__init__((data,))


@irdl_op_definition
class IsInfOp(PredicateOp):
    """Say which elements are infinite, of the signs that are asked for.

    ```mlir
    %y = relay.isinf %x {positive = true, negative = false} : tensor<2x3xf32> -> tensor<2x3xi1>
    ```
    """

    name = "relay.isinf"

    positive = prop_def(BoolAttr.constr(i1))
    """Whether positive infinity counts."""

    negative = prop_def(BoolAttr.constr(i1))
    """Whether negative infinity counts."""

    def __init__(self, data: SSAValue, *, positive: bool = True, negative: bool = True):
        super().__init__(
            (data,), {"positive": flag(positive), "negative": flag(negative)}
        )


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """Scale negative elements.

    `result = data if data >= 0 else alpha * data`

    ```mlir
    %y = relay.leaky_relu %x {alpha = 1.000000e-01 : f64} : tensor<2x3xf32>
    ```
    """

    name = "relay.leaky_relu"

    alpha = prop_def(FloatAttr.constr(f64))

    def __init__(self, data: SSAValue, *, alpha: float = 0.01):
        RelayOp.__init__(self, (data,), {"alpha": real(alpha)})


@irdl_op_definition
class HardSigmoidOp(UnaryOp):
    """Squash elements into [0, 1] by a line that is cut off.

    `result = max(0, min(1, alpha * data + beta))`

    ```mlir
    %y = relay.hard_sigmoid %x {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : tensor<2x3xf32>
    ```
    """

    name = "relay.hard_sigmoid"

    alpha = prop_def(FloatAttr.constr(f64))

    beta = prop_def(FloatAttr.constr(f64))

    def __init__(self, data: SSAValue, *, alpha: float = 0.2, beta: float = 0.5):
        RelayOp.__init__(self, (data,), {"alpha": real(alpha), "beta": real(beta)})


@irdl_op_definition
class ClipOp(UnaryOp):
    """Limit elements to a range; NaN stays NaN, and where the range is empty, `maximum` wins.

    `result = min(max(data, minimum), maximum)`

    ```mlir
    %y = relay.clip %x {minimum = 0.000000e+00 : f64, maximum = 6.000000e+00 : f64} : tensor<2x3xf32>
    ```
    """

    name = "relay.clip"

    DOMAIN: ClassVar[Domain] = NUMBERS

    minimum = opt_prop_def(FloatAttr.constr(f64) | IntegerAttr.constr(i64))
    """Of type f64 for floating-point data, i64 for integers; no limit if absent."""

    maximum = opt_prop_def(FloatAttr.constr(f64) | IntegerAttr.constr(i64))
    """As `minimum`."""

    traits = traits_def(Canonical())

    def __init__(
        self,
        data: SSAValue,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
    ):
        element = element_of(data)
        RelayOp.__init__(
            self,
            (data,),
            {
                "minimum": None if minimum is None else number(minimum, element),
                "maximum": None if maximum is None else number(maximum, element),
            },
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        element = self.DOMAIN.check(self.data, "data")
        for name, limit in (("minimum", self.minimum), ("maximum", self.maximum)):
            if limit is not None and is_float(element) != is_float(limit.type):
                raise VerifyException(
                    f"expected {name} of type {f64 if is_float(element) else i64}, got {limit.type}"
                )
        return (tensor_type(self.data),)


@irdl_op_definition
class CastOp(RelayOp):
    """Convert elements to another type.

    Numbers become floats by rounding to nearest even, integers of fewer bits by dropping
    the upper ones. Floats become integers by dropping the fraction; what is out of range
    is not defined by ONNX, and here becomes the nearest integer in range, NaN zero.
    Truth values become 0 and 1, and whatever is not zero becomes true.

    ```mlir
    %y = relay.cast %x {to = i32} : tensor<2x3xf32> -> tensor<2x3xi32>
    ```
    """

    name = "relay.cast"

    data = operand_def(AnyTensorTypeConstr)

    to = prop_def(Attribute)
    """The element type of the result."""

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.ELEMENTWISE), Canonical())

    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"

    def __init__(self, data: SSAValue, *, element_type: Attribute):
        super().__init__((data,), {"to": element_type})

    def infer(self) -> tuple[AnyTensorType, ...]:
        ELEMENTS.check(self.data, "data")
        if self.to not in ELEMENTS.types:
            raise VerifyException(f"expected to be an element type, got {self.to}")
        return (tensor_of(shape_of(self.data), self.to),)


@irdl_op_definition
class DropoutOp(UnaryOp):
    """Zero elements at random in training; at inference, which is all we do, give the data.

    ```mlir
    %y = relay.dropout %x {rate = 5.000000e-01 : f64} : tensor<2x3xf32>
    ```
    """

    name = "relay.dropout"

    rate = prop_def(FloatAttr.constr(f64))

    def __init__(self, data: SSAValue, *, rate: float = 0.5):
        RelayOp.__init__(self, (data,), {"rate": real(rate)})


ELEMENTWISE_OPS: tuple[type[RelayOp], ...] = (
    IsNanOp,
    IsInfOp,
    LeakyReluOp,
    HardSigmoidOp,
    ClipOp,
    CastOp,
    DropoutOp,
)
