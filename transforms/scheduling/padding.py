"""Leave out updates of a reduction that read padding.

A convolution that reads zeros outside its input adds nothing there, so such updates need
not run. In the end the block is guarded by what it reads being inside, and the loops that
the guard is made of are cut where it changes: each tap of a window runs over just the
rectangle of outputs for which it lies inside, and taps that always do keep their loops.
"""

from collections.abc import Sequence
from math import copysign, inf

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from partita.analysis.affine import Sum, as_expr, dimensions_of, plus
from partita.analysis.loop_nests import loads_of, loops_around, stores_of
from partita.analysis.regions import Space
from partita.dialects.tir import BlockOp, LoadOp, buffer_type
from partita.interpreters.scalar import Array, evaluate_scalar, quiet
from partita.transforms.scheduling.indices import add_guard
from partita.transforms.scheduling.partition import CASES
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    mark,
    name_of,
)


def split_reduction_by_padding(state: State, block: BlockOp) -> None:
    """Let a reduction run, in the end, only where it reads no padding.

    Legal where an update by the padding's value leaves the sum as it is. For floats a
    product with 0 does not count, as the other factor may be NaN.
    """
    if not block.reduction_shape:
        raise ScheduleError(f"{name_of(block)} is no reduction")
    if block.init.blocks:
        raise ScheduleError(f"{name_of(block)} has an init; decompose_reduction first")
    if not _inside(block, Space()):
        raise ScheduleError(f"{name_of(block)} reads no padding")
    state.unpadded.add(block)


def guard_padding(state: State) -> None:
    """Guard the blocks that are to read no padding, and mark the loops that have to be cut for it."""
    for block in state.unpadded:
        if not state.holds(block):
            continue
        space = Space()
        guards = _inside(block, space)
        used = {position for guard in guards for position in dimensions_of(guard)}
        for guard in guards:
            add_guard(block, as_expr(guard), space.values)
        for loop in loops_around(block):
            if space.position(loop.variable) in used:
                mark(loop, CASES)


def _inside(block: BlockOp, space: Space) -> list[Sum]:
    """Return what is not negative where a block reads no padding; `ScheduleError` if it has to run elsewhere too."""
    guards: list[Sum] = []
    for load in loads_of(block):
        if load.otherwise is None:
            continue
        found: list[Sum] = []
        shape = buffer_type(load.buffer).get_shape()
        for position, extent in zip(space.access(load), shape, strict=True):
            if position is None:
                raise ScheduleError(
                    f"{name_of(block)} reads padding at an index that depends on data"
                )
            low, high = space.bounds(position)
            if low < 0:
                found.append(position)
            if high >= extent:
                found.append(plus(Sum(extent - 1), position, -1))
        if found and not _leaves_sum(block, load):
            raise ScheduleError(
                f"cannot prove that an update of {name_of(block)} by padding changes nothing"
            )
        guards += found
    return guards


class _Old:
    """Stands for the sum before an update."""


Known = Array | type[_Old] | None
"""What follows about a value: a constant, the sum before the update, or nothing."""


def _leaves_sum(block: BlockOp, padded: LoadOp) -> bool:
    """Say whether an update stores what it found if a read gives the padding's value."""
    if len(stores_of(block)) != 1:
        return False
    (store,) = stores_of(block)
    known: dict[SSAValue, Known] = {}
    for op in block.body.block.ops:
        if op is store:
            break
        if isinstance(op, LoadOp):
            same = op.buffer is store.buffer and (op.access, tuple(op.indices)) == (
                store.access,
                tuple(store.indices),
            )
            value = _Old if same else None
            if op is padded and op.otherwise is not None:
                value = known.get(op.otherwise)
            known[op.result] = value
        elif len(op.results) == 1:
            operands = [known.get(operand) for operand in op.operands]
            known[op.results[0]] = _evaluated(op, operands)
    return known.get(store.value) is _Old


def _evaluated(op: Operation, operands: Sequence[Known]) -> Known:
    """Return what follows about an op's result."""
    constants = [each for each in operands if isinstance(each, np.ndarray)]
    if len(constants) == len(operands):
        try:
            with quiet():
                return np.asarray(evaluate_scalar(op, tuple(constants)))
        except KeyError:
            return None
    if len(operands) != 2 or len(constants) != 1:
        return None
    (constant,) = constants
    if isinstance(op, arith.MuliOp | arith.AndIOp) and not constant.any():
        return constant
    if _Old in operands and _is_identity(op, constant):
        return _Old
    return None


def _is_identity(op: Operation, constant: Array) -> bool:
    """Say whether combining something with a constant leaves it as it is, signed zeros and NaN included."""
    value = constant.item()
    if isinstance(value, float):
        floats: dict[type[Operation], bool] = {
            arith.AddfOp: value == 0.0 and copysign(1, value) < 0,
            arith.MaximumfOp: value == -inf,
            arith.MinimumfOp: value == inf,
            arith.MulfOp: value == 1.0,
        }
        return floats.get(type(op), False)
    if constant.dtype.kind != "i":
        return False
    largest = (1 << (constant.dtype.itemsize * 8 - 1)) - 1
    identities: dict[type[Operation], int] = {
        arith.AddiOp: 0,
        arith.OrIOp: 0,
        arith.XOrIOp: 0,
        arith.MaxUIOp: 0,
        arith.MuliOp: 1,
        arith.AndIOp: -1,
        arith.MinUIOp: -1,
        arith.MaxSIOp: -largest - 1,
        arith.MinSIOp: largest,
    }
    return identities.get(type(op)) == value
