"""The `onednn` back end: what to take, and how it is prepared."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.utils.target import Target

from partita.dialects.relay import MaxOp, MeanOp
from partita.dialects.relay.pool import Pool2dOp
from partita.runtime import dnnl
from partita.runtime.loaders.onednn import MEMBER
from partita.shapes import DYNAMIC, element_of, shape_of
from partita.targets.backend import (
    Accept,
    CodegenContext,
    ExternalBackend,
    ExternalModule,
    Reject,
)
from partita.targets.onednn.emit import OneDnnJsonTarget
from partita.targets.onednn.export import export
from partita.targets.onednn.fusion import LINEAR
from partita.targets.onednn.rules import RULES
from partita.transforms.fold_constants import FoldConstantsPass
from partita.transforms.fold_scale_axis import FoldScaleAxisPass
from partita.transforms.simplify_inference import SimplifyInferencePass

HIGHEST_RANK = 5
"""All of oneDNN's implementations take tensors up to this rank."""

WORTH = (*LINEAR, Pool2dOp, MaxOp, MeanOp)
"""What oneDNN is asked for; it takes other ops only next to these."""


@dataclass(frozen=True)
class OneDnn(ExternalBackend):
    """Intel's kernels for convolutions, products of matrices and pools, with what is fused onto them."""

    name: ClassVar[str] = "onednn"

    emitters: ClassVar[tuple[type[Target], ...]] = (OneDnnJsonTarget,)

    threads: int = 0
    """How many threads a region uses at most; 0 is as many as the executable may."""

    def unavailable(self) -> str | None:
        return dnnl.problem()

    def supports(self, op: Operation) -> Accept | Reject:
        rule = RULES.get(type(op))
        if rule is None:
            return Reject(f"oneDNN has no {op.name}")
        for each in (*op.operands, *op.results):
            if element_of(each) != f32:
                return Reject(f"expected f32 elements, got {element_of(each)}")
            shape = shape_of(each)
            if DYNAMIC in shape:
                return Reject(f"expected static shapes, got {each.type}")
            if 0 in shape:
                return Reject(f"expected elements, got {each.type}")
            if len(shape) > HIGHEST_RANK:
                return Reject(
                    f"expected tensors up to rank {HIGHEST_RANK}, got {each.type}"
                )
        reason = rule.check(op)
        return Accept() if reason is None else Reject(reason)

    def pays(self, region: Sequence[Operation]) -> Accept | Reject:
        if any(isinstance(op, WORTH) for op in region):
            return Accept()
        return Reject("expected a convolution, a product of matrices or a pool")

    def post_partition(self) -> Sequence[ModulePass]:
        return (
            SimplifyInferencePass(),
            FoldConstantsPass(),
            FoldScaleAxisPass(),
            FoldConstantsPass(),
            DeadCodeElimination(),
        )

    def codegen(self, function: FuncOp, context: CodegenContext) -> ExternalModule:
        program = export(function)
        return ExternalModule(
            {MEMBER: json.dumps(program.json(), allow_nan=False).encode()},
            tuple(program.weights.values()),
            {"threads": self.threads},
        )
