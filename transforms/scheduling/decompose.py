"""Separate a reduction's first values from its updates."""

from collections.abc import Sequence

from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import AffineMap

from partita.analysis.loop_nests import is_inside, loops_around, loops_of
from partita.dialects.partita import inherit_origins
from partita.dialects.tir import BlockOp, ForOp, LoopKind
from partita.transforms.scheduling.indices import tidy
from partita.transforms.scheduling.repetition import repeating
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    name_of,
)


def decompose_reduction(state: State, block: BlockOp, loop: ForOp) -> BlockOp:
    """Move a block's init into a block of its own, just before a loop around all its reduction loops."""
    if not block.init.blocks:
        raise ScheduleError(f"{name_of(block)} has no init")
    if not is_inside(block, loop):
        raise ScheduleError(f"{name_of(block)} does not stand in {name_of(loop)}")
    rank = len(block.spatial_shape)
    reduced = loops_of(block, block.binding_exprs[rank:])
    spatial = loops_of(block, block.binding_exprs[:rank])
    if both := reduced & spatial:
        raise ScheduleError(
            f"{name_of(sorted(both, key=name_of)[0])} runs over reduction and spatial axes at once"
        )
    path = loops_around(block)
    outside = path[: path.index(loop)]
    for each in outside:
        if each in reduced:
            raise ScheduleError(
                f"{name_of(each)} around it carries the reduction of {name_of(block)}"
            )
    for each in repeating(block, path[len(outside) :]):
        if each not in reduced:
            raise ScheduleError(
                f"{name_of(each)} computes elements of {name_of(block)} again, each time from its init on"
            )
    guards = tuple(
        guard for guard in block.guard_exprs if not loops_of(block, (guard,)) & reduced
    )
    inner, replacement = _copied_loops(state, path[len(outside) :], spatial)
    exprs = (*block.binding_exprs[:rank], *guards)
    indices = tuple(replacement.get(index, index) for index in block.indices)
    map, indices = tidy(exprs, indices)
    body = block.init.detach_block(block.init.block)
    init = BlockOp(
        f"{block.label.data}_init",
        indices,
        AffineMap(map.num_dims, 0, map.results[:rank]),
        block.spatial_shape,
        (),
        Region(body),
        guard=AffineMap(map.num_dims, 0, map.results[rank:]) if guards else None,
    )
    inherit_origins(init, block)
    ops = (*inner, init)
    for around, inside in zip(inner, ops[1:], strict=True):
        around.body.block.add_op(inside)
    parent = loop.parent_block()
    assert parent is not None
    parent.insert_op_before(ops[0], loop)
    return init


def _copied_loops(
    state: State, path: Sequence[ForOp], wanted: set[ForOp]
) -> tuple[list[ForOp], dict[SSAValue, SSAValue]]:
    """Copy some loops of a path, without what is in them; return the copies, and the variables of copied loops."""
    loops: list[ForOp] = []
    variables: dict[SSAValue, SSAValue] = {}
    for each in path:
        if each not in wanted:
            continue
        pipelined = each.loop_kind is LoopKind.PIPELINED
        kind = LoopKind.SERIAL if pipelined else each.loop_kind
        copy = ForOp.empty(each.extent, each.variable.name_hint, kind)
        copy.properties["lower"] = each.lower
        copy.properties["upper"] = each.upper
        variables[each.variable] = copy.variable
        loops.append(copy)
        if each in state.peeled:
            state.peeled.add(copy)
    return loops, variables
