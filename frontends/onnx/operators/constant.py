"""Constants, and what is known from types alone."""

import numpy as np
from onnx import AttributeProto
from xdsl.ir import SSAValue

from partita.frontends.onnx.builder import constant, splat
from partita.frontends.onnx.node import Node, table
from partita.frontends.onnx.tensors import dense_array, dtype_of_code, type_name
from partita.shapes import dtype_of, element_of, shape_of


def constant_node(node: Node) -> SSAValue:
    """Return the value, which is in one of several attributes."""
    array = node.tensor("value")
    if array is not None:
        return constant(array)
    for name, attribute in node.attributes.items():
        match name:
            case "value_float":
                return constant(np.array(attribute.f, np.float32))
            case "value_floats":
                return constant(np.array(attribute.floats, np.float32))
            case "value_int":
                return constant(np.array(attribute.i, np.int64))
            case "value_ints":
                return constant(np.array(attribute.ints, np.int64))
            case "sparse_value" if attribute.type == AttributeProto.SPARSE_TENSOR:
                what = f"attribute {name} of node {node.label}"
                return constant(dense_array(attribute.sparse_tensor, None, what))
            case _:
                node.fail(f"a constant in attribute {name} is not supported")
    node.fail("expected an attribute with a value, got none")


def constant_of_shape(node: Node) -> SSAValue:
    """Repeat one value; it is not repeated in memory."""
    shape = node.constant_integers(0, "shape")
    if min(shape, default=0) < 0:
        node.fail(f"expected a shape without negative extents, got {shape}")
    value = node.tensor("value")
    if value is not None and value.size != 1:
        node.fail(f"expected attribute value of one element, got {value.size}")
    return splat(shape, np.float32(0) if value is None else value.reshape(-1)[0])


def shape_node(node: Node) -> SSAValue:
    """Return the extents from `start` to `end`, which must be static."""
    data = node.operand(0)
    rank = len(shape_of(data))
    start, end = node.integer("start", 0), node.integer("end", rank)
    wanted = shape_of(data)[start:end]
    if any(extent < 0 for extent in wanted):
        node.static(data, "data")
    return constant(np.array(wanted, np.int64))


def size(node: Node) -> SSAValue:
    shape = node.static(node.operand(0), "data")
    return constant(np.array(np.prod(shape, dtype=np.int64)))


def range_node(node: Node) -> SSAValue:
    start, limit, delta = (
        node.one_element(index, name)
        for index, name in enumerate(("start", "limit", "delta"))
    )
    if delta == 0:
        node.fail("expected delta other than 0, got 0")
    made = np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)
    return constant(made)


def non_zero(node: Node) -> SSAValue:
    """How many there are must be known, so the data must be a constant."""
    return constant(np.array(np.nonzero(node.constant(0, "data")), np.int64))


def eye_like(node: Node) -> SSAValue:
    data = node.operand(0)
    shape = node.static(data, "data")
    if len(shape) != 2:
        node.fail(f"expected data of rank 2, got {len(shape)}")
    code = node.integer("dtype", 0)
    dtype = dtype_of_code(code) if code else dtype_of(element_of(data))
    if dtype is None:
        node.fail(f"elements of type {type_name(code)} are not supported")
    return constant(np.eye(*shape, k=node.integer("k", 0), dtype=dtype))


CONSTANT = table(
    {
        "Constant": constant_node,
        "ConstantOfShape": constant_of_shape,
        "EyeLike": eye_like,
        "NonZero": non_zero,
        "Range": range_node,
        "Shape": shape_node,
        "Size": size,
    }
)
