"""Load object code into this process, and unload it."""

import ctypes
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from partita.errors import ArtifactError
from partita.runtime.llvm import binding

LIBRARIES = (None, "libm.so.6", "libgcc_s.so.1", "libSystem.dylib")
"""Where external functions of kernels are looked for; `None` is this process."""

ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
ELF_SECTION = struct.Struct("<IIQQQQIIQQ")
ELF_SYMBOL = struct.Struct("<IBBHQQ")
SYMBOL_TABLE = 2
LINKER_DEFINED = frozenset({"_GLOBAL_OFFSET_TABLE_"})


@dataclass(frozen=True)
class Symbols:
    """The global symbols that an object defines, and those that it needs from elsewhere."""

    defined: frozenset[str]
    undefined: frozenset[str]


def symbols(data: bytes, name: str) -> Symbols | None:
    """Return the global symbols of a 64-bit ELF object; `None` if it has another format."""
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    try:
        return _elf_symbols(data)
    except (struct.error, IndexError, ValueError):
        raise ArtifactError(f"{name} is no valid object file") from None


def _elf_symbols(data: bytes) -> Symbols:
    header = ELF_HEADER.unpack_from(data)
    table, number = header[6], header[12]
    sections: list[tuple[int, ...]] = [
        ELF_SECTION.unpack_from(data, table + index * ELF_SECTION.size)
        for index in range(number)
    ]
    defined: set[str] = set()
    undefined: set[str] = set()
    for section in sections:
        _, kind, _, _, offset, size, link, *_ = section
        if kind != SYMBOL_TABLE:
            continue
        names = sections[link][4]
        entries = data[offset : offset + size]
        for at, info, _, place, _, _ in ELF_SYMBOL.iter_unpack(entries):
            if at and info >> 4:
                start = names + at
                symbol = data[start : data.index(0, start)].decode()
                (defined if place else undefined).add(symbol)
    return Symbols(frozenset(defined), frozenset(undefined))


class LoadedObjects:
    """Objects linked into this process: functions by name, valid until `close`."""

    def __init__(self, objects: Mapping[str, bytes], exports: Mapping[str, str]):
        """Link the objects, and look up each symbol of `exports`, which says what object defines it."""
        llvm = binding()
        library = llvm.JITLibraryBuilder()
        for name, address in _externals(objects, exports).items():
            library.import_symbol(name, address)
        for data in objects.values():
            library.add_object_img(data)
        for name in exports:
            library.export_symbol(name)
        self._jit: Any = llvm.create_lljit_compiler(
            use_jit_link=True, suppress_errors=True
        )
        try:
            self._tracker: Any = library.link(self._jit, "kernels")
        except RuntimeError as error:
            self._jit.close()
            reason = " ".join(str(error).split())
            raise ArtifactError(f"object code cannot be linked: {reason}") from None

    def __getitem__(self, name: str) -> int:
        """Return the address of an exported symbol."""
        return self._tracker[name]

    def close(self) -> None:
        """Unload the code; no thread may be in it."""
        self._tracker.close()
        self._jit.close()


def _externals(
    objects: Mapping[str, bytes], exports: Mapping[str, str]
) -> dict[str, int]:
    """Check that every symbol is defined once, and return the addresses of those that this process provides."""
    defined: dict[str, str] = {}
    needed: dict[str, str] = {}
    known: set[str] = set()
    for name, data in objects.items():
        found = symbols(data, name)
        if found is None:
            continue
        known.add(name)
        for symbol in found.defined:
            if symbol in defined:
                raise ArtifactError(
                    f"{defined[symbol]} and {name} both define @{symbol}"
                )
            defined[symbol] = name
        needed |= dict.fromkeys(found.undefined, name)
    for symbol, name in exports.items():
        if name in known and defined.get(symbol) != name:
            raise ArtifactError(f"{name} does not define @{symbol}")
    missing = sorted(needed.keys() - defined.keys() - LINKER_DEFINED)
    addresses = dict(zip(missing, map(_address, missing), strict=True))
    for symbol, address in addresses.items():
        if address is None:
            raise ArtifactError(
                f"{needed[symbol]} needs @{symbol}, which this machine does not provide"
            )
    return {name: address for name, address in addresses.items() if address}


def _address(symbol: str) -> int | None:
    """Return the address of a function of the C library and its companions."""
    for name in LIBRARIES:
        try:
            function = getattr(ctypes.CDLL(name), symbol)
        except (OSError, AttributeError):
            continue
        return ctypes.cast(function, ctypes.c_void_p).value
    return None
