"""What `te.compute` means: its body, evaluated for all axes at once on numpy arrays.

Each axis is an array of its indices along a dimension of its own, as `np.ogrid` gives
them, so an expression is evaluated over just the axes that it depends on. Axes are cut
into boxes of a bounded number of points.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, SSAValue

from partita.dialects.te import ComputeOp, ReadOp, YieldOp
from partita.interpreters.elements import affine_value, pick, signless
from partita.interpreters.module import Impl, Interpreter
from partita.interpreters.scalar import (
    INDEX,
    Array,
    evaluate_scalar,
    quiet,
    scalar_constant,
    scalar_dtype,
)
from partita.shapes import dtype_of, element_of

POINTS = 1 << 19
"""How many points of axes are evaluated at once: a temporary is at most eight times as many bytes."""

Box = tuple[range, ...]
"""A range of each axis."""

_REDUCTIONS: Mapping[type[Operation], np.ufunc] = {
    arith.AddfOp: np.add,
    arith.AddiOp: np.add,
    arith.MulfOp: np.multiply,
    arith.MuliOp: np.multiply,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
}
"""Combiners of one op that numpy reduces by itself."""

_BITWISE = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
"""Those that are on `i1` what they are on integers."""


def evaluate_compute(
    op: ComputeOp, value_of: Callable[[SSAValue], Array]
) -> tuple[Array, ...]:
    """Return the results of a compute; `value_of` gives the tensors that it reads."""
    results = tuple(
        np.empty(op.shape, scalar_dtype(scalar))
        for scalar in (value.type for value in _yielded(op.body.block))
    )
    spatial, reduction = _boxes(op.shape, op.reduction_shape)
    with quiet():
        for box in spatial:
            at = tuple(slice(each.start, each.stop) for each in box)
            for result, value in zip(
                results, _evaluate_box(op, box, reduction, value_of), strict=True
            ):
                result[at] = value
    return tuple(
        result.view(dtype_of(element_of(output)))
        for result, output in zip(results, op.outputs, strict=True)
    )


def _yielded(block: Block) -> Sequence[SSAValue]:
    end = block.last_op
    assert isinstance(end, YieldOp)
    return tuple(end.values)


def _boxes(
    shape: Sequence[int], reduction: Sequence[int]
) -> tuple[list[Box], list[Box]]:
    """Cut axes, then reduction axes, into boxes of at most `POINTS` points together.

    Outermost axes are cut first; where there is a reduction, innermost ones, so that what
    is read of an image or a row is combined with many features at once.
    """
    steps = [*shape, *reduction]
    spatial = range(len(shape))
    inner = range(len(shape), len(steps))
    for axis in (*(reversed(spatial) if reduction else spatial), *inner):
        while prod(steps) > POINTS and steps[axis] > 1:
            steps[axis] = max(1, steps[axis] * POINTS // prod(steps))

    def cut(extents: Sequence[int], lengths: Sequence[int]) -> list[Box]:
        return list(
            product(
                *(
                    [
                        range(start, min(start + step, extent))
                        for start in range(0, extent, max(step, 1))
                    ]
                    for extent, step in zip(extents, lengths, strict=True)
                )
            )
        )

    return cut(shape, steps[: len(shape)]), cut(reduction, steps[len(shape) :])


def _evaluate_box(
    op: ComputeOp,
    box: Box,
    reduction: Sequence[Box],
    value_of: Callable[[SSAValue], Array],
) -> tuple[Array, ...]:
    """Return the elements of a box of axes."""
    if not op.reduction_shape:
        return _body(op, box, value_of)
    total = tuple(scalar_constant(init) for init in op.inits)
    for part in reduction:
        extents = tuple(len(each) for each in (*box, *part))
        values = tuple(
            np.broadcast_to(value, extents)
            for value in _body(op, (*box, *part), value_of)
        )
        total = _combine(op, total, _fold(op, values, len(box)))
    return total


def _body(
    op: ComputeOp, box: Box, value_of: Callable[[SSAValue], Array]
) -> tuple[Array, ...]:
    """Evaluate the body on a box; results broadcast to it."""
    rank = len(box)
    axes = tuple(
        np.asarray(each, INDEX).reshape(
            tuple(len(each) if i == axis else 1 for i in range(rank))
        )
        for axis, each in enumerate(box)
    )
    return _evaluate(op.body.block, axes, value_of)


def _combine(
    op: ComputeOp, old: Sequence[Array], new: Sequence[Array]
) -> tuple[Array, ...]:
    return _evaluate(op.combine.block, (*old, *new), _no_tensor)


def _no_tensor(value: SSAValue) -> Array:
    raise KeyError(value)


def _evaluate(
    block: Block, arguments: Sequence[Array], value_of: Callable[[SSAValue], Array]
) -> tuple[Array, ...]:
    values: dict[SSAValue, Array] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if isinstance(op, ReadOp):
            values[op.result] = _read(op, values, value_of(op.source))
        elif not isinstance(op, YieldOp):
            operands = tuple(values[operand] for operand in op.operands)
            values[op.results[0]] = evaluate_scalar(op, operands)
    return tuple(values[value] for value in _yielded(block))


def _read(op: ReadOp, values: Mapping[SSAValue, Array], source: Array) -> Array:
    indices = [values[index].astype(np.int64, copy=False) for index in op.indices]
    positions = [affine_value(expr, indices) for expr in op.access.results]
    otherwise = None if op.otherwise is None else values[op.otherwise]
    return pick(signless(source), positions, otherwise)


def _fold(op: ComputeOp, values: tuple[Array, ...], rank: int) -> tuple[Array, ...]:
    """Combine all elements along the axes from `rank` on, of which there is at least one."""
    ufunc = _reduction(op)
    if ufunc is not None:
        axes = tuple(range(rank, values[0].ndim))
        dtype = values[0].dtype
        return (ufunc.reduce(values[0], axis=axes, dtype=dtype),)
    flat = tuple(value.reshape((*value.shape[:rank], -1)) for value in values)
    # The order of a reduction is not defined, so halves are combined with each other.
    while (count := flat[0].shape[-1]) > 1:
        half = count // 2
        paired = _combine(
            op,
            tuple(value[..., :half] for value in flat),
            tuple(value[..., half : 2 * half] for value in flat),
        )
        flat = tuple(
            np.concatenate((pair, value[..., 2 * half :]), axis=-1)
            for pair, value in zip(paired, flat, strict=True)
        )
    return tuple(value[..., 0] for value in flat)


def _reduction(op: ComputeOp) -> np.ufunc | None:
    """Return the ufunc that a combiner is, `None` if it is more than one op."""
    block = op.combine.block
    first = block.first_op
    if (
        len(block.args) != 2
        or first is None
        or not isinstance(first.next_op, YieldOp)
        or set(first.operands) != set(block.args)
    ):
        return None
    ufunc = _REDUCTIONS.get(type(first))
    arithmetic = first.operands[0].type != i1 or ufunc in _BITWISE
    return ufunc if arithmetic else None


def _compute(
    op: Operation, operands: tuple[Array, ...], interpreter: Interpreter
) -> tuple[Array, ...]:
    assert isinstance(op, ComputeOp)
    return evaluate_compute(op, interpreter.value)


TE: Mapping[type[Operation], Impl] = {ComputeOp: _compute}
"""What each op means; reads and yields are part of a compute."""
