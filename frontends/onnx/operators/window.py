"""How ONNX spells the placement of windows: strides, dilations, pads, and pads computed from the size of the data."""

from dataclasses import dataclass

from partita.frontends.onnx.node import Node
from partita.frontends.onnx.shapes import shape_text
from partita.shapes import DYNAMIC, Shape


@dataclass(frozen=True)
class Window:
    """The placement of windows along each spatial axis."""

    kernel: Shape

    strides: Shape

    dilations: Shape

    before: Shape
    """Padding at the start of each axis; `after` at its end."""

    after: Shape

    @property
    def rank(self) -> int:
        return len(self.kernel)

    def axes(self, axes: slice) -> "Window":
        """Return the part that concerns some of the axes."""
        return Window(
            self.kernel[axes],
            self.strides[axes],
            self.dilations[axes],
            self.before[axes],
            self.after[axes],
        )

    def extended(self) -> "Window":
        """Add an axis of extent 1 before the only one, so that one dimension becomes two."""
        return Window(
            (1, *self.kernel),
            (1, *self.strides),
            (1, *self.dilations),
            (0, *self.before),
            (0, *self.after),
        )

    @property
    def padding(self) -> Shape:
        """Top, left, bottom, right, as relay has it."""
        return (*self.before, *self.after)


def window_of(node: Node, image: Shape, kernel: Shape) -> Window:
    """Read the placement attributes of a node; `image` is the spatial part of the data's shape."""
    rank = len(image)
    if len(kernel) != rank:
        node.fail(f"expected a kernel of {rank} axes, got {shape_text(kernel)}")
    strides = _per_axis(node, "strides", rank)
    dilations = _per_axis(node, "dilations", rank)
    placement = node.text("auto_pad", "NOTSET")
    if min((*strides, *dilations), default=1) < 1:
        node.fail("expected strides and dilations of at least 1, got less")
    if placement == "VALID":
        before, after = (0,) * rank, (0,) * rank
    elif placement in ("SAME_UPPER", "SAME_LOWER"):
        if DYNAMIC in image:
            node.fail(
                f"expected static data for auto_pad {placement}, got {shape_text(image)}; {node.way_out}"
            )
        sizes = zip(image, kernel, strides, dilations, strict=True)
        totals = [_same_padding(*each) for each in sizes]
        less, more = (
            tuple(total // 2 for total in totals),
            tuple(total - total // 2 for total in totals),
        )
        before, after = (less, more) if placement == "SAME_UPPER" else (more, less)
    elif placement in ("NOTSET", ""):
        pads = node.integers("pads") or (0,) * (2 * rank)
        if len(pads) != 2 * rank:
            node.fail(f"expected attribute pads of {2 * rank} values, got {len(pads)}")
        before, after = pads[:rank], pads[rank:]
    else:
        node.fail(
            f"expected auto_pad NOTSET, SAME_UPPER, SAME_LOWER or VALID, got {placement}"
        )
    return Window(kernel, strides, dilations, before, after)


def _same_padding(extent: int, taps: int, stride: int, dilation: int) -> int:
    """Return the padding that gives as many windows as strides start in the data."""
    windows = -(-extent // stride)
    return max(0, (windows - 1) * stride + dilation * (taps - 1) + 1 - extent)


def _per_axis(node: Node, name: str, rank: int) -> Shape:
    values = node.integers(name) or (1,) * rank
    if len(values) != rank:
        node.fail(f"expected attribute {name} of {rank} values, got {len(values)}")
    return values
