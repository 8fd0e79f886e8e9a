"""Which functions code can be made of."""

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp

from partita.dialects.relay import RelayOp
from partita.dialects.te import ComputeOp
from partita.errors import CodegenError


def check_over_buffers(function: FuncOp) -> None:
    """Raise `CodegenError` for a function that is not over buffers yet, and say what makes it so."""
    place = f"expected function @{function.sym_name.data} over buffers"
    for op in function.body.block.ops:
        if isinstance(op, RelayOp):
            passes = "lower-relay-to-te,lower-te-to-tir"
            raise CodegenError(f"{place}, got {op.name}; run {passes} first")
        if isinstance(op, ComputeOp):
            raise CodegenError(f"{place}, got {op.name}; run lower-te-to-tir first")
    for type in function.function_type.inputs:
        if not isinstance(type, MemRefType):
            raise CodegenError(
                f"{place}, got an argument of type {type}; run lower-te-to-tir first"
            )
    if len(function.function_type.outputs):
        raise CodegenError(
            f"{place}, got a result of type {function.function_type.outputs.data[0]}"
        )
