"""Rules are a table: each block gets the first that takes it, and a target may put its own before ours."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from partita.driver import context
from partita.transforms.loop_rules.nest import Stage
from partita.transforms.loop_rules.rules import RULES
from partita.transforms.loop_rules.schedule import Draft, schedule
from partita.transforms.loop_rules.tiles import Registers
from partita.transforms.lower_te_to_tir import LowerTeToTirPass

REGISTERS = Registers(bits=512, accumulators=28)

SUM = """
func.func @f(%x : tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64x32xf32>) {
  %s = te.compute "sum" (%i in 64) reduce (%k in 32) init (0.0 : f32) {
    %v = te.read %x[%i, %k] : tensor<64x32xf32>
    te.yield %v : f32
  } combine (%a : f32, %b : f32) {
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<64xf32>
  %d = te.compute "double" (%i in 64, %j in 32) {
    %v = te.read %x[%i, %j] : tensor<64x32xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  } : tensor<64x32xf32>
  func.return %s, %d : tensor<64xf32>, tensor<64x32xf32>
}
"""


def kernel() -> FuncOp:
    module = Parser(context(), SUM).parse_module()
    LowerTeToTirPass().apply(context(), module)
    assert isinstance(module, ModuleOp)
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


def unroll_sums(draft: Draft, stage: Stage) -> bool:
    if not stage.reduction:
        return False
    loops = draft.steps.loops(draft.steps.block(stage.label), ["i", "k"])
    draft.steps.unroll(loops[-1])
    return True


def test_without_rules_loops_stay_plain() -> None:
    assert schedule(kernel(), REGISTERS, ()) is None


def test_the_first_rule_that_takes_a_block_schedules_it() -> None:
    alone = schedule(kernel(), REGISTERS, (unroll_sums,))
    assert [op.name for op in alone.body.ops] == [  # pyright: ignore
        "sched.block",
        "sched.loops",
        "sched.unroll",
    ]
    ours, theirs = (
        str(schedule(kernel(), REGISTERS, rules))
        for rules in (RULES, (unroll_sums, *RULES))
    )
    assert "unroll" not in ours
    assert '"sum"' in theirs
    assert '"double"' in theirs
    assert "unroll" in theirs


def test_a_block_that_another_rule_took_along_needs_none() -> None:
    seen: list[str] = []

    def take_all(draft: Draft, stage: Stage) -> bool:
        seen.append(stage.label)
        draft.done.update(each.label for each in draft.stages)
        return True

    assert schedule(kernel(), REGISTERS, (take_all,)) is None
    assert seen == ["sum"]
