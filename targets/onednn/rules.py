"""Which ops are taken, and what each is in a program: one rule for each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation

from partita.dialects.relay import (
    AvgPool2dOp,
    BatchNormOp,
    ClipOp,
    ConcatenateOp,
    ConstantOp,
    Conv2dOp,
    DenseOp,
    DropoutOp,
    ExpandDimsOp,
    LeakyReluOp,
    MatmulOp,
    MaxOp,
    MaxPool2dOp,
    MeanOp,
    ReshapeOp,
    SoftmaxOp,
    SqueezeOp,
    TransposeOp,
)
from partita.dialects.relay.base import ints
from partita.dialects.relay.pool import Pool2dOp
from partita.shapes import shape_of
from partita.targets.onednn.fusion import (
    BINARY,
    LINEAR,
    ORDERED,
    UNARY,
    Chain,
    along_features,
)
from partita.targets.onednn.program import Json, Program, padded


def anything(op: Operation) -> str | None:
    """Find no fault."""
    return None


@dataclass(frozen=True)
class Rule:
    """How an op becomes one of a program."""

    write: Callable[[Program, Chain], str] | None
    """Adds it, and what is fused onto it, and returns the name of the result; `None` for what is gone by then."""

    check: Callable[[Operation], str | None] = anything
    """Says why it cannot be done."""


def _numbers(op: Operation) -> Json:
    """Return what an elementwise op is given beside its operand."""
    alpha = beta = 0.0
    if isinstance(op, LeakyReluOp):
        alpha = op.alpha.value.data
    elif isinstance(op, ClipOp):
        alpha, beta = _limits(op) or (alpha, beta)
    return {"alpha": alpha, "beta": beta}


def _limits(op: ClipOp) -> tuple[float, float] | None:
    """Return both limits of a range, if it has two and is not empty."""
    if not isinstance(op.minimum, FloatAttr) or not isinstance(op.maximum, FloatAttr):
        return None
    limits = op.minimum.value.data, op.maximum.value.data
    return limits if limits[0] <= limits[1] else None


def _check_clip(op: Operation) -> str | None:
    assert isinstance(op, ClipOp)
    return None if _limits(op) else "expected a minimum and a maximum above it"


def _fused(program: Program, chain: Chain) -> tuple[list[str], list[Json]]:
    """Return the bias, if the chain begins with one, and the post-ops."""
    shape = shape_of(chain.last.results[0])
    bias: list[str] = []
    post: list[Json] = []
    for index, (op, other) in enumerate((each.op, each.other) for each in chain.rest):
        if other is None:
            post.append({"op": UNARY[type(op)], **_numbers(op)})
            continue
        seen = padded(shape_of(other), len(shape))
        features = along_features(chain.first, shape)
        name = BINARY[type(op)]
        if (
            index == 0
            and isinstance(chain.first, LINEAR)
            and name == "add"
            and seen == features
        ):
            own = shape[1:2] if isinstance(chain.first, Conv2dOp) else features
            bias.append(program.name(other, own))
        else:
            post.append({"op": name, "operand": program.name(other, seen)})
    return bias, post


def _conv2d(program: Program, chain: Chain) -> str:
    op = chain.first
    assert isinstance(op, Conv2dOp)
    operands = [program.name(op.data), program.name(op.weight)]
    bias, post = _fused(program, chain)
    return program.add(
        "convolution",
        [*operands, *bias],
        shape_of(op.result),
        strides=ints(op.strides),
        dilation=ints(op.dilation),
        padding=ints(op.padding),
        groups=op.groups.value.data,
        post=post,
    )


def _check_conv2d(op: Operation) -> str | None:
    assert isinstance(op, Conv2dOp)
    if op.kernel_layout is not None:
        return "expected weights in the plain layout"
    if op.data_layout is not None or op.result_layout is not None:
        return "expected images in the plain layout"
    return "expected no negative padding" if min(ints(op.padding)) < 0 else None


def _dense(program: Program, chain: Chain) -> str:
    op = chain.first
    assert isinstance(op, DenseOp)
    operands = [program.name(op.data), program.name(op.weight)]
    bias, post = _fused(program, chain)
    return program.add(
        "matmul",
        [*operands, *bias],
        shape_of(op.result),
        transposed=True,
        post=post,
    )


def _check_dense(op: Operation) -> str | None:
    assert isinstance(op, DenseOp)
    return None if op.weight_layout is None else "expected weights in the plain layout"


def _matmul(program: Program, chain: Chain) -> str:
    op = chain.first
    assert isinstance(op, MatmulOp)
    lhs, rhs, shape = shape_of(op.lhs), shape_of(op.rhs), shape_of(op.result)
    rows = lhs if len(lhs) > 1 else (1, *lhs)
    columns = rhs if len(rhs) > 1 else (*rhs, 1)
    rank = max(len(rows), len(columns))
    rows, columns = padded(rows, rank), padded(columns, rank)
    stacks = (max(pair) for pair in zip(rows[:-2], columns[:-2], strict=True))
    full = (*stacks, rows[-2], columns[-1])
    operands = [program.name(op.lhs, rows), program.name(op.rhs, columns)]
    bias, post = _fused(program, chain)
    result = program.add(
        "matmul", [*operands, *bias], full, transposed=False, post=post
    )
    return result if full == shape else program.view(result, shape)


def _pool(program: Program, chain: Chain) -> str:
    op = chain.first
    assert isinstance(op, Pool2dOp)
    name = "max_pool"
    if isinstance(op, AvgPool2dOp):
        name = "avg_pool_padded" if op.count_include_pad else "avg_pool"
    shape = shape_of(op.result)
    top, left, _, _ = ints(op.padding)
    return program.add(
        name,
        [program.name(op.data)],
        shape,
        kernel=ints(op.kernel),
        strides=ints(op.strides),
        dilation=ints(op.dilation),
        padding=[top, left, *_after(op)],
    )


def _after(op: Pool2dOp) -> Sequence[int]:
    """Return the rows and columns at the end that the last windows need, negative where they leave some out."""
    image, result = shape_of(op.data)[2:], shape_of(op.result)[2:]
    return [
        (windows - 1) * stride + (taps - 1) * dilation + 1 - extent - before
        for windows, stride, taps, dilation, extent, before in zip(
            result,
            ints(op.strides),
            ints(op.kernel),
            ints(op.dilation),
            image,
            ints(op.padding)[:2],
            strict=True,
        )
    ]


def _check_pool(op: Operation) -> str | None:
    assert isinstance(op, Pool2dOp)
    if op.layout is not None:
        return "expected images in the plain layout"
    padding, kernel, dilation = ints(op.padding), ints(op.kernel), ints(op.dilation)
    if min(padding) < 0:
        return "expected no negative padding"
    after = _after(op)
    for axis in range(2):
        window = (kernel[axis] - 1) * dilation[axis] + 1
        if max(padding[axis], after[axis]) >= window:
            return "expected windows that all have elements"
        if dilation[axis] > 1 and max(padding[axis], after[axis]) > 0:
            return "expected no padding where windows have gaps"
    if isinstance(op, AvgPool2dOp):
        if max(dilation) > 1:
            return "expected windows without gaps"
        if op.count_include_pad and any(
            more > given for more, given in zip(after, padding[2:], strict=True)
        ):
            return "expected windows inside the padded image"
    return None


def _over_image(program: Program, chain: Chain) -> str:
    op = chain.first
    assert isinstance(op, MaxOp | MeanOp)
    batch, channels, *image = shape_of(op.data)
    result = program.add(
        "max_pool" if isinstance(op, MaxOp) else "avg_pool",
        [program.name(op.data)],
        (batch, channels, 1, 1),
        kernel=image,
        strides=(1, 1),
        dilation=(1, 1),
        padding=(0, 0, 0, 0),
    )
    return result if op.keepdims else program.view(result, (batch, channels))


def _check_over_image(op: Operation) -> str | None:
    assert isinstance(op, MaxOp | MeanOp)
    if len(shape_of(op.data)) != 4 or ints(op.axes) != (2, 3):
        return "expected data of rank 4 and the last two axes"
    return None


def _unary(program: Program, chain: Chain) -> str:
    op = chain.first
    operands = [program.name(op.operands[0])]
    return program.add(
        UNARY[type(op)], operands, shape_of(op.results[0]), **_numbers(op)
    )


def _binary(program: Program, chain: Chain) -> str:
    op = chain.first
    shape = shape_of(op.results[0])
    first, second = op.operands
    if shape_of(first) != shape:
        first, second = second, first
    seen = padded(shape_of(second), len(shape))
    operands = [program.name(first), program.name(second, seen)]
    _, post = _fused(program, chain)
    return program.add(BINARY[type(op)], operands, shape, post=post)


def _check_binary(op: Operation) -> str | None:
    shape = shape_of(op.results[0])
    full = [shape_of(each) == shape for each in op.operands]
    if full[0] or (full[1] and not isinstance(op, ORDERED)):
        return None
    which = "the first operand" if isinstance(op, ORDERED) else "an operand"
    return f"expected {which} of the result's shape"


def _concatenate(program: Program, chain: Chain) -> str:
    op = chain.first
    assert isinstance(op, ConcatenateOp)
    return program.add(
        "concatenate",
        [program.name(each) for each in op.inputs],
        shape_of(op.results[0]),
        axis=op.axis.value.data,
    )


def _softmax(program: Program, chain: Chain) -> str:
    op = chain.first
    assert isinstance(op, SoftmaxOp)
    operands = [program.name(op.operands[0])]
    return program.add(
        "softmax", operands, shape_of(op.results[0]), axis=op.axis.value.data
    )


def _transpose(program: Program, chain: Chain) -> str:
    op = chain.first
    assert isinstance(op, TransposeOp)
    operands = [program.name(op.operands[0])]
    return program.add(
        "transpose", operands, shape_of(op.results[0]), axes=ints(op.axes)
    )


def _check_transpose(op: Operation) -> str | None:
    return None if shape_of(op.operands[0]) else "expected axes"


def _view(program: Program, chain: Chain) -> str:
    (operand,) = chain.first.operands
    return program.view(program.name(operand), shape_of(chain.first.results[0]))


def _check_batch_norm(op: Operation) -> str | None:
    assert isinstance(op, BatchNormOp)
    if all(isinstance(each.owner, ConstantOp) for each in op.operands[1:]):
        return None
    return "expected constant parameters"


RULES: Mapping[type[Operation], Rule] = {
    Conv2dOp: Rule(_conv2d, _check_conv2d),
    DenseOp: Rule(_dense, _check_dense),
    MatmulOp: Rule(_matmul),
    MaxPool2dOp: Rule(_pool, _check_pool),
    AvgPool2dOp: Rule(_pool, _check_pool),
    MaxOp: Rule(_over_image, _check_over_image),
    MeanOp: Rule(_over_image, _check_over_image),
    ConcatenateOp: Rule(_concatenate),
    SoftmaxOp: Rule(_softmax),
    TransposeOp: Rule(_transpose, _check_transpose),
    ReshapeOp: Rule(_view),
    SqueezeOp: Rule(_view),
    ExpandDimsOp: Rule(_view),
    BatchNormOp: Rule(None, _check_batch_norm),
    DropoutOp: Rule(None),
    ConstantOp: Rule(None),
    **dict.fromkeys(UNARY, Rule(_unary)),
    ClipOp: Rule(_unary, _check_clip),
    **dict.fromkeys(BINARY, Rule(_binary, _check_binary)),
}
"""By type of op. What is not here is not taken."""
