"""Arithmetic, comparisons, logic, rounding and casts, element by element."""

from collections.abc import Callable

import onnx
from xdsl.ir import SSAValue

from partita.dialects.relay import (
    AbsOp,
    AcoshOp,
    AcosOp,
    AddOp,
    AsinhOp,
    AsinOp,
    AtanhOp,
    AtanOp,
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    CeilOp,
    ClipOp,
    CoshOp,
    CosOp,
    DivideOp,
    EqualOp,
    ErfOp,
    ExpandDimsOp,
    ExpOp,
    FloorOp,
    GreaterEqualOp,
    GreaterOp,
    IsInfOp,
    IsNanOp,
    LeftShiftOp,
    LessEqualOp,
    LessOp,
    LogicalAndOp,
    LogicalNotOp,
    LogicalOrOp,
    LogicalXorOp,
    LogOp,
    MaximumOp,
    MinimumOp,
    ModOp,
    MultiplyOp,
    NegativeOp,
    PowerOp,
    ReciprocalOp,
    RelayOp,
    RightShiftOp,
    RoundOp,
    SigmoidOp,
    SignOp,
    SinhOp,
    SinOp,
    SqrtOp,
    SubtractOp,
    TanhOp,
    TanOp,
    WhereOp,
)
from partita.frontends.onnx.node import Converter, Node, table
from partita.frontends.onnx.tensors import element_of_code, type_name
from partita.shapes import element_of, is_float, shape_of

BROADCASTING_OPSET = 7
"""From here on, binary ops broadcast as numpy does."""


def unary(op: Callable[[SSAValue], RelayOp]) -> Converter:
    """Make the converter of an op with one operand."""
    return lambda node: node.emit(op(node.operand(0)))


def binary(op: Callable[[SSAValue, SSAValue], RelayOp]) -> Converter:
    """Make the converter of an op with two operands that broadcast."""
    return lambda node: node.emit(op(*operands(node)))


def operands(node: Node) -> tuple[SSAValue, SSAValue]:
    """Return both operands, made to broadcast as numpy does where an old opset says which axes match."""
    lhs, rhs = node.operand(0), node.operand(1)
    if node.opset < BROADCASTING_OPSET and node.flag("broadcast"):
        rhs = aligned(node, rhs, len(shape_of(lhs)), node.integer("axis", -1))
    return lhs, rhs


def aligned(node: Node, value: SSAValue, rank: int, axis: int) -> SSAValue:
    """Append axes to a value so that its first one meets `axis` of a tensor; -1 aligns the ends."""
    missing = rank - axis - len(shape_of(value))
    if axis < 0 or missing <= 0:
        return value
    own = len(shape_of(value))
    return node.emit(ExpandDimsOp(value, axes=range(own, own + missing)))


def variadic(op: Callable[[SSAValue, SSAValue], RelayOp]) -> Converter:
    """Make the converter of an op that joins any number of operands."""

    def convert(node: Node) -> SSAValue:
        first, *others = node.all()
        for other in others:
            first = node.emit(op(first, other))
        return first

    return convert


def mean(node: Node) -> SSAValue:
    total = variadic(AddOp)(node)
    assert isinstance(total, SSAValue)
    count = node.scalar(len(node.operands), total)
    return node.emit(DivideOp(total, count))


def clip(node: Node) -> SSAValue:
    """Limits are attributes before opset 11, then inputs, which need not be constant."""
    data = node.operand(0)
    if node.opset < 11:
        low = node.real("min", float("-inf"))
        high = node.real("max", float("inf"))
        return node.emit(
            ClipOp(
                data,
                minimum=None if low == float("-inf") else low,
                maximum=None if high == float("inf") else high,
            )
        )
    low, high = (node.scalar_constant(index) for index in (1, 2))
    if low is not None and high is not None:
        return node.emit(ClipOp(data, minimum=low, maximum=high))
    if low is not None:
        data = node.emit(ClipOp(data, minimum=low))
    elif node.has(1):
        data = node.emit(MaximumOp(data, node.operand(1)))
    if high is not None:
        data = node.emit(ClipOp(data, maximum=high))
    elif node.has(2):
        data = node.emit(MinimumOp(data, node.operand(2)))
    return data


def cast(node: Node) -> SSAValue:
    """Convert; the type is a name before opset 6, then a number."""
    if node.opset < 6:
        name = node.text("to", "")
        if name not in list(onnx.TensorProto.DataType.keys()):
            node.fail(f"expected the name of an element type, got {name!r}")
        code = onnx.TensorProto.DataType.Value(name)
    else:
        code = node.integer("to", 0)
    element = element_of_code(code)
    if element is None:
        node.fail(f"casts to {type_name(code)} are not supported")
    return node.cast(node.operand(0), element)


def cast_like(node: Node) -> SSAValue:
    return node.cast(node.operand(0), element_of(node.operand(1)))


def bit_shift(node: Node) -> SSAValue:
    op = LeftShiftOp if node.text("direction", "") == "LEFT" else RightShiftOp
    return node.emit(op(*operands(node)))


def mod(node: Node) -> SSAValue:
    """Take the remainder, with the sign of the divisor unless `fmod`; floats take a detour for that."""
    lhs, rhs = operands(node)
    fmod = node.flag("fmod")
    if fmod or not is_float(element_of(lhs)):
        return node.emit(ModOp(lhs, rhs, fmod=fmod))
    rest = node.emit(ModOp(lhs, rhs, fmod=True))
    wrong_sign = node.emit(
        LessOp(node.emit(MultiplyOp(rest, rhs)), node.scalar(0, rest))
    )
    return node.emit(WhereOp(wrong_sign, node.emit(AddOp(rest, rhs)), rest))


def is_inf(node: Node) -> SSAValue:
    return node.emit(
        IsInfOp(
            node.operand(0),
            positive=node.flag("detect_positive", True),
            negative=node.flag("detect_negative", True),
        )
    )


def where(node: Node) -> SSAValue:
    return node.emit(WhereOp(node.operand(0), node.operand(1), node.operand(2)))


def identity(node: Node) -> SSAValue:
    return node.operand(0)


ELEMENTWISE = table(
    {
        "Abs": unary(AbsOp),
        "Acos": unary(AcosOp),
        "Acosh": unary(AcoshOp),
        "Add": binary(AddOp),
        "And": binary(LogicalAndOp),
        "Asin": unary(AsinOp),
        "Asinh": unary(AsinhOp),
        "Atan": unary(AtanOp),
        "Atanh": unary(AtanhOp),
        "BitShift": bit_shift,
        "BitwiseAnd": binary(BitwiseAndOp),
        "BitwiseNot": unary(BitwiseNotOp),
        "BitwiseOr": binary(BitwiseOrOp),
        "BitwiseXor": binary(BitwiseXorOp),
        "Cast": cast,
        "CastLike": cast_like,
        "Ceil": unary(CeilOp),
        "Clip": clip,
        "Cos": unary(CosOp),
        "Cosh": unary(CoshOp),
        "Div": binary(DivideOp),
        "Equal": binary(EqualOp),
        "Erf": unary(ErfOp),
        "Exp": unary(ExpOp),
        "Floor": unary(FloorOp),
        "Greater": binary(GreaterOp),
        "GreaterOrEqual": binary(GreaterEqualOp),
        "Identity": identity,
        "IsInf": is_inf,
        "IsNaN": unary(IsNanOp),
        "Less": binary(LessOp),
        "LessOrEqual": binary(LessEqualOp),
        "Log": unary(LogOp),
        "Max": variadic(MaximumOp),
        "Mean": mean,
        "Min": variadic(MinimumOp),
        "Mod": mod,
        "Mul": binary(MultiplyOp),
        "Neg": unary(NegativeOp),
        "Not": unary(LogicalNotOp),
        "Or": binary(LogicalOrOp),
        "Pow": binary(PowerOp),
        "Reciprocal": unary(ReciprocalOp),
        "Round": unary(RoundOp),
        "Sigmoid": unary(SigmoidOp),
        "Sign": unary(SignOp),
        "Sin": unary(SinOp),
        "Sinh": unary(SinhOp),
        "Sqrt": unary(SqrtOp),
        "Sub": binary(SubtractOp),
        "Sum": variadic(AddOp),
        "Tan": unary(TanOp),
        "Tanh": unary(TanhOp),
        "Where": where,
        "Xor": binary(LogicalXorOp),
    }
)
