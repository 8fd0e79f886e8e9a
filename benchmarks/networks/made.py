"""Networks made node by node, with seeded random weights and no file behind them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from networks.statistics import measure_batch_norms


class _Maker:
    """Collects nodes and weights; every method appends a layer and returns the name of its result."""

    def __init__(self, seed: int):
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.rng = np.random.default_rng(seed)

    def node(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(op, inputs, [name], name=f"node_{name}", **attributes)
        )
        return name

    def weight(self, array: NDArray[np.generic]) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def normal(self, *shape: int, scale: float) -> str:
        value = self.rng.standard_normal(shape, dtype=np.float32)
        return self.weight(value * np.float32(scale))

    def uniform(self, *shape: int) -> str:
        return self.weight(self.rng.uniform(0.5, 1.5, shape).astype(np.float32))

    def conv(
        self,
        data: str,
        channels: int,
        features: int,
        kernel: int = 3,
        stride: int = 1,
        groups: int = 1,
    ) -> str:
        """Convolution without bias, then batch norm."""
        fan_in = channels // groups * kernel * kernel
        weight = self.normal(
            features, channels // groups, kernel, kernel, scale=(2 / fan_in) ** 0.5
        )
        made = self.node(
            "Conv",
            [data, weight],
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[kernel // 2] * 4,
            group=groups,
        )
        scale, shift = self.uniform(features), self.normal(features, scale=0.1)
        mean, variance = (self.weight(np.ones(features, np.float32)) for _ in range(2))
        return self.node("BatchNormalization", [made, scale, shift, mean, variance])

    def linear(self, data: str, inputs: int, outputs: int) -> str:
        """Multiply by a matrix on the right and add a bias."""
        weight = self.normal(inputs, outputs, scale=inputs**-0.5)
        product = self.node("MatMul", [data, weight])
        return self.node("Add", [product, self.normal(outputs, scale=0.1)])

    def model(
        self, name: str, shape: Sequence[int], result: str, result_shape: Sequence[int]
    ) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, result_shape)],
            self.weights,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=7
        )
        measure_batch_norms(model)
        return model


def resnet18(image: int = 224, classes: int = 1000, seed: int = 0) -> onnx.ModelProto:
    """Make a ResNet-18 (He et al. 2016, table 1): 1 x 3 x image x image in, 1 x classes out."""
    net = _Maker(seed)
    x = net.node("Relu", [net.conv("x", 3, 64, kernel=7, stride=2)])
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for features in (64, 128, 256, 512):
        for _ in range(2):
            stride = 2 if features != channels else 1
            y = net.node("Relu", [net.conv(x, channels, features, stride=stride)])
            y = net.conv(y, features, features)
            if features != channels:
                x = net.conv(x, channels, features, kernel=1, stride=stride)
            x = net.node("Relu", [net.node("Add", [y, x])])
            channels = features
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])])
    weight = net.normal(classes, 512, scale=512**-0.5)
    bias = net.normal(classes, scale=0.1)
    x = net.node("Gemm", [x, weight, bias], transB=1)
    return net.model("resnet18", (1, 3, image, image), x, (1, classes))


def mobilenet(image: int = 224, classes: int = 1000, seed: int = 0) -> onnx.ModelProto:
    """Make a MobileNetV2 (Sandler et al. 2018, table 2): 1 x 3 x image x image in, 1 x classes out."""
    net = _Maker(seed)

    def relu6(data: str) -> str:
        low, high = (net.weight(np.array(v, np.float32)) for v in (0, 6))
        return net.node("Clip", [data, low, high])

    x = relu6(net.conv("x", 3, 32, stride=2))
    channels = 32
    for expansion, features, count, first_stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for index in range(count):
            wide = channels * expansion
            y = x
            if expansion > 1:
                y = relu6(net.conv(y, channels, wide, kernel=1))
            stride = first_stride if index == 0 else 1
            y = relu6(net.conv(y, wide, wide, stride=stride, groups=wide))
            y = net.conv(y, wide, features, kernel=1)
            same = stride == 1 and channels == features
            x = net.node("Add", [x, y]) if same else y
            channels = features
    x = relu6(net.conv(x, channels, 1280, kernel=1))
    x = net.node("ReduceMean", [x], axes=[2, 3], keepdims=0)
    x = net.linear(x, 1280, classes)
    return net.model("mobilenet", (1, 3, image, image), x, (1, classes))


def transformer(
    tokens: int = 128,
    width: int = 256,
    heads: int = 4,
    layers: int = 2,
    seed: int = 0,
) -> onnx.ModelProto:
    """Make a transformer encoder with layer norm first: 1 x tokens x width in and out.

    Layer norm and GELU are spelt out in elementary ops, as exporters at opset 12 do.
    """
    net = _Maker(seed)
    inner = width // heads

    def constant(value: float) -> str:
        return net.weight(np.array(value, np.float32))

    def layer_norm(data: str) -> str:
        mean = net.node("ReduceMean", [data], axes=[-1], keepdims=1)
        centred = net.node("Sub", [data, mean])
        square = net.node("Pow", [centred, constant(2)])
        variance = net.node("ReduceMean", [square], axes=[-1], keepdims=1)
        shifted = net.node("Add", [variance, constant(1e-5)])
        normal = net.node("Div", [centred, net.node("Sqrt", [shifted])])
        scaled = net.node("Mul", [normal, net.uniform(width)])
        return net.node("Add", [scaled, net.normal(width, scale=0.1)])

    def split_heads(data: str, permutation: Sequence[int]) -> str:
        shape = net.weight(np.array([1, tokens, heads, inner], np.int64))
        return net.node(
            "Transpose", [net.node("Reshape", [data, shape])], perm=permutation
        )

    def attention(data: str) -> str:
        query, key, value = (net.linear(data, width, width) for _ in range(3))
        scores = net.node(
            "MatMul",
            [split_heads(query, (0, 2, 1, 3)), split_heads(key, (0, 2, 3, 1))],
        )
        scaled = net.node("Div", [scores, constant(inner**0.5)])
        weights = net.node("Softmax", [scaled], axis=3)
        mixed = net.node("MatMul", [weights, split_heads(value, (0, 2, 1, 3))])
        turned = net.node("Transpose", [mixed], perm=[0, 2, 1, 3])
        shape = net.weight(np.array([0, 0, -1], np.int64))
        return net.linear(net.node("Reshape", [turned, shape]), width, width)

    def gelu(data: str) -> str:
        erf = net.node("Erf", [net.node("Div", [data, constant(2**0.5)])])
        half = net.node("Mul", [data, net.node("Add", [erf, constant(1)])])
        return net.node("Mul", [half, constant(0.5)])

    x = "x"
    for _ in range(layers):
        x = net.node("Add", [x, attention(layer_norm(x))])
        wide = gelu(net.linear(layer_norm(x), width, 4 * width))
        x = net.node("Add", [x, net.linear(wide, 4 * width, width)])
    x = layer_norm(x)
    return net.model("transformer", (1, tokens, width), x, (1, tokens, width))
