"""What a back end is: one object that says what it takes, how it is prepared for, and how code is made.

`Backend` is what all have in common. `KernelBackend` compiles the functions that the plan calls itself: the host.
`ExternalBackend` compiles whole regions of a graph to modules that a loader of its own runs: all others.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Dialect, Operation
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpecConvertible
from xdsl.utils.target import Target

from partita.analysis.patterns import Match, Pattern
from partita.runtime.machine import Machine
from partita.runtime.plan import NO_WORK, Work
from partita.transforms.lower_relay_to_te import Computes
from partita.transforms.options import spelled
from partita.weights import Weight


@dataclass(frozen=True)
class Accept:
    """The back end can run this op."""


@dataclass(frozen=True)
class Reject:
    """The back end cannot run this op."""

    reason: str


@dataclass(frozen=True)
class Code:
    """What code generation leaves of a kernel."""

    member: str
    """The name of the file in an artifact."""

    content: bytes

    symbol: str
    """What the runtime calls."""

    grid: int = 1
    """Iterations that threads may share."""

    work: Work = NO_WORK
    """What a call does."""


@dataclass(frozen=True)
class ExternalModule:
    """What code generation leaves of an external function."""

    files: Mapping[str, bytes]
    """Contents by name; in an artifact, `modules/<target>/<function>/<name>`."""

    weights: tuple[Weight, ...] = ()
    """What the loader gets as read-only, aligned arrays, in this order; an artifact holds each weight once."""

    options: Mapping[str, object] = field(default_factory=dict[str, object])
    """JSON for the loader."""


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


def accept(match: Match) -> Accept | Reject:
    """Take every match."""
    return Accept()


@dataclass(frozen=True)
class CompositePattern:
    """Ops that a back end runs as one."""

    name: str
    """What `byoc.composite` is labelled with, such as `c.conv2d_bias_relu`."""

    pattern: Pattern

    check: Callable[[Match], Accept | Reject] = accept
    """Say whether what matched can run here."""


@dataclass(frozen=True)
class Backend(ArgSpecConvertible, ABC):
    """A back end, with its options as fields.

    An option is given as `name{option="value"}` on the command line, and to the constructor in Python.
    """

    name: ClassVar[str]

    dialects: ClassVar[tuple[Dialect, ...]] = ()
    """What it adds to the dialects that exist."""

    passes: ClassVar[tuple[type[ModulePass], ...]] = ()
    """What it adds to the passes that exist."""

    emitters: ClassVar[tuple[type[Target], ...]] = ()
    """What it adds to the outputs of `partita-opt -t`."""

    carries_onnx: ClassVar[bool] = False
    """Whether it runs `relay.onnx_node`: then operators of ONNX that relay does not model can be imported."""

    def task_target(self) -> str:
        """Return how tasks and schedule databases call this back end: with the options that matter to a schedule."""
        return spelled(self)

    def unavailable(self) -> str | None:
        """Say what keeps this back end from working here and what to do, in one sentence; `None` if nothing does."""
        return None

    @abstractmethod
    def supports(self, op: Operation) -> Accept | Reject:
        """Say whether an op can run here, and why not."""

    def pre_partition(self) -> Sequence[ModulePass]:
        """Return the passes that the whole graph needs before parts of it are taken."""
        return ()


@dataclass(frozen=True)
class KernelBackend(Backend):
    """A back end that makes native code for the kernels of a graph, which the plan calls."""

    @abstractmethod
    def compute_passes(
        self, module: ModuleOp, machine: Machine, computes: Computes | None = None
    ) -> Sequence[ModulePass]:
        """Return the passes that make kernels of this back end's part of a graph, as `te`: what is computed, not how.

        What is scheduled, looked up and tuned are the kernels that they leave. What
        `computes` has lowered before need not be lowered again.
        """

    @abstractmethod
    def loop_passes(self, module: ModuleOp, machine: Machine) -> Sequence[ModulePass]:
        """Return the passes from there to what `codegen` takes: loops, schedules and memory.

        A kernel that has a `sched.sequence` keeps it.
        """

    def pipeline(self, module: ModuleOp, machine: Machine) -> Sequence[ModulePass]:
        """Return the passes that turn this back end's part of a graph into what `codegen` takes, for a machine."""
        return (
            *self.compute_passes(module, machine),
            *self.loop_passes(module, machine),
        )

    @abstractmethod
    def codegen(
        self, functions: Sequence[FuncOp], context: CodegenContext
    ) -> Sequence[Code]:
        """Make code for each function, without changing it.

        Raises `CodegenError` with the reason if it cannot.
        """


@dataclass(frozen=True)
class ExternalBackend(Backend):
    """A back end that takes regions of a graph, and makes a module of each that its own loader runs.

    The loader is found by the back end's name: see `partita.runtime.loaders`.
    """

    minimum_ops: ClassVar[int] = 1
    """Regions of fewer ops, constants aside, go to the host."""

    def patterns(self) -> Sequence[CompositePattern]:
        """Return the groups of ops that are taken as one, those tried first first."""
        return ()

    def pays(self, region: Sequence[Operation]) -> Accept | Reject:
        """Say whether running these ops here is worth the transfers, and why not."""
        return Accept()

    def post_partition(self) -> Sequence[ModulePass]:
        """Return the passes that prepare external functions for `codegen`; each sees a module of them alone."""
        return ()

    @abstractmethod
    def codegen(self, function: FuncOp, context: CodegenContext) -> ExternalModule:
        """Make a module of a function, without changing it.

        The function is over tensors, unless passes of this back end made it something else. Raises
        `CodegenError` with the reason if it cannot.
        """

    def link(
        self, modules: Mapping[str, ExternalModule], context: CodegenContext
    ) -> Mapping[str, ExternalModule]:
        """Return the modules of all functions, by function name, after a look at all of them."""
        return modules
