"""llvmlite's binding, imported when first needed: it is untyped, and costs a tenth of a second."""

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
