"""The part of oneDNN's C API that modules of target `onednn` use, through ctypes.

Everything is single-precision and on the processor. Objects own what the library made for them.

| here | in oneDNN |
|---|---|
| `Layout` | memory descriptor |
| `Memory` | memory object |
| `Description` | primitive descriptor: which implementation, on which layouts |
| `PostOps` | post-ops of a primitive's attributes |
| `Primitive` | primitive |
"""

import ctypes
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

from partita.errors import ArtifactError

DISTRIBUTION = "onednn-cpu-gomp"
"""The package with the library, in its build for the processor alone, threaded by libgomp."""

LIBRARY, THREADING = "libdnnl.so.3", "libgomp.so.1"

Shape = Sequence[int]

_F32 = 3
_CPU, _INFERENCE, _DIRECT = 1, 96, 1
_ANY, _STREAM = 1, 1
_SOFTMAX = 0x30000
_MAX_RANK = 12
_STATUS = {
    1: "out of memory",
    2: "invalid arguments",
    3: "not implemented",
    5: "runtime error",
}

UNARY: Mapping[str, int] = {
    "relu": 0x20,
    "tanh": 0x21,
    "sigmoid": 0x29,
    "clip": 0x2F,
}
"""Elementwise algorithms; `relu` has a slope as alpha, `clip` limits as alpha and beta."""

BINARY: Mapping[str, int] = {
    "add": 0x1FFF0,
    "multiply": 0x1FFF1,
    "divide": 0x1FFF4,
    "subtract": 0x1FFF5,
}
"""Algorithms of two operands."""

POOLS: Mapping[str, int] = {
    "max_pool": 0x1FF,
    "avg_pool_padded": 0x2FF,
    "avg_pool": 0x3FF,
}
"""Algorithms of pools; padding counts in `avg_pool_padded`."""

SOURCE, SECOND, RESULT, WEIGHTS, BIAS, SOURCES = 1, 2, 17, 33, 41, 1024
"""Arguments of primitives."""

_SOURCE_LAYOUT, _WEIGHTS_LAYOUT, _RESULT_LAYOUT, _ARGUMENT_LAYOUT = 129, 131, 133, 255


def post_operand(index: int) -> int:
    """Return the argument that is the second operand of a post-op."""
    return 0x8000 * (index + 1) | SECOND


def problem() -> str | None:
    """Say why the library cannot be used; `None` if it can."""
    try:
        library()
    except ArtifactError as error:
        return str(error)
    return None


@cache
def library() -> ctypes.CDLL:
    """Return the library; raise `ArtifactError` if it is not installed, or cannot be loaded."""
    try:
        files = distribution(DISTRIBUTION).files or ()
    except PackageNotFoundError:
        raise ArtifactError(
            "oneDNN is not installed; install partita[onednn]"
        ) from None
    paths = [str(each.locate()) for each in files if each.name == LIBRARY]
    try:
        found = ctypes.CDLL(paths[0])
    except (IndexError, OSError) as error:
        reason = str(error) if paths else f"{DISTRIBUTION} has no {LIBRARY}"
        raise ArtifactError(f"oneDNN cannot be loaded: {reason}") from None
    found.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
    found.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
    return found


def _call(name: str, *arguments: object) -> None:
    """Call a function of the library; raise `ArtifactError` if it fails."""
    status = library()[name](*arguments)
    if status:
        reason = _STATUS.get(status, f"status {status}")
        raise ArtifactError(f"{name} of oneDNN failed: {reason}")


class _Handle:
    """A pointer to what the library made, destroyed with this."""

    def __init__(self, kind: str, pointer: ctypes.c_void_p):
        self.pointer = self._as_parameter_ = pointer
        self._finalizer = weakref.finalize(
            self, library()[f"dnnl_{kind}_destroy"], pointer
        )


def _make(name: str, *arguments: object) -> ctypes.c_void_p:
    pointer = ctypes.c_void_p()
    _call(name, ctypes.byref(pointer), *arguments)
    return pointer


@cache
def _engine() -> _Handle:
    pointer = _make("dnnl_engine_create", _CPU, ctypes.c_size_t(0))
    return _Handle("engine", pointer)


@cache
def _openmp() -> ctypes.CDLL:
    return ctypes.CDLL(THREADING)


def thread_count() -> int:
    """Return how many threads the library uses, in this thread."""
    return _openmp().omp_get_max_threads()


@contextmanager
def threads(count: int) -> Generator[None]:
    """Let the library use so many threads, in this thread; primitives are made for the number that runs them."""
    openmp, before = _openmp(), thread_count()
    openmp.omp_set_num_threads(count)
    try:
        yield
    finally:
        openmp.omp_set_num_threads(before)


def _dims(values: Shape) -> "ctypes.Array[ctypes.c_int64]":
    return (ctypes.c_int64 * _MAX_RANK)(*values)


class Layout(_Handle):
    """How the elements of a tensor lie in memory."""

    def __init__(self, shape: Shape, pointer: ctypes.c_void_p):
        super().__init__("memory_desc", pointer)
        self.shape = tuple(shape)

    @staticmethod
    def strided(shape: Shape, strides: Shape) -> "Layout":
        """Return the layout in which a step along an axis is so many elements."""
        name = "dnnl_memory_desc_create_with_strides"
        pointer = _make(name, len(shape), _dims(shape), _F32, _dims(strides))
        return Layout(shape, pointer)

    @staticmethod
    def plain(shape: Shape) -> "Layout":
        """Return the layout of arrays."""
        shape = tuple(shape) or (1,)
        strides = [1]
        for extent in shape[:0:-1]:
            strides.append(strides[-1] * extent)
        return Layout.strided(shape, strides[::-1])

    @staticmethod
    def channels_last(shape: Shape) -> "Layout":
        """Return the layout of images whose channels, axis 1 of the shape, are next to each other."""
        batch, channels, height, width = shape
        pixels = width * channels
        return Layout.strided(
            (batch, channels, height, width), (height * pixels, 1, pixels, channels)
        )

    @staticmethod
    def any(shape: Shape) -> "Layout":
        """Return the layout that a description replaces by the one that it likes best."""
        name = "dnnl_memory_desc_create_with_tag"
        return Layout(shape, _make(name, len(shape), _dims(shape), _F32, _ANY))

    @property
    def size(self) -> int:
        """Bytes, padding included."""
        return library().dnnl_memory_desc_get_size(self)

    def equals(self, other: "Layout") -> bool:
        return bool(library().dnnl_memory_desc_equal(self, other))


class Memory(_Handle):
    """Memory of the caller's, in a layout."""

    def __init__(self, layout: Layout):
        super().__init__("memory", _make("dnnl_memory_create", layout, _engine(), None))

    def place(self, address: int) -> None:
        """Say where it is."""
        _call("dnnl_memory_set_data_handle", self, ctypes.c_void_p(address))


class PostOps(_Handle):
    """What a primitive does to its results before it writes them."""

    def __init__(self) -> None:
        super().__init__("primitive_attr", _make("dnnl_primitive_attr_create"))
        self._ops = _Handle("post_ops", _make("dnnl_post_ops_create"))

    def unary(self, name: str, alpha: float, beta: float) -> None:
        """Apply an elementwise function."""
        numbers = ctypes.c_float(alpha), ctypes.c_float(beta)
        _call("dnnl_post_ops_append_eltwise", self._ops, UNARY[name], *numbers)
        self._set()

    def binary(self, name: str, operand: Layout) -> None:
        """Combine with another tensor."""
        _call("dnnl_post_ops_append_binary", self._ops, BINARY[name], operand)
        self._set()

    def _set(self) -> None:
        _call("dnnl_primitive_attr_set_post_ops", self, self._ops)


class Description(_Handle):
    """The implementation that the library chose, and the layouts that it wants."""

    def __init__(self, name: str, *arguments: object):
        super().__init__(
            "primitive_desc", _make(f"dnnl_{name}_primitive_desc_create", *arguments)
        )

    def source(self, shape: Shape, index: int = 0) -> Layout:
        return self._layout(_SOURCE_LAYOUT, index, shape)

    def weights(self, shape: Shape) -> Layout:
        return self._layout(_WEIGHTS_LAYOUT, 0, shape)

    def result(self, shape: Shape) -> Layout:
        return self._layout(_RESULT_LAYOUT, 0, shape)

    def argument(self, argument: int, shape: Shape) -> Layout:
        return self._layout(_ARGUMENT_LAYOUT, argument, shape)

    def _layout(self, query: int, index: int, shape: Shape) -> Layout:
        found = library().dnnl_primitive_desc_query_md(self, query, index)
        pointer = _make("dnnl_memory_desc_clone", ctypes.c_void_p(found))
        return Layout(shape, pointer)


def reorder(source: Layout, result: Layout) -> Description:
    """Describe a copy from one layout to another."""
    return Description("reorder", source, _engine(), result, _engine(), None)


def convolution(
    source: Layout,
    weights: Layout,
    bias: Layout | None,
    result: Layout,
    strides: Shape,
    dilation: Shape,
    padding: Shape,
    post: PostOps,
) -> Description:
    """Describe a convolution; `padding` is top, left, bottom, right, and taps at a `dilation` of 1 are neighbours."""
    return Description(
        "convolution_forward",
        _engine(),
        *(_INFERENCE, _DIRECT, source, weights, bias, result),
        *(_dims(strides), _dims([each - 1 for each in dilation])),
        *(_dims(padding[:2]), _dims(padding[2:]), post),
    )


def matmul(
    source: Layout, weights: Layout, bias: Layout | None, result: Layout, post: PostOps
) -> Description:
    """Describe a product of matrices, or of stacks of them."""
    return Description("matmul", _engine(), source, weights, bias, result, post)


def pool(
    name: str,
    source: Layout,
    result: Layout,
    kernel: Shape,
    strides: Shape,
    dilation: Shape,
    padding: Shape,
) -> Description:
    """Describe a pool."""
    return Description(
        "pooling_forward",
        *(_engine(), _INFERENCE, POOLS[name], source, result),
        *(_dims(strides), _dims(kernel), _dims([each - 1 for each in dilation])),
        *(_dims(padding[:2]), _dims(padding[2:]), None),
    )


def unary(name: str, layout: Layout, alpha: float, beta: float) -> Description:
    """Describe an elementwise function."""
    return Description(
        "eltwise_forward",
        *(_engine(), _INFERENCE, UNARY[name], layout, layout),
        *(ctypes.c_float(alpha), ctypes.c_float(beta), None),
    )


def binary(name: str, first: Layout, second: Layout, post: PostOps) -> Description:
    """Describe a function of two operands, of which the second may have to be repeated."""
    return Description("binary", _engine(), BINARY[name], first, second, first, post)


def concatenation(sources: Sequence[Layout], axis: int) -> Description:
    """Describe the concatenation of tensors."""
    pointers: Any = (ctypes.c_void_p * len(sources))(
        *(each.pointer for each in sources)
    )
    return Description("concat", _engine(), None, len(sources), axis, pointers, None)


def softmax(layout: Layout, axis: int) -> Description:
    """Describe a softmax."""
    return Description(
        "softmax_forward",
        *(_engine(), _INFERENCE, _SOFTMAX, layout, layout, axis, None),
    )


class _Argument(ctypes.Structure):
    _fields_ = (("argument", ctypes.c_int), ("memory", ctypes.c_void_p))


class Primitive(_Handle):
    """Code that is ready to run on memory."""

    def __init__(self, description: Description, arguments: Mapping[int, Memory]):
        super().__init__("primitive", _make("dnnl_primitive_create", description))
        self._memories = tuple(arguments.values())
        self.count = len(arguments)
        self.arguments = (_Argument * len(arguments))(
            *((key, each.pointer) for key, each in arguments.items())
        )


class Stream(_Handle):
    """What runs primitives, one after the other."""

    def __init__(self) -> None:
        pointer = _make("dnnl_stream_create", _engine(), ctypes.c_uint(_STREAM))
        super().__init__("stream", pointer)

    def run(self, primitives: Sequence[Primitive]) -> None:
        """Run primitives and wait for the last."""
        execute = "dnnl_primitive_execute"
        for each in primitives:
            _call(execute, each, self, each.count, each.arguments)
        _call("dnnl_stream_wait", self)
