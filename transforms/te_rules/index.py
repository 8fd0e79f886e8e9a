"""Index expressions: quotients, remainders, and positions in row-major order."""

from collections.abc import Sequence
from math import prod

from xdsl.ir.affine import AffineExpr

from partita.shapes import Shape
from partita.transforms.te_rules.body import Axes


def floordiv(expr: AffineExpr, divisor: int) -> AffineExpr:
    """Divide, where there is something to divide by."""
    return expr if divisor == 1 else expr // divisor


def modulo(expr: AffineExpr, divisor: int) -> AffineExpr:
    """Take the remainder, where there can be one."""
    return AffineExpr.constant(0) if divisor == 1 else expr % divisor


def linear(indices: Axes, shape: Sequence[int]) -> AffineExpr:
    """Return the row-major position of an index."""
    position = AffineExpr.constant(0)
    for axis, (index, extent) in enumerate(zip(indices, shape, strict=True)):
        if extent != 1:
            position = position + index * prod(shape[axis + 1 :])
    return position


def delinear(position: AffineExpr, shape: Sequence[int]) -> tuple[AffineExpr, ...]:
    """Return the index at a row-major position, which lies in the shape."""
    indices: list[AffineExpr] = []
    outermost = True
    for axis, extent in enumerate(shape):
        if extent == 1:
            indices.append(AffineExpr.constant(0))
            continue
        inner = prod(shape[axis + 1 :])
        rest = position if outermost else modulo(position, inner * extent)
        indices.append(floordiv(rest, inner))
        outermost = False
    return tuple(indices)


def reshaped(axes: Axes, shape: Shape, source: Shape) -> tuple[AffineExpr, ...]:
    """Return where the element at `axes` of a shape lies in another shape of as many elements.

    Both are cut into the shortest runs of axes that hold as many elements, so that what
    the shapes have in common needs no arithmetic.
    """
    indices: list[AffineExpr] = []
    start = source_start = 0
    while source_start < len(source) or start < len(shape):
        end, source_end = min(start + 1, len(shape)), min(source_start + 1, len(source))
        while True:
            size, source_size = (
                prod(shape[start:end]),
                prod(source[source_start:source_end]),
            )
            if size == source_size:
                break
            if size < source_size and end < len(shape):
                end += 1
            elif source_end < len(source):
                source_end += 1
            else:
                end += 1
        run = linear(axes[start:end], shape[start:end])
        indices.extend(delinear(run, source[source_start:source_end]))
        start, source_start = end, source_end
    return tuple(indices)
