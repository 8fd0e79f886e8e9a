"""Random small ONNX models on floats: `random_model(seed)`; `random_model(seed, large=True)` has work for threads."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 18

SHAPES = ((1, 4, 9, 10), (2, 3, 7, 8), (3, 20), (6, 5, 8), (24,))

LARGE_SHAPES = ((1, 32, 28, 30), (2, 17, 33, 20), (130, 200), (5, 64, 72), (40_000,))

Shape = tuple[int, ...]


class Graph:
    """Nodes under construction; values have names and shapes."""

    def __init__(self, seed: int, largest: int):
        self.largest = largest
        """Values of more elements than this are not made larger."""
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shapes: dict[str, Shape] = {}

    def choose(self, bound: int) -> int:
        """Return a number below another."""
        return int(self.rng.integers(bound))

    def constant(self, array: NDArray[np.generic]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def numbers(self, *shape: int, low: float = -1, high: float = 1) -> str:
        """Add a constant of random numbers."""
        return self.constant(self.rng.uniform(low, high, shape).astype(np.float32))

    def integers(self, values: Sequence[int]) -> str:
        return self.constant(np.array(values, np.int64))

    def add(
        self, op: str, inputs: Sequence[str], shape: Shape, **attributes: Any
    ) -> str:
        """Add a node of one result."""
        return self.add_several(op, inputs, (shape,), **attributes)[0]

    def add_several(
        self,
        op: str,
        inputs: Sequence[str],
        shapes: Sequence[Shape],
        **attributes: Any,
    ) -> list[str]:
        names = [f"v{len(self.shapes) + i}" for i in range(len(shapes))]
        self.nodes.append(
            helper.make_node(op, inputs, names, f"n{len(self.nodes)}", **attributes)
        )
        self.shapes |= zip(names, shapes, strict=True)
        return names


Step = Callable[[Graph, str], str | None]
"""Make a value of another, `None` if that does not fit."""


def unary(graph: Graph, x: str) -> str:
    ops = ("Relu", "Tanh", "Sigmoid", "Erf", "Neg", "Abs", "LeakyRelu", "HardSigmoid")
    return graph.add(ops[graph.choose(len(ops))], [x], graph.shapes[x])


def clip(graph: Graph, x: str) -> str:
    bounds = [graph.constant(np.array(each, np.float32)) for each in (-0.75, 0.5)]
    return graph.add("Clip", [x, *bounds], graph.shapes[x])


def with_constant(graph: Graph, x: str) -> str:
    """Combine a value with a constant that broadcasts."""
    shape = graph.shapes[x]
    part = [each if graph.choose(2) else 1 for each in shape][graph.choose(2) :]
    op = ("Add", "Sub", "Mul", "Min", "Max")[graph.choose(5)]
    operands = [x, graph.numbers(*part)]
    return graph.add(op, operands[:: 1 - 2 * graph.choose(2)], shape)


def with_itself(graph: Graph, x: str) -> str:
    """Combine a value with what is made of it on another way."""
    return graph.add(
        ("Add", "Mul")[graph.choose(2)], [x, unary(graph, x)], graph.shapes[x]
    )


def select(graph: Graph, x: str) -> str:
    shape = graph.shapes[x]
    condition = graph.add("Greater", [x, graph.numbers()], shape)
    return graph.add("Where", [condition, x, graph.numbers(*shape[1:])], shape)


def reduce(graph: Graph, x: str) -> str | None:
    shape = graph.shapes[x]
    if not shape:
        return None
    op = ("ReduceMax", "ReduceMean", "ReduceSum", "ReduceMin")[graph.choose(4)]
    keep = graph.choose(2)
    axes = [axis for axis in range(len(shape)) if graph.choose(2)] or [0]
    result = tuple(
        1 if axis in axes else each
        for axis, each in enumerate(shape)
        if keep or axis not in axes
    )
    return graph.add(op, [x, graph.integers(axes)], result, keepdims=keep)


def softmax(graph: Graph, x: str) -> str | None:
    rank = len(graph.shapes[x])
    if not rank:
        return None
    op = ("Softmax", "LogSoftmax")[graph.choose(2)]
    return graph.add(op, [x], graph.shapes[x], axis=graph.choose(rank))


def layer_norm(graph: Graph, x: str) -> str | None:
    shape = graph.shapes[x]
    if not shape or shape[-1] < 4:
        return None
    scale, bias = graph.numbers(shape[-1], low=0.5), graph.numbers(shape[-1])
    return graph.add(
        "LayerNormalization", [x, scale, bias], shape, axis=-1, epsilon=0.1
    )


def reshape(graph: Graph, x: str) -> str:
    rest, shape = prod(graph.shapes[x]), list[int]()
    for factor in (2, 3, 5):
        if rest % factor == 0 and graph.choose(2):
            shape.append(factor)
            rest //= factor
    shape.insert(graph.choose(len(shape) + 1), rest)
    return graph.add("Reshape", [x, graph.integers(shape)], tuple(shape))


def transpose(graph: Graph, x: str) -> str | None:
    shape = graph.shapes[x]
    if not shape:
        return None
    order = [int(each) for each in graph.rng.permutation(len(shape))]
    return graph.add("Transpose", [x], tuple(shape[each] for each in order), perm=order)


def cut(graph: Graph, x: str) -> str | None:
    shape = graph.shapes[x]
    if not shape:
        return None
    axis = graph.choose(len(shape))
    start, step = graph.choose(shape[axis]), graph.choose(2) + 1
    result = tuple(
        -(-(each - start) // step) if i == axis else each
        for i, each in enumerate(shape)
    )
    bounds = [graph.integers([each]) for each in (start, shape[axis], axis, step)]
    return graph.add("Slice", [x, *bounds], result)


def split(graph: Graph, x: str) -> str | None:
    """Cut a value into two parts, and give the sum of their sums along the axis."""
    shape = graph.shapes[x]
    if not shape or max(shape) < 2:
        return None
    axis = shape.index(max(shape))
    first = 1 + graph.choose(shape[axis] - 1)
    sizes = [first, shape[axis] - first]
    parts = graph.add_several(
        "Split",
        [x, graph.integers(sizes)],
        [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes],
        axis=axis,
    )
    return graph.add("Concat", parts[::-1], shape, axis=axis)


def pad(graph: Graph, x: str) -> str | None:
    shape = graph.shapes[x]
    if not shape or prod(shape) > graph.largest:
        return None
    mode = ("constant", "edge", "reflect")[graph.choose(3)]
    most = [min(2, each - 1) for each in shape]
    amounts = [graph.choose(each + 1) for each in (*most, *most)]
    result = tuple(
        each + amounts[i] + amounts[i + len(shape)] for i, each in enumerate(shape)
    )
    return graph.add("Pad", [x, graph.integers(amounts)], result, mode=mode)


def gather(graph: Graph, x: str) -> str | None:
    shape = graph.shapes[x]
    if not shape:
        return None
    axis, count = graph.choose(len(shape)), graph.choose(4) + 1
    picked = [graph.choose(2 * shape[axis]) - shape[axis] for _ in range(count)]
    result = (*shape[:axis], count, *shape[axis + 1 :])
    return graph.add("Gather", [x, graph.integers(picked)], result, axis=axis)


def concatenate(graph: Graph, x: str) -> str | None:
    shape = graph.shapes[x]
    if not shape or prod(shape) > graph.largest:
        return None
    axis = graph.choose(len(shape))
    result = tuple(2 * each if i == axis else each for i, each in enumerate(shape))
    return graph.add("Concat", [x, unary(graph, x)], result, axis=axis)


def product(graph: Graph, x: str) -> str | None:
    """Multiply by a constant matrix, with a bias."""
    shape = graph.shapes[x]
    if len(shape) < 2 or shape[-1] < 2:
        return None
    count = (1, 5, 16, 40)[graph.choose(4)]
    scale = shape[-1] ** -0.5
    weight = graph.numbers(shape[-1], count, low=-scale, high=scale)
    result = (*shape[:-1], count)
    y = graph.add("MatMul", [x, weight], result)
    return graph.add("Add", [y, graph.numbers(count)], result)


def attention(graph: Graph, x: str) -> str | None:
    """Multiply two values."""
    shape = graph.shapes[x]
    if len(shape) < 2 or prod(shape) > graph.largest:
        return None
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    turned = graph.add("Transpose", [x], tuple(shape[i] for i in order), perm=order)
    small = graph.add(
        "Mul", [turned, graph.constant(np.array(0.1, np.float32))], graph.shapes[turned]
    )
    return graph.add("MatMul", [x, small], (*shape[:-1], shape[-2]))


def convolve(graph: Graph, x: str) -> str | None:
    shape = graph.shapes[x]
    if len(shape) != 4 or min(shape[2:]) < 3 or prod(shape) > graph.largest:
        return None
    kernel = 1 + 2 * graph.choose(2)
    groups = shape[1] if graph.choose(3) == 0 else 1
    features = groups if groups > 1 else (3, 16, 20)[graph.choose(3)]
    stride, padding = 1 + graph.choose(2), [graph.choose(2) for _ in range(4)]
    scale = (shape[1] // groups * kernel**2) ** -0.5
    weight = graph.numbers(
        features, shape[1] // groups, kernel, kernel, low=-scale, high=scale
    )
    size = tuple(
        (each + padding[i] + padding[i + 2] - kernel) // stride + 1
        for i, each in enumerate(shape[2:])
    )
    result = (shape[0], features, *size)
    y = graph.add(
        "Conv",
        [x, weight, graph.numbers(features)],
        result,
        strides=[stride, stride],
        pads=padding,
        group=groups,
    )
    if graph.choose(2):
        return y
    statistics = [graph.numbers(features, low=0.5) for _ in range(4)]
    return graph.add("BatchNormalization", [y, *statistics], result)


def pool(graph: Graph, x: str) -> str | None:
    shape = graph.shapes[x]
    if len(shape) != 4 or min(shape[2:]) < 3:
        return None
    op = ("MaxPool", "AveragePool")[graph.choose(2)]
    padding = [graph.choose(2) for _ in range(4)]
    size = tuple(
        (each + padding[i] + padding[i + 2] - 3) // 2 + 1
        for i, each in enumerate(shape[2:])
    )
    return graph.add(
        op,
        [x],
        (*shape[:2], *size),
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=padding,
    )


STEPS: tuple[Step, ...] = (
    *(unary, clip, with_constant, with_itself, select, reduce, softmax, layer_norm),
    *(reshape, transpose, cut, split, pad, gather, concatenate),
    *(product, attention, convolve, convolve, pool),
)


def random_model(seed: int, large: bool = False) -> onnx.ModelProto:
    """Make a model of one or two inputs, from 3 to 10 steps, and up to three outputs."""
    shapes = LARGE_SHAPES if large else SHAPES
    shape = shapes[seed % len(shapes)]
    graph = Graph(seed, 2 * prod(shape) if large else 4_000)
    inputs = ["x", "y"][: 1 + graph.choose(2)]
    graph.shapes |= dict.fromkeys(inputs, shape)
    values = list(inputs)
    if len(inputs) == 2:
        values.append(graph.add("Add", inputs, shape))
    for _ in range(3 + graph.choose(8)):
        source = values[-1 - graph.choose(min(2, len(values)))]
        made = STEPS[graph.choose(len(STEPS))](graph, source)
        if made is not None:
            values.append(made)
    outputs = list(dict.fromkeys(values[-1 - graph.choose(3) :]))
    outputs = [each for each in outputs if each not in inputs] or [unary(graph, "x")]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            f"random{seed}",
            [
                helper.make_tensor_value_info(each, TensorProto.FLOAT, shape)
                for each in inputs
            ],
            [
                helper.make_tensor_value_info(
                    each, TensorProto.FLOAT, graph.shapes[each]
                )
                for each in outputs
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=9,
    )
    return model
