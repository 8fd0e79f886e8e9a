"""Make each loop nest of a kernel a kernel of its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from partita.dialects import tir
from partita.dialects.partita import KERNEL, ORIGIN
from partita.transforms.plan_memory import size_of

STACK_BYTES = 64 * 1024
"""A buffer that only one nest uses stays in it, on the stack, up to this size."""


@dataclass(frozen=True)
class SplitStagesPass(ModulePass):
    """Split kernels with several loop nests, so that each can share its iterations among threads.

    Threads meet after every kernel; so a kernel that reads what another nest of it
    computed must be two. Buffers that nests hand on become buffers of the caller, where
    `plan-memory` sees them. A kernel that is one nest stays as it is.

    Before:

    ```mlir
    func.func @main(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.entry} {
      func.call @twice(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
      func.return
    }
    func.func private @twice(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.kernel} {
      %t = memref.alloc() : memref<4xf32>
      tir.for %i = 0 to 4 parallel {
        tir.block "a" spatial (%a in 4) at [%i] {
          %v = tir.load %x[%a] : memref<4xf32>
          tir.store %v, %t[%a] : memref<4xf32>
        }
      }
      tir.for %j = 0 to 4 parallel {
        tir.block "b" spatial (%b in 4) at [%j] {
          %w = tir.load %t[3 - %b] : memref<4xf32>
          tir.store %w, %y[%b] : memref<4xf32>
        }
      }
      func.return
    }
    ```

    After `split-stages`:

    ```mlir
    func.func @main(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.entry} {
      %t = memref.alloc() : memref<4xf32>
      func.call @twice_s0(%x, %t) : (memref<4xf32>, memref<4xf32>) -> ()
      func.call @twice_s1(%t, %y) : (memref<4xf32>, memref<4xf32>) -> ()
      func.return
    }
    func.func private @twice_s0(%x : memref<4xf32>, %t : memref<4xf32>) attributes {partita.kernel} {
      tir.for %i = 0 to 4 parallel {
        tir.block "a" spatial (%a in 4) at [%i] {
          %v = tir.load %x[%a] : memref<4xf32>
          tir.store %v, %t[%a] : memref<4xf32>
        }
      }
      func.return
    }
    func.func private @twice_s1(%t : memref<4xf32>, %y : memref<4xf32>) attributes {partita.kernel} {
      tir.for %j = 0 to 4 parallel {
        tir.block "b" spatial (%b in 4) at [%j] {
          %w = tir.load %t[%b * -1 + 3] : memref<4xf32>
          tir.store %w, %y[%b] : memref<4xf32>
        }
      }
      func.return
    }
    ```
    """

    name = "split-stages"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = {
            function.sym_name.data: function
            for function in op.body.block.ops
            if isinstance(function, FuncOp) and KERNEL in function.attributes
        }
        split = {
            name: stages
            for name, function in kernels.items()
            if (stages := _stages(function)) is not None
        }
        if not split:
            return
        for function in tuple(op.body.block.ops):
            if isinstance(function, FuncOp) and KERNEL not in function.attributes:
                _split_calls(function, kernels, split)
        for name in split:
            Rewriter.erase_op(kernels[name])


@dataclass(frozen=True)
class _Stage:
    """A nest as a kernel of its own."""

    function: FuncOp

    buffers: tuple[SSAValue, ...]
    """The buffers of the old kernel that it takes."""


def _stages(function: FuncOp) -> tuple[_Stage, ...] | None:
    """Make a kernel for each nest, beside the old one; `None` if there is only one nest."""
    block = function.body.block
    fixed = [op for op in block.ops if isinstance(op, AllocOp | tir.ConstantOp)]
    nests = [
        op
        for op in block.ops
        if not isinstance(op, AllocOp | tir.ConstantOp | ReturnOp)
    ]
    large = [
        op for op in fixed if isinstance(op, AllocOp) and size_of(op) > STACK_BYTES
    ]
    if len(nests) < 2 and not large:
        return None
    users: dict[SSAValue, set[int]] = {}
    for number, nest in enumerate(nests):
        for value in _outer_values(nest, block):
            users.setdefault(value, set()).add(number)
    kept = {
        op
        for op in fixed
        if isinstance(op, tir.ConstantOp)
        or (len(users.get(op.memref, ())) < 2 and op not in large)
    }
    module_block = function.parent_block()
    assert module_block is not None
    stages: list[_Stage] = []
    for number, nest in enumerate(nests):
        inside = [
            op for op in fixed if op in kept and number in users.get(op.results[0], ())
        ]
        outside = tuple(
            value
            for value in chain(
                block.args, *(op.results for op in fixed if op not in kept)
            )
            if number in users.get(value, ())
        )
        stages.append(_make_stage(function, number, nest, inside, outside))
    Rewriter.insert_op(
        [stage.function for stage in stages], InsertPoint.before(function)
    )
    return tuple(stages)


def _outer_values(nest: Operation, block: Block) -> Iterable[SSAValue]:
    """Return the arguments and results of a block that a nest uses."""
    for op in nest.walk():
        for operand in op.operands:
            if operand.owner is block or (
                isinstance(operand.owner, Operation) and operand.owner.parent is block
            ):
                yield operand


def _make_stage(
    function: FuncOp,
    number: int,
    nest: Operation,
    inside: list[AllocOp | tir.ConstantOp],
    outside: tuple[SSAValue, ...],
) -> _Stage:
    block = Block(arg_types=[value.type for value in outside])
    values: dict[SSAValue, SSAValue] = {}
    for value, argument in zip(outside, block.args, strict=True):
        argument.name_hint = value.name_hint
        values[value] = argument
    for op in (*inside, nest):
        block.add_op(op.clone(values))
    block.add_op(ReturnOp())
    stage = FuncOp(
        f"{function.sym_name.data}_s{number}",
        FunctionType.from_lists([value.type for value in outside], ()),
        Region(block),
        "private",
    )
    stage.attributes[KERNEL] = UnitAttr()
    return _Stage(stage, outside)


def _split_calls(
    caller: FuncOp, kernels: dict[str, FuncOp], split: dict[str, tuple[_Stage, ...]]
) -> None:
    """Call the stages where the old kernel was called, with buffers between them."""
    for call in tuple(caller.body.block.ops):
        if not isinstance(call, CallOp):
            continue
        name = call.callee.string_value()
        if (stages := split.get(name)) is None:
            continue
        old = kernels[name].body.block
        values: dict[SSAValue, SSAValue] = dict(
            zip(old.args, call.arguments, strict=True)
        )
        new: list[Operation] = []
        for stage in stages:
            for value in stage.buffers:
                if value not in values:
                    alloc = AllocOp((), (), value.type)
                    alloc.memref.name_hint = value.name_hint
                    new.append(alloc)
                    values[value] = alloc.memref
            stage_call = CallOp(
                stage.function.sym_name.data,
                [values[value] for value in stage.buffers],
                (),
            )
            if ORIGIN in call.attributes:
                stage_call.attributes[ORIGIN] = call.attributes[ORIGIN]
            new.append(stage_call)
        Rewriter.insert_op(new, InsertPoint.before(call))
        Rewriter.erase_op(call)
