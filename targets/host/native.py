"""Object code: what LLVM makes of a kernel's text, for a processor, kept on disk by content."""

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

from partita.errors import CodegenError
from partita.runtime.llvm import binding
from partita.runtime.machine import Machine
from partita.runtime.object_folder import ObjectFolder
from partita.targets.host.processors import feature_flags

SPEED_LEVEL = 3
"""How hard LLVM tries; schedules leave it little to do."""


@dataclass(frozen=True)
class Compiler:
    """LLVM, set up for a machine."""

    machine: Machine

    @cached_property
    def features(self) -> str:
        """The features that code may use and those that it must not, as LLVM wants them."""
        return feature_flags(self.machine)

    @cached_property
    def _target(self) -> Any:
        llvm: Any = binding()
        return llvm.Target.from_triple(self.machine.triple).create_target_machine(
            cpu=self.machine.cpu,
            features=self.features,
            opt=SPEED_LEVEL,
            reloc="pic",
            codemodel="default",
        )

    def optimize(self, text: str) -> Any:
        """Return the optimized LLVM module of a text; `CodegenError` if the text is wrong."""
        llvm: Any = binding()
        try:
            module = llvm.parse_assembly(
                f'target triple = "{self.machine.triple}"\n{text}'
            )
            module.verify()
        except RuntimeError as error:
            raise CodegenError(f"LLVM refuses the text of a kernel: {error}") from None
        module.data_layout = str(self._target.target_data)
        options = llvm.create_pipeline_tuning_options(speed_level=SPEED_LEVEL)
        options.loop_vectorization = True
        options.slp_vectorization = True
        builder = llvm.create_pass_builder(self._target, options)
        builder.getModulePassManager().run(module, builder)
        return module

    def compile(self, text: str) -> bytes:
        """Return the object code of a text."""
        return self._target.emit_object(self.optimize(text))

    def assemble(self, text: str) -> str:
        """Return the assembly of a text."""
        return self._target.emit_assembly(self.optimize(text))


class ObjectCache(ObjectFolder):
    """Where the object code of kernels is kept."""

    def compile(self, compiler: Compiler, text: str) -> bytes:
        """Return object code, made only if it is not in the cache."""
        made_from = (
            compiler.machine.triple,
            compiler.machine.cpu,
            compiler.features,
            version("llvmlite"),
            f"O{SPEED_LEVEL}",
            text,
        )
        return self.get(made_from, lambda: compiler.compile(text))
