"""How windows slide over images: the one rule that convolution and pooling share."""

from collections.abc import Sequence

from xdsl.utils.exceptions import VerifyException

from partita.shapes import DYNAMIC, Shape


def window_shape(
    image: Shape,
    kernel: Shape,
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool = False,
) -> Shape:
    """Return how many windows fit along each of two axes.

    `padding` is top, left, bottom, right. With `ceil_mode` a last window may hang over
    the end, but never starts beyond data and leading padding (as ONNX and PyTorch say).
    Raises `VerifyException` for attributes of wrong length or value, and where no window fits.
    """
    for name, values, count, least in (
        ("strides", strides, 2, 1),
        ("padding", padding, 4, None),
        ("dilation", dilation, 2, 1),
    ):
        if len(values) != count:
            raise VerifyException(
                f"expected {name} of {count} values, got {len(values)}"
            )
        if least is not None and min(values) < least:
            raise VerifyException(
                f"expected {name} of at least {least}, got {min(values)}"
            )
    result: list[int] = []
    for axis, (extent, taps) in enumerate(zip(image, kernel, strict=True)):
        if DYNAMIC in (extent, taps):
            result.append(DYNAMIC)
            continue
        before, after = padding[axis], padding[axis + 2]
        room = extent + before + after - dilation[axis] * (taps - 1) - 1
        if room < 0:
            raise VerifyException(
                f"expected windows no larger than padded data, got {dilation[axis] * (taps - 1) + 1} "
                f"on {extent + before + after}"
            )
        windows = room // strides[axis] + 1
        if (
            ceil_mode
            and room % strides[axis]
            and windows * strides[axis] < extent + before
        ):
            windows += 1
        result.append(windows)
    return tuple(result)
