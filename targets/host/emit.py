"""What `partita-opt -t` shows of host code: LLVM text, and assembly."""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.target import Target

from partita.analysis.over_buffers import check_over_buffers
from partita.dialects.partita import KERNEL
from partita.errors import CodegenError
from partita.targets.host.kernel import emit_kernel, join_texts, symbol_of
from partita.targets.host.native import Compiler
from partita.targets.host.processors import machine_named


@dataclass(frozen=True)
class LLVMTarget(Target):
    """The kernels of a module, or all its functions if it has none, as LLVM text that nothing has optimized yet."""

    name = "llvm-ir"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(llvm_text(module))


@dataclass(frozen=True)
class AssemblyTarget(Target):
    """What LLVM makes of that text, as assembly."""

    name = "asm"

    cpu: str | None = None
    """The processor, by LLVM's name; by default this one."""

    triple: str | None = None
    """The platform; by default this one."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        compiler = Compiler(machine_named(self.triple, self.cpu))
        output.write(compiler.assemble(llvm_text(module)))


def llvm_text(module: ModuleOp) -> str:
    """Return one LLVM text of a module's functions over buffers, scheduled or not.

    Raises `CodegenError` for a module without any, or with a function of a higher level.
    """
    functions = [
        each
        for each in module.body.block.ops
        if isinstance(each, FuncOp) and not each.is_declaration
    ]
    kernels = [each for each in functions if KERNEL in each.attributes] or functions
    if not kernels:
        raise CodegenError("expected functions to make host code of, got none")
    for each in kernels:
        check_over_buffers(each)
    return join_texts([emit_kernel(each, symbol_of(each)) for each in kernels])
