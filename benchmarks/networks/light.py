"""The light graphs of the `onnx` package, made to compute something.

As shipped, their weights are constants (all 0.02, say), so that a wrong convolution gives the right answer. Here each
weight is random at He scale, batch norms carry measured statistics, and the final softmax, which saturates, is gone.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from zlib import crc32

import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference

from networks.statistics import Array, copy_batch_norms, measure_batch_norms

LIGHT = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)
"""The names that `light` knows."""

SHIPPED_IMAGE = 224

Shapes = dict[str, tuple[int, ...]]


def light(name: str, image: int = SHIPPED_IMAGE, seed: int = 0) -> onnx.ModelProto:
    """Make a light graph with seeded random weights, for square images of the given size.

    An image smaller than 224 makes a network for interpreters: windows that covered the whole image
    still do, and dense layers shrink with it. 64 does for most, AlexNet and ZFNet need 128. Convolutions
    and batch norms have the weights of the full-size network.
    """
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    model = onnx.load_model_from_string((folder / f"light_{name}.onnx").read_bytes())
    graph = model.graph
    arrays = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    shapes: Shapes = {
        key: value.shape for key, value in arrays.items() if value.dtype.kind == "f"
    }
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            shape = arrays.pop(node.input[0])
            shapes[node.output[0]] = tuple(int(extent) for extent in shape)
    integers = {key: value for key, value in arrays.items() if key not in shapes}
    nodes = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    inputs = [
        value
        for value in graph.input
        if value.name in _used(nodes) and value.name not in {*arrays, *shapes}
    ]
    output = graph.output[0]
    if nodes[-1].op_type == "Softmax":
        output.name = nodes.pop().input[0]
    graph.ClearField("value_info")
    graph.ClearField("initializer")
    graph.ClearField("input")
    graph.ClearField("node")
    graph.input.extend(inputs)
    graph.node.extend(nodes)
    if image != SHIPPED_IMAGE:
        _shrink(model, image, shapes, integers)
    used = _used(graph.node)
    roles = _roles(graph.node)
    graph.initializer.extend(
        numpy_helper.from_array(value, key)
        for key, value in integers.items()
        if key in used
    )
    for key, shape in shapes.items():
        if key in used:
            rng = np.random.default_rng((crc32(key.encode()), seed))
            value = _random(rng, roles[key], shape)
            graph.initializer.append(numpy_helper.from_array(value, key))
    model.ir_version = 4
    if image == SHIPPED_IMAGE:
        measure_batch_norms(model)
    elif any(node.op_type == "BatchNormalization" for node in graph.node):
        copy_batch_norms(light(name, seed=seed), model)
    return model


def _used(nodes: Iterable[onnx.NodeProto]) -> set[str]:
    return {name for node in nodes for name in node.input}


def _roles(nodes: Iterable[onnx.NodeProto]) -> dict[str, tuple[str, int]]:
    """Map each name to the op type and operand number that it ends up at, seen through reshapes of weights."""
    roles: dict[str, tuple[str, int]] = {}
    for node in reversed(list(nodes)):
        for place, name in enumerate(node.input):
            if node.op_type in ("Reshape", "Unsqueeze") and node.output[0] in roles:
                roles[name] = roles[node.output[0]]
            else:
                roles[name] = (node.op_type, place)
    return roles


def _random(
    rng: np.random.Generator, role: tuple[str, int], shape: tuple[int, ...]
) -> Array:
    """Make a weight: He scale for filters and matrices, scales around 1, shifts around 0."""
    match role:
        case ("Conv" | "Gemm", 1):
            fan_in = int(np.prod(shape[1:])) if role[0] == "Conv" else shape[-1:][0]
            value = rng.standard_normal(shape, dtype=np.float32)
            value *= np.float32(np.sqrt(2 / fan_in))
            return value
        case ("BatchNormalization", 1) | ("Mul", _):
            return rng.uniform(0.5, 1.5, shape).astype(np.float32)
        case _:
            return (0.1 * rng.standard_normal(shape)).astype(np.float32)


def _shrink(
    model: onnx.ModelProto,
    image: int,
    shapes: Shapes,
    integers: dict[str, Array],
) -> None:
    """Change the image size, with the constants that depend on it: shapes of reshapes, windows, dense layers."""
    graph = model.graph
    for dim in graph.input[0].type.tensor_type.shape.dim[2:]:
        dim.dim_value = image
    pools = [node for node in graph.node if node.op_type == "AveragePool"]
    for node in pools[-1:]:
        strides = next((a.ints for a in node.attribute if a.name == "strides"), [1])
        if "7" in str(node.attribute) and strides[0] != 2:
            node.op_type = "GlobalAveragePool"
            node.ClearField("attribute")
    for node in graph.node:
        if node.op_type == "Reshape" and node.input[0] not in shapes:
            target = integers[node.input[1]].astype(np.int64)
            if len(target) == 2:
                target[1] = -1
            else:
                target[-2:] = target[-2:] * image // SHIPPED_IMAGE
            integers[node.input[1]] = target
    extents = _infer(model, shapes, integers)
    for node in graph.node:
        if node.op_type == "Gemm" and node.input[1] in shapes:
            features = shapes[node.input[1]][0]
            shapes[node.input[1]] = (features, extents[node.input[0]][1])


def _infer(
    model: onnx.ModelProto, shapes: Shapes, integers: Mapping[str, Array]
) -> Shapes:
    """Infer the shapes of all values, weights given by shape only."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    graph = probe.graph
    graph.initializer.extend(
        numpy_helper.from_array(value, key) for key, value in integers.items()
    )
    graph.input.extend(
        helper.make_tensor_value_info(key, onnx.TensorProto.FLOAT, shape)
        for key, shape in shapes.items()
    )
    inferred = shape_inference.infer_shapes(probe).graph.value_info
    return {
        value.name: tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
        for value in inferred
    }
