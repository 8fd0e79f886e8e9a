"""Dominance: what lit cannot write down, and that deep or long IR is no problem."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from partita.analysis.verification import verify, verify_dominance


def test_value_of_a_region_is_not_seen_after_it() -> None:
    inner = test.TestOp(result_types=(i32,))
    outer = test.TestOp(regions=(Region(Block((inner, test.TestTermOp()))),))
    module = ModuleOp([outer, test.TestOp(operands=(inner.results[0],))])
    with pytest.raises(VerifyException, match=r"operand 0 of test\.op to be defined"):
        verify_dominance(module)


def test_value_of_an_op_is_not_seen_in_its_regions() -> None:
    outer = test.TestOp(result_types=(i32,), regions=(Region(Block()),))
    block = outer.regions[0].block
    block.add_op(test.TestTermOp(operands=(outer.results[0],)))
    with pytest.raises(VerifyException, match=r"result 0 of test\.op"):
        verify_dominance(ModuleOp([outer]))


def test_argument_of_a_block_beside() -> None:
    first, second = Block(arg_types=(i32,)), Block(arg_types=(i32,))
    first.add_op(test.TestTermOp(successors=(second,)))
    second.add_op(test.TestTermOp())
    op = test.TestOp(regions=(Region((first, second)), Region(Block())))
    op.regions[1].block.add_op(test.TestTermOp(operands=(second.args[0],)))
    with pytest.raises(VerifyException, match="argument 0 of another block"):
        verify_dominance(ModuleOp([op]))


def test_value_of_an_erased_op() -> None:
    producer = test.TestOp(result_types=(i32,))
    module = ModuleOp([producer, test.TestOp(operands=producer.results)])
    producer.detach()
    producer.erase(safe_erase=False)
    with pytest.raises(VerifyException):
        verify(module)


def test_depth_and_length_are_no_problem() -> None:
    """5,000 levels of nesting, then 20,000 ops in a row."""
    value: SSAValue = test.TestOp(result_types=(i32,)).results[0]
    chain: list[test.TestOp] = [test.TestOp(result_types=(i32,))]
    for _ in range(20_000):
        value = chain[-1].results[0]
        chain.append(test.TestOp(operands=(value, value), result_types=(i32,)))
    block = Block((test.TestTermOp(operands=chain[-1].results),))
    for _ in range(5_000):
        block = Block((test.TestOp(regions=(Region(block),)), test.TestTermOp()))
    verify_dominance(ModuleOp([*chain, test.TestOp(regions=(Region(block),))]))


def test_loop_of_many_blocks() -> None:
    """The last of 2,000 blocks in a row, which branches back to the first, uses the first's value."""
    blocks = [Block() for _ in range(2_000)]
    producer = test.TestOp(result_types=(i32,))
    blocks[0].add_op(producer)
    for here, there in zip(blocks, (*blocks[1:], blocks[1]), strict=True):
        here.add_op(test.TestTermOp(operands=producer.results, successors=(there,)))
    verify_dominance(ModuleOp([test.TestOp(regions=(Region(blocks),))]))
