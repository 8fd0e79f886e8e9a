"""From a model to a module: one function, whose ops stand for the nodes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

import onnx
from onnx import helper
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from partita.dialects.partita import ENTRY, NAME
from partita.errors import ModelError
from partita.frontends.onnx.builder import Builder, Initializer
from partita.frontends.onnx.functions import (
    FunctionKey,
    Opsets,
    domain_of,
    expand,
    functions_of,
    key_of,
    opsets_of,
    schema_function,
    schema_of,
)
from partita.frontends.onnx.graph import (
    Support,
    check_attributes,
    check_functions,
    check_opsets,
    check_supported,
    label_of,
    ordered,
)
from partita.frontends.onnx.node import Node, Operand
from partita.frontends.onnx.opaque import Stated, UnknownShape, carry, renewed
from partita.frontends.onnx.operators import CONVERTERS
from partita.frontends.onnx.shapes import Shapes, input_types, way_out
from partita.frontends.onnx.source import Source, read_source
from partita.shapes import DYNAMIC, dtype_of, element_of, shape_of


def import_onnx(
    model: str | Path | bytes | onnx.ModelProto,
    shapes: Shapes | None = None,
    *,
    opaque: bool = False,
) -> ModuleOp:
    """Make a module of one entry function of `relay` ops from an ONNX model.

    `shapes` makes dynamic dimensions static: by the name of an input, or of a symbolic dimension
    (`{"N": (1,)}`). Other dimensions stay dynamic as far as ops can carry them. With `opaque`, operators that
    are not supported become `relay.onnx_node`, which the target `onnxruntime` runs; they need static shapes, and
    `shapes` may then name their results, too.
    Raises `ModelError`, with one sentence, for a model that is broken or holds what is not supported.
    """
    return import_source(read_source(model), shapes or {}, opaque=opaque)


def import_source(source: Source, shapes: Shapes, *, opaque: bool = False) -> ModuleOp:
    """Make a module from a model that has been read."""
    try:
        return _module(source, shapes, opaque)
    except ModelError as error:
        # Names in a message are the model's, and may hold line breaks.
        sentence = re.sub(r"[\x00-\x1f\x7f]", "?", str(error))
        raise ModelError(sentence) from None


def _module(source: Source, shapes: Shapes, opaque: bool) -> ModuleOp:
    model, graph = source.model, source.model.graph
    opsets = check_opsets(model)
    functions = functions_of(model)
    check_functions(functions)
    support = Support(frozenset(CONVERTERS), functions)
    check_supported(model, opsets, support, opaque)
    initializers = _initializers(source)
    inputs = [each for each in graph.input if each.name not in initializers]
    _check_distinct([each.name for each in inputs], "input")
    _check_distinct([each.name for each in graph.output], "output")
    order = ordered(graph, [*initializers, *(each.name for each in inputs)])
    types = input_types(inputs, shapes, _result_names(graph) if opaque else ())
    block = Block(arg_types=types)
    values: dict[str, Operand] = {"": None, **initializers}
    for each, argument in zip(inputs, block.args, strict=True):
        values[each.name] = argument
        if SSAValue.is_valid_name(each.name):
            argument.name_hint = each.name
    names = [each.name for each in inputs]
    conversion = _Conversion(
        functions,
        values,
        Builder(block),
        way_out(names, types),
        support,
        Stated(_stated_types(graph), shapes, _read(graph)) if opaque else None,
    )
    for index in order:
        node = graph.node[index]
        conversion.convert(node, label_of(node, index), opsets)
    results = [conversion.result(each.name) for each in graph.output]
    for result in results:
        conversion.builder.place(result)
    block.add_op(ReturnOp(*results))
    function = FuncOp(
        entry_name(graph.name),
        FunctionType.from_lists(types, [result.type for result in results]),
        Region(block),
        "public",
        arg_attrs=_named(names),
        res_attrs=_named([each.name for each in graph.output]),
    )
    function.attributes[ENTRY] = UnitAttr()
    return ModuleOp([function])


def entry_name(graph_name: str) -> str:
    """Make a symbol of a graph's name."""
    name = re.sub(r"\W+", "_", graph_name, flags=re.ASCII).strip("_")
    return f"_{name}" if name[:1].isdecimal() else name or "main"


def _result_names(graph: onnx.GraphProto) -> list[str]:
    """Return the names of what nodes give, and of the symbolic dimensions that the model has for them."""
    stated = (*graph.value_info, *graph.output)
    symbols = [
        dim.dim_param for each in stated for dim in each.type.tensor_type.shape.dim
    ]
    return [name for node in graph.node for name in node.output] + symbols


def _read(graph: onnx.GraphProto) -> frozenset[str]:
    """Return the names of values that nodes read, or that the model returns."""
    returned = (each.name for each in graph.output)
    return frozenset((*returned, *(name for node in graph.node for name in node.input)))


def _stated_types(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    """Return what the model says of the types of values."""
    stated = (*graph.value_info, *graph.output)
    return {each.name: each.type for each in stated if each.HasField("type")}


def _named(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(DictionaryAttr({NAME: StringAttr(name)}) for name in names)


def _initializers(source: Source) -> dict[str, Initializer]:
    graph = source.model.graph
    dense = [(each.name, each) for each in graph.initializer]
    sparse = [(each.values.name, each) for each in graph.sparse_initializer]
    _check_distinct([name for name, _ in (*dense, *sparse)], "initializer")
    return {
        name: Initializer(each, name, source.folder) for name, each in (*dense, *sparse)
    }


def _check_distinct(names: Sequence[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen or not name:
            raise ModelError(
                f"expected {what}s of distinct names, got {name or 'an empty one'}"
                + (" twice" if name else "")
            )
        seen.add(name)


class Misfit(ModelError):
    """A node whose operands or attributes do not fit together: broken, whoever runs it."""


@dataclass
class _Conversion:
    """The state of one import: values by name, and where ops go."""

    functions: dict[FunctionKey, onnx.FunctionProto]

    values: dict[str, Operand]

    builder: Builder

    way_out: str

    support: Support

    stated: Stated | None
    """What is known of the results of operators that are carried along; `None` if none is."""

    missing: dict[str, str] = field(default_factory=dict[str, str])
    """Outputs that converters do not make, with what they are: an error only if they are used."""

    expansions: int = 0

    def convert(self, node: onnx.NodeProto, label: str, opsets: Opsets) -> None:
        """Convert a node, or the bodies of the functions that it calls, in place of the calls."""
        pending: list[Iterator[tuple[onnx.NodeProto, Opsets]]] = [
            iter([(node, opsets)])
        ]
        while pending:
            step = next(pending[-1], None)
            if step is None:
                pending.pop()
                continue
            each, inner = step
            function = self._function(each, inner, label) or self._convert_one(
                each, label, inner
            )
            if function is None:
                continue
            self.expansions += 1
            body = expand(each, function, f"{label}/{self.expansions}/")
            pending.append(zip(body, repeat(opsets_of(function.opset_import))))

    def result(self, name: str) -> SSAValue:
        """Return an output of the graph."""
        if name in self.missing:
            raise ModelError(
                f"{self.missing[name]} is not supported, and the model returns it"
            )
        value = self.values.get(name)
        if value is None:
            raise ModelError(
                f"output {name} is no input, no initializer, and no output of a node"
            )
        return value.value if isinstance(value, Initializer) else value

    def _function(
        self, node: onnx.NodeProto, opsets: Opsets, label: str
    ) -> onnx.FunctionProto | None:
        """Return the body to put in place of a node, `None` if there is a converter."""
        local = self.functions.get(key_of(node))
        if local is not None:
            return local
        domain = domain_of(node.domain)
        if (domain, node.op_type) in CONVERTERS:
            return None
        if self.stated is not None and self.support.missing(node, opsets, label):
            return None
        function = schema_function(
            node, opsets.get(domain, 0), lambda: self._types(node)
        )
        if function is None and self.stated is None:
            raise ModelError(
                f"not supported: node {label} ({node.op_type} of domain {domain or 'ai.onnx'})"
            )
        return function

    def _types(self, node: onnx.NodeProto) -> list[onnx.TypeProto]:
        return [_type_proto(self._operand(name, node)) for name in node.input]

    def _operand(self, name: str, reader: onnx.NodeProto) -> Operand:
        """Return a value by name; raise `ModelError` if a converter could not make it."""
        if name in self.missing:
            raise ModelError(
                f"{self.missing[name]} is not supported, and node {reader.name or reader.op_type} reads it"
            )
        if name not in self.values:
            inner = name.rpartition("/")[2]
            raise ModelError(
                f"node {reader.name or reader.op_type} reads {inner}, which its function does not define"
            )
        return self.values[name]

    def _convert_one(
        self, proto: onnx.NodeProto, label: str, opsets: Opsets
    ) -> onnx.FunctionProto | None:
        """Convert a node, or carry it along, or return nodes to convert in its place."""
        domain = domain_of(proto.domain)
        opset = opsets.get(domain, 0)
        operands = tuple(self._operand(name, proto) for name in proto.input)
        node = Node(proto, label, opset, operands, {}, self.builder, self.way_out)
        last = self.builder.block.last_op
        try:
            results = self._results(node, domain)
            self._check_outputs(proto, results)
        except ModelError as error:
            if self.stated is None or isinstance(error, Misfit):
                raise
            self.builder.cut(last)
            try:
                function = renewed(proto, opset, operands, label)
                if function is not None:
                    return function
                results = carry(node, self.stated)
            except UnknownShape:
                raise
            except ModelError as other:
                known = (domain, proto.op_type) in CONVERTERS
                raise (error if known else other) from None
        for index, name in enumerate(proto.output):
            if not name:
                continue
            value = results[index] if index < len(results) else None
            if value is None:
                self.missing[name] = (
                    f"output {index + 1} of node {label} ({proto.op_type})"
                )
            else:
                self.values[name] = value
        return None

    def _check_outputs(
        self, proto: onnx.NodeProto, results: Sequence[SSAValue | None]
    ) -> None:
        """Refuse to convert a node of which an output is used that its converter does not make."""
        if self.stated is None:
            return
        for index, name in enumerate(proto.output):
            made = index < len(results) and results[index] is not None
            if name in self.stated.read and not made:
                raise ModelError(f"output {index + 1} is not supported")

    def _results(self, node: Node, domain: str) -> Sequence[SSAValue | None]:
        """Return what a converter makes of a node."""
        proto = node.proto
        schema = schema_of(proto.op_type, node.opset, domain)
        converter = CONVERTERS.get((domain, proto.op_type))
        if converter is None or (schema is None and not domain):
            raise ModelError(
                f"not supported: node {node.label} ({proto.op_type} of domain {domain or 'ai.onnx'})"
            )
        try:
            node.attributes = (
                {each.name: each for each in proto.attribute}
                if schema is None
                else check_attributes(proto, node.label, schema)
            )
        except ModelError as error:
            raise Misfit(str(error)) from None
        try:
            results = converter(node)
            return (results,) if isinstance(results, SSAValue) else results
        except VerifyException as error:
            raise Misfit(node.told(str(error))) from None
        except MemoryError:
            node.fail("its constants do not fit into memory")


def _type_proto(operand: Operand) -> onnx.TypeProto:
    """Return the ONNX type of a value; an empty one if it is left out."""
    if operand is None:
        return onnx.TypeProto()
    value = operand.value if isinstance(operand, Initializer) else operand
    return helper.make_tensor_type_proto(
        helper.np_dtype_to_tensor_dtype(dtype_of(element_of(value))),
        [None if extent == DYNAMIC else extent for extent in shape_of(value)],
    )
