"""Products of matrices: one axis of rows, one of columns, one that is summed over, and batches.

A grouped convolution without a window is as many products as it has groups: rows are the features of a group.
"""

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from partita.dialects.tir import buffer_type
from partita.shapes import Shape
from partita.transforms.loop_rules.lanes import SHORTEST, choose_lanes
from partita.transforms.loop_rules.nest import Access, Stage
from partita.transforms.loop_rules.order import CACHED
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiles import (
    PARALLEL_WORK,
    Registers,
    best_tile,
)

NEAR = 32 * 1024
"""Bytes of a panel that stay in the first cache as they are."""

PANELS = 192 * 1024
"""Bytes of a panel that is copied, and of one for the columns that are left, on a thread's stack."""

FEWEST_ROWS = 8
"""Rows for which it pays to transpose a panel."""

STREAMS = 8
"""Blocks of weights that are read side by side for one row."""


@dataclass(frozen=True)
class Product:
    """A reduction that multiplies what does not depend on its columns with what does not depend on its rows."""

    columns: int
    """The axis along which the second operand is contiguous: that of lanes."""

    rows: int | None
    """The axis that the second operand does not depend on; `None` if there is one row."""

    period: int | None
    """Rows of a group, if the second operand depends on the group."""

    lanes: int
    """Lanes of a vector: all that there are, unless blocks are narrower."""

    height: int
    """Rows of a tile."""

    width: int
    """Vectors of a row of a tile."""

    weights: Access
    """What is read along the columns."""

    copied: int | None
    """Which of the buffers that are read is that of weights, if panels of it are copied before they are read."""

    transposed: bool
    """Whether weights are contiguous along the sum; a copy is contiguous along columns."""


def find_product(stage: Stage, registers: Registers) -> Product | None:
    """Return how a reduction is a product, `None` if it is none."""
    depths = [axis for axis, extent in enumerate(stage.block.extents) if extent > 1]
    depths = [axis for axis in depths if axis >= len(stage.spatial)]
    if len(depths) != 1 or len(stage.stores) != 1:
        return None
    chosen = choose_lanes(stage, registers)
    if chosen is None:
        return _transposed_product(stage, depths[0], registers)
    weights, rows = _operands(stage, chosen.axis)
    if len(weights) != 1 or len(rows) > 1 or chosen.vectors != chosen.axis:
        return None
    blocked = weights[0].block_of(chosen.axis) is not None
    if not blocked and weights[0].stride(chosen.axis) != 1:
        return None
    period = None
    if not rows and (grouped := _grouped_rows(stage, weights[0])) is not None:
        rows, period = [grouped[0]], grouped[1]
    lanes = registers.lanes(stage.bits)
    lanes = (
        chosen.count if blocked or period else min(stage.spatial[chosen.axis], lanes)
    )
    if blocked and not rows:
        streams = min(STREAMS, registers.accumulators)
        registers = Registers(registers.bits, streams)
    return _product(stage, chosen.axis, rows, period, lanes, weights[0], registers)


def _grouped_rows(stage: Stage, far: Access) -> tuple[int, int] | None:
    """Return an axis on which an operand depends by groups only, and how many rows a group has."""
    for axis, extent in enumerate(stage.spatial):
        period = far.period_of(axis)
        if period is None or period < SHORTEST or extent % period:
            continue
        others = [load.stride(axis) for load in stage.loads if load is not far]
        if None not in others and any(others):
            return axis, period
    return None


def _transposed_product(
    stage: Stage, depth: int, registers: Registers
) -> Product | None:
    """Return the product by a matrix that is contiguous along the sum, if panels of it can be transposed in a copy."""
    for columns in reversed(range(len(stage.spatial))):
        weights, rows = _operands(stage, columns)
        if len(weights) != 1 or len(rows) != 1 or stage.spatial[columns] < SHORTEST:
            continue
        (far,) = weights
        if far.stride(depth) != 1 or not far.stride(columns) or far.guarded:
            continue
        if any(load.stride(columns) is None for load in stage.loads):
            continue
        lanes = min(stage.spatial[columns], registers.lanes(stage.bits))
        if stage.spatial[rows[0]] < FEWEST_ROWS:
            return None
        return _product(stage, columns, rows, None, lanes, far, registers)
    return None


def _operands(stage: Stage, columns: int) -> tuple[list[Access], list[int]]:
    """Return what is read along the columns, and the axes on which that does not depend."""
    weights = [
        load
        for load in stage.loads
        if load.block_of(columns) or load.stride(columns) != 0
    ]
    rows = [
        axis
        for axis, extent in enumerate(stage.spatial)
        if extent > 1
        and axis != columns
        and all(load.stride(axis) == 0 for load in weights)
    ]
    return weights, rows


def _product(
    stage: Stage,
    columns: int,
    rows: list[int],
    period: int | None,
    lanes: int,
    weights: Access,
    registers: Registers,
) -> Product | None:
    if len(stage.loads) < 2:
        return None
    depth = prod(stage.reduction)
    count = period or (stage.spatial[rows[0]] if rows else 1)
    vectors = max(1, stage.spatial[columns] // lanes)
    if period is None:
        tile = best_tile(registers, [count], vectors, depth)
        height, width = tile.rows[0], tile.vectors
    else:
        height, width = _tile_of_group(period, vectors, registers.accumulators)
    buffers = list(dict.fromkeys(load.buffer for load in stage.loads))
    blocked = weights.block_of(columns) is not None
    transposed = not blocked and weights.stride(columns) != 1
    size = _panel_bytes(stage, columns, width * lanes)
    copied = (
        not blocked
        and not weights.guarded
        and len(buffers) == len(stage.loads)
        and (transposed or (size > NEAR and count >= 4 * height))
    )
    if copied and size > PANELS:
        copied = _panel_bytes(stage, columns, lanes) <= PANELS
        if copied:
            height, width = best_tile(registers, [count], 1, depth).rows[0], 1
    if transposed and not copied:
        return None
    return Product(
        columns,
        rows[0] if rows else None,
        period,
        lanes,
        height,
        width,
        weights,
        buffers.index(weights.buffer) if copied else None,
        transposed,
    )


def _panel_bytes(stage: Stage, columns: int, width: int) -> int:
    """Return the bytes of a panel of so many columns, and of one like it for the columns that are left at the end."""
    panels = 1 if stage.spatial[columns] % width == 0 else 2
    return panels * prod(stage.reduction) * width * stage.bits // 8


def _tile_of_group(period: int, vectors: int, most: int) -> tuple[int, int]:
    """Return rows and vectors of the largest tile that divides a group, so that none reaches into the next."""
    sizes = [
        (height, width)
        for height in range(1, period + 1)
        for width in range(1, vectors + 1)
        if period % height == 0 and vectors % width == 0 and height * width <= most
    ]
    return max(sizes, key=prod)


def schedule_product(
    steps: Steps,
    stage: Stage,
    epilogue: Stage | None,
    product: Product,
) -> None:
    """Keep a tile of the result in registers while the sum runs; copy a panel of far columns first."""
    block = steps.block(stage.label)
    last = steps.block(epilogue.label) if epilogue else steps.cache_write(block)
    copy = None if product.copied is None else steps.cache_read(block, product.copied)
    loops = steps.loops(block, stage.names)
    rank = len(stage.spatial)
    strips = None if product.rows is None else loops[product.rows]
    outside = list(loops[:rank])
    if product.rows is not None and product.period is not None:
        # The loop over groups stands where that over rows stood.
        outside[product.rows], strips = steps.split(
            loops[product.rows], None, product.period
        )
    batches = [
        loop
        for axis, loop in enumerate(outside)
        if axis != product.columns and loop is not strips
    ]
    panels, *vectors, lane = steps.split(
        loops[product.columns],
        None,
        *((product.width,) if product.width > 1 else ()),
        product.lanes,
        tail="peel",
    )
    inner = list(vectors)
    if strips is not None and product.height > 1:
        strips, row = steps.split(strips, None, product.height, tail="peel")
        inner.insert(0, row)
    outer = _order(stage, product, panels, strips)
    steps.reorder(*batches, *outer, *loops[rank:], *inner, lane)
    steps.vectorize(lane)
    for loop in inner:
        steps.unroll(loop)
    steps.reverse_compute_at(last, outer[-1])
    steps.set_scope(block)
    steps.decompose_reduction(block, loops[rank])
    if copy is not None:
        steps.compute_at(copy, panels)
        _schedule_copy(steps, copy, len(batches) + 1, product)
    _schedule_epilogue(steps, stage, last, len(batches) + len(outer), product)
    if stage.work >= PARALLEL_WORK:
        steps.parallel(_shared(steps, stage, product, batches, outer[0], panels))


def _order(
    stage: Stage,
    product: Product,
    panels: SSAValue,
    strips: SSAValue | None,
) -> tuple[SSAValue, ...]:
    """Return the loops from tile to tile: the smaller operand is read again and again, from a cache if it fits."""
    if strips is None:
        return (panels,)
    weights = _bytes(product.weights)
    others = sum(_bytes(load) for load in stage.loads) - weights
    if product.copied is None and weights <= min(others, CACHED):
        return (strips, panels)
    return (panels, strips)


def _shared(
    steps: Steps,
    stage: Stage,
    product: Product,
    batches: list[SSAValue],
    first: SSAValue,
    panels: SSAValue,
) -> SSAValue:
    """Return the loop that threads share: batches and the first loop over tiles, unless its last tile is cut short."""
    if first is panels:
        extent = stage.spatial[product.columns]
        whole = extent % (product.width * product.lanes) == 0
    else:
        assert product.rows is not None
        extent = product.period or stage.spatial[product.rows]
        whole = extent % product.height == 0
    if prod(_batches(stage, product)) == 1:
        return steps.fuse(*batches, first) if whole else first
    # Groups and rows in one loop could not be told apart again.
    return steps.fuse(*batches, *((first,) if whole and not product.period else ()))


def _batches(stage: Stage, product: Product) -> Shape:
    batches = tuple(
        extent
        for axis, extent in enumerate(stage.spatial)
        if axis not in (product.columns, product.rows)
    )
    if product.period is None or product.rows is None:
        return batches
    return (*batches, stage.spatial[product.rows] // product.period)


def _schedule_copy(steps: Steps, copy: SSAValue, depth: int, product: Product) -> None:
    """Copy whole vectors of a panel, or whole square tiles if it is transposed."""
    names = [*(f"o{i}" for i in range(depth)), "p", "q"]
    outer, inner = steps.loops(copy, names)[-2:]
    if not product.transposed:
        if product.width > 1:
            _, inner = steps.split(inner, None, product.lanes, tail="peel")
        steps.vectorize(inner)
        return
    chunks, lane = steps.split(outer, None, product.lanes, tail="peel")
    strips, row = steps.split(inner, None, product.lanes, tail="peel")
    steps.reorder(chunks, strips, row, lane)
    steps.unroll(row)
    steps.vectorize(lane)


def _schedule_epilogue(
    steps: Steps, stage: Stage, last: SSAValue, depth: int, product: Product
) -> None:
    """Vectorize what is done with a finished tile."""
    sizes = {product.columns: product.lanes * product.width}
    if product.rows is not None:
        sizes[product.rows] = product.height
    axes = sorted(axis for axis, size in sizes.items() if size > 1)
    names = [*(f"o{i}" for i in range(depth)), *(stage.names[axis] for axis in axes)]
    loops = dict(zip(axes, steps.loops(last, names)[depth:], strict=True))
    if product.columns not in loops:
        return
    loop = loops[product.columns]
    if product.width > 1:
        _, loop = steps.split(loop, None, product.lanes)
    steps.vectorize(loop)


def _bytes(access: Access) -> int:
    type = buffer_type(access.buffer)
    return prod(type.get_shape()) * 4
