"""The C back end: regions of a graph become C source, and the system's compiler makes shared objects of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.target import Target

from partita.dialects.partita import origin_of
from partita.dialects.relay import ConstantOp, RelayOp
from partita.errors import CodegenError, OptionError, did_you_mean
from partita.runtime.loaders.c import FUNCTION, MEMBER
from partita.shapes import DYNAMIC, shape_of
from partita.targets.backend import (
    Accept,
    CodegenContext,
    ExternalBackend,
    ExternalModule,
    Reject,
)
from partita.targets.c.compiler import Compiler
from partita.targets.c.emit import CTarget
from partita.targets.c.lower import PREPARE, lowered
from partita.targets.c.program import Program, emit_c, emit_together
from partita.targets.c.project import NAME, write_project
from partita.targets.c.schedule_c import ScheduleCPass
from partita.transforms.te_rules import TE_RULES

SOURCE = "module.c"
"""The name under which an artifact keeps the source, for people."""

ARGUMENTS, TABLE = "arguments", "table"

TOLD = 3
"""Ops of a function that cannot be C, as far as a message names them."""


@dataclass(frozen=True)
class Lowered(ExternalModule):
    """A function that C has been written for, and that is compiled together with others."""

    functions: tuple[FuncOp, ...] = ()
    """Kernels, and the one that calls them."""


@dataclass(frozen=True)
class C(ExternalBackend):
    """The system's C compiler."""

    name: ClassVar[str] = "c"

    passes: ClassVar[tuple[type[ModulePass], ...]] = (ScheduleCPass,)

    emitters: ClassVar[tuple[type[Target], ...]] = (CTarget,)

    cc: str = "cc"
    """The compiler, a name or a path, with what it is always given."""

    flags: str = ""
    """Flags instead of ours, which optimize for the machine."""

    weights: str = ARGUMENTS
    """`arguments`: weights stay in the artifact's store; `table`: they are tables in the source."""

    ops: tuple[str, ...] = ()
    """The ops that it takes, such as `relay.conv2d`; all that it can compile if none are given."""

    def __post_init__(self) -> None:
        known = sorted(op.name for op in TE_RULES)
        for each in self.ops:
            if each not in known:
                raise OptionError(
                    f"expected ops of target {self.name}, got {each}{did_you_mean(each, known)}"
                )
        if self.weights not in (ARGUMENTS, TABLE):
            raise OptionError(
                f"expected weights of target c to be {ARGUMENTS} or {TABLE}, got {self.weights}"
            )

    @property
    def compiler(self) -> Compiler:
        """The compiler that the options name."""
        return Compiler(self.cc, self.flags)

    def unavailable(self) -> str | None:
        return self.compiler.missing()

    def supports(self, op: Operation) -> Accept | Reject:
        if isinstance(op, ConstantOp):
            return Accept()
        if not isinstance(op, RelayOp) or type(op) not in TE_RULES:
            return Reject(f"{op.name} has no rule to te, which C is made of")
        if self.ops and op.name not in self.ops:
            return Reject(f"{op.name} is not among the ops that this target may take")
        for each in (*op.operands, *op.results):
            if DYNAMIC in shape_of(each):
                return Reject(f"expected static shapes, got {each.type}")
        return Accept()

    def post_partition(self) -> Sequence[ModulePass]:
        return PREPARE

    def program(self, function: FuncOp, name: str | None = None) -> Program:
        """Return the C program of a function over tensors, which stays as it is; it may be called otherwise."""
        return emit_c(lowered(function, name), self.weights == TABLE)

    def codegen(self, function: FuncOp, context: CodegenContext) -> "Lowered":
        functions = tuple(lowered(function))
        (region,) = emit_c(functions, self.weights == TABLE).regions
        return Lowered({}, region.weights, {FUNCTION: region.runner}, functions)

    def link(
        self, modules: Mapping[str, ExternalModule], context: CodegenContext
    ) -> Mapping[str, ExternalModule]:
        """Compile all functions as one source, so that what they have in common is there once."""
        lowered = {
            name: each for name, each in modules.items() if isinstance(each, Lowered)
        }
        program = emit_together(
            (each.functions for each in lowered.values()), self.weights == TABLE
        )
        context.progress("C sources", 0, 1)
        content = self.compiler.compile(program.source, context.machine)
        context.progress("C sources", 1, 1)
        files = {MEMBER: content, SOURCE: program.source.encode()}
        return {
            name: ExternalModule(files, region.weights, {FUNCTION: region.runner})
            for name, region in zip(lowered, program.regions, strict=True)
        }

    def write_project(self, function: FuncOp, directory: Path) -> None:
        """Write the folder of a function of graph ops: sources, a program that runs them, a Makefile.

        Raises `CodegenError`, and leaves nothing behind, if ops of it cannot be C.
        """
        rejected = [
            f"{op.name}{f' (from {origin})' if (origin := origin_of(op)) else ''}: {answer.reason}"
            for op in function.body.block.ops
            if not isinstance(op, ReturnOp)
            and isinstance(answer := self.supports(op), Reject)
        ]
        if rejected:
            more = f" and {len(rejected) - TOLD} more" if len(rejected) > TOLD else ""
            raise CodegenError(
                f"function @{function.sym_name.data} cannot be C as a whole: "
                f"{'; '.join(rejected[:TOLD])}{more}"
            )
        write_project(self.program(function, NAME), directory, self.cc, self.flags)
