"""Ops that are defined by other ops: functions of the model, and those of ONNX's own op schemas."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import onnx
from onnx import AttributeProto, defs, helper

from partita.analysis.onnx_scopes import nested, reads, renamed

FunctionKey = tuple[str, str, str]
"""Domain, name, overload."""

IF: FunctionKey = ("", "If", "")

Opsets = Mapping[str, int]
"""The opset version of each domain, in a graph or in the body of a function."""


def domain_of(domain: str) -> str:
    """Return the domain by its short name: ONNX's own is "" or "ai.onnx"."""
    return "" if domain == "ai.onnx" else domain


class FunctionSchema(Protocol):
    """The part of an op schema that its stub file leaves out."""

    has_context_dependent_function: bool

    function_opset_versions: list[int]

    context_dependent_function_opset_versions: list[int]

    def get_function_with_opset_version(self, opset: int, /) -> bytes: ...

    def get_context_dependent_function_with_opset_version(
        self, opset: int, node: bytes, types: Sequence[bytes], /
    ) -> bytes: ...


def schema_of(op_type: str, opset: int, domain: str) -> defs.OpSchema | None:
    """Return the schema of an op in an opset, `None` if ONNX knows none."""
    try:
        return defs.get_schema(op_type, opset, domain)
    except defs.SchemaError:
        return None


def opsets_of(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Return the opset version of each domain."""
    return {domain_of(each.domain): each.version for each in imports}


def functions_of(model: onnx.ModelProto) -> dict[FunctionKey, onnx.FunctionProto]:
    """Return the functions that a model brings along."""
    return {
        (domain_of(each.domain), each.name, each.overload): each
        for each in model.functions
    }


def key_of(node: onnx.NodeProto) -> FunctionKey:
    """Return what a node calls, if it is a function."""
    return (domain_of(node.domain), node.op_type, node.overload)


def schema_function(
    node: onnx.NodeProto,
    opset: int,
    types: Callable[[], Sequence[onnx.TypeProto]] | None,
) -> onnx.FunctionProto | None:
    """Return the function by which ONNX defines an op, `None` if there is none.

    Some depend on the types of the node's inputs, given by `types`; without it, those are not found.
    """
    schema = schema_of(node.op_type, opset, domain_of(node.domain))
    if schema is None:
        return None
    functions = cast(FunctionSchema, schema)
    fixed = [v for v in functions.function_opset_versions if v <= opset]
    contextual = [
        v for v in functions.context_dependent_function_opset_versions if v <= opset
    ]
    if fixed:
        text = functions.get_function_with_opset_version(max(fixed))
    elif contextual and types is not None:
        text = functions.get_context_dependent_function_with_opset_version(
            max(contextual),
            node.SerializeToString(),
            [each.SerializeToString() for each in types()],
        )
    else:
        return None
    function = onnx.FunctionProto()
    function.ParseFromString(text)
    stated = {each.name for each in function.attribute_proto}
    function.attribute_proto.extend(
        formal.default_value
        for name, formal in schema.attributes.items()
        if name not in stated and formal.default_value.type
    )
    return function if function.node else None


def depends_on_types(node: onnx.NodeProto, opset: int) -> bool:
    """Say whether ONNX defines an op by a function that depends on the types of inputs."""
    schema = schema_of(node.op_type, opset, domain_of(node.domain))
    return (
        schema is not None
        and cast(FunctionSchema, schema).has_context_dependent_function
    )


@dataclass(frozen=True)
class Expansion:
    """Nodes that take the place of one."""

    nodes: tuple[onnx.NodeProto, ...]

    opsets: Opsets


def expand(
    node: onnx.NodeProto, function: onnx.FunctionProto, prefix: str
) -> Expansion:
    """Make the nodes of a call: formal names replaced by actual ones, inner names made unique by a prefix.

    An input that the call leaves out is left out in the body, an output likewise.
    """
    attributes = {each.name: each for each in function.attribute_proto}
    attributes.update({each.name: each for each in node.attribute})
    names = dict.fromkeys(function.input, "")
    names.update(zip(function.input, node.input, strict=False))
    names.update(
        (formal, actual)
        for formal, actual in zip(function.output, node.output, strict=False)
        if actual
    )
    body = tuple(placed(each, names, prefix) for each in function.node)
    for each in body:
        for inner in nested(each):
            bound = list(_bound(inner.attribute, attributes))
            del inner.attribute[:]
            inner.attribute.extend(bound)
    return Expansion(body, opsets_of(function.opset_import))


def placed(
    node: onnx.NodeProto, names: Mapping[str, str], prefix: str
) -> onnx.NodeProto:
    """Return a node under another name, with values renamed by `names`, and those that are not there by a prefix."""

    def fresh(name: str) -> str:
        return f"{prefix}{name}"

    def outside(name: str) -> str:
        return names[name] if name in names else fresh(name)

    made = renamed(node, outside, fresh)
    made.name = fresh(node.name or node.op_type)
    return made


def branch(node: onnx.NodeProto, taken: bool, prefix: str, opsets: Opsets) -> Expansion:
    """Return the nodes of one branch of an `If`, in its place."""
    wanted = "then_branch" if taken else "else_branch"
    (graph,) = (each.g for each in node.attribute if each.name == wanted)
    constants = [
        helper.make_node("Constant", [], [each.name], value=each)
        for each in graph.initializer
    ]
    results = [
        helper.make_node("Identity", [inner.name], [name])
        for inner, name in zip(graph.output, node.output, strict=False)
        if name
    ]
    body = (*constants, *graph.node)
    own = {name for each in body for name in each.output}
    names = {name: name for each in body for name in reads(each) if name not in own}
    names |= {each.name: each.name for each in graph.output if each.name not in own}
    names |= {name: name for name in node.output}
    return Expansion(
        tuple(placed(each, names, prefix) for each in (*body, *results)), opsets
    )


def _bound(
    own: Iterable[AttributeProto], given: Mapping[str, AttributeProto]
) -> Iterator[AttributeProto]:
    """Replace references to the attributes of a call by their values; one that is not given is left out."""
    for attribute in own:
        if not attribute.ref_attr_name:
            yield attribute
        elif attribute.ref_attr_name in given:
            bound = AttributeProto()
            bound.CopyFrom(given[attribute.ref_attr_name])
            bound.name = attribute.name
            yield bound
