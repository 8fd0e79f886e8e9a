"""Runs programs of target `onednn` through oneDNN: each op is a primitive, in whatever layout suits it.

A program is JSON. Tensors are single-precision and have names: `input0`, … are the inputs, those of `weights` are the
weights by number, seen in a shape, and every op makes one more:

    {"weights": {"weight0": {"number": 0, "shape": [64, 3, 7, 7]}, "weight1": {"number": 1, "shape": [64]}},
     "ops": [{"op": "convolution", "origin": "conv_1, relu_1", "operands": ["input0", "weight0", "weight1"],
              "result": "value0", "shape": [1, 64, 112, 112], "strides": [2, 2], "dilation": [1, 1],
              "padding": [3, 3, 3, 3], "groups": 1,
              "post": [{"op": "add", "operand": "input1"}, {"op": "relu", "alpha": 0.0, "beta": 0.0}]}],
     "outputs": ["value0"]}

When it is loaded, oneDNN chooses a layout for each tensor; weights are brought into theirs once and for all, and
copies are inserted where two ops do not agree. Intermediate tensors share memory as far as they are not needed at once.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from partita.errors import ArtifactError
from partita.runtime import dnnl
from partita.runtime.dnnl import Description, Layout, Memory, PostOps, Primitive, Stream
from partita.runtime.json_reader import Node
from partita.runtime.loaders import LoaderContext
from partita.runtime.plan import ALIGNMENT, TensorSpec
from partita.runtime.tensors import Array, aligned, aligned_empty

MEMBER = "program.json"
"""The name of the program among the files of a module."""


def load(
    files: Mapping[str, bytes],
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    weights: Sequence[Array],
    options: Mapping[str, object],
    context: LoaderContext,
) -> "Network":
    """Prepare a program; raise `ArtifactError` if it is none, or oneDNN refuses it."""
    reason = dnnl.problem()
    if reason is not None:
        raise ArtifactError(reason)
    if MEMBER not in files:
        raise ArtifactError(f"it has no file {MEMBER}")
    count = options.get("threads")
    threads = context.threads
    if isinstance(count, int) and count > 0:
        threads = min(count, threads)
    with dnnl.threads(threads):
        builder = Builder([each.shape for each in inputs], weights)
        try:
            builder.read(Node.parse(files[MEMBER], MEMBER))
        except KeyError as error:
            raise ArtifactError(f"{MEMBER} has no tensor or op {error}") from None
        return Network(builder, threads)


class Storage:
    """Memory of a tensor, or of several that are the same elements in other shapes."""

    def __init__(self, size: int, array: Array | None = None):
        self.size = size
        self.array = array
        """A constant's own memory."""
        self.output: int | None = None
        """The output that it is the memory of."""
        self.input: int | None = None
        """The input that it is the memory of."""
        self.memories: list[Memory] = []
        self.address = 0

    @property
    def is_inner(self) -> bool:
        return self.array is None and self.output is None and self.input is None

    def memory(self, layout: Layout) -> Memory:
        """Return this memory in a layout."""
        memory = Memory(layout)
        self.memories.append(memory)
        if self.array is not None:
            memory.place(self.array.ctypes.data)
        return memory

    def place(self, address: int) -> None:
        """Say where it is."""
        if address != self.address:
            for each in self.memories:
                each.place(address)
            self.address = address


class Tensor:
    """Elements in a layout, somewhere."""

    def __init__(self, layout: Layout, storage: Storage):
        self.layout = layout
        self.storage = storage

    @property
    def shape(self) -> tuple[int, ...]:
        return self.layout.shape

    @staticmethod
    def like(layout: Layout) -> "Tensor":
        """Return a tensor with memory of its own."""
        return Tensor(layout, Storage(layout.size))


class Builder:
    """Makes primitives of ops, in order."""

    def __init__(self, inputs: Sequence[Sequence[int]], weights: Sequence[Array]):
        self.inputs: list[Storage] = []
        self.outputs: list[Storage] = []
        self.primitives: list[Primitive] = []
        self.uses: list[tuple[Storage, ...]] = []
        """What each primitive reads and writes."""
        self._weights = [aligned(each) for each in weights]
        self._tensors: dict[str, Tensor] = {}
        self._stream = Stream()
        for index, shape in enumerate(inputs):
            tensor = Tensor.like(Layout.plain(shape))
            tensor.storage.input = index
            self.inputs.append(tensor.storage)
            self._tensors[f"input{index}"] = tensor

    def read(self, program: Node) -> None:
        """Prepare a whole program."""
        for name, node in program["weights"].fields().items():
            layout = Layout.plain(_integers(node["shape"]))
            number = node["number"].integer()
            if number >= len(self._weights):
                raise node["number"].fail(f"a number below {len(self._weights)}")
            array = self._weights[number]
            if array.nbytes != layout.size:
                raise node["shape"].fail(f"a shape of {array.size} elements")
            self._tensors[name] = Tensor(layout, Storage(array.nbytes, array))
        for node in program["ops"].items():
            name = node["op"].string()
            result = OPS[name](self, node)
            if result.shape != (_integers(node["shape"]) or (1,)):
                raise node["shape"].fail(f"{list(result.shape)}")
            self._tensors[node["result"].string()] = result
        for node in program["outputs"].items():
            self._output(self._tensors[node.string()])

    def _output(self, tensor: Tensor) -> None:
        """Let a tensor be the next output, where it lies if it can be."""
        index = len(self.outputs)
        layout = Layout.plain(tensor.shape)
        if not (tensor.storage.is_inner and tensor.layout.equals(layout)):
            tensor = self._copy(tensor, layout)
        tensor.storage.output = index
        self.outputs.append(tensor.storage)

    def operands(self, node: Node) -> list[Tensor]:
        return [self._tensors[each.string()] for each in node["operands"].items()]

    def run(
        self,
        description: Description,
        arguments: Mapping[int, Tensor],
        result: Tensor,
    ) -> Tensor:
        """Add a primitive and return its result."""
        used = {**arguments, dnnl.RESULT: result}
        self.primitives.append(
            Primitive(
                description,
                {key: each.storage.memory(each.layout) for key, each in used.items()},
            )
        )
        self.uses.append(tuple(each.storage for each in used.values()))
        return result

    def bring(self, tensor: Tensor, layout: Layout) -> Tensor:
        """Return a tensor in a layout, copied if need be; a constant is copied now."""
        if tensor.layout.equals(layout):
            return tensor
        if tensor.storage.array is None:
            return self._copy(tensor, layout)
        array = aligned_empty((layout.size,), np.dtype(np.uint8))
        result = Tensor(layout, Storage(layout.size, array))
        memories = {
            dnnl.SOURCE: tensor.storage.memory(tensor.layout),
            dnnl.RESULT: result.storage.memory(layout),
        }
        description = dnnl.reorder(tensor.layout, layout)
        self._stream.run([Primitive(description, memories)])
        return result

    def _copy(self, tensor: Tensor, layout: Layout) -> Tensor:
        return self.run(
            dnnl.reorder(tensor.layout, layout),
            {dnnl.SOURCE: tensor},
            Tensor.like(layout),
        )

    def plain(self, tensor: Tensor) -> Tensor:
        """Return a tensor as arrays lie."""
        return self.bring(tensor, Layout.plain(tensor.shape))

    def post(self, node: Node) -> tuple[PostOps, list[Tensor | None]]:
        """Return the post-ops of an op, and the operand of each."""
        made, operands = PostOps(), list[Tensor | None]()
        shape = _integers(node["shape"])
        for each in node["post"].items():
            name = each["op"].string()
            if name in dnnl.UNARY:
                made.unary(name, _number(each["alpha"]), _number(each["beta"]))
                operands.append(None)
                continue
            operand = self._tensors[each["operand"].string()]
            layout = Layout.any(shape)
            if operand.shape != shape:
                operand = self.plain(operand)
                layout = operand.layout
            made.binary(name, layout)
            operands.append(operand)
        return made, operands

    def post_arguments(
        self, description: Description, operands: Sequence[Tensor | None]
    ) -> dict[int, Tensor]:
        """Return the operands of post-ops, in the layouts that are wanted."""
        arguments: dict[int, Tensor] = {}
        for index, each in enumerate(operands):
            if each is not None:
                key = dnnl.post_operand(index)
                layout = description.argument(key, each.shape)
                arguments[key] = self.bring(each, layout)
        return arguments


def _integers(node: Node) -> tuple[int, ...]:
    return node.each(Node.integer)


def _number(node: Node) -> float:
    if not isinstance(node.value, int | float):
        raise node.fail("a number")
    return node.value


def _convolution(builder: Builder, node: Node) -> Tensor:
    data, weights, *bias = builder.operands(node)
    groups, shape = node["groups"].integer(), _integers(node["shape"])
    if groups > 1:
        outputs, *others = weights.shape
        weights = builder.plain(weights)
        layout = Layout.plain((groups, outputs // groups, *others))
        weights = Tensor(layout, weights.storage)
    post, operands = builder.post(node)
    description = dnnl.convolution(
        Layout.any(data.shape),
        Layout.any(weights.shape),
        bias[0].layout if bias else None,
        Layout.any(shape),
        _integers(node["strides"]),
        _integers(node["dilation"]),
        _integers(node["padding"]),
        post,
    )
    return builder.run(
        description,
        {
            dnnl.SOURCE: builder.bring(data, description.source(data.shape)),
            dnnl.WEIGHTS: builder.bring(weights, description.weights(weights.shape)),
            **({dnnl.BIAS: bias[0]} if bias else {}),
            **builder.post_arguments(description, operands),
        },
        Tensor.like(description.result(shape)),
    )


def _matmul(builder: Builder, node: Node) -> Tensor:
    data, weights, *bias = builder.operands(node)
    shape = _integers(node["shape"])
    data = builder.plain(data)
    weights = builder.plain(weights)
    if node["transposed"].value:
        *stack, columns, rows = weights.shape
        strides = [
            rows * columns * prod(stack[axis + 1 :]) for axis in range(len(stack))
        ]
        layout = Layout.strided((*stack, rows, columns), (*strides, 1, rows))
        weights = Tensor(layout, weights.storage)
    constant = weights.storage.array is not None
    post, operands = builder.post(node)
    description = dnnl.matmul(
        data.layout,
        Layout.any(weights.shape) if constant else weights.layout,
        bias[0].layout if bias else None,
        Layout.plain(shape),
        post,
    )
    return builder.run(
        description,
        {
            dnnl.SOURCE: data,
            dnnl.WEIGHTS: builder.bring(weights, description.weights(weights.shape)),
            **({dnnl.BIAS: bias[0]} if bias else {}),
            **builder.post_arguments(description, operands),
        },
        Tensor.like(description.result(shape)),
    )


def _pool(builder: Builder, node: Node) -> Tensor:
    (data,) = builder.operands(node)
    shape = _integers(node["shape"])
    description = dnnl.pool(
        node["op"].string(),
        data.layout,
        Layout.any(shape),
        _integers(node["kernel"]),
        _integers(node["strides"]),
        _integers(node["dilation"]),
        node["padding"].each(_signed),
    )
    result = Tensor.like(description.result(shape))
    return builder.run(description, {dnnl.SOURCE: data}, result)


def _signed(node: Node) -> int:
    if not isinstance(node.value, int):
        raise node.fail("an integer")
    return node.value


def _unary(builder: Builder, node: Node) -> Tensor:
    (data,) = builder.operands(node)
    numbers = _number(node["alpha"]), _number(node["beta"])
    description = dnnl.unary(node["op"].string(), data.layout, *numbers)
    return builder.run(description, {dnnl.SOURCE: data}, Tensor.like(data.layout))


def _binary(builder: Builder, node: Node) -> Tensor:
    first, second = builder.operands(node)
    if len(first.shape) == 4 and not first.layout.equals(Layout.plain(first.shape)):
        # Operands that are repeated, and post-ops, are slow in layouts of blocks.
        first = builder.bring(first, Layout.channels_last(first.shape))
    same = first.shape == second.shape
    second = builder.bring(second, first.layout) if same else builder.plain(second)
    post, operands = builder.post(node)
    description = dnnl.binary(node["op"].string(), first.layout, second.layout, post)
    return builder.run(
        description,
        {
            dnnl.SOURCE: first,
            dnnl.SECOND: second,
            **builder.post_arguments(description, operands),
        },
        Tensor.like(first.layout),
    )


def _concatenate(builder: Builder, node: Node) -> Tensor:
    parts = builder.operands(node)
    if len(parts[0].shape) == 4 and any(map(_is_channels_last, parts)):
        parts = [
            builder.bring(each, Layout.channels_last(each.shape)) for each in parts
        ]
    description = dnnl.concatenation(
        [each.layout for each in parts], node["axis"].integer()
    )
    return builder.run(
        description,
        {dnnl.SOURCES + index: each for index, each in enumerate(parts)},
        Tensor.like(description.result(_integers(node["shape"]))),
    )


def _is_channels_last(tensor: Tensor) -> bool:
    return tensor.layout.equals(Layout.channels_last(tensor.shape))


def _softmax(builder: Builder, node: Node) -> Tensor:
    (data,) = builder.operands(node)
    data = builder.plain(data)
    description = dnnl.softmax(data.layout, node["axis"].integer())
    return builder.run(description, {dnnl.SOURCE: data}, Tensor.like(data.layout))


def _view(builder: Builder, node: Node) -> Tensor:
    (data,) = builder.operands(node)
    layout = Layout.plain(_integers(node["shape"]))
    if layout.size != Layout.plain(data.shape).size:
        raise node["shape"].fail(f"a shape of {prod(data.shape)} elements")
    return Tensor(layout, builder.plain(data).storage)


def _transpose(builder: Builder, node: Node) -> Tensor:
    (data,) = builder.operands(node)
    data = builder.plain(data)
    axes = _integers(node["axes"])
    if sorted(axes) != list(range(len(data.shape))):
        raise node["axes"].fail(f"each axis of {list(data.shape)}")
    strides = [prod(data.shape[axis + 1 :]) for axis in axes]
    shape = [data.shape[axis] for axis in axes]
    return builder.plain(Tensor(Layout.strided(shape, strides), data.storage))


OPS: Mapping[str, Callable[[Builder, Node], Tensor]] = {
    "convolution": _convolution,
    "matmul": _matmul,
    "concatenate": _concatenate,
    "softmax": _softmax,
    "transpose": _transpose,
    "view": _view,
    **dict.fromkeys(dnnl.POOLS, _pool),
    **dict.fromkeys(dnnl.UNARY, _unary),
    **dict.fromkeys(dnnl.BINARY, _binary),
}
"""What each op of a program becomes."""


class Network:
    """A program that is ready to run; calls must not overlap."""

    def __init__(self, builder: Builder, threads: int):
        self._primitives = builder.primitives
        self._inputs = builder.inputs
        self._outputs = builder.outputs
        self._threads = threads
        self._stream = Stream()
        self._constants = {
            id(each): each.array
            for used in builder.uses
            for each in used
            if each.array is not None
        }
        """Kept alive: primitives use their memory."""
        offsets, size = _arranged(builder.uses)
        self._arena = aligned_empty((size,), np.dtype(np.uint8))
        for storage, offset in offsets:
            storage.place(self._arena.ctypes.data + offset)

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        for storage, array in zip(self._inputs, inputs, strict=True):
            storage.place(array.ctypes.data)
        for storage, array in zip(self._outputs, outputs, strict=True):
            storage.place(array.ctypes.data)
        with dnnl.threads(self._threads):
            self._stream.run(self._primitives)


def _arranged(
    uses: Sequence[tuple[Storage, ...]],
) -> tuple[list[tuple[Storage, int]], int]:
    """Return the offsets of inner memories, disjoint while both are needed, and how much there is."""
    last = {
        id(storage): step
        for step, used in enumerate(uses)
        for storage in used
        if storage.is_inner
    }
    placed: list[tuple[Storage, int]] = []
    live: list[tuple[int, int, int]] = []
    known: set[int] = set()
    size = 0
    for step, used in enumerate(uses):
        live = [each for each in live if each[2] >= step]
        for storage in used:
            if not storage.is_inner or id(storage) in known:
                continue
            known.add(id(storage))
            start = 0
            for begin, end, _ in sorted(live):
                if start + storage.size <= begin:
                    break
                start = max(start, end)
            end = start + -(-storage.size // ALIGNMENT) * ALIGNMENT
            live.append((start, end, last[id(storage)]))
            placed.append((storage, start))
            size = max(size, end)
    return placed, size
