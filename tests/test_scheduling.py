"""Schedules of the host's kinds come out as code generation needs them."""

import re
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp
from xdsl.dialects.math import Math
from xdsl.dialects.memref import MemRef
from xdsl.parser import Parser

from partita.analysis.affine import as_expr, linear_form
from partita.analysis.loop_nests import blocks_in, loads_of, loops_around
from partita.analysis.memory_scopes import alive_together, total_bytes
from partita.analysis.regions import Space
from partita.analysis.verification import verify
from partita.dialects import ALL_DIALECTS
from partita.dialects.sched import SequenceOp
from partita.dialects.tir import LoadOp
from partita.transforms.apply_schedules import ApplySchedulesPass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.scheduling.inline import compute_inline
from partita.transforms.scheduling.reorder import reorder
from partita.transforms.scheduling.state import State

ROOT = Path(__file__).parent.parent

SCHEDULES = (ROOT / "filecheck/transforms/apply-schedules.mlir").read_text()


def parse(text: str) -> ModuleOp:
    ctx = Context()
    for dialect in (Arith, Builtin, Func, Math, MemRef, *ALL_DIALECTS):
        ctx.load_dialect(dialect)
    return Parser(ctx, text).parse_module()


def kernel(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp))


def scheduled(name: str) -> FuncOp:
    """Return a kernel of the lit test, scheduled."""
    chunk = next(
        each for each in SCHEDULES.split("// -----") if f"func.func @{name}(" in each
    )
    module = parse(chunk)
    LowerTeToTirPass().apply(Context(), module)
    ApplySchedulesPass().apply(Context(), module)
    verify(module)
    return kernel(module)


def strides(load: LoadOp) -> list[dict[str, int]]:
    """Return for each dimension of what is read the stride of each loop."""
    space = Space()
    found: list[dict[str, int]] = []
    for position in space.access(load):
        assert position is not None
        form = linear_form(as_expr(position), len(space.values))
        assert form is not None, position
        names = [value.name_hint or "" for value in space.values]
        found.append(
            {
                name: factor
                for name, factor in zip(names, form[0], strict=False)
                if factor
            }
        )
    return found


@pytest.mark.parametrize("label", ["conv2d", "conv2d_tail"])
def test_convolution_reads_lanes_that_are_neighbours(label: str) -> None:
    """Composed with the loops, packed weights are contiguous along the lanes, and data does not depend on them."""
    blocks = {block.label.data: block for block in blocks_in(scheduled("conv"))}
    data, weight, sums = loads_of(blocks[label])
    assert strides(weight) == [{"km": 1}, {"c": 1}, {"r": 1}, {"s": 1}, {"ki": 1}]
    row, column = strides(data)[2:]
    assert row == {"nkoh": 1, "r": 1}
    assert column.pop("wwo", 7) == 7
    assert column == {"wwi": 1, "s": 1}
    assert strides(sums) == [{"wwi": 1}, {"km": 16, "ki": 1}]
    assert [loop.extent for loop in loops_around(blocks[label])][-3:] == [
        7 if label == "conv2d" else 2,
        2,
        16,
    ]


@pytest.mark.parametrize("name", ["chain", "conv", "softmax"])
def test_whole_tiles_have_no_guard(name: str) -> None:
    assert all(block.guard is None for block in blocks_in(scheduled(name)))


def test_local_buffers_are_counted() -> None:
    assert total_bytes(
        alive_together(scheduled("softmax").body.block, "local")
    ) == 4 * (1 + 112 + 1)
    assert total_bytes(alive_together(scheduled("chain").body.block, "local")) == 0


def test_inlining_a_chain_of_diamonds_stays_linear() -> None:
    """Each compute reads the one before it twice; what is equal is computed once."""
    lines: list[str] = []
    for i in range(60):
        source = f"%t{i - 1}" if i else "%x"
        lines.append(
            f'%t{i} = te.compute "t{i}" (%a in 4) {{\n'
            f"%u = te.read {source}[%a] : tensor<4xf32>\n"
            f"%v = te.read {source}[%a] : tensor<4xf32>\n"
            "%e = math.exp %u : f32\n%s = arith.addf %v, %e : f32\n"
            "te.yield %s : f32\n} : tensor<4xf32>\n"
        )
    module = parse(
        "func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        + "".join(lines)
        + "func.return %t59 : tensor<4xf32>\n}"
    )
    LowerTeToTirPass().apply(Context(), module)
    state = State(kernel(module))
    for i in range(59):
        compute_inline(state, state.block(f"t{i}"))
    verify(module)
    (block,) = blocks_in(state.function)
    assert len(tuple(block.body.block.ops)) == 1 + 60 * 2 + 1


def test_a_loop_keeps_its_handle_when_it_moves() -> None:
    module = parse(
        """
        func.func @k(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
          %y = te.compute "exp" (%i in 4, %j in 6) {
            %v = te.read %x[%i, %j] : tensor<4x6xf32>
            %e = math.exp %v : f32
            te.yield %e : f32
          } : tensor<4x6xf32>
          func.return %y : tensor<4x6xf32>
        }
        """
    )
    LowerTeToTirPass().apply(Context(), module)
    state = State(kernel(module))
    i, j = loops_around(state.block("exp"))
    reorder(state, (j, i))
    assert loops_around(state.block("exp")) == (j, i)
    assert (i.extent, j.extent) == (4, 6)


def examples(page: str, language: str) -> list[str]:
    """Return the texts of a language in a page of the documentation."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("number", [0, 1])
def test_examples_of_the_documentation_are_what_the_pass_does(number: int) -> None:
    before, after = map(parse, examples("sched.md", "mlir")[2 * number :][:2])
    ApplySchedulesPass().apply(Context(), before)
    verify(before)
    assert str(before) == str(after)


def test_the_schedule_of_the_documentation_applies() -> None:
    """The example in Python schedules the kernel of the first example."""
    (code,) = examples("sched.md", "python")
    module = parse(examples("sched.md", "mlir")[0])
    old = module.body.block.last_op
    assert isinstance(old, SequenceOp)
    old.detach()
    exec(code, {"module": module})
    ApplySchedulesPass().apply(Context(), module)
    verify(module)
    label = {block.label.data: block for block in blocks_in(kernel(module))}
    assert [each.extent for each in loops_around(label["dense"])] == [4, 6, 64, 16]


def test_the_loops_of_the_documentation_verify() -> None:
    for example in examples("tir.md", "mlir"):
        verify(parse(example))
