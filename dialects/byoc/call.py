"""Calls of external functions."""

from collections.abc import Mapping, Sequence, Set

from xdsl.dialects.builtin import (
    FunctionType,
    MemRefType,
    ModuleOp,
    SymbolRefAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from partita.dialects.byoc.binary import BinaryOp
from partita.dialects.byoc.module import external_modules
from partita.shapes import scalar_type


class CallEffects(MemoryEffect):
    """A call on tensors is pure; one that fills buffers writes."""

    @classmethod
    def get_effects(cls, op: Operation) -> Set[EffectInstance]:
        if op.results:
            return frozenset()
        return frozenset({EffectInstance(MemoryEffectKind.WRITE)})


@irdl_op_definition
class CallOp(IRDLOperation):
    """Call an external function: on tensors, or on the buffers of its arguments and then of its results.

    ```mlir
    %1 = byoc.call @c::@main_0(%0) {partita.origin = "relu_1"} : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "byoc.call"

    irdl_options = (ParsePropInAttrDict(),)

    callee = prop_def(SymbolRefAttr)

    host_code = opt_prop_def(SymbolRefAttr)
    """A function of the host that does the same, where the module cannot be loaded."""

    arguments = var_operand_def()

    outputs = var_result_def()

    traits = traits_def(CallEffects())

    assembly_format = (
        "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $outputs)"
    )

    def __init__(
        self,
        target: str,
        function: str,
        arguments: Sequence[SSAValue],
        types: Sequence[Attribute],
    ):
        super().__init__(
            operands=(arguments,),
            properties={"callee": SymbolRefAttr(target, [function])},
            result_types=(types,),
        )

    @property
    def target(self) -> str:
        """The name of the target's module."""
        return self.callee.root_reference.data

    @property
    def function(self) -> str:
        """The name of the external function."""
        return self.callee.nested_references.data[-1].data

    def verify_(self) -> None:
        """Check the symbols of all calls of a block at the first one, so that time is linear."""
        if len(self.callee.nested_references) != 1:
            raise VerifyException(
                f"expected a function of a byoc.module as @target::@function, got {self.callee}"
            )
        function = self.parent_op()
        module = None if function is None else function.parent_op()
        if not isinstance(module, ModuleOp) or self._follows_another():
            return
        externals = {
            name: each.functions for name, each in external_modules(module).items()
        }
        assert self.parent is not None
        for call in self.parent.ops:
            if isinstance(call, CallOp) and len(call.callee.nested_references) == 1:
                call.verify_callee(externals)

    def _follows_another(self) -> bool:
        before = self.prev_op
        while before is not None and not isinstance(before, CallOp):
            before = before.prev_op
        return before is not None

    def verify_callee(
        self, externals: Mapping[str, Mapping[str, FuncOp | BinaryOp]]
    ) -> None:
        """Compare the call with what it calls."""
        if self.target not in externals:
            raise VerifyException(f"expected a byoc.module @{self.target}, got none")
        callee = externals[self.target].get(self.function)
        if callee is None:
            raise VerifyException(
                f"expected a function @{self.function} in byoc.module @{self.target}, got none"
            )
        got = FunctionType.from_lists(
            [each.type for each in self.arguments], [each.type for each in self.outputs]
        )
        over_buffers = bool(self.arguments.types) and all(
            isinstance(type, MemRefType) for type in self.arguments.types
        )
        type = callee.function_type
        wanted = buffer_signature(type) if over_buffers else type
        if got != wanted:
            raise VerifyException(
                f"expected a call of @{self.target}::@{self.function} to be of type {wanted}, got {got}"
            )


def buffer_signature(type: FunctionType) -> FunctionType:
    """Return the type of a function on the buffers of its arguments and then of its results."""
    return FunctionType.from_lists(
        [
            MemRefType(scalar_type(each.element_type), each.get_shape())
            if isa(each, TensorType[Attribute])
            else each
            for each in (*type.inputs, *type.outputs)
        ],
        (),
    )
