"""What a back end is: one object that says what it takes, how it is prepared for, and how code is made."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpecConvertible
from xdsl.utils.target import Target

from partita.runtime.machine import Machine


@dataclass(frozen=True)
class Accept:
    """The back end can run this op."""


@dataclass(frozen=True)
class Reject:
    """The back end cannot run this op."""

    reason: str


@dataclass(frozen=True)
class Code:
    """What code generation leaves of a function."""

    member: str
    """The name of the file in an artifact."""

    content: bytes

    symbol: str
    """What the runtime calls."""

    grid: int = 1
    """Iterations that threads may share."""


Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


def silent(what: str, done: int, of: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class CodegenContext:
    """What code generation may know beside the function."""

    machine: Machine
    """The machine that the compiled model will run on."""

    progress: Progress = silent


@dataclass(frozen=True)
class Backend(ArgSpecConvertible, ABC):
    """A back end, with its options as fields.

    An option is given as `name{option="value"}` on the command line, and to the constructor in Python.
    """

    name: ClassVar[str]

    passes: ClassVar[tuple[type[ModulePass], ...]] = ()
    """What it adds to the passes that exist."""

    emitters: ClassVar[tuple[type[Target], ...]] = ()
    """What it adds to the outputs of `partita-opt -t`."""

    @abstractmethod
    def supports(self, op: Operation) -> Accept | Reject:
        """Say whether an op can run here, and why not."""

    def pre_partition(self) -> Sequence[ModulePass]:
        """Return the passes that the whole graph needs before parts of it are taken."""
        return ()

    @abstractmethod
    def pipeline(self, module: ModuleOp, machine: Machine) -> Sequence[ModulePass]:
        """Return the passes that turn this back end's part of a graph into what `codegen` takes, for a machine."""

    @abstractmethod
    def codegen(
        self, functions: Sequence[FuncOp], context: CodegenContext
    ) -> Sequence[Code]:
        """Make code for each function, without changing it.

        Raises `CodegenError` with the reason if it cannot.
        """
