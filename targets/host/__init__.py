"""Host: the processor that runs everything no other target takes; LLVM makes its code."""

from partita.targets.host.backend import Host

__all__ = ["Host"]
