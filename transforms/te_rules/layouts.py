"""Where elements lie in a layout: from the indices of dimensions to those of whole axes, and back."""

from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir.affine import AffineExpr

from partita.analysis.affine import simplify
from partita.dialects.relay.layout import Layout
from partita.transforms.te_rules.body import Axes
from partita.transforms.te_rules.index import floordiv, modulo


def whole_axes(layout: Layout, indices: Axes) -> Mapping[str, AffineExpr]:
    """Return the index along each named axis of the element at an index of data in a layout."""
    whole: dict[str, AffineExpr] = {}
    inner_extents = _inner_extents(layout)
    for (name, _), index, inner in zip(
        layout.axes, indices, inner_extents, strict=True
    ):
        part = index * inner
        whole[name] = whole[name] + part if name in whole else part
    return whole


def indices_in(
    layout: Layout, whole: Mapping[str, AffineExpr], extents: Sequence[int] = ()
) -> tuple[AffineExpr, ...]:
    """Return the index of data in a layout of the element at an index along each named axis.

    With the extents of the dimensions that expressions are made of, quotients and remainders that put
    together what blocks of another tensor took apart are gone.
    """
    ranges = [(0, extent - 1) for extent in extents]
    indices: list[AffineExpr] = []
    for (name, block), inner in zip(layout.axes, _inner_extents(layout), strict=True):
        index = floordiv(whole[name], inner)
        if block:
            index = modulo(index, block)
        blocked = block is not None or inner > 1
        indices.append(simplify(index, ranges) if ranges and blocked else index)
    return tuple(indices)


def _inner_extents(layout: Layout) -> Iterator[int]:
    """Yield, for each dimension of a layout, how many elements of its axis one step of it spans."""
    for at, (name, block) in enumerate(layout.axes):
        inner = 1
        for other, size in layout.axes[at + 1 :] if block else layout.axes:
            if other == name and size:
                inner *= size
        yield inner
