"""The `onnxruntime` back end: regions as ONNX models, run by onnxruntime."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import ClassVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.target import Target

from partita.dialects.relay import CarriedOp, ConstantOp, OnnxNodeOp, RelayOp
from partita.errors import OptionError, did_you_mean
from partita.shapes import DYNAMIC, element_of, shape_of
from partita.targets.backend import (
    Accept,
    CodegenContext,
    ExternalBackend,
    ExternalModule,
    Reject,
)
from partita.targets.onnxruntime.emit import OnnxTextTarget
from partita.targets.onnxruntime.export import check_loads, export
from partita.targets.onnxruntime.kernels import stand_in
from partita.targets.onnxruntime.rules import RULES
from partita.targets.onnxruntime.rules.rule import Operator, type_of

MODEL = "model.onnx"
"""The file that the loader reads."""


@dataclass(frozen=True)
class OnnxRuntime(ExternalBackend):
    """Whatever onnxruntime can run, also operators that `relay` does not model."""

    name: ClassVar[str] = "onnxruntime"

    emitters: ClassVar[tuple[type[Target], ...]] = (OnnxTextTarget,)

    carries_onnx: ClassVar[bool] = True

    providers: tuple[str, ...] = ()
    """Execution providers, such as `CUDAExecutionProvider`, the preferred ones first; if none, the processor's."""

    threads: int = 0
    """How many threads a region uses at most; 0 is as many as the executable may."""

    ops: tuple[str, ...] = ()
    """The ops that it takes, such as `relay.onnx_node` for all that relay does not model; all that it can run if none
    are given."""

    def __post_init__(self) -> None:
        known = sorted(op.name for op in RULES)
        for each in self.ops:
            if each not in known:
                raise OptionError(
                    f"expected ops of target {self.name}, got {each}{did_you_mean(each, known)}"
                )

    def unavailable(self) -> str | None:
        if find_spec("onnxruntime") is None:
            return "onnxruntime is not installed; install partita[onnxruntime]"
        return None

    def supports(self, op: Operation) -> Accept | Reject:
        rule = RULES.get(type(op)) if isinstance(op, RelayOp) else None
        if rule is None:
            return Reject(f"{op.name} cannot be written in ONNX")
        name = OnnxNodeOp.name if isinstance(op, CarriedOp) else op.name
        if self.ops and name not in self.ops and not isinstance(op, ConstantOp):
            return Reject(f"{op.name} is not among the ops that this target may take")
        for each in (*op.operands, *op.results):
            if DYNAMIC in shape_of(each):
                return Reject(f"expected static shapes, got {each.type}")
        if isinstance(rule, Operator) and op.operands:
            dtype, _ = type_of(op.operands[-1])
            if stand_in(rule.op_type, dtype) is None:
                element = element_of(op.operands[-1])
                return Reject(
                    f"onnxruntime has no {rule.op_type} of {element} elements"
                )
        return Accept()

    def codegen(self, function: FuncOp, context: CodegenContext) -> ExternalModule:
        exported = export(function)
        if not self.providers and any(
            isinstance(op, CarriedOp) for op in function.body.block.ops
        ):
            check_loads(exported)
        return ExternalModule(
            {MODEL: exported.model.SerializeToString(deterministic=True)},
            tuple(exported.weights.values()),
            {
                "weights": list(exported.weights),
                "providers": list(self.providers),
                "threads": self.threads,
                "spinning": True,
            },
        )

    def link(
        self, modules: Mapping[str, ExternalModule], context: CodegenContext
    ) -> Mapping[str, ExternalModule]:
        """Let threads not wait busily where several regions, each with its own, and the host take turns."""
        if len(modules) == 1:
            return modules
        return {
            name: replace(each, options={**each.options, "spinning": False})
            for name, each in modules.items()
        }
