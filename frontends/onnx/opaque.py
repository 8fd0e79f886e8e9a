"""Nodes that are carried along as they are, for a target that runs ONNX.

The types of their results are what the user says, else what ONNX's own inference finds, else what onnxruntime finds,
which knows operators that ONNX does not, else what the model says.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from importlib.util import find_spec

import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference, version_converter
from xdsl.dialects.builtin import AnyTensorType
from xdsl.ir import SSAValue

from partita.dialects.relay import OnnxNodeOp
from partita.dialects.relay.opaque import ONNX_OPSET
from partita.errors import ModelError
from partita.frontends.onnx.builder import Initializer, array_of
from partita.frontends.onnx.functions import domain_of, has_subgraph, schema_of
from partita.frontends.onnx.node import Node, Operand
from partita.frontends.onnx.shapes import Shapes
from partita.frontends.onnx.tensors import element_of_code, type_name
from partita.shapes import DYNAMIC, dtype_of, element_of, shape_of, tensor_of

MOST_ELEMENTS = 4096
"""Constants above this size are weights, which the shapes of results do not depend on."""

RANDOM = frozenset(
    (
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        *("Multinomial", "Bernoulli", "Dropout"),
    )
)
"""Operators that may give something else whenever they run."""


class UnknownShape(ModelError):
    """A result's shape is not known; the user can say it."""


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
    """The names of values that nodes read, or that the model returns."""


def carry(node: Node, stated: Stated) -> list[SSAValue | None]:
    """Append a node as it is; return its outputs."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    proto.domain = domain_of(proto.domain)
    if has_subgraph(proto):
        node.fail("operators with subgraphs are not supported")
    operands = [each for each in node.operands if each is not None]
    for each in operands:
        node.static(_value(each), "operands")
    types = _result_types(node, proto, stated)
    random = proto.op_type in RANDOM and not proto.domain
    op = OnnxNodeOp(
        proto,
        node.opset,
        [_value(each) for each in operands],
        [types[name] for name in proto.output if name],
        instance=node.label if random else None,
    )
    results = iter(node.builder.append(op, node.label))
    return [next(results) if name else None for name in proto.output]


def _value(operand: Operand) -> SSAValue:
    value = operand.value if isinstance(operand, Initializer) else operand
    assert value is not None
    return value


def renewed(
    proto: onnx.NodeProto, opset: int, operands: Sequence[Operand], label: str
) -> onnx.FunctionProto | None:
    """Return nodes of the opset that models for onnxruntime are in, to take the place of an older one.

    `None` if the operator has not changed since. Raises `ModelError` if it has, and ONNX cannot convert it.
    """
    if proto.domain not in ("", "ai.onnx") or opset >= ONNX_OPSET:
        return None
    old, new = (schema_of(proto.op_type, each, "") for each in (opset, ONNX_OPSET))
    if old is None or (new is not None and old.since_version == new.since_version):
        return None
    try:
        model = version_converter.convert_version(
            _model_of(proto, opset, operands), ONNX_OPSET
        )
    except (RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ModelError(
            f"node {label} ({proto.op_type}): cannot be converted from opset {opset} to {ONNX_OPSET}: {reason}"
        ) from None
    given = {each.name for each in model.graph.input}
    constants = [
        helper.make_node("Constant", [], [each.name], value=each)
        for each in model.graph.initializer
        if each.name not in given
    ]
    names = dict.fromkeys(name for name in proto.input if name)
    return helper.make_function(
        "",
        proto.op_type,
        [name for name in names if name in given],
        [name for name in proto.output if name],
        [*constants, *model.graph.node],
        [helper.make_opsetid("", ONNX_OPSET)],
    )


def _model_of(
    proto: onnx.NodeProto,
    opset: int,
    operands: Sequence[Operand],
    types: Mapping[str, onnx.TypeProto] | None = None,
) -> onnx.ModelProto:
    """Make a model of one node: constants that are small are initializers, other operands inputs."""
    inputs: dict[str, onnx.ValueInfoProto] = {}
    initializers: dict[str, TensorProto] = {}
    for name, operand in zip(proto.input, operands, strict=True):
        if operand is None or name in inputs or name in initializers:
            continue
        value = _value(operand)
        array = array_of(value)
        if array is not None and array.size <= MOST_ELEMENTS:
            initializers[name] = numpy_helper.from_array(array.copy(), name)
            continue
        code = helper.np_dtype_to_tensor_dtype(dtype_of(element_of(value)))
        inputs[name] = helper.make_tensor_value_info(name, code, shape_of(value))
    outputs: list[onnx.ValueInfoProto] = []
    for name in filter(None, proto.output):
        info = onnx.ValueInfoProto(name=name)
        if types and name in types:
            info.type.CopyFrom(types[name])
        outputs.append(info)
    opsets = {"": ONNX_OPSET, domain_of(proto.domain): opset}
    opset_imports = [helper.make_opsetid(*each) for each in opsets.items()]
    graph = helper.make_graph(
        [proto],
        "node",
        list(inputs.values()),
        outputs,
        list(initializers.values()),
    )
    return helper.make_model(
        graph,
        opset_imports=opset_imports,
        ir_version=helper.find_min_ir_version_for(opset_imports, ignore_unknown=True),
    )


def _result_types(
    node: Node, proto: onnx.NodeProto, stated: Stated
) -> dict[str, AnyTensorType]:
    """Return the types of outputs that have names; raise `ModelError` for one that nobody knows."""
    names = [name for name in proto.output if name]
    model = _model_of(proto, node.opset, node.operands)
    found = _by_onnx(model)
    if not all(_complete(found.get(name)) for name in names):
        found = {**found, **_by_onnxruntime(model)}
    return {name: _result_type(node, name, found.get(name), stated) for name in names}


def _complete(type: onnx.TypeProto | None) -> bool:
    """Say whether a type has all that we need."""
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
    except (RuntimeError, ValueError):
        return {}
    return {
        each.name: each.type
        for each in inferred.graph.output
        if each.type.WhichOneof("value") is not None
    }


def _by_onnxruntime(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """Infer types as onnxruntime does; none if it is not installed, or cannot run the operator."""
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
        *((f"int{bits}", f"INT{bits}") for bits in (8, 16, 32, 64)),
        *((f"uint{bits}", f"UINT{bits}") for bits in (8, 16, 32, 64)),
    )
}
"""Element types by the names that onnxruntime has for tensors of them."""


def _result_type(
    node: Node, name: str, found: onnx.TypeProto | None, stated: Stated
) -> AnyTensorType:
    """Put together what is known of one output."""
    if not _complete(found) and name in stated.values:
        found = stated.values[name] if found is None else _merged(found, stated, name)
    shown = name.rpartition("/")[2]
    if found is not None and not found.HasField("tensor_type"):
        kind = str(found.WhichOneof("value")).removesuffix("_type")
        node.fail(f"output {shown} is a {kind}, not a tensor")
    code = TensorProto.UNDEFINED if found is None else found.tensor_type.elem_type
    given = stated.shapes.get(name)
    if code == TensorProto.UNDEFINED:
        node.fail(
            f"the type of output {shown} is not known; state it in the model's value_info"
        )
    element = element_of_code(code)
    if element is None:
        node.fail(
            f"expected output {shown} of numeric or boolean elements, got {type_name(code)}"
        )
    if given is not None:
        return tensor_of(tuple(given), element)
    shape = _shape(found, stated)
    if shape is None or DYNAMIC in shape:
        raise UnknownShape(
            node.told(
                f"the shape of output {shown} is not known; if it is always the same, pass --shape {shown}=…"
            )
        )
    return tensor_of(shape, element)


def _merged(found: onnx.TypeProto, stated: Stated, name: str) -> onnx.TypeProto:
    """Prefer what the model says of a shape that was not found."""
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
