"""Layouts of tensors: how named axes are split into blocks and ordered."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from partita.shapes import DYNAMIC, Shape


@dataclass(frozen=True)
class Layout:
    """An order of axes and blocks of axes, such as `NCHW16c`."""

    text: str

    axes: tuple[tuple[str, int | None], ...]
    """The name of the axis that each dimension belongs to, and its size if it is a block."""

    @staticmethod
    @lru_cache(maxsize=256)
    def parse(text: str) -> "Layout":
        """Read a layout; raise `ValueError` if it is none."""
        parts = re.findall(r"([A-Z])|([1-9]\d*)([a-z])", text)
        axes = tuple(
            (axis or inner.upper(), None if axis else int(block))
            for axis, block, inner in parts
        )
        spelled = "".join(axis or block + inner for axis, block, inner in parts)
        outer = [name for name, block in axes if block is None]
        if (
            spelled != text
            or len(set(outer)) != len(outer)
            or not {name for name, _ in axes} <= set(outer)
        ):
            raise ValueError(
                f"expected a layout of distinct capital axes and numbered blocks of them, got {text}"
            )
        return Layout(text, axes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes, in the order of their outer dimensions."""
        return tuple(name for name, block in self.axes if block is None)

    def block(self, name: str) -> int:
        """Return how many elements along an axis its outer dimension steps over."""
        return prod(block for axis, block in self.axes if axis == name and block)

    def extents(self, shape: Shape) -> Mapping[str, int]:
        """Return the whole extent of each axis of data in this layout.

        Raises `ValueError` if the shape is not of this layout.
        """
        if len(shape) != len(self.axes):
            raise ValueError(
                f"expected data of layout {self.text} to have rank {len(self.axes)}, got {len(shape)}"
            )
        result: dict[str, int] = {}
        for (name, block), extent in zip(self.axes, shape, strict=True):
            if block is None:
                whole = extent if extent == DYNAMIC else extent * self.block(name)
                result[name] = whole
            elif extent not in (block, DYNAMIC):
                raise ValueError(
                    f"expected data with blocks of {block} along axis {name}, got {extent}"
                )
        return result

    def shape(self, extents: Mapping[str, int]) -> Shape:
        """Return the shape of data with these whole extents in this layout.

        Raises `ValueError` if axes differ, or blocks do not divide them.
        """
        if set(extents) != set(self.names):
            raise ValueError(
                f"expected target of axes {''.join(sorted(extents))}, got {self.text}"
            )
        result: list[int] = []
        for name, block in self.axes:
            extent = extents[name]
            if block is not None:
                result.append(block)
            elif extent == DYNAMIC:
                result.append(DYNAMIC)
            elif extent % self.block(name):
                raise ValueError(
                    f"expected extent divisible by block {self.block(name)} along axis {name}, got {extent}"
                )
            else:
                result.append(extent // self.block(name))
        return tuple(result)
