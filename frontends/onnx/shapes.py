"""Shapes of a model's inputs: what the model says, made static by what the user says."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

import onnx
from xdsl.dialects.builtin import AnyTensorType

from partita.errors import ModelError
from partita.frontends.onnx.tensors import element_of_code, type_name
from partita.shapes import DYNAMIC, check_shapes, tensor_of

Shapes = Mapping[str, Sequence[int]]
"""By name of an input its shape, by name of a symbolic dimension its one extent."""


SHAPE_EXAMPLE = "x=1x3x224x224, or an extent such as N=1"
"""How `--shape` is written."""


def input_types(
    inputs: Sequence[onnx.ValueInfoProto], shapes: Shapes, others: Iterable[str] = ()
) -> tuple[AnyTensorType, ...]:
    """Return the types of inputs; raise `ModelError` for one that is no tensor, or contradicts `shapes`.

    What else `shapes` may name is in `others`.
    """
    check_shapes(shapes)
    names = {each.name for each in inputs}
    symbols = {
        dim.dim_param
        for each in inputs
        for dim in each.type.tensor_type.shape.dim
        if dim.dim_param
    }
    for name in {*shapes} - {*others}:
        if name not in names | symbols:
            close = get_close_matches(name, sorted(names | symbols), 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            known = ", ".join([*sorted(names), *sorted(symbols)]) or "none"
            raise ModelError(
                f"expected an input or a symbolic dimension of the model ({known}), got {name}{hint}"
            )
    return tuple(_input_type(each, shapes) for each in inputs)


def _input_type(value: onnx.ValueInfoProto, shapes: Shapes) -> AnyTensorType:
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        got = "no type" if kind is None else kind.removesuffix("_type")
        raise ModelError(f"input {value.name}: expected a tensor, got {got}")
    tensor = value.type.tensor_type
    element = element_of_code(tensor.elem_type)
    if element is None:
        raise ModelError(
            f"input {value.name}: expected numeric or boolean elements, got {type_name(tensor.elem_type)}"
        )
    given = shapes.get(value.name)
    if not tensor.HasField("shape"):
        if given is None:
            raise ModelError(
                f"input {value.name} has no shape; pass --shape {value.name}=…"
            )
        return tensor_of(tuple(given), element)
    declared = tuple(_extent(dim, shapes) for dim in tensor.shape.dim)
    if given is not None:
        fits = len(given) == len(declared) and all(
            want in (DYNAMIC, got) for want, got in zip(declared, given, strict=True)
        )
        if not fits:
            raise ModelError(
                f"input {value.name}: expected a shape of the form {shape_text(declared)}, got {shape_text(given)}"
            )
        declared = tuple(given)
    return tensor_of(declared, element)


def _extent(dim: onnx.TensorShapeProto.Dimension, shapes: Shapes) -> int:
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value >= 0 else DYNAMIC
    extent = shapes.get(dim.dim_param) if dim.dim_param else None
    if extent is None:
        return DYNAMIC
    if len(extent) != 1:
        raise ModelError(
            f"expected one extent for dimension {dim.dim_param}, got {shape_text(extent) or 'none'}"
        )
    return extent[0]


def shape_text(shape: Sequence[int]) -> str:
    """Write a shape as `--shape` takes it, `?` for what is not known."""
    return "x".join("?" if extent == DYNAMIC else str(extent) for extent in shape)


def way_out(names: Sequence[str], types: Sequence[AnyTensorType]) -> str:
    """Say how to make the inputs static."""
    dynamic = [
        f"--shape {name}={shape_text(type.get_shape())}"
        for name, type in zip(names, types, strict=True)
        if DYNAMIC in type.get_shape()
    ]
    if not dynamic:
        return "its shape depends on values that are known only at run time"
    return f"pass {' '.join(dynamic)} with a number for each ?"
