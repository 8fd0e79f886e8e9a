"""An ONNX graph under construction: values with their types, nodes with readable names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    defs,
    helper,
    numpy_helper,
)

from partita.analysis.onnx_scopes import reads, renamed
from partita.dialects.relay.opaque import ONNX_OPSET
from partita.errors import CodegenError
from partita.shapes import Shape
from partita.targets.onnxruntime.kernels import DType, stand_in
from partita.weights import Array, Weight

LONGEST_NAME = 60
"""Longer origins are cut in the names of nodes."""

BOOL = np.dtype(np.bool_)
INT64 = np.dtype(np.int64)


@dataclass(frozen=True)
class Value:
    """A tensor of the graph."""

    name: str

    dtype: DType

    shape: Shape

    array: Array | None = field(default=None, compare=False, repr=False)
    """Its elements, where they are known at compile time."""

    narrow: "tuple[Value, Value] | None" = field(
        default=None, compare=False, repr=False
    )
    """Where this is `i32`, widened from 8 bits: what it was widened from, and the zero point that was taken off it."""

    @property
    def rank(self) -> int:
        return len(self.shape)


class Graph:
    """Appends nodes; a type that an operator has no kernel for is replaced by one that it has."""

    def __init__(self) -> None:
        self.origin = ""
        """Where the nodes to come are from, for their names."""

        self.weights: dict[str, Weight] = {}
        """What initializers hold whose content is given when the model is loaded, by name."""

        self.outputs: list[ValueInfoProto] = []
        self._inputs: list[ValueInfoProto] = []
        self._nodes: list[NodeProto] = []
        self._constants: dict[tuple[str, Shape, bytes], Value] = {}
        self._initializers: list[TensorProto] = []
        self._weights: dict[str, Value] = {}
        self._domains = {"": ONNX_OPSET}
        self._versions: dict[tuple[str, int], None] = {}
        self._known: dict[bytes, NodeProto] = {}
        self._taken: set[str] = set()
        self._made: set[str] = set()

    def name(self, stem: str) -> str:
        """Return a name that no other value or node has."""
        stem = stem[:LONGEST_NAME]
        name, count = stem, 0
        while name in self._taken:
            count += 1
            name = f"{stem}.{count}"
        self._taken.add(name)
        return name

    def input(self, stem: str, dtype: DType, shape: Shape) -> Value:
        """Add an input."""
        value = Value(self.name(stem), dtype, shape)
        self._inputs.append(_info(value))
        return value

    def output(self, value: Value) -> None:
        """Add an output; what no node makes, or is an output already, is passed on under another name."""
        if value.name not in self._made:
            value = self.node("Identity", value)
        self._made.remove(value.name)
        self.outputs.append(_info(value))

    def constant(self, array: Array) -> Value:
        """Make a constant that is part of the model; equal ones are one."""
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            value = Value(self.name("constant"), array.dtype, array.shape, array)
            tensor = numpy_helper.from_array(np.ascontiguousarray(array), value.name)
            tensor.dims[:] = array.shape
            self._initializers.append(tensor)
            self._constants[key] = value
        return self._constants[key]

    def scalar(self, value: float | int | np.generic, dtype: DType) -> Value:
        """Make a constant of rank 0."""
        return self.constant(np.asarray(value, dtype))

    def integers(self, values: Sequence[int]) -> Value:
        """Make a constant list of indices or extents."""
        return self.constant(np.array(values, np.int64))

    def weight(self, weight: Weight, dtype: DType, shape: Shape) -> Value:
        """Refer to a weight, whose content is given when the model is loaded."""
        if weight.digest not in self._weights:
            value = Value(
                self.name(self.origin or "weight"), dtype, shape, weight.array
            )
            self.weights[value.name] = weight
            self._weights[weight.digest] = value
        return self._weights[weight.digest]

    def require(self, op_type: str, domain: str, version: int) -> None:
        """State which version of a domain's operators a node is of."""
        if domain:
            known = self._domains.setdefault(domain, version)
            if known != version:
                raise CodegenError(
                    f"expected operators of one version of domain {domain}, got {known} and {version}"
                )
            return
        self._domains[""] = max(self._domains[""], version)
        self._versions[op_type, version] = None

    def _check_versions(self) -> None:
        """Refuse operators that the model's version of ONNX defines otherwise than theirs."""
        newest = self._domains[""]
        for op_type, version in self._versions:
            old, new = (
                defs.get_schema(op_type, each, "").since_version
                for each in (version, newest)
            )
            if old != new:
                raise CodegenError(
                    f"expected operators of one opset, got {op_type} of opset {version} among others of {newest}"
                )

    def node(
        self,
        op_type: str,
        *inputs: Value,
        dtype: DType | None = None,
        shape: Shape | None = None,
        **attributes: Any,
    ) -> Value:
        """Append a node of one result.

        Without `dtype` the result is of its first data operand's type; without `shape`, of the shape that
        the operands broadcast to.
        """
        first = 1 if op_type == "Where" else 0
        data = inputs[first]
        if shape is None:
            shape = np.broadcast_shapes(*(each.shape for each in inputs))
        dtype = dtype or data.dtype
        computed = stand_in(op_type, data.dtype)
        if computed is None:
            raise CodegenError(
                f"onnxruntime has no {op_type} of {data.dtype.name} elements"
            )
        if computed == data.dtype:
            return self.nodes(op_type, inputs, [(dtype, shape)], **attributes)[0]
        wide = [
            self.cast(each, computed)
            if at >= first and each.dtype == data.dtype
            else each
            for at, each in enumerate(inputs)
        ]
        result = computed if dtype == data.dtype else dtype
        (made,) = self.nodes(op_type, wide, [(result, shape)], **attributes)
        return self.cast(made, dtype)

    def nodes(
        self,
        op_type: str,
        inputs: Sequence[Value],
        results: Sequence[tuple[DType, Shape]],
        **attributes: Any,
    ) -> tuple[Value, ...]:
        """Append a node as it is, and return its results."""
        values = tuple(
            Value(self.name(self.origin or op_type), dtype, shape)
            for dtype, shape in results
        )
        self.append(
            helper.make_node(
                op_type,
                [each.name for each in inputs],
                [each.name for each in values],
                **attributes,
            )
        )
        return values

    def append(self, node: NodeProto) -> None:
        """Append a node whose results have new names."""
        node.name = self.name(f"{self.origin or 'node'}/{node.op_type}")
        self._nodes.append(node)
        self._made.update(node.output)

    def embed(self, node: NodeProto, names: dict[str, str], *, once: bool) -> None:
        """Append a node of another graph; `names` are what its values are called here, to which its outputs are added.

        What several ops carry along is computed once, unless it may be something else each time.
        """
        content = NodeProto()
        content.CopyFrom(node)
        content.name = ""
        inputs = [names[each] for each in reads(node)]
        content.input[:] = [each and names[each] for each in node.input]
        key = content.SerializeToString(deterministic=True) + "\0".join(inputs).encode()
        if once or key not in self._known:
            for each in filter(None, node.output):
                names[each] = self.name(each)
            self._known[key] = made = renamed(node, names.__getitem__, self.name)
            self.append(made)
            return
        names.update(zip(node.output, self._known[key].output, strict=True))

    def cast(self, value: Value, dtype: DType) -> Value:
        """Convert as C does; nothing is done to what is of the type."""
        if value.dtype == dtype:
            return value
        if value.array is not None and value.array.size == 1:
            return self.constant(value.array.astype(dtype))
        code = helper.np_dtype_to_tensor_dtype(dtype)
        return self.nodes("Cast", [value], [(dtype, value.shape)], to=code)[0]

    def finish(self) -> None:
        """Drop what no output depends on."""
        needed = {each.name for each in self.outputs}
        kept: list[NodeProto] = []
        for node in reversed(self._nodes):
            if not needed.isdisjoint(node.output):
                needed.update(reads(node))
                kept.append(node)
        self._nodes = kept[::-1]
        self._initializers = [
            each for each in self._initializers if each.name in needed
        ]
        self._weights = {
            digest: value
            for digest, value in self._weights.items()
            if value.name in needed
        }
        self.weights = {
            name: weight for name, weight in self.weights.items() if name in needed
        }

    def model(self, name: str) -> ModelProto:
        """Return the model; the content of weights is left out."""
        stored = map(_external, self._weights.values())
        return self._model(name, [*self._initializers, *stored])

    def closed(self, name: str) -> ModelProto:
        """Return the model with its weights as inputs: it refers to nothing outside, so that it can be checked."""
        return self._model(name, self._initializers, self._weights.values())

    def _model(
        self,
        name: str,
        initializers: Sequence[TensorProto],
        further: Iterable[Value] = (),
    ) -> ModelProto:
        self._check_versions()
        opsets = [helper.make_opsetid(*each) for each in self._domains.items()]
        graph: GraphProto = helper.make_graph(
            self._nodes,
            name,
            [*self._inputs, *map(_info, further)],
            self.outputs,
            initializers,
        )
        return helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=helper.find_min_ir_version_for(opsets, ignore_unknown=True),
            producer_name="partita",
        )


def _info(value: Value) -> ValueInfoProto:
    code = helper.np_dtype_to_tensor_dtype(value.dtype)
    return helper.make_tensor_value_info(value.name, code, value.shape)


def _external(value: Value) -> TensorProto:
    """Make an initializer without content: its data is said to be elsewhere."""
    tensor = TensorProto()
    tensor.name = value.name
    tensor.data_type = helper.np_dtype_to_tensor_dtype(value.dtype)
    tensor.dims.extend(value.shape)
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "weights"
    return tensor
