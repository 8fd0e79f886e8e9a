"""Make each loop nest of a kernel a kernel of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp, CopyOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.symbol_table import get_name_if_symbol

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
    `plan-memory` sees them, and so do buffers too large for a stack. Copies are made by
    the caller; a kernel that computes nothing, as its tensors have no elements, is gone.
    A kernel that is one nest stays as it is.

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
            if isinstance(function, FuncOp)
            and KERNEL in function.attributes
            and function.body.blocks
        }
        taken = {name.data for each in op.ops if (name := get_name_if_symbol(each))}
        split = {
            name: stages
            for name, function in kernels.items()
            if (stages := _stages(function, taken)) is not None
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
    """A nest as a kernel of its own, or a copy."""

    kernel: FuncOp | None
    """What to call; a copy if there is nothing."""

    buffers: tuple[SSAValue, ...]
    """The buffers of the old kernel that it takes: source and destination of a copy."""


def _stages(function: FuncOp, taken: set[str]) -> tuple[_Stage, ...] | None:
    """Make a kernel for each nest, beside the old one; `None` if that is one nest already.

    `taken` are the names in use, to which those of new kernels are added.
    """
    block = function.body.block
    fixed = [op for op in block.ops if isinstance(op, AllocOp | tir.ConstantOp)]
    nests = [
        op
        for op in block.ops
        if not isinstance(op, AllocOp | tir.ConstantOp | ReturnOp)
    ]
    large = {
        op for op in fixed if isinstance(op, AllocOp) and size_of(op) > STACK_BYTES
    }
    if len(nests) == 1 and not large and not isinstance(nests[0], CopyOp):
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
    candidates = [
        *block.args,
        *(op.results[0] for op in fixed if op not in kept),
    ]
    names = (f"{function.sym_name.data}_s{number}" for number in count())
    stages: list[_Stage] = []
    for number, nest in enumerate(nests):
        if isinstance(nest, CopyOp):
            stages.append(_Stage(None, (nest.source, nest.destination)))
            continue
        inside = [
            op for op in fixed if op in kept and number in users.get(op.results[0], ())
        ]
        outside = _arguments(nest, block, candidates)
        name = next(name for name in names if name not in taken)
        taken.add(name)
        stages.append(_Stage(_make_kernel(name, nest, inside, outside), outside))
    kernels = [stage.kernel for stage in stages if stage.kernel is not None]
    Rewriter.insert_op(kernels, InsertPoint.before(function))
    return tuple(stages)


def _outer_values(nest: Operation, block: Block) -> Iterable[SSAValue]:
    """Return the arguments and results of a block that a nest uses."""
    for op in nest.walk():
        for operand in op.operands:
            if operand.owner is block or (
                isinstance(operand.owner, Operation) and operand.owner.parent is block
            ):
                yield operand


def _arguments(
    nest: Operation, block: Block, candidates: Sequence[SSAValue]
) -> tuple[SSAValue, ...]:
    """Return the buffers that a nest uses: what it reads, what nests hand on, results."""
    used = set(_outer_values(nest, block))
    written = {op.buffer for op in nest.walk() if isinstance(op, tir.StoreOp)}

    def rank(value: SSAValue) -> int:
        if value.owner is not block:
            return 1
        return 2 if value in written else 0

    return tuple(sorted((each for each in candidates if each in used), key=rank))


def _make_kernel(
    name: str,
    nest: Operation,
    inside: Sequence[AllocOp | tir.ConstantOp],
    outside: Sequence[SSAValue],
) -> FuncOp:
    """Make a kernel of a nest, with the buffers that it keeps; others are arguments."""
    block = Block(arg_types=[value.type for value in outside])
    values: dict[SSAValue, SSAValue] = {}
    for value, argument in zip(outside, block.args, strict=True):
        argument.name_hint = value.name_hint
        values[value] = argument
    for op in (*inside, nest):
        block.add_op(op.clone(values))
    block.add_op(ReturnOp())
    kernel = FuncOp(
        name,
        FunctionType.from_lists([value.type for value in outside], ()),
        Region(block),
        "private",
    )
    kernel.attributes[KERNEL] = UnitAttr()
    return kernel


def _split_calls(
    caller: FuncOp, kernels: dict[str, FuncOp], split: dict[str, tuple[_Stage, ...]]
) -> None:
    """Call the stages where the old kernel was called, with buffers between them."""
    for call in [op for block in caller.body.blocks for op in block.ops]:
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
                    alloc = _same_buffer(value)
                    new.append(alloc)
                    values[value] = alloc.results[0]
            buffers = [values[value] for value in stage.buffers]
            step = (
                CopyOp(*buffers)
                if stage.kernel is None
                else CallOp(stage.kernel.sym_name.data, buffers, ())
            )
            if ORIGIN in call.attributes:
                step.attributes[ORIGIN] = call.attributes[ORIGIN]
            new.append(step)
        Rewriter.insert_op(new, InsertPoint.before(call))
        Rewriter.erase_op(call)


def _same_buffer(value: SSAValue) -> Operation:
    """Make what makes a kernel's own buffer."""
    assert isinstance(value.owner, AllocOp | tir.ConstantOp)
    made = value.owner.clone()
    made.results[0].name_hint = value.name_hint
    return made
