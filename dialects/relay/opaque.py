"""Operators of ONNX that relay does not model: carried as they are, for a target that runs ONNX."""

from abc import abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence

import onnx
from google.protobuf.message import DecodeError
from onnx import helper
from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from partita.dialects.relay.base import (
    ELEMENTS,
    Fusion,
    FusionPattern,
    RelayOp,
    dense,
    integer,
    ints,
)
from partita.shapes import tensor_type

ONNX_OPSET = 20
"""The least version of ONNX's own operators that models made of relay are in, hence of those carried along.

It has what `relay` needs as single operators (bitwise operators, padding that wraps, dilated average
pools, reductions of truth values), and every onnxruntime from 1.18 on runs it.
"""

ONNX_DOMAIN = "ai.onnx"
"""What the domain of ONNX's own operators is called, which is written as an empty string."""


class CarriedOp(RelayOp):
    """What is carried along as ONNX: it means what a run of it by onnxruntime gives."""

    arguments = var_operand_def(AnyTensorTypeConstr)

    instance = opt_prop_def(StringAttr)
    """What tells an op that gives something else whenever it runs from others like it."""

    produced = var_result_def(AnyTensorTypeConstr)
    """Of the types that are stated: they are not inferred."""

    traits = traits_def(Fusion(FusionPattern.OPAQUE))

    @abstractmethod
    def model(self) -> onnx.ModelProto:
        """Return a model of nothing else: inputs are operands, outputs results, in order; their types are left out."""

    @property
    @abstractmethod
    def operators(self) -> tuple[str, ...]:
        """The operators that it applies, each once, with their domains."""

    def _stated(self) -> tuple[AnyTensorType, ...]:
        """Return the types of results; raise `VerifyException` for those that relay has no elements of."""
        types = tuple(map(tensor_type, self.produced))
        for each in types:
            if each.element_type not in ELEMENTS.types:
                raise VerifyException(
                    f"expected results of {ELEMENTS.name} elements, got {each.element_type}"
                )
        return types


@irdl_op_definition
class OnnxNodeOp(CarriedOp):
    """Apply an operator that relay does not model, as ONNX, or whoever defines its domain, says.

    ```mlir
    %y, %i = relay.onnx_node %x, %k {op_type = "TopK", domain = "", version = 20 : i64, inputs = array<i64: 0, 1>, outputs = array<i64: 0, 1>} : (tensor<4xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
    ```
    """

    name = "relay.onnx_node"

    op_type = prop_def(StringAttr)

    domain = prop_def(StringAttr)
    """Who defines the operator; ONNX if empty."""

    version = prop_def(IntegerAttr.constr(i64))
    """The version of the domain's operators."""

    inputs = prop_def(DenseArrayBase.constr(i64))
    """For each operand, which input of the operator it is; the others are left out."""

    outputs = prop_def(DenseArrayBase.constr(i64))
    """For each result, which output of the operator it is."""

    node_attributes = opt_prop_def(StringAttr)
    """The operator's attributes, as a `NodeProto` in base64."""

    assembly_format = "$arguments attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        node: onnx.NodeProto,
        version: int,
        arguments: Sequence[SSAValue],
        result_types: Sequence[AnyTensorType],
        *,
        instance: str | None = None,
    ):
        """Carry a node: operands are its inputs with a name, results its outputs with a name."""
        kept = onnx.NodeProto(attribute=node.attribute)
        text = b64encode(kept.SerializeToString(deterministic=True)).decode()
        properties = {
            "op_type": StringAttr(node.op_type),
            "domain": StringAttr(node.domain),
            "version": integer(version),
            "inputs": dense(at for at, name in enumerate(node.input) if name),
            "outputs": dense(at for at, name in enumerate(node.output) if name),
            "node_attributes": StringAttr(text) if text else None,
            "instance": None if instance is None else StringAttr(instance),
        }
        IRDLOperation.__init__(
            self,
            operands=(arguments,),
            properties=properties,
            result_types=(result_types,),
        )

    def node(self, inputs: Sequence[str], outputs: Sequence[str]) -> onnx.NodeProto:
        """Return the node, with names for its operands and results."""
        made = onnx.NodeProto()
        if self.node_attributes is not None:
            made.ParseFromString(b64decode(self.node_attributes.data))
        made.op_type, made.domain = self.op_type.data, self.domain.data
        made.input.extend(_placed(ints(self.inputs), inputs))
        made.output.extend(_placed(ints(self.outputs), outputs))
        return made

    @property
    def operators(self) -> tuple[str, ...]:
        return (f"{self.domain.data or ONNX_DOMAIN}.{self.op_type.data}",)

    def model(self) -> onnx.ModelProto:
        inputs = [f"input{index}" for index in range(len(self.arguments))]
        outputs = [f"output{index}" for index in range(len(self.produced))]
        node = self.node(inputs, outputs)
        return model_of(
            [node], inputs, outputs, {self.domain.data: self.version.value.data}
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        for name, places, what, count in (
            ("inputs", ints(self.inputs), "operands", len(self.arguments)),
            ("outputs", ints(self.outputs), "results", len(self.produced)),
        ):
            if list(places) != sorted({*places}) or min(places, default=0) < 0:
                raise VerifyException(
                    f"expected {name} in ascending order from 0, got {', '.join(map(str, places))}"
                )
            if len(places) != count:
                raise VerifyException(
                    f"expected {name} of {count} places, one for each of the {what}, got {len(places)}"
                )
        try:
            self.node([""] * len(self.arguments), [""] * len(self.produced))
        except (ValueError, DecodeError):
            raise VerifyException(
                "expected node_attributes of a NodeProto in base64"
            ) from None
        return self._stated()


@irdl_op_definition
class OnnxGraphOp(CarriedOp):
    """Apply operators that relay does not model one after the other.

    That is how values are carried that are no tensors of static shape and of elements that relay has: sequences,
    strings, and what has another shape in every run. They stay between the nodes of one op. It is also how operators
    are carried that hold graphs, such as `If`: what these read from outside are operands.

    ```mlir
    %y = relay.onnx_graph %x, %w {graph = "CAk6YQoeCgF4CgF3EgFzIhFTZXF1ZW5jZUNvbnN0cnVjdDoACikKAXMSAXkiEkNvbmNhdEZyb21TZXF1ZW5jZSoLCgRheGlzGACgAQI6ABIFZ3JhcGhaAwoBeFoDCgF3YgMKAXlCBAoAEBQ="} : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
    ```
    """

    name = "relay.onnx_graph"

    graph = prop_def(StringAttr)
    """A `ModelProto` in base64: its nodes, and which versions of operators they are of."""

    assembly_format = "$arguments attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        model: onnx.ModelProto,
        arguments: Sequence[SSAValue],
        result_types: Sequence[AnyTensorType],
        *,
        instance: str | None = None,
    ):
        """Carry the nodes of a model: operands are its inputs, results its outputs."""
        text = b64encode(model.SerializeToString(deterministic=True)).decode()
        IRDLOperation.__init__(
            self,
            operands=(arguments,),
            properties={
                "graph": StringAttr(text),
                "instance": None if instance is None else StringAttr(instance),
            },
            result_types=(result_types,),
        )

    def model(self) -> onnx.ModelProto:
        made = onnx.ModelProto()
        made.ParseFromString(b64decode(self.graph.data, validate=True))
        return made

    @property
    def operators(self) -> tuple[str, ...]:
        nodes = self.model().graph.node
        return tuple(
            dict.fromkeys(
                f"{each.domain or ONNX_DOMAIN}.{each.op_type}" for each in nodes
            )
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        try:
            graph = self.model().graph
        except (ValueError, DecodeError):
            raise VerifyException("expected graph of a ModelProto in base64") from None
        for what, places, values in (
            ("inputs", graph.input, self.arguments),
            ("outputs", graph.output, self.produced),
        ):
            if len(places) != len(values):
                values_are = "operands" if what == "inputs" else "results"
                raise VerifyException(
                    f"expected a graph of {len(values)} {what}, one for each of the {values_are}, got {len(places)}"
                )
        return self._stated()


def model_of(
    nodes: Iterable[onnx.NodeProto],
    inputs: Iterable[str],
    outputs: Iterable[str],
    opsets: Mapping[str, int],
) -> onnx.ModelProto:
    """Return a model of nodes, whose inputs and outputs have names and no types."""
    imports = [helper.make_opsetid(*each) for each in opsets.items()]
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [onnx.ValueInfoProto(name=each) for each in inputs],
        [onnx.ValueInfoProto(name=each) for each in outputs],
    )
    return helper.make_model(
        graph,
        opset_imports=imports,
        ir_version=helper.find_min_ir_version_for(imports, ignore_unknown=True),
    )


def _placed(places: Sequence[int], names: Sequence[str]) -> list[str]:
    """Return names at their places, empty ones between them."""
    placed = [""] * (max(places, default=-1) + 1)
    for at, name in zip(places, names, strict=True):
        placed[at] = name
    return placed
