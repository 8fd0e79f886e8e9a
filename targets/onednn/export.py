"""From a relay function to a program."""

from collections.abc import Mapping

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from partita.dialects.partita import origin_of
from partita.dialects.relay import ConstantOp
from partita.errors import CodegenError
from partita.targets.onednn.fusion import Chain, chains
from partita.targets.onednn.program import Program
from partita.targets.onednn.rules import RULES


def export(function: FuncOp) -> Program:
    """Write a function as a program; raise `CodegenError` for an op that oneDNN does not have."""
    program = Program()
    block = function.body.block
    for index, argument in enumerate(block.args):
        program.bind(argument, f"input{index}")
    fused = chains(block)
    ends: Mapping[Operation, Chain] = {each.last: each for each in fused}
    inside = {op for each in fused for op in each.ops if op is not each.last}
    for op in block.ops:
        if isinstance(op, ReturnOp):
            program.outputs += map(program.name, op.arguments)
        elif not isinstance(op, ConstantOp) and op not in inside:
            _write(program, ends.get(op, Chain(op)))
    return program


def _write(program: Program, chain: Chain) -> None:
    """Write an op and what is fused onto it, where the last of them stands."""
    rule = RULES.get(type(chain.first))
    if rule is None or rule.write is None:
        raise CodegenError(f"oneDNN has no {chain.first.name}")
    origins = filter(None, map(origin_of, chain.ops))
    program.origin = ", ".join(dict.fromkeys(origins))
    program.bind(chain.last.results[0], rule.write(program, chain))
