"""What `partita-opt -t` shows of C."""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from partita.targets.c.program import emit_c, functions_of


@dataclass(frozen=True)
class CTarget(Target):
    """The functions of a module over buffers as one C source file."""

    name = "c"

    weights: str = "arguments"
    """`arguments` to have callers pass weights, `table` to put them into the source."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        program = emit_c(functions_of(module), self.weights == "table")
        output.write(program.source)
