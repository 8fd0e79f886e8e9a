"""Operators of ONNX that relay does not model: carried as they are, for a target that runs ONNX."""

from base64 import b64decode, b64encode
from collections.abc import Sequence

import onnx
from google.protobuf.message import DecodeError
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


@irdl_op_definition
class OnnxNodeOp(RelayOp):
    """Apply an operator that relay does not model, as ONNX, or whoever defines its domain, says.

    ```mlir
    %y, %i = relay.onnx_node %x, %k {op_type = "TopK", domain = "", version = 20 : i64, inputs = array<i64: 0, 1>, outputs = array<i64: 0, 1>} : (tensor<4xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
    ```
    """

    name = "relay.onnx_node"

    arguments = var_operand_def(AnyTensorTypeConstr)
    """The inputs that are not left out."""

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

    instance = opt_prop_def(StringAttr)
    """What tells a node that gives something else whenever it runs from others like it."""

    produced = var_result_def(AnyTensorTypeConstr)
    """Of the types that are stated: they are not inferred."""

    traits = traits_def(Fusion(FusionPattern.OPAQUE))

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
        types = tuple(map(tensor_type, self.produced))
        for each in types:
            if each.element_type not in ELEMENTS.types:
                raise VerifyException(
                    f"expected results of {ELEMENTS.name} elements, got {each.element_type}"
                )
        return types


def _placed(places: Sequence[int], names: Sequence[str]) -> list[str]:
    """Return names at their places, empty ones between them."""
    placed = [""] * (max(places, default=-1) + 1)
    for at, name in zip(places, names, strict=True):
        placed[at] = name
    return placed
