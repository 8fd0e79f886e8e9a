"""From a relay function to an ONNX model."""

from collections.abc import Mapping
from dataclasses import dataclass

from onnx import ModelProto
from onnx.checker import C, ValidationError
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from partita.dialects.partita import NAME, origin_of
from partita.dialects.relay import RelayOp
from partita.errors import CodegenError
from partita.targets.onnxruntime.graph import Graph, Value
from partita.targets.onnxruntime.rules import RULES
from partita.targets.onnxruntime.rules.rule import type_of
from partita.weights import Weight


@dataclass(frozen=True)
class ExportedModel:
    """A model, and what it does not hold."""

    model: ModelProto
    """Its inputs and outputs are the function's, in order."""

    weights: Mapping[str, Weight]
    """The content of initializers that are said to be external, by name."""


def export(function: FuncOp) -> ExportedModel:
    """Write a function of relay ops as an ONNX model.

    Nodes and values are named after the nodes that they come from, inputs after the function's arguments. Raises
    `CodegenError` for what cannot be said in ONNX.
    """
    graph = Graph()
    values: dict[SSAValue, Value] = {}
    for index, argument in enumerate(function.body.block.args):
        name = _name(function, index) or argument.name_hint or f"input{index}"
        values[argument] = graph.input(name, *type_of(argument))
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp):
            for each in op.arguments:
                graph.output(values[each])
            break
        rule = RULES.get(type(op)) if isinstance(op, RelayOp) else None
        if rule is None:
            raise CodegenError(f"{op.name} cannot be written in ONNX")
        graph.origin = origin_of(op) or ""
        results = rule(graph, op, *(values[each] for each in op.operands))
        if isinstance(results, Value):
            results = (results,)
        values.update(zip(op.results, results, strict=True))
    graph.finish()
    name = function.sym_name.data
    _check(graph.closed(name))
    return ExportedModel(graph.model(name), graph.weights)


def check_loads(exported: ExportedModel) -> None:
    """Raise `CodegenError` if onnxruntime does not take a model: it may lack an operator, or an element type of one."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    held = [
        onnxruntime.OrtValue.ortvalue_from_numpy(each.content())
        for each in exported.weights.values()
    ]
    if held:
        settings.add_external_initializers(list(exported.weights), held)
    try:
        onnxruntime.InferenceSession(
            exported.model.SerializeToString(), settings, ["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime raises a dozen types that share no base
        reason = " ".join(str(error).split())
        raise CodegenError(f"onnxruntime does not take it: {reason}") from None


def _name(function: FuncOp, index: int) -> str | None:
    """Return what users call an argument."""
    if function.arg_attrs is None:
        return None
    name = function.arg_attrs.data[index].data.get(NAME)
    return name.data if isinstance(name, StringAttr) else None


def _check(model: ModelProto) -> None:
    """Refuse a model that defies ONNX's rules."""
    try:
        C.check_model(model.SerializeToString(), False, False, False)
    except ValidationError as error:
        raise CodegenError(f"the exported model is not valid ONNX: {error}") from None
