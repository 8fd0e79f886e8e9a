"""Make several loops of one."""

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from xdsl.ir import Region
from xdsl.ir.affine import AffineExpr

from partita.analysis.loop_nests import blocks_in
from partita.dialects.tir import ForOp
from partita.transforms.scheduling.indices import add_guard, substitute
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    hint,
    loop_before,
    require_plain,
)


def complete(factors: Sequence[int | None], extent: int) -> tuple[int, ...]:
    """Replace `None` by the least factor that covers an extent."""
    for factor in factors:
        if factor is not None and factor < 1:
            raise ScheduleError(f"expected factors of at least 1, got {factor}")
    known = prod(factor for factor in factors if factor is not None)
    inferred = -(-extent // known)
    full = tuple(inferred if factor is None else factor for factor in factors)
    if prod(full) < extent:
        raise ScheduleError(
            f"expected factors that cover {extent} iterations, got "
            + " * ".join(map(str, full))
            + f" = {prod(full)}"
        )
    return full


def _names(name: str, count: int) -> list[str]:
    return [f"{name}o", *[f"{name}m"] * (count - 2), f"{name}i"]


def split(
    state: State,
    loop: ForOp,
    factors: Sequence[int | None],
    peel: bool = False,
) -> tuple[ForOp, ...]:
    """Replace a loop by a nest of loops whose extents are the factors, outermost first.

    Iterations beyond the loop's are guarded; with `peel` loops are cut in the end, so
    that whole tiles are not.
    """
    require_plain(loop)
    extents = complete(factors, loop.extent)
    names = _names(hint(loop.variable, "i"), len(extents))
    lower = loop.lower.value.data
    upper = loop.upper.value.data
    total = prod(extents)
    outer = [
        loop_before(loop, extent, name)
        for extent, name in zip(extents[:-1], names, strict=False)
    ]
    for around, inside in pairwise(outer):
        inside.detach()
        around.body.block.add_op(inside)
    variable = loop.variable
    body = loop.body.detach_block(loop.body.block)
    innermost = ForOp(extents[-1], Region(body))
    outer[-1].body.block.add_op(innermost)
    variable.name_hint = names[-1]
    loops = (*outer, innermost)

    expr = AffineExpr.constant(lower)
    stride = total
    for i, extent in enumerate(extents):
        stride //= extent
        expr = expr + AffineExpr.dimension(i) * stride
    variables = tuple(each.variable for each in loops)
    substitute(variable, expr, variables)
    if total > upper - lower:
        for block in blocks_in(innermost):
            add_guard(block, AffineExpr.constant(upper - 1) - expr, variables)
    loop.detach()
    loop.erase()
    if peel or loop in state.peeled:
        state.peeled.update(loops)
    return loops
