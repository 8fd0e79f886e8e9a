"""Turn arguments that are parameters into constants."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import AnyTensorType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from partita.analysis.diagnostics import fail
from partita.analysis.entry import (
    argument_attributes,
    set_argument_attributes,
)
from partita.dialects.partita import PARAM
from partita.dialects.relay import ConstantOp
from partita.shapes import dtype_of
from partita.weights import Array, read_arrays


@dataclass(frozen=True)
class BindParametersPass(ModulePass):
    """Replace each argument that is marked `partita.param = "name"` by the constant of that name.

    A compiled model then loads them with its code, and passes may fold them. Contents
    come from a safetensors file, or in Python from `values`, which wins; each parameter
    needs one, of the argument's own shape and element type. Arrays are not copied.

    Before:

    ```mlir
    func.func @main(%x : tensor<2xf32>, %w : tensor<2xf32> {partita.param = "w"}) -> tensor<2xf32> attributes {partita.entry} {
      %0 = relay.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }
    ```

    After `bind-parameters{weights="filecheck/transforms/parameters.safetensors"}`:

    ```mlir
    func.func @main(%x : tensor<2xf32>) -> tensor<2xf32> attributes {partita.entry} {
      %w = relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
      %0 = relay.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }
    ```
    """

    name = "bind-parameters"

    weights: str | None = None
    """A safetensors file that holds arrays under the parameters' names."""

    values: Mapping[str, Array] = field(
        default_factory=dict[str, Array], compare=False, repr=False
    )
    """Arrays by parameter name; for Python only, not part of the textual options."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [
            each
            for each in op.ops
            if isinstance(each, FuncOp) and not each.is_declaration
        ]
        if not any(parameters_of(each) for each in functions):
            return
        values: dict[str, Array] = {}
        if self.weights is not None:
            values |= read_arrays(Path(self.weights))
        values |= self.values
        for function in functions:
            _bind(function, values)


def parameters_of(function: FuncOp) -> dict[BlockArgument, str]:
    """Return the arguments that are unbound parameters, with the parameters' names."""
    return {
        argument: name.data
        for argument, attributes in zip(
            function.args, argument_attributes(function), strict=True
        )
        if isinstance(name := attributes.get(PARAM), StringAttr)
    }


def _bind(function: FuncOp, values: Mapping[str, Array]) -> None:
    parameters = parameters_of(function)
    missing = sorted({name for name in parameters.values() if name not in values})
    if missing:
        fail(
            function,
            f"expected contents of all parameters, got none of {', '.join(missing)}; set weights",
        )
    constants: dict[str, ConstantOp] = {}
    kept = tuple(
        attributes
        for argument, attributes in zip(
            function.args, argument_attributes(function), strict=True
        )
        if argument not in parameters
    )
    block = function.body.block
    for argument, name in parameters.items():
        if name not in constants:
            constants[name] = ConstantOp.of(values[name])
            Rewriter.insert_op(constants[name], InsertPoint.at_start(block))
        constant = constants[name]
        _check(function, argument, name, values[name])
        argument.replace_all_uses_with(constant.result)
        block.erase_arg(argument)
    set_argument_attributes(function, kept)
    function.update_function_type()


def _check(function: FuncOp, argument: BlockArgument, name: str, array: Array) -> None:
    if not isa(argument.type, AnyTensorType):
        fail(function, f"expected tensor parameter {name}, got {argument.type}")
    dtype = dtype_of(argument.type.element_type)
    if array.shape != argument.type.get_shape() or array.dtype != dtype:
        fail(
            function,
            f"expected parameter {name} of type {argument.type}, "
            f"got {array.dtype} of shape {array.shape}",
        )
