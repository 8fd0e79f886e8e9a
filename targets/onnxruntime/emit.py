"""What `partita-opt -t` shows of models: ONNX's own text syntax."""

from dataclasses import dataclass
from typing import IO

from onnx import printer
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.target import Target

from partita.dialects.byoc import external_modules
from partita.errors import CodegenError
from partita.targets.onnxruntime.export import export

TARGET = "onnxruntime"


@dataclass(frozen=True)
class OnnxTextTarget(Target):
    """The models of this target's functions one after the other, or of all functions if nothing is partitioned."""

    name = "onnx-text"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        where = external_modules(module).get(TARGET, module)
        functions = [
            op
            for op in where.body.block.ops
            if isinstance(op, FuncOp) and not op.is_declaration
        ]
        if not functions:
            raise CodegenError("expected functions to write as ONNX, got none")
        for each in functions:
            output.write(printer.to_text(export(each).model) + "\n")
