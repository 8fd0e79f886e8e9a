"""Many cases as one function: what surrounds kernels costs more to compile than they do."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from partita.dialects.partita import ENTRY
from relay_cases.case import Case


def joined(cases: Sequence[Case]) -> ModuleOp:
    """Make one function of what cases compute, side by side."""
    bodies = [
        op.body.block
        for case in cases
        for op in case.module().ops
        if isinstance(op, FuncOp)
    ]
    types = [arg.type for body in bodies for arg in body.args]
    function = FuncOp("main", (types, ()))
    block = function.body.block
    arguments = iter(block.args)
    results: list[SSAValue] = []
    for body in bodies:
        values: dict[SSAValue, SSAValue] = {arg: next(arguments) for arg in body.args}
        for op in body.ops:
            if isinstance(op, ReturnOp):
                results += [values[each] for each in op.arguments]
            else:
                block.add_op(op.clone(values))
    block.add_op(ReturnOp(*results))
    function.update_function_type()
    function.attributes[ENTRY] = UnitAttr()
    return ModuleOp([function])
