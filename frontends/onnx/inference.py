"""The types of results of nodes that are carried along.

They are what the user says, else what ONNX's own inference finds, else what onnxruntime finds, which knows operators
that ONNX does not, else what the model says.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from importlib.util import find_spec

import onnx
from onnx import TensorProto, helper, shape_inference
from xdsl.dialects.builtin import AnyTensorType

from partita.frontends.onnx.shapes import Shapes
from partita.frontends.onnx.tensors import element_of_code, type_name
from partita.shapes import DYNAMIC, tensor_of


@dataclass(frozen=True)
class Stated:
    """What is known of the types of results beside the nodes that make them."""

    values: Mapping[str, onnx.TypeProto] = field(
        default_factory=dict[str, onnx.TypeProto]
    )
    """What the model says, by name."""

    shapes: Shapes = field(default_factory=dict[str, Sequence[int]])
    """What the user says: shapes by name, extents by name of a symbolic dimension."""

    read: AbstractSet[str] = frozenset()
    """The names of values that nodes of the model read, or that it returns; the user may name these."""


@dataclass(frozen=True)
class Unsettled:
    """What is known of a result that is no tensor of static shape and of elements that relay has."""

    type: onnx.TypeProto | None

    why: str
    """What it is instead."""


def result_types(
    model: onnx.ModelProto | None, names: Sequence[str], stated: Stated
) -> dict[str, AnyTensorType | Unsettled]:
    """Return the types of some outputs of a model of one node, or of one that reads what is of no known type."""
    found: dict[str, onnx.TypeProto] = {}
    if model is not None:
        found = _by_onnx(model)
        if not all(_complete(found.get(name)) for name in names):
            found |= _by_onnxruntime(model)
    return {name: _result_type(name, found.get(name), stated) for name in names}


def _complete(type: onnx.TypeProto | None) -> bool:
    """Say whether nothing is left to be found out about a type."""
    if type is None or not type.HasField("tensor_type"):
        return False
    tensor = type.tensor_type
    return (
        tensor.elem_type != TensorProto.UNDEFINED
        and tensor.HasField("shape")
        and all(dim.HasField("dim_value") for dim in tensor.shape.dim)
    )


def _by_onnx(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """Infer types as ONNX does; there are none of operators that it does not know."""
    try:
        inferred = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except (shape_inference.InferenceError, RuntimeError, ValueError):
        return {}
    return {
        each.name: each.type
        for each in inferred.graph.output
        if each.type.WhichOneof("value") is not None
    }


def _by_onnxruntime(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """Infer types of tensors as onnxruntime does; none if it is not installed, or cannot run the operator."""
    if find_spec("onnxruntime") is None:
        return {}
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), settings, ["CPUExecutionProvider"]
        )
    except Exception:  # onnxruntime raises a dozen types that share no base
        return {}
    types: dict[str, onnx.TypeProto] = {}
    for each in session.get_outputs():
        code = _CODES.get(each.type)
        if code is not None:
            # onnxruntime says of a shape that it does not know what it says of a scalar's.
            shape = each.shape or None
            types[each.name] = helper.make_tensor_type_proto(code, shape)
    return types


_CODES: Mapping[str, int] = {
    f"tensor({name})": TensorProto.DataType.Value(code)
    for name, code in (
        *((name, name.upper()) for name in ("float", "double", "float16", "bool")),
        *((name, name.upper()) for name in ("string", "bfloat16")),
        *((f"int{bits}", f"INT{bits}") for bits in (8, 16, 32, 64)),
        *((f"uint{bits}", f"UINT{bits}") for bits in (8, 16, 32, 64)),
    )
}
"""Element types by the names that onnxruntime has for tensors of them."""


def _result_type(
    name: str, found: onnx.TypeProto | None, stated: Stated
) -> AnyTensorType | Unsettled:
    """Put together what is known of one output."""
    if not _complete(found) and name in stated.values:
        found = stated.values[name] if found is None else _merged(found, stated, name)
    named = name in stated.read
    shown = name if named else name.rpartition("/")[2]
    if found is not None and not found.HasField("tensor_type"):
        kind = str(found.WhichOneof("value")).removesuffix("_type")
        why = f"expected output {shown} as a tensor, got type {kind}"
        return Unsettled(found, f"{why}; compiled models return nothing else")
    code = TensorProto.UNDEFINED if found is None else found.tensor_type.elem_type
    if code == TensorProto.UNDEFINED:
        return Unsettled(
            None,
            f"the type of output {shown} is not known; state it in the model's value_info",
        )
    element = element_of_code(code)
    if element is None:
        return Unsettled(
            found,
            f"expected output {shown} of numeric or boolean elements, got {type_name(code)}",
        )
    given = stated.shapes.get(name)
    if given is not None:
        return tensor_of(tuple(given), element)
    shape = _shape(found, stated)
    if shape is None or DYNAMIC in shape:
        way_out = f"; if it is always the same, pass --shape {name}=…" if named else ""
        return Unsettled(found, f"the shape of output {shown} is not known{way_out}")
    return tensor_of(shape, element)


def _merged(found: onnx.TypeProto, stated: Stated, name: str) -> onnx.TypeProto:
    """Prefer what the model says of a shape that was not found."""
    if not found.HasField("tensor_type") or not stated.values[name].HasField(
        "tensor_type"
    ):
        return found
    made = onnx.TypeProto()
    made.CopyFrom(stated.values[name])
    if found.tensor_type.elem_type != TensorProto.UNDEFINED:
        made.tensor_type.elem_type = found.tensor_type.elem_type
    return made


def _shape(found: onnx.TypeProto | None, stated: Stated) -> tuple[int, ...] | None:
    """Return the extents of a type, those of symbolic dimensions as the user says."""
    if found is None or not found.tensor_type.HasField("shape"):
        return None
    extents: list[int] = []
    for dim in found.tensor_type.shape.dim:
        known = stated.shapes.get(dim.dim_param, ()) if dim.dim_param else ()
        if dim.HasField("dim_value"):
            extents.append(dim.dim_value)
        else:
            extents.append(known[0] if len(known) == 1 else DYNAMIC)
    return tuple(extents)
