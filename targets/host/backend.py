"""The host back end: fused kernels through `te` and `tir` to object code."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.utils.target import Target

from partita.analysis.work import work_of
from partita.dialects.relay import RelayOp
from partita.runtime.machine import Machine
from partita.targets.backend import (
    Accept,
    Code,
    CodegenContext,
    KernelBackend,
    Reject,
)
from partita.targets.host.emit import AssemblyTarget, LLVMTarget
from partita.targets.host.kernel import emit_kernel, symbol_of
from partita.targets.host.native import Compiler, ObjectCache
from partita.targets.host.schedule_host import ScheduleHostPass
from partita.transforms.apply_schedules import ApplySchedulesPass
from partita.transforms.block_layouts import BlockLayoutsPass
from partita.transforms.fold_constants import FoldConstantsPass
from partita.transforms.fuse_ops import FuseOpsPass
from partita.transforms.inline_intrinsics import InlineIntrinsicsPass
from partita.transforms.loop_rules.tiles import Registers
from partita.transforms.lower_relay_to_te import Computes, LowerRelayToTePass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.pack_weights import PackWeightsPass
from partita.transforms.pad_channels import PadChannelsPass
from partita.transforms.plan_memory import PlanMemoryPass
from partita.transforms.split_stages import SplitStagesPass
from partita.transforms.te_rules import TE_RULES

NO_CACHE = "none"

FLOAT = 32
"""Bits of the elements that images usually have: their blocks fill a vector of them."""


@dataclass(frozen=True)
class Host(KernelBackend):
    """The processor that everything runs on which no other target takes."""

    name: ClassVar[str] = "host"

    passes: ClassVar[tuple[type[ModulePass], ...]] = (ScheduleHostPass,)

    emitters: ClassVar[tuple[type[Target], ...]] = (LLVMTarget, AssemblyTarget)

    cache: str = ""
    """Folder of the object cache; the user's cache folder if empty, no cache if `none`."""

    def supports(self, op: Operation) -> Accept | Reject:
        if not isinstance(op, RelayOp):
            return Reject(f"expected a relay op, got {op.name}")
        if type(op) not in TE_RULES:
            return Reject(f"{op.name} has no rule to te")
        return Accept()

    def task_target(self) -> str:
        return self.name

    def compute_passes(
        self, module: ModuleOp, machine: Machine, computes: Computes | None = None
    ) -> Sequence[ModulePass]:
        lanes = Registers.of(machine).lanes(FLOAT)
        return (
            PadChannelsPass(lanes),
            BlockLayoutsPass(lanes),
            PackWeightsPass(),
            FoldConstantsPass(),
            DeadCodeElimination(),
            FuseOpsPass(),
            LowerRelayToTePass(computes),
        )

    def loop_passes(self, module: ModuleOp, machine: Machine) -> Sequence[ModulePass]:
        registers = Registers.of(machine)
        return (
            LowerTeToTirPass(),
            ScheduleHostPass(registers.bits, registers.accumulators),
            ApplySchedulesPass(),
            InlineIntrinsicsPass(),
            SplitStagesPass(),
            PlanMemoryPass(),
        )

    def codegen(
        self, functions: Sequence[FuncOp], context: CodegenContext
    ) -> Sequence[Code]:
        compiler = Compiler(context.machine)
        cache = self._object_cache()
        kernels = [emit_kernel(each, symbol_of(each)) for each in functions]
        code: list[Code] = []
        # One after the other: the library behind llvmlite serves one thread at a time.
        for function, kernel in zip(functions, kernels, strict=True):
            content = (
                compiler.compile(kernel.text)
                if cache is None
                else cache.compile(compiler, kernel.text)
            )
            code.append(
                Code(
                    f"host/{kernel.symbol}.o",
                    content,
                    kernel.symbol,
                    kernel.grid,
                    work_of(function),
                )
            )
            context.progress("kernels", len(code), len(kernels))
        return code

    def _object_cache(self) -> ObjectCache | None:
        if self.cache == NO_CACHE:
            return None
        return ObjectCache(Path(self.cache)) if self.cache else ObjectCache.default()
