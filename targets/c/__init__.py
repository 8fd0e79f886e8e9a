"""C: regions of a graph as readable C99, and the shared objects that the system's compiler makes of it."""

from partita.targets.c.backend import C

__all__ = ["C"]
