"""Nodes that are carried along as they are, for a target that runs ONNX.

A node of which all operands and results are tensors is an op. Other values (sequences, strings, tensors whose shape
is not known) are *loose*: they are in no IR. A node that makes only such is kept, and is part of each op that needs
what it makes: an op holds the nodes that lead from tensors to a tensor.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import onnx
from onnx import (
    TensorProto,
    helper,
    inliner,
    numpy_helper,
    shape_inference,
    version_converter,
)
from xdsl.dialects.builtin import AnyTensorType
from xdsl.ir import SSAValue

from partita.analysis.onnx_scopes import graphs_of, nested
from partita.dialects.relay import OnnxGraphOp, OnnxNodeOp
from partita.dialects.relay.opaque import ONNX_DOMAIN, ONNX_OPSET, model_of
from partita.errors import ModelError
from partita.frontends.onnx.builder import Initializer, array_of
from partita.frontends.onnx.functions import (
    FunctionKey,
    Opsets,
    domain_of,
    key_of,
    schema_of,
)
from partita.frontends.onnx.inference import Stated, Unsettled, result_types
from partita.frontends.onnx.node import Node
from partita.shapes import dtype_of, element_of, shape_of

MOST_ELEMENTS = 4096
"""Constants above this size are weights, which the types of results do not depend on."""

RANDOM = frozenset(
    (
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        *("Multinomial", "Bernoulli", "Dropout"),
    )
)
"""Operators that may give something else whenever they run."""


@dataclass(frozen=True, eq=False)
class Kept:
    """A node that no op stands for yet."""

    proto: onnx.NodeProto

    label: str

    opsets: Opsets
    """The versions of all operators in it."""

    operands: "Mapping[str, Carried]"
    """What it reads, by name."""


@dataclass(frozen=True, eq=False)
class Loose:
    """A value between nodes that is no tensor of static shape and of elements that relay has."""

    maker: Kept

    type: onnx.TypeProto | None

    why: str
    """What it is instead, as a complaint about its maker."""


Carried = SSAValue | Initializer | Loose | None
"""What a node may read; `None` is an input that is left out."""


def loose_constant(tensor: TensorProto, name: str, why: str) -> Loose:
    """Return a constant whose elements relay does not have."""
    node = helper.make_node("Constant", [], [name], value=tensor)
    type = helper.make_tensor_type_proto(tensor.data_type, tuple(tensor.dims))
    return Loose(Kept(node, name, {"": ONNX_OPSET}, {}), type, why)


def carry(
    node: Node, opsets: Opsets, operands: Mapping[str, Carried], stated: Stated
) -> list[SSAValue | Loose | None]:
    """Carry a node along as it is; return its outputs."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    proto.domain = domain_of(proto.domain)
    for each in operands.values():
        if each is not None and not isinstance(each, Loose):
            node.static(_value(each), "operands")
    kept = Kept(proto, node.label, _opsets_of(node, proto, opsets), operands)
    names = [name for name in proto.output if name]
    untyped = any(
        isinstance(each, Loose) and each.type is None for each in operands.values()
    )
    model = None if untyped else _model_of(proto, kept.opsets, operands)
    types = result_types(model, names, stated)
    random = any(each.op_type in RANDOM and not each.domain for each in nested(proto))
    settled: dict[str, AnyTensorType] = {}
    results: dict[str, SSAValue | Loose] = {}
    for name, type in types.items():
        if not isinstance(type, Unsettled):
            settled[name] = type
        elif random and name in stated.read:  # Each op would have its own.
            node.fail(type.why)
        else:
            results[name] = Loose(kept, type.type, node.told(type.why))
    loose = bool(results) or any(isinstance(each, Loose) for each in operands.values())
    if not loose and not any(True for _ in graphs_of(proto)):
        op = OnnxNodeOp(
            proto,
            node.opset,
            [_value(operands[name]) for name in proto.input if name],
            list(settled.values()),
            instance=node.label if random else None,
        )
        results |= dict(zip(settled, node.builder.append(op, node.label), strict=True))
    elif settled:
        results |= _append_graph(node, kept, settled, random)
    return [results[name] if name else None for name in proto.output]


def _value(operand: Carried) -> SSAValue:
    value = operand.value if isinstance(operand, Initializer) else operand
    assert isinstance(value, SSAValue)
    return value


def _opsets_of(node: Node, proto: onnx.NodeProto, opsets: Opsets) -> Opsets:
    """Return the versions of the operators in a node, ONNX's own as new as models for onnxruntime have them."""
    used = {domain_of(each.domain) for each in nested(proto)}
    for each in used - {*opsets}:
        node.fail(f"expected an opset for domain {each or ONNX_DOMAIN}, got none")
    own = {"": max(ONNX_OPSET, opsets.get("", 0))} if "" in used else {}
    return own | {each: opsets[each] for each in sorted(used - {""})}


def _append_graph(
    node: Node, last: Kept, settled: Mapping[str, AnyTensorType], random: bool
) -> dict[str, SSAValue]:
    """Append an op of all nodes that lead to results of the last."""
    chain = _leading_to(last)
    inputs: dict[str, SSAValue] = {}
    opsets: dict[str, int] = {}
    for kept in chain:
        for name, operand in kept.operands.items():
            if operand is not None and not isinstance(operand, Loose):
                inputs[name] = _value(operand)
        for domain, version in kept.opsets.items():
            opsets[domain] = max(version, opsets.get(domain, 0))
    for kept in chain:
        _check_version(kept, opsets)
    nodes = [each.proto for each in chain]
    op = OnnxGraphOp(
        model_of(nodes, inputs, settled, opsets),
        list(inputs.values()),
        list(settled.values()),
        instance=node.label if random else None,
    )
    origin = ", ".join(dict.fromkeys(each.label for each in chain))
    return dict(zip(settled, node.builder.append(op, origin), strict=True))


def _leading_to(last: Kept) -> list[Kept]:
    """Return nodes in an order in which they can run; the last is the last."""
    order: dict[Kept, None] = {}
    waiting = [(last, False)]
    while waiting:
        kept, ready = waiting.pop()
        if kept in order:
            continue
        if ready:
            order[kept] = None
            continue
        waiting.append((kept, True))
        makers = (e.maker for e in kept.operands.values() if isinstance(e, Loose))
        waiting.extend((each, False) for each in makers)
    return list(order)


def _check_version(kept: Kept, opsets: Opsets) -> None:
    """Refuse a node that is not of the versions which its op has, and would mean something else in them."""
    for each in nested(kept.proto):
        domain = domain_of(each.domain)
        old, new = kept.opsets[domain], opsets[domain]
        if old != new and _changed(each, old, new):
            raise ModelError(
                f"node {kept.label} ({kept.proto.op_type}): expected operators of one version of domain "
                f"{domain or ONNX_DOMAIN}, got {each.op_type} of {old} among others of {new}"
            )


def _changed(node: onnx.NodeProto, old: int, new: int) -> bool:
    """Say whether an operator is another in a newer version of its domain, as far as ONNX knows."""
    domain = domain_of(node.domain)
    before, after = (schema_of(node.op_type, each, domain) for each in (old, new))
    if before is None:
        return bool(domain)
    return after is None or before.since_version != after.since_version


def with_functions_inlined(
    proto: onnx.NodeProto,
    label: str,
    opsets: Opsets,
    functions: Mapping[FunctionKey, onnx.FunctionProto],
) -> onnx.NodeProto:
    """Return a node in whose graphs no functions of the model are called."""

    def calls(node: onnx.NodeProto) -> bool:
        return any(key_of(each) in functions for each in nested(node))

    if not calls(proto):
        return proto
    model = model_of([proto], (), (), opsets)
    model.functions.extend(functions.values())
    try:
        (made,) = inliner.inline_local_functions(model, True).graph.node
    except (RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ModelError(
            f"node {label} ({proto.op_type}): the functions that it calls cannot be inlined: {reason}"
        ) from None
    if calls(made):
        raise ModelError(
            f"node {label} ({proto.op_type}): expected functions of the opsets that the model is of, got others"
        )
    return made


def renewed(
    proto: onnx.NodeProto, opsets: Opsets, operands: Mapping[str, Carried], label: str
) -> tuple[onnx.NodeProto, ...] | None:
    """Return nodes of the opset that models for onnxruntime are in, to take the place of an older one.

    `None` if the operators have not changed since. Raises `ModelError` if they have, and ONNX cannot convert them.
    """
    opset = opsets.get("", ONNX_OPSET)
    if opset >= ONNX_OPSET or not any(
        _changed(each, opset, ONNX_OPSET)
        for each in nested(proto)
        if not domain_of(each.domain)
    ):
        return None
    failed = f"node {label} ({proto.op_type}): cannot be converted from opset {opset} to {ONNX_OPSET}"
    if proto.op_type == "Scan" and opset < 9:
        raise ModelError(f"{failed}: its axes have another meaning")
    try:
        model = version_converter.convert_version(
            _model_of(proto, opsets, operands), ONNX_OPSET
        )
    except (
        shape_inference.InferenceError,
        version_converter.ConvertError,
        RuntimeError,
        ValueError,
    ) as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"{failed}: {reason}") from None
    given = {each.name for each in model.graph.input}
    constants = [
        helper.make_node("Constant", [], [each.name], value=each)
        for each in model.graph.initializer
        if each.name not in given
    ]
    return (*constants, *model.graph.node)


def _model_of(
    proto: onnx.NodeProto, opsets: Opsets, operands: Mapping[str, Carried]
) -> onnx.ModelProto:
    """Make a model of one node: constants that are small are initializers, other operands inputs."""
    inputs: list[onnx.ValueInfoProto] = []
    initializers: list[TensorProto] = []
    for name, operand in operands.items():
        if operand is None:
            continue
        if isinstance(operand, Loose):
            inputs.append(onnx.ValueInfoProto(name=name, type=operand.type))
            continue
        value = _value(operand)
        array = array_of(value)
        if array is not None and array.size <= MOST_ELEMENTS:
            initializers.append(numpy_helper.from_array(array.copy(), name))
            continue
        code = helper.np_dtype_to_tensor_dtype(dtype_of(element_of(value)))
        inputs.append(helper.make_tensor_value_info(name, code, shape_of(value)))
    outputs: Iterable[str] = filter(None, proto.output)
    used = {domain_of(each.domain) for each in nested(proto)}
    imports = {each: opsets[each] for each in sorted(used & {*opsets})}
    model = model_of([proto], (), outputs, {"": ONNX_OPSET} | imports)
    model.graph.input.extend(inputs)
    model.graph.initializer.extend(initializers)
    return model
