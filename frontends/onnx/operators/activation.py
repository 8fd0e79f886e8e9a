"""What networks put after layers, most of it made of simpler ops."""

from math import pi, sqrt

from xdsl.ir import SSAValue

from partita.dialects.relay import (
    AbsOp,
    AddOp,
    ClipOp,
    DivideOp,
    ErfOp,
    ExpandDimsOp,
    ExpOp,
    GreaterOp,
    HardSigmoidOp,
    LeakyReluOp,
    LessOp,
    LogOp,
    MultiplyOp,
    NegativeOp,
    ReluOp,
    SigmoidOp,
    SubtractOp,
    TanhOp,
    WhereOp,
)
from partita.frontends.onnx.node import Node, table
from partita.frontends.onnx.operators.elementwise import unary
from partita.shapes import shape_of


def scaled(node: Node, value: SSAValue, factor: float) -> SSAValue:
    """Multiply by a number, unless it is 1."""
    if factor == 1:
        return value
    return node.emit(MultiplyOp(value, node.scalar(factor, value)))


def exponential_minus_one(node: Node, value: SSAValue) -> SSAValue:
    """exp(min(x, 0)) - 1, which never overflows."""
    low = node.emit(ClipOp(value, maximum=0.0))
    return node.emit(SubtractOp(node.emit(ExpOp(low)), node.scalar(1, value)))


def elu(node: Node) -> SSAValue:
    """Alpha * (exp(x) - 1) below zero."""
    return _elu(node, node.operand(0), node.real("alpha", 1.0))


def _elu(node: Node, x: SSAValue, alpha: float) -> SSAValue:
    below = scaled(node, exponential_minus_one(node, x), alpha)
    positive = node.emit(GreaterOp(x, node.scalar(0, x)))
    return node.emit(WhereOp(positive, x, below))


def selu(node: Node) -> SSAValue:
    """Scale an ELU, by default so that it keeps mean and variance."""
    alpha, gamma = (1.6732632423543772, 1.0507009873554805)
    if node.opset < 6:
        alpha, gamma = 1.6732, 1.0507
    inner = _elu(node, node.operand(0), node.real("alpha", alpha))
    return scaled(node, inner, node.real("gamma", gamma))


def celu(node: Node) -> SSAValue:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    x, alpha = node.operand(0), node.real("alpha", 1.0)
    ratio = node.emit(DivideOp(x, node.scalar(alpha, x)))
    below = scaled(node, exponential_minus_one(node, ratio), alpha)
    positive = node.emit(GreaterOp(x, node.scalar(0, x)))
    return node.emit(WhereOp(positive, x, below))


def softplus(node: Node, x: SSAValue) -> SSAValue:
    """log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)), which never overflows."""
    small = node.emit(ExpOp(node.emit(NegativeOp(node.emit(AbsOp(x))))))
    rest = node.emit(LogOp(node.emit(AddOp(small, node.scalar(1, x)))))
    return node.emit(AddOp(node.emit(ReluOp(x)), rest))


def softsign(node: Node) -> SSAValue:
    """X / (1 + |x|)."""
    x = node.operand(0)
    divisor = node.emit(AddOp(node.emit(AbsOp(x)), node.scalar(1, x)))
    return node.emit(DivideOp(x, divisor))


def mish(node: Node) -> SSAValue:
    """X * tanh(softplus(x))."""
    x = node.operand(0)
    return node.emit(MultiplyOp(x, node.emit(TanhOp(softplus(node, x)))))


def hard_sigmoid(node: Node) -> SSAValue:
    return node.emit(
        HardSigmoidOp(
            node.operand(0),
            alpha=node.real("alpha", 0.2),
            beta=node.real("beta", 0.5),
        )
    )


def hard_swish(node: Node) -> SSAValue:
    """X * hard_sigmoid(x), with slope 1/6."""
    x = node.operand(0)
    return node.emit(MultiplyOp(x, node.emit(HardSigmoidOp(x, alpha=1 / 6, beta=0.5))))


def swish(node: Node) -> SSAValue:
    """X * sigmoid(alpha * x)."""
    x = node.operand(0)
    inner = scaled(node, x, node.real("alpha", 1.0))
    return node.emit(MultiplyOp(x, node.emit(SigmoidOp(inner))))


def leaky_relu(node: Node) -> SSAValue:
    return node.emit(LeakyReluOp(node.operand(0), alpha=node.real("alpha", 0.01)))


def prelu(node: Node) -> SSAValue:
    """Slope * x below zero; before opset 7, a slope of one axis goes along channels."""
    x, slope = node.operand(0), node.operand(1)
    rank = len(shape_of(x))
    if (
        node.opset < 7
        and len(shape_of(slope)) == 1
        and rank > 2
        and shape_of(slope)[0] != 1
    ):
        slope = node.emit(ExpandDimsOp(slope, axes=range(1, rank - 1)))
    negative = node.emit(LessOp(x, node.scalar(0, x)))
    return node.emit(WhereOp(negative, node.emit(MultiplyOp(x, slope)), x))


def thresholded_relu(node: Node) -> SSAValue:
    """X where it is above alpha, else 0."""
    x = node.operand(0)
    above = node.emit(GreaterOp(x, node.scalar(node.real("alpha", 1.0), x)))
    return node.emit(WhereOp(above, x, node.scalar(0, x)))


def shrink(node: Node) -> SSAValue:
    """Move x towards zero by `bias` where it is beyond `lambd` on either side, else 0."""
    x = node.operand(0)
    reach, bias = node.real("lambd", 0.5), node.scalar(node.real("bias", 0.0), x)
    below = node.emit(LessOp(x, node.scalar(-reach, x)))
    above = node.emit(GreaterOp(x, node.scalar(reach, x)))
    moved = node.emit(SubtractOp(x, bias))
    inner = node.emit(WhereOp(above, moved, node.scalar(0, x)))
    return node.emit(WhereOp(below, node.emit(AddOp(x, bias)), inner))


def gelu(node: Node) -> SSAValue:
    """0.5 * x * (1 + erf(x / sqrt(2))), or its approximation by tanh."""
    x = node.operand(0)
    if node.text("approximate", "none") == "tanh":
        cube = node.emit(MultiplyOp(x, node.emit(MultiplyOp(x, x))))
        inner = node.emit(AddOp(x, scaled(node, cube, 0.044715)))
        curve = node.emit(TanhOp(scaled(node, inner, sqrt(2 / pi))))
    else:
        curve = node.emit(ErfOp(scaled(node, x, sqrt(0.5))))
    half = scaled(node, x, 0.5)
    shifted = node.emit(AddOp(curve, node.scalar(1, x)))
    return node.emit(MultiplyOp(half, shifted))


ACTIVATION = table(
    {
        "Celu": celu,
        "Elu": elu,
        "Gelu": gelu,
        "HardSigmoid": hard_sigmoid,
        "HardSwish": hard_swish,
        "LeakyRelu": leaky_relu,
        "Mish": mish,
        "PRelu": prelu,
        "Relu": unary(ReluOp),
        "Selu": selu,
        "Shrink": shrink,
        "Softplus": lambda node: softplus(node, node.operand(0)),
        "Softsign": softsign,
        "Swish": swish,
        "ThresholdedRelu": thresholded_relu,
    }
)
