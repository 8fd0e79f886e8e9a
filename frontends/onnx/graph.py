"""What must hold of a graph before any node is converted: names, order, attributes, and ops that we know."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from enum import Enum
from typing import cast

import onnx
from onnx import AttributeProto, defs

from partita.analysis.onnx_scopes import graphs_of, nested, reads
from partita.errors import ModelError
from partita.frontends.onnx.functions import (
    IF,
    FunctionKey,
    Opsets,
    depends_on_types,
    domain_of,
    key_of,
    opsets_of,
    schema_function,
    schema_of,
)

MOST_NAMES = 6
"""How many nodes of a cycle a message lists."""


def label_of(node: onnx.NodeProto, index: int) -> str:
    """Return a node's name, or one made of its op and place."""
    return node.name or f"{node.op_type}_{index}"


def check_opsets(model: onnx.ModelProto) -> dict[str, int]:
    """Return the opsets of a model; raise `ModelError` for one that is newer than the `onnx` package."""
    opsets = opsets_of(model.opset_import)
    newest = defs.onnx_opset_version()
    if opsets.get("", 0) > newest:
        raise ModelError(
            f"the model uses opset {opsets['']}, the newest known is {newest}; install a newer onnx package"
        )
    return opsets


def check_supported(
    model: onnx.ModelProto,
    opsets: Mapping[str, int],
    support: "Support",
    opaque: bool,
) -> None:
    """Raise `ModelError` that lists nodes whose ops have neither converter nor function; with `opaque` none has to."""
    found: list[str] = []
    for index, node in enumerate(model.graph.node):
        label = label_of(node, index)
        missing = support.missing(node, opsets, label)
        if missing and not opaque:
            found.append(_described(label, node, missing))
    if found:
        listed = "; ".join(found)
        raise ModelError(f"not supported: {listed}; --target onnxruntime runs them")


def _described(label: str, node: onnx.NodeProto, missing: Sequence[str]) -> str:
    domain = domain_of(node.domain) or "ai.onnx"
    inner = [each for each in missing if each != node.op_type]
    through = f", defined by {', '.join(inner)}" if inner else ""
    return f"node {label} ({node.op_type} of domain {domain}{through})"


class Support:
    """Finds the ops below an op that nobody converts; each kind of op is looked at once."""

    def __init__(
        self,
        converters: AbstractSet[tuple[str, str]],
        functions: Mapping[FunctionKey, onnx.FunctionProto],
    ):
        self._converters = converters
        self._functions = functions
        self._known: dict[tuple[FunctionKey, int], tuple[str, ...]] = {}

    def missing(
        self, node: onnx.NodeProto, opsets: Opsets, label: str
    ) -> tuple[str, ...]:
        """Return the ops without converter; `label` names the node of the graph.

        An `If` is its branches, as its condition may turn out to be known. Recurses by nesting of graphs.
        """
        key = key_of(node)
        domain = domain_of(node.domain)
        opset = opsets.get(domain)
        if opset is None:
            raise ModelError(
                f"node {label} ({node.op_type}): expected an opset for domain "
                f"{domain or 'ai.onnx'}, got none"
            )
        if key == IF:
            inside = (each for graph in graphs_of(node) for each in graph.node)
            found = (op for each in inside for op in self.missing(each, opsets, label))
            return tuple(dict.fromkeys(found))
        if (key, opset) not in self._known:
            self._known[key, opset] = ()  # a function that calls itself ends here
            self._known[key, opset] = self._look(node, opset, label)
        return self._known[key, opset]

    def _look(self, node: onnx.NodeProto, opset: int, label: str) -> tuple[str, ...]:
        """Recurses by nesting of functions."""
        domain = domain_of(node.domain)
        function = self._functions.get(key_of(node))
        if function is None:
            exists = domain or schema_of(node.op_type, opset, domain)
            if (domain, node.op_type) in self._converters and exists:
                return ()
            function = schema_function(node, opset, None)
        if function is None:
            return () if depends_on_types(node, opset) else (node.op_type,)
        inner = opsets_of(function.opset_import)
        found = (
            op for each in function.node for op in self.missing(each, inner, label)
        )
        return tuple(dict.fromkeys(found))


def check_functions(functions: Mapping[FunctionKey, onnx.FunctionProto]) -> None:
    """Raise `ModelError` if a function calls itself, directly or through others."""
    callees = {
        key: {key_of(node) for node in function.node} & set(functions)
        for key, function in functions.items()
    }
    users: dict[FunctionKey, list[FunctionKey]] = {key: [] for key in functions}
    for key, called in callees.items():
        for callee in called:
            users[callee].append(key)
    ready = deque(key for key, called in callees.items() if not called)
    left = set(functions)
    while ready:
        done = ready.popleft()
        left.discard(done)
        for user in users[done]:
            callees[user].discard(done)
            if not callees[user]:
                ready.append(user)
    if left:
        names = ", ".join(sorted(name for _, name, _ in left))
        raise ModelError(f"expected functions that do not call themselves, got {names}")


def check_attributes(
    node: onnx.NodeProto, label: str, schema: defs.OpSchema
) -> dict[str, AttributeProto]:
    """Return a node's attributes by name; raise `ModelError` if they, or the number of inputs, defy the schema."""
    result: dict[str, AttributeProto] = {}
    known = schema.attributes
    for attribute in node.attribute:
        formal = known.get(attribute.name)
        where = f"node {label} ({node.op_type})"
        if formal is None:
            close = get_close_matches(attribute.name, list(known), 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ModelError(f"{where}: unknown attribute {attribute.name}{hint}")
        if attribute.name in result:
            raise ModelError(f"{where}: attribute {attribute.name} is given twice")
        wanted = cast(Enum, formal.type).name
        got = _type_name(attribute)
        if wanted != got:
            raise ModelError(
                f"{where}: expected attribute {attribute.name} of type {wanted.lower()}, got {got.lower()}"
            )
        result[attribute.name] = attribute
    for name, formal in known.items():
        if formal.required and name not in result:
            raise ModelError(
                f"node {label} ({node.op_type}): expected attribute {name}, got none"
            )
    _check_count(
        node, label, "inputs", len(node.input), schema.min_input, schema.max_input
    )
    _check_count(
        node, label, "outputs", len(node.output), schema.min_output, schema.max_output
    )
    return result


def check_nested(node: onnx.NodeProto, label: str, opsets: Opsets) -> None:
    """Raise `ModelError` if a node, or one in its graphs, defies its schema, where ONNX has one.

    ONNX's own inference of types crashes on some that do.
    """
    for each in nested(node):
        domain = domain_of(each.domain)
        schema = schema_of(each.op_type, opsets.get(domain, 0), domain)
        if schema is not None:
            check_attributes(each, label if each is node else each.name, schema)


def _type_name(attribute: AttributeProto) -> str:
    try:
        return AttributeProto.AttributeType.Name(attribute.type)
    except ValueError:
        return f"type {attribute.type}"


def _check_count(
    node: onnx.NodeProto, label: str, what: str, count: int, least: int, most: int
) -> None:
    if not least <= count <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise ModelError(
            f"node {label} ({node.op_type}): expected {wanted} {what}, got {count}"
        )


def ordered(graph: onnx.GraphProto, known: Iterable[str]) -> list[int]:
    """Return the places of nodes in an order in which values are defined before they are used.

    Nodes that are in such an order stay in it. Raises `ModelError` for a name that is defined twice
    or nowhere, and for a cycle.
    """
    given = set(known)
    definer = _definers(graph, given)
    waiting: list[int] = []
    users: list[list[int]] = [[] for _ in graph.node]
    sorted_already = True
    for index, node in enumerate(graph.node):
        sources = [name for name in reads(node) if name not in given]
        for name in sources:
            if name not in definer:
                raise ModelError(_undefined(name, label_of(node, index), node, graph))
            sorted_already &= definer[name] < index
            users[definer[name]].append(index)
        waiting.append(len(sources))
    if sorted_already:
        return list(range(len(graph.node)))
    order: list[int] = []
    ready = deque(index for index, count in enumerate(waiting) if count == 0)
    while ready:
        index = ready.popleft()
        order.append(index)
        for user in users[index]:
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    if len(order) < len(graph.node):
        raise ModelError(_cycle(graph, definer, waiting))
    return order


def _definers(graph: onnx.GraphProto, given: AbstractSet[str]) -> dict[str, int]:
    """Return the place of the node that defines each value."""
    definer: dict[str, int] = {}
    for index, node in enumerate(graph.node):
        for name in filter(None, node.output):
            if name in given:
                raise ModelError(
                    f"value {name} is defined twice: as an input or initializer, and by node {label_of(node, index)}"
                )
            if name in definer:
                first = definer[name]
                raise ModelError(
                    f"value {name} is defined twice: by node {label_of(graph.node[first], first)} "
                    f"and by node {label_of(node, index)}"
                )
            definer[name] = index
    return definer


def _undefined(
    name: str, label: str, node: onnx.NodeProto, graph: onnx.GraphProto
) -> str:
    """Say what is missing, and what may have been meant."""
    names = [each.name for each in (*graph.initializer, *graph.input)]
    close = get_close_matches(name, names, 1, 0.8)
    hint = f"; did you mean {close[0]}?" if close else ""
    return (
        f"node {label} ({node.op_type}) reads {name}, which is no input, no initializer, "
        f"and no output of a node{hint}"
    )


def _cycle(
    graph: onnx.GraphProto, definer: Mapping[str, int], waiting: Sequence[int]
) -> str:
    """Walk from a node that waits to one that it waits for, until one comes again."""
    at = next(index for index, count in enumerate(waiting) if count)
    path: dict[int, None] = {}
    while at not in path:
        path[at] = None
        at = next(
            definer[name]
            for name in reads(graph.node[at])
            if name in definer and waiting[definer[name]]
        )
    steps = list(path)
    labels = [label_of(graph.node[i], i) for i in steps[steps.index(at) :]]
    shown = ", ".join(labels[:MOST_NAMES]) + (", …" if len(labels) > MOST_NAMES else "")
    return (
        f"expected a graph without cycles, got one through {len(labels)} nodes: {shown}"
    )
