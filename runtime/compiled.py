"""Functions written as LLVM text: compiled for this processor, kept on disk, linked when first used."""

import ctypes
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from partita.runtime.llvm import binding, native_object
from partita.runtime.object_folder import ObjectFolder
from partita.runtime.objects import LoadedObjects


class CompiledText:
    """The exported functions of one LLVM text, callable through ctypes as long as this object lives."""

    def __init__(self, text: str, prototypes: Mapping[str, Any], *, level: int = 2):
        """Compile `text`, or take its code from the user's cache; `prototypes` are ctypes types by function name."""
        llvm = binding()
        made_from = (
            llvm.get_process_triple(),
            llvm.get_host_cpu_name(),
            llvm.get_host_cpu_features().flatten(),
            version("llvmlite"),
            f"O{level}",
            text,
        )
        name = "compiled text"
        code = ObjectFolder.default().get(made_from, lambda: native_object(text, level))
        self._loaded = LoadedObjects({name: code}, dict.fromkeys(prototypes, name))
        self.functions: dict[str, Any] = {
            function: prototype(self._loaded[function])
            for function, prototype in prototypes.items()
        }


WORD_FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
)
"""A function of a pointer and two integers that returns an integer."""
