"""What calls of external functions, and composites, mean: the ops that they stand for."""

from collections.abc import Mapping
from typing import cast

from xdsl.ir import Operation

from partita.dialects.byoc import CallOp, CompositeOp
from partita.interpreters.module import Impl, Interpreter
from partita.shapes import dtype_of, element_of
from partita.weights import Array


def _call(
    op: Operation, operands: tuple[Array, ...], interpreter: Interpreter
) -> tuple[Array, ...]:
    """Run the function; where the call is on buffers, fill those of its results."""
    call = cast(CallOp, op)
    function = interpreter.external(call.callee)
    count = len(function.function_type.inputs)
    inputs, buffers = operands[:count], operands[count:]
    arrays = [
        array.view(dtype_of(element_of(argument)))
        for array, argument in zip(inputs, function.args, strict=True)
    ]
    results = interpreter.call(function, arrays)
    for buffer, result in zip(buffers, results, strict=False):
        buffer[...] = result.view(buffer.dtype)
    return () if buffers else results


def _composite(
    op: Operation, operands: tuple[Array, ...], interpreter: Interpreter
) -> tuple[Array, ...]:
    return interpreter.run(cast(CompositeOp, op).body.block, operands)


BYOC: Mapping[type[Operation], Impl] = {CallOp: _call, CompositeOp: _composite}
"""What these ops mean."""
