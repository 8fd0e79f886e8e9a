"""LLVM through llvmlite, imported when first needed: its binding is untyped, and costs a tenth of a second."""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def binding() -> Any:
    """Return `llvmlite.binding`, with code generation for this machine set up."""
    llvm = import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def native_object(text: str, level: int = 2, *, passes: bool = True) -> bytes:
    """Return the object code of an LLVM text for this very processor, optimized up to `level`.

    Text that is explicit already needs no `passes` before code generation, and is compiled three times as fast without.
    Raises `RuntimeError`, as llvmlite does, if the text is wrong.
    """
    llvm = binding()
    triple = llvm.get_process_triple()
    target = llvm.Target.from_triple(triple).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        reloc="pic",
        codemodel="small",
    )
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple = triple
    module.data_layout = str(target.target_data)
    if passes:
        options = llvm.create_pipeline_tuning_options(speed_level=level)
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
    return target.emit_object(module)
