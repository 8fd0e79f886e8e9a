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

from partita.analysis.onnx_scopes import reads
from partita.dialects.partita import ENTRY, NAME
from partita.dialects.relay.opaque import ONNX_OPSET
from partita.errors import ModelError
from partita.frontends.onnx.builder import Builder, Initializer, array_of
from partita.frontends.onnx.functions import (
    IF,
    Expansion,
    FunctionKey,
    Opsets,
    branch,
    domain_of,
    expand,
    functions_of,
    key_of,
    placed,
    schema_function,
    schema_of,
)
from partita.frontends.onnx.graph import (
    Support,
    check_attributes,
    check_functions,
    check_nested,
    check_opsets,
    check_supported,
    label_of,
    ordered,
)
from partita.frontends.onnx.hoisting import hoisted
from partita.frontends.onnx.inference import Stated
from partita.frontends.onnx.node import DynamicShape, Node, Operand
from partita.frontends.onnx.opaque import (
    Carried,
    Loose,
    carry,
    loose_constant,
    renewed,
    with_functions_inlined,
)
from partita.frontends.onnx.operators import CONVERTERS
from partita.frontends.onnx.shapes import Shapes, input_types, way_out
from partita.frontends.onnx.source import Source, read_source
from partita.frontends.onnx.tensors import element_of_code, load_data, type_name
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
    are not supported become `relay.onnx_node` or `relay.onnx_graph`, which the target `onnxruntime` runs; what they
    read has to be of static shape, and `shapes` may then name their results, too.
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
    values: dict[str, Carried] = {"": None, **initializers}
    if opaque:
        values |= _loose_initializers(source)
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
        source.folder,
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
    return frozenset(
        (*returned, *(name for node in graph.node for name in reads(node)))
    )


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


def _loose_initializers(source: Source) -> dict[str, Loose]:
    """Return the initializers of elements that relay does not have, such as strings."""
    loose: dict[str, Loose] = {}
    for each in source.model.graph.initializer:
        if element_of_code(each.data_type) is not None:
            continue
        tensor = each
        if each.data_location == onnx.TensorProto.EXTERNAL:
            tensor = onnx.TensorProto()
            tensor.CopyFrom(each)
            load_data(tensor, source.folder, f"initializer {each.name}")
        got = type_name(each.data_type)
        loose[each.name] = loose_constant(
            tensor,
            each.name,
            f"initializer {each.name}: expected numeric or boolean elements, got {got}",
        )
    return loose


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

    values: dict[str, Carried]

    builder: Builder

    way_out: str

    support: Support

    stated: Stated | None
    """What is known of the results of operators that are carried along; `None` if none is."""

    folder: Path | None
    """What external data is relative to."""

    missing: dict[str, str] = field(default_factory=dict[str, str])
    """Outputs that converters do not make, with what they are: an error only if they are used."""

    expansions: int = 0
    """How many prefixes of names have been used."""

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
            expansion = self._expansion(each, inner, label)
            if expansion is not None:
                pending.append(zip(expansion.nodes, repeat(expansion.opsets)))

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
        if isinstance(value, Loose):
            raise ModelError(value.why)
        return value.value if isinstance(value, Initializer) else value

    def _expansion(
        self, node: onnx.NodeProto, opsets: Opsets, label: str
    ) -> Expansion | None:
        """Convert a node, or carry it along, or return nodes to convert in its place."""
        prefix = f"{label}/{self.expansions + 1}/"
        taken = self._branch_taken(node)
        if taken is not None:
            expansion = branch(node, taken, prefix, opsets)
        elif (function := self._function(node, opsets, label)) is not None:
            expansion = expand(node, function, prefix)
        else:
            expansion = self._convert_one(node, label, opsets, prefix)
        if expansion is not None:
            self.expansions += 1
        return expansion

    def _branch_taken(self, node: onnx.NodeProto) -> bool | None:
        """Return the condition of an `If`, if it is known."""
        if key_of(node) != IF or not node.input:
            return None
        condition = self._carried(node.input[0], node)
        if isinstance(condition, Initializer):
            array = condition.array
        elif isinstance(condition, SSAValue):
            array = array_of(condition)
        else:
            return None
        return bool(array) if array is not None and array.size == 1 else None

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
        if self.stated is not None and (
            self.support.missing(node, opsets, label) or self._reads_loose(node)
        ):
            return None
        function = schema_function(
            node, opsets.get(domain, 0), lambda: self._types(node)
        )
        if function is None and self.stated is None:
            raise ModelError(
                f"not supported: node {label} ({node.op_type} of domain {domain or 'ai.onnx'}); "
                "--target onnxruntime runs them"
            )
        return function

    def _types(self, node: onnx.NodeProto) -> list[onnx.TypeProto]:
        return [_type_proto(self._operand(name, node)) for name in node.input]

    def _reads_loose(self, node: onnx.NodeProto) -> bool:
        return any(isinstance(self.values.get(each), Loose) for each in node.input)

    def _operand(self, name: str, reader: onnx.NodeProto) -> Operand:
        """Return a value that is a tensor."""
        value = self._carried(name, reader)
        assert not isinstance(value, Loose)
        return value

    def _carried(self, name: str, reader: onnx.NodeProto) -> Carried:
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
        self, proto: onnx.NodeProto, label: str, opsets: Opsets, prefix: str
    ) -> Expansion | None:
        """Convert a node, or carry it along, or return nodes of a newer opset, with inner names of a prefix."""
        domain = domain_of(proto.domain)
        opset = opsets.get(domain, 0)
        if self._reads_loose(proto):
            node = Node(proto, label, opset, (), {}, self.builder, self.way_out)
            return self._carry(node, opsets, prefix)
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
                return self._carry(node, opsets, prefix)
            except ModelError as other:
                known = (domain, proto.op_type) in CONVERTERS
                told = error if known and not isinstance(other, DynamicShape) else other
                raise told from None
        self._define(node, results)
        return None

    def _carry(self, node: Node, opsets: Opsets, prefix: str) -> Expansion | None:
        """Carry a node along, or return nodes of a newer opset, with inner names of a prefix."""
        assert self.stated is not None
        proto = with_functions_inlined(node.proto, node.label, opsets, self.functions)
        check_nested(proto, node.label, opsets)
        node.proto, tensors = hoisted(proto, prefix)
        proto = node.proto
        for name, tensor in tensors.items():
            self.values[name] = Initializer(tensor, name, self.folder)
        self.expansions += bool(tensors)
        operands = {each: self._carried(each, proto) for each in reads(proto)}
        nodes = renewed(proto, opsets, operands, node.label)
        if nodes is None:
            self._define(node, carry(node, opsets, operands, self.stated))
            return None
        names = {each: each for each in (*operands, *filter(None, proto.output))}
        return Expansion(
            tuple(placed(each, names, prefix) for each in nodes),
            {**opsets, "": ONNX_OPSET},
        )

    def _define(self, node: Node, results: Sequence[SSAValue | Loose | None]) -> None:
        """Give the outputs of a node their values."""
        for index, name in enumerate(node.proto.output):
            if not name:
                continue
            value = results[index] if index < len(results) else None
            if value is None:
                self.missing[name] = (
                    f"output {index + 1} of node {node.label} ({node.op_type})"
                )
            else:
                self.values[name] = value

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
