"""Replace graph operators by what they compute, element by element."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from partita.analysis.diagnostics import fail
from partita.analysis.structural_hash import Key, function_dataflow
from partita.dialects.partita import KERNEL, ORIGIN
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

    computes: "Computes | None" = field(default=None, repr=False)
    """What was lowered before and need not be again."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.ops if isinstance(each, FuncOp)]
        kernels = [each for each in functions if KERNEL in each.attributes]
        for each in kernels or functions:
            if not any(_is_computed(inner) for inner in _body(each)):
                continue
            if self.computes is None:
                lower_function(each)
            else:
                lowered = self.computes.of(each)
                each.detach_region(each.body)
                each.add_region(lowered.detach_region(lowered.body))


class Computes:
    """What functions compute, each structure lowered once; whoever compiles several times may keep one.

    Functions of one structure may come from different models: each gets what it computes with its own
    name and origins.
    """

    def __init__(self) -> None:
        self._lowered: dict[Key, FuncOp] = {}
        """By structure; an op's origin is its number in the order in which operands lead to it."""

    def of(self, function: FuncOp) -> FuncOp:
        """Return what a function of relay ops computes, as a new function; errors are those of `lower_to_te_compute`."""
        if not _is_pure(function):
            return lower_to_te_compute(function)
        flow = function_dataflow(function)
        if len(flow.operations) + 1 < len(_body(function)):
            return lower_to_te_compute(function)  # dead ops are not in the key
        origins = [each.attributes.get(ORIGIN) for each in flow.operations]
        if flow.key not in self._lowered:
            self._lowered[flow.key] = _lower_numbered(function, flow.operations)
        lowered = self._lowered[flow.key].clone()
        lowered.properties |= function.properties
        lowered.attributes |= function.attributes
        for new, old in zip(lowered.args, function.args, strict=True):
            new.name_hint = old.name_hint
        for each in _body(lowered):
            number = each.attributes.pop(ORIGIN, None)
            if isinstance(number, StringAttr) and (origin := origins[int(number.data)]):
                each.attributes[ORIGIN] = origin
        return lowered


def _is_pure(function: FuncOp) -> bool:
    """Say whether a function holds nothing but relay ops in one block."""
    return len(function.body.blocks) == 1 and all(
        isinstance(each, RelayOp | ReturnOp) for each in _body(function)
    )


def _lower_numbered(function: FuncOp, operations: Sequence[Operation]) -> FuncOp:
    """Return what a function computes, with the numbers of these ops as origins of computes."""
    values: dict[SSAValue, SSAValue] = {}
    numbered = function.clone(values)
    for op in _body(numbered):
        op.attributes.pop(ORIGIN, None)
    for number, op in enumerate(operations):
        clone = values[op.results[0]].owner
        assert isinstance(clone, Operation)
        clone.attributes[ORIGIN] = StringAttr(str(number))
    try:
        lower_function(numbered)
    except PassFailedException:
        lower_function(function.clone())  # refuses the same with the model's origins
        raise
    return numbered


def lower_to_te_compute(function: FuncOp, computes: Computes | None = None) -> FuncOp:
    """Return what a function of relay ops computes, as a new function; the given one stays.

    With `computes`, a function of a structure that was lowered before is not lowered again.

    Raises `PassFailedException` for an op without a rule, and for dynamic shapes.
    """
    if computes is not None:
        return computes.of(function)
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


def _body(function: FuncOp) -> Sequence[Operation]:
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
