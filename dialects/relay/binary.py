"""Ops that make each element from one element of several operands, broadcast as numpy does."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
    BoolAttr,
    i1,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from partita.dialects.relay.base import (
    BOOLEANS,
    ELEMENTS,
    INTEGERS,
    NUMBERS,
    Canonical,
    Domain,
    Fusion,
    FusionPattern,
    RelayOp,
    broadcast,
    flag,
)
from partita.shapes import element_of, is_float, shape_of, tensor_of


class BinaryOp(RelayOp):
    """Base of ops that combine elements of two tensors, broadcast as numpy does, of one element type."""

    DOMAIN: ClassVar[Domain] = NUMBERS

    lhs = operand_def(AnyTensorTypeConstr)

    rhs = operand_def(AnyTensorTypeConstr)

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.BROADCAST))

    assembly_format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__((lhs, rhs))

    def infer(self) -> tuple[AnyTensorType, ...]:
        element = self.DOMAIN.check(self.lhs, "lhs")
        if element != element_of(self.rhs):
            raise VerifyException(
                "expected lhs and rhs of one element type, "
                f"got {element} and {element_of(self.rhs)}"
            )
        shape = broadcast(shape_of(self.lhs), shape_of(self.rhs))
        return (tensor_of(shape, self.result_element(element)),)

    def result_element(self, element: Attribute) -> Attribute:
        """Return the result's element type, given the operands'."""
        return element


class ComparisonOp(BinaryOp):
    """Base of ops that compare elements of two tensors."""

    def result_element(self, element: Attribute) -> Attribute:
        return i1


@irdl_op_definition
class AddOp(BinaryOp):
    """Add elements.

    `result = lhs + rhs`

    ```mlir
    %y = relay.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.add"


@irdl_op_definition
class SubtractOp(BinaryOp):
    """Subtract elements.

    `result = lhs - rhs`

    ```mlir
    %y = relay.subtract %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.subtract"

    traits = traits_def(Canonical())


@irdl_op_definition
class MultiplyOp(BinaryOp):
    """Multiply elements.

    `result = lhs * rhs`

    ```mlir
    %y = relay.multiply %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.multiply"

    traits = traits_def(Canonical())


@irdl_op_definition
class DivideOp(BinaryOp):
    """Divide elements; quotients of integers are rounded toward zero.

    `result = lhs / rhs`

    ```mlir
    %y = relay.divide %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.divide"

    traits = traits_def(Canonical())


@irdl_op_definition
class MaximumOp(BinaryOp):
    """Take the larger of two elements; NaN if one is NaN.

    ```mlir
    %y = relay.maximum %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.maximum"


@irdl_op_definition
class MinimumOp(BinaryOp):
    """Take the smaller of two elements; NaN if one is NaN.

    ```mlir
    %y = relay.minimum %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.minimum"


@irdl_op_definition
class BitwiseAndOp(BinaryOp):
    """Combine bits by and.

    `result = lhs & rhs`

    ```mlir
    %y = relay.bitwise_and %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
    ```
    """

    name = "relay.bitwise_and"

    DOMAIN: ClassVar[Domain] = INTEGERS


@irdl_op_definition
class BitwiseOrOp(BinaryOp):
    """Combine bits by or.

    `result = lhs | rhs`

    ```mlir
    %y = relay.bitwise_or %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
    ```
    """

    name = "relay.bitwise_or"

    DOMAIN: ClassVar[Domain] = INTEGERS


@irdl_op_definition
class BitwiseXorOp(BinaryOp):
    """Combine bits by exclusive or.

    `result = lhs ^ rhs`

    ```mlir
    %y = relay.bitwise_xor %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
    ```
    """

    name = "relay.bitwise_xor"

    DOMAIN: ClassVar[Domain] = INTEGERS


@irdl_op_definition
class LeftShiftOp(BinaryOp):
    """Shift bits toward the most significant; a shift by the width or more gives zero.

    `result = lhs << rhs`

    ```mlir
    %y = relay.left_shift %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
    ```
    """

    name = "relay.left_shift"

    DOMAIN: ClassVar[Domain] = INTEGERS


@irdl_op_definition
class RightShiftOp(BinaryOp):
    """Shift bits toward the least significant.

    Unsigned numbers are filled with zeros, signed ones with their sign, also when shifted by the width or more.

    `result = lhs >> rhs`

    ```mlir
    %y = relay.right_shift %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
    ```
    """

    name = "relay.right_shift"

    DOMAIN: ClassVar[Domain] = INTEGERS


@irdl_op_definition
class LogicalAndOp(BinaryOp):
    """Combine truth values by and.

    ```mlir
    %y = relay.logical_and %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
    ```
    """

    name = "relay.logical_and"

    DOMAIN: ClassVar[Domain] = BOOLEANS


@irdl_op_definition
class LogicalOrOp(BinaryOp):
    """Combine truth values by or.

    ```mlir
    %y = relay.logical_or %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
    ```
    """

    name = "relay.logical_or"

    DOMAIN: ClassVar[Domain] = BOOLEANS


@irdl_op_definition
class LogicalXorOp(BinaryOp):
    """Combine truth values by exclusive or.

    ```mlir
    %y = relay.logical_xor %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
    ```
    """

    name = "relay.logical_xor"

    DOMAIN: ClassVar[Domain] = BOOLEANS


@irdl_op_definition
class EqualOp(ComparisonOp):
    """Say where elements are equal.

    `result = lhs == rhs`

    ```mlir
    %y = relay.equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    ```
    """

    name = "relay.equal"

    DOMAIN: ClassVar[Domain] = ELEMENTS


@irdl_op_definition
class NotEqualOp(ComparisonOp):
    """Say where elements differ.

    `result = lhs != rhs`

    ```mlir
    %y = relay.not_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    ```
    """

    name = "relay.not_equal"

    DOMAIN: ClassVar[Domain] = ELEMENTS


@irdl_op_definition
class LessOp(ComparisonOp):
    """Say where the left element is smaller.

    `result = lhs < rhs`

    ```mlir
    %y = relay.less %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    ```
    """

    name = "relay.less"


@irdl_op_definition
class LessEqualOp(ComparisonOp):
    """Say where the left element is smaller or equal.

    `result = lhs <= rhs`

    ```mlir
    %y = relay.less_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    ```
    """

    name = "relay.less_equal"


@irdl_op_definition
class GreaterOp(ComparisonOp):
    """Say where the left element is larger.

    `result = lhs > rhs`

    ```mlir
    %y = relay.greater %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    ```
    """

    name = "relay.greater"


@irdl_op_definition
class GreaterEqualOp(ComparisonOp):
    """Say where the left element is larger or equal.

    `result = lhs >= rhs`

    ```mlir
    %y = relay.greater_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    ```
    """

    name = "relay.greater_equal"


@irdl_op_definition
class PowerOp(BinaryOp):
    """Raise elements to a power, which may be of another element type.

    `result = lhs ** rhs`, converted to the element type of `lhs`

    ```mlir
    %y = relay.power %a, %b : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.power"

    def infer(self) -> tuple[AnyTensorType, ...]:
        element = NUMBERS.check(self.lhs, "lhs")
        NUMBERS.check(self.rhs, "rhs")
        return (tensor_of(broadcast(shape_of(self.lhs), shape_of(self.rhs)), element),)


@irdl_op_definition
class ModOp(BinaryOp):
    """Take the remainder of a division.

    ```mlir
    %y = relay.mod %a, %b {fmod = false} : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
    ```
    """

    name = "relay.mod"

    fmod = prop_def(BoolAttr.constr(i1))
    """Whether the sign is the dividend's, as C's `fmod` has it; else it is the divisor's. Floats need it."""

    def __init__(self, lhs: SSAValue, rhs: SSAValue, *, fmod: bool = False):
        RelayOp.__init__(self, (lhs, rhs), {"fmod": flag(fmod)})

    def infer(self) -> tuple[AnyTensorType, ...]:
        (type_,) = super().infer()
        if not self.fmod and is_float(type_.element_type):
            raise VerifyException(
                f"expected lhs of integer elements where fmod is false, got {type_.element_type}"
            )
        return (type_,)


@irdl_op_definition
class WhereOp(RelayOp):
    """Choose between the elements of two tensors; all three operands broadcast.

    `result = x if condition else y`

    ```mlir
    %y = relay.where %c, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.where"

    condition = operand_def(AnyTensorTypeConstr)

    x = operand_def(AnyTensorTypeConstr)

    y = operand_def(AnyTensorTypeConstr)

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.BROADCAST))

    assembly_format = (
        "$condition `,` $x `,` $y attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, condition: SSAValue, x: SSAValue, y: SSAValue):
        super().__init__((condition, x, y))

    def infer(self) -> tuple[AnyTensorType, ...]:
        BOOLEANS.check(self.condition, "condition")
        element = ELEMENTS.check(self.x, "x")
        if element != element_of(self.y):
            raise VerifyException(
                f"expected x and y of one element type, got {element} and {element_of(self.y)}"
            )
        shape = broadcast(shape_of(self.condition), shape_of(self.x), shape_of(self.y))
        return (tensor_of(shape, element),)


BINARY_OPS: tuple[type[RelayOp], ...] = (
    AddOp,
    SubtractOp,
    MultiplyOp,
    DivideOp,
    MaximumOp,
    MinimumOp,
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    LeftShiftOp,
    RightShiftOp,
    LogicalAndOp,
    LogicalOrOp,
    LogicalXorOp,
    EqualOp,
    NotEqualOp,
    LessOp,
    LessEqualOp,
    GreaterOp,
    GreaterEqualOp,
    PowerOp,
    ModOp,
    WhereOp,
)
