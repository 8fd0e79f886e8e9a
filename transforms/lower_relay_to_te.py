"""Replace graph operators by what they compute, element by element."""

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from partita.analysis.diagnostics import fail
from partita.dialects.partita import KERNEL
from partita.dialects.relay import ConstantOp, RelayOp
from partita.dialects.te import ComputeOp
from partita.shapes import DYNAMIC, element_of, shape_of
from partita.transforms.te_rules import TE_RULES
from partita.transforms.te_rules.body import Number
from partita.transforms.te_rules.builder import Labels, TeBuilder


@dataclass(frozen=True)
class LowerRelayToTePass(ModulePass):
    """Make each relay op one or several computes, which say what elements are and nothing about how.

    Kernels are lowered, or all functions of a module that has none: no target, no
    schedule and no fusion is needed. A constant that holds one repeated value is a scalar
    where it is read; others stay as they are, and so do functions of constants only. The
    rule of each op is in `te_rules`.

    Before:

    ```mlir
    func.func @f(%x : tensor<4xf32>) -> tensor<4xf32> {
      %one = relay.constant dense<1.000000e+00> : tensor<f32>
      %y = relay.add %x, %one {partita.origin = "add_1"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }
    ```

    After `lower-relay-to-te`:

    ```mlir
    func.func @f(%x : tensor<4xf32>) -> tensor<4xf32> {
      %y = te.compute "add" {partita.origin = "add_1"} (%i0 in 4) {
        %0 = te.read %x[%i0] : tensor<4xf32>
        %1 = arith.constant 1.000000e+00 : f32
        %2 = arith.addf %0, %1 : f32
        te.yield %2 : f32
      } : tensor<4xf32>
      func.return %y : tensor<4xf32>
    }
    ```
    """

    name = "lower-relay-to-te"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.ops if isinstance(each, FuncOp)]
        kernels = [each for each in functions if KERNEL in each.attributes]
        for each in kernels or functions:
            if any(_is_computed(inner) for inner in _body(each)):
                lower_function(each)


def lower_to_te_compute(function: FuncOp) -> FuncOp:
    """Return what a function of relay ops computes, as a new function; the given one stays.

    Raises `PassFailedException` for an op without a rule, and for dynamic shapes.
    """
    lowered = function.clone()
    lower_function(lowered)
    return lowered


def lower_function(function: FuncOp) -> None:
    """Replace the relay ops of a function by computes."""
    labels = Labels(
        op.label.data for op in _body(function) if isinstance(op, ComputeOp)
    )
    splats: dict[SSAValue, Number] = {}
    constants: list[ConstantOp] = []
    for op in _body(function):
        if isinstance(op, ConstantOp):
            value = op.splat()
            if value is not None:
                splats[op.result] = value.item()
                constants.append(op)
        elif isinstance(op, RelayOp):
            _lower(op, TeBuilder(op, labels, splats))
    for op in constants:
        if op.result.first_use is not None:
            _fill(op, TeBuilder(op, labels, {}), splats[op.result])
        op.detach()
        op.erase()


def _is_computed(op: Operation) -> bool:
    return isinstance(op, RelayOp) and not isinstance(op, ConstantOp)


def _body(function: FuncOp) -> Iterable[Operation]:
    return [op for block in function.body.blocks for op in block.ops]


def _lower(op: RelayOp, builder: TeBuilder) -> None:
    rule = TE_RULES.get(type(op))
    if rule is None:
        fail(op, f"expected an op with a rule to compute it, got {op.name}")
    for value in (*op.operands, *op.results):
        if DYNAMIC in shape_of(value):
            fail(
                op,
                f"expected static shapes, got {value.type}; run specialize-shapes first",
            )
    for old, new in zip(op.results, rule(op, builder), strict=True):
        if new.name_hint is None:
            new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


def _fill(op: ConstantOp, builder: TeBuilder, value: Number) -> None:
    """Make a constant a compute, for uses that want a tensor."""
    element = element_of(op.result)
    filled = builder.compute(
        shape_of(op.result), element, lambda body, axes: body.constant(value, element)
    )
    filled.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(filled)
