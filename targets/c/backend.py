"""The C back end: regions of a graph become C source, and the system's compiler makes shared objects of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.target import Target

from partita.dialects.relay import RelayOp
from partita.errors import CodegenError, OptionError
from partita.runtime.loaders.c import FUNCTION, MEMBER
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
from partita.targets.c.program import Program, emit_c
from partita.transforms.te_rules import TE_RULES

SOURCE = "module.c"
"""The name under which an artifact keeps the source, for people."""

ARGUMENTS, TABLE = "arguments", "table"


@dataclass(frozen=True)
class C(ExternalBackend):
    """The system's C compiler."""

    name: ClassVar[str] = "c"

    emitters: ClassVar[tuple[type[Target], ...]] = (CTarget,)

    cc: str = "cc"
    """The compiler, a name or a path, with what it is always given."""

    flags: str = ""
    """Flags instead of ours, which optimize for the machine."""

    weights: str = ARGUMENTS
    """`arguments`: weights stay in the artifact's store; `table`: they are tables in the source."""

    def __post_init__(self) -> None:
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
        if not isinstance(op, RelayOp):
            return Reject(f"expected a relay op, got {op.name}")
        if type(op) not in TE_RULES:
            return Reject(f"{op.name} has no rule to te")
        return Accept()

    def post_partition(self) -> Sequence[ModulePass]:
        return PREPARE

    def program(self, function: FuncOp) -> Program:
        """Return the C program of a function over tensors, which stays as it is."""
        return emit_c(lowered(function), self.weights == TABLE)

    def codegen(self, function: FuncOp, context: CodegenContext) -> ExternalModule:
        program = self.program(function)
        if len(program.regions) != 1:
            raise CodegenError(f"expected one function, got {len(program.regions)}")
        content = self.compiler.compile(program.source, context.machine)
        return ExternalModule(
            {MEMBER: content, SOURCE: program.source.encode()},
            program.weights,
            {FUNCTION: program.regions[0].runner},
        )
