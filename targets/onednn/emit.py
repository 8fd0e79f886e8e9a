"""What `partita-opt -t` shows of programs: one op a line."""

import json
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.target import Target

from partita.dialects.byoc import external_modules
from partita.errors import CodegenError
from partita.targets.onednn.export import export

TARGET = "onednn"


@dataclass(frozen=True)
class OneDnnJsonTarget(Target):
    """The programs of this target's functions one after the other, or of all functions if nothing is partitioned."""

    name = "onednn-json"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        where = external_modules(module).get(TARGET, module)
        functions = [
            op
            for op in where.body.block.ops
            if isinstance(op, FuncOp) and not op.is_declaration
        ]
        if not functions:
            raise CodegenError("expected functions to write for oneDNN, got none")
        for each in functions:
            program = export(each)
            name = json.dumps(each.sym_name.data)
            ops = ",\n  ".join(json.dumps(op) for op in program.ops)
            output.write(
                f'{{"name": {name},\n "weights": {json.dumps(program.constants)},\n "ops": [\n  {ops}],\n'
                f' "outputs": {json.dumps(program.outputs)}}}\n'
            )
