"""Elements of arrays at affine indices: what reads of `te` and `tir` have in common."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from partita.interpreters.scalar import Array

Indices = NDArray[np.int64]


def signless(array: Array) -> Array:
    """View unsigned elements as scalars are held."""
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def affine_value(expr: AffineExpr, dims: Sequence[Indices]) -> Indices:
    """Evaluate an index expression over arrays that broadcast."""
    match expr:
        case AffineConstantExpr(value=value):
            return np.asarray(value, np.int64)
        case AffineDimExpr(position=position):
            return dims[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return _AFFINE[kind](affine_value(lhs, dims), affine_value(rhs, dims))
        case _:
            raise ValueError(f"unexpected affine expression {expr}")


def pick(source: Array, positions: Sequence[Indices], otherwise: Array | None) -> Array:
    """Return elements; where an index lies outside, its nearest inside is read and thrown away."""
    if otherwise is None:
        return np.asarray(source[tuple(positions)])
    inside = np.asarray(True)
    for position, extent in zip(positions, source.shape, strict=True):
        inside = np.logical_and(
            inside, np.logical_and(position >= 0, position < extent)
        )
    if not source.size:
        return np.broadcast_to(
            otherwise, np.broadcast_shapes(inside.shape, otherwise.shape)
        )
    clipped = tuple(
        np.clip(position, 0, extent - 1)
        for position, extent in zip(positions, source.shape, strict=True)
    )
    return np.where(inside, source[clipped], otherwise)


def _ceil_divide(lhs: Indices, rhs: Indices) -> Indices:
    return np.negative(np.floor_divide(np.negative(lhs), rhs))


_AFFINE: Mapping[AffineBinaryOpKind, Callable[[Indices, Indices], Indices]] = {
    AffineBinaryOpKind.Add: np.add,
    AffineBinaryOpKind.Mul: np.multiply,
    AffineBinaryOpKind.Mod: np.mod,
    AffineBinaryOpKind.FloorDiv: np.floor_divide,
    AffineBinaryOpKind.CeilDiv: _ceil_divide,
}
