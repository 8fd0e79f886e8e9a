"""Run programs through a shared library with the C interface of the original driver.

It is what drivers of boards and the original's simulators offer (`vta/driver.h`, Apache TVM 0.10): memory with physical
addresses of 32 bits, and a device that executes a stream of instructions that lies in it. A program's arena and its
encoded stream are put into such memory, with the stream's addresses for that place. Memory is cached, so it is flushed
before a run, and the cache is invalidated after it.
"""

import ctypes
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita.errors import PartitaError
from partita.runtime.vta import isa
from partita.runtime.vta.buffers import Bytes
from partita.runtime.vta.program import Program

POINTER, ADDRESS = ctypes.c_void_p, ctypes.c_uint32

SIGNATURES: Mapping[str, tuple[Any, ...]] = {
    "VTADeviceAlloc": (POINTER,),
    "VTADeviceFree": (None, POINTER),
    "VTADeviceRun": (ctypes.c_int, POINTER, ADDRESS, ctypes.c_uint32, ctypes.c_uint32),
    "VTAMemAlloc": (POINTER, ctypes.c_size_t, ctypes.c_int),
    "VTAMemFree": (None, POINTER),
    "VTAMemGetPhyAddr": (ADDRESS, POINTER),
    "VTAMemCopyFromHost": (None, POINTER, POINTER, ctypes.c_size_t),
    "VTAMemCopyToHost": (None, POINTER, POINTER, ctypes.c_size_t),
    "VTAFlushCache": (None, POINTER, ADDRESS, ctypes.c_int),
    "VTAInvalidateCache": (None, POINTER, ADDRESS, ctypes.c_int),
}
"""The result and the arguments of each function."""

CACHED = 1

LARGEST = (1 << 31) - 1
"""Bytes that caches can be flushed of at once."""

PATIENCE = 1 << 31
"""How many cycles the device is given for one launch."""


class DriverError(PartitaError):
    """A library is no driver, or its device does not run a program."""


@dataclass(frozen=True)
class Place:
    """Memory that the device sees."""

    pointer: int
    address: int
    """Its physical address."""

    size: int


class Driver:
    """A device behind a driver library; raises `DriverError` if the library cannot be used."""

    def __init__(self, library: Path):
        self._name = str(library)
        try:
            # A name without a folder would be looked for elsewhere than beside us.
            self._library = ctypes.CDLL(str(library.resolve()))
        except OSError as error:
            raise DriverError(f"cannot load driver {library}: {error}") from None
        missing = [name for name in SIGNATURES if not hasattr(self._library, name)]
        if missing:
            raise DriverError(f"{library} is no VTA driver: it has no {missing[0]}")
        for name, (result, *arguments) in SIGNATURES.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments

    def run(self, program: Program, memory: Bytes) -> None:
        """Run all launches of a program on its arena; see `Device`."""
        flags = memory.flags
        if memory.shape != (program.arena_bytes,) or not flags.c_contiguous:
            raise DriverError(
                f"expected memory of {program.arena_bytes} bytes, got {list(memory.shape)}"
            )
        if not flags.writeable:
            raise DriverError("expected memory that can be written")
        size = isa.INSTRUCTION_BYTES * len(program.instructions)
        with (
            self._device() as device,
            self._memory(memory.nbytes, program.alignment) as arena,
            self._memory(size, isa.INSTRUCTION_BYTES) as stream,
        ):
            code = isa.encode(program.resolved(arena.address), program.config)
            self._send(stream, np.ascontiguousarray(code).reshape(-1))
            self._send(arena, memory)
            for number, launch in enumerate(program.launches):
                first = stream.address + isa.INSTRUCTION_BYTES * launch.start
                if self._library.VTADeviceRun(device, first, len(launch), PATIENCE):
                    raise DriverError(
                        f"{self._name}: launch {number} did not end within {PATIENCE} cycles"
                    )
            self._receive(arena, memory)

    @contextmanager
    def _device(self) -> Generator[int]:
        device = self._library.VTADeviceAlloc()
        if not device:
            raise DriverError(f"{self._name} has no device")
        try:
            yield device
        finally:
            self._library.VTADeviceFree(device)

    @contextmanager
    def _memory(self, size: int, alignment: int) -> Generator[Place]:
        """Allocate memory at a physical address that is a multiple of `alignment`."""
        whole = max(size, 1) + alignment
        if whole > LARGEST:
            raise DriverError(f"expected at most {LARGEST} bytes, got {whole}")
        pointer = self._library.VTAMemAlloc(whole, CACHED)
        if not pointer:
            raise DriverError(f"{self._name} has no {whole} bytes of memory")
        try:
            address = self._library.VTAMemGetPhyAddr(pointer)
            skipped = -address % alignment
            yield Place(pointer + skipped, address + skipped, size)
        finally:
            self._library.VTAMemFree(pointer)

    def _send(self, place: Place, data: Bytes) -> None:
        """Write data where the device sees it."""
        self._library.VTAMemCopyFromHost(place.pointer, data.ctypes.data, place.size)
        self._library.VTAFlushCache(place.pointer, place.address, place.size)

    def _receive(self, place: Place, data: Bytes) -> None:
        """Read what the device has written."""
        self._library.VTAInvalidateCache(place.pointer, place.address, place.size)
        self._library.VTAMemCopyToHost(data.ctypes.data, place.pointer, place.size)
