"""Layouts of tensors: how named axes are split into blocks and ordered."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import StringAttr
from xdsl.utils.exceptions import VerifyException

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


def layout_of(
    attribute: StringAttr | None, plain: str, blocks: str, name: str
) -> Layout:
    """Return the layout that an attribute stands for: a plain one, or that with a block of some of its axes.

    `blocks` are the small letters of such axes in the order of their blocks; those at the front may be missing.
    Raises `VerifyException`, which calls the attribute by its name, for any other layout.
    """
    text = plain if attribute is None else attribute.data
    forms = [
        plain + "".join(f"<n>{each}" for each in blocks[at:])
        for at in range(len(blocks), -1, -1)
    ]
    if not any(re.fullmatch(form.replace("<n>", r"[1-9]\d*"), text) for form in forms):
        raise VerifyException(
            f"expected {name} {', '.join(forms[:-1])} or {forms[-1]}, got {text}"
        )
    return Layout.parse(text)


def extents_of(layout: Layout, shape: Shape, name: str) -> Mapping[str, int]:
    """Return the whole extents of an operand's axes; raise `VerifyException`, in terms of its name, if its shape does not fit."""
    if len(shape) != len(layout.axes):
        raise VerifyException(
            f"expected {name} of rank {len(layout.axes)}, got {len(shape)}"
        )
    for at, (_, block) in enumerate(layout.axes):
        if block is not None and shape[at] not in (block, DYNAMIC):
            which = "last dimension" if at == len(shape) - 1 else f"dimension {at}"
            raise VerifyException(
                f"expected {name} with {which} {block}, got {shape[at]}"
            )
    return layout.extents(shape)


def blocked_shape(layout: Layout, extents: Mapping[str, int], name: str) -> Shape:
    """Return the shape of data with these extents in a layout; raise `VerifyException` if blocks do not divide them."""
    try:
        return layout.shape(extents)
    except ValueError as error:
        raise VerifyException(f"{name}: {error}") from None
