"""What can be wrong with a program when it runs, each an error that names the instructions concerned."""

from partita.errors import PartitaError


class SimulationError(PartitaError):
    """A program cannot be executed, or its result would depend on chance."""

    def __init__(self, message: str, *instructions: int):
        super().__init__(message)
        self.instructions = instructions
        """The numbers of the instructions concerned, the failing one first."""


class Deadlock(SimulationError):
    """Every module waits: for a token, or for fetch, which waits for room in a queue."""


class Race(SimulationError):
    """Two instructions of different modules access the same element, one writes, and no chain of tokens orders them."""


class OutOfRange(SimulationError):
    """An instruction accesses an element that an on-chip memory does not have, or bytes outside its buffer."""


class Uninitialized(SimulationError):
    """An instruction reads an on-chip element that no instruction has written."""


class Finish(SimulationError):
    """A launch has no FINISH, or one that does not come last, or does not wait for all others."""


class Illegal(SimulationError):
    """An instruction has a field that cannot be encoded, or that this hardware knows no meaning for."""
