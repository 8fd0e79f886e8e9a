"""Give convolutions whole blocks of output channels, where what is too many is cheap to drop."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from partita.analysis.constants import ConstantValues
from partita.analysis.diagnostics import fail
from partita.dialects.partita import inherit_origins
from partita.dialects.relay import (
    BatchNormOp,
    BroadcastToOp,
    Conv2dOp,
    PadOp,
    RelayOp,
    StridedSliceOp,
)
from partita.dialects.relay.base import FusionPattern, ints
from partita.dialects.relay.pool import Pool2dOp
from partita.dialects.relay.reduction import ReductionOp
from partita.shapes import DYNAMIC, shape_of

MOST_WASTE = 8
"""At most one channel in so many may be one too many."""

CHANNELS = 1


def padded_channels(channels: int, block: int) -> int | None:
    """Return the channels of whole blocks that hold some channels, `None` if that is as many, or too many."""
    padded = -(-channels // block) * block
    excess = padded - channels
    return padded if 0 < excess * MOST_WASTE <= padded else None


def pixelwise_chain(op: Conv2dOp, constants: ConstantValues) -> list[RelayOp] | None:
    """Return the ops that one by one read a convolution's result, up to one that leaves one pixel of it.

    Each has to treat every channel on its own, with constants if with anything else. `None`
    if there is no such end.
    """
    chain: list[RelayOp] = []
    last: RelayOp = op
    while True:
        shape = shape_of(last.results[0])
        uses = tuple(last.results[0].uses)
        if len(uses) != 1 or not isinstance(user := uses[0].operation, RelayOp):
            return None
        match user:
            case Pool2dOp():
                chain.append(user)
                if shape_of(user.result)[2:] == (1, 1):
                    return chain
            case ReductionOp():
                over_pixels = ints(user.axes) == (2, 3)
                return [*chain, user] if over_pixels else None
            case BatchNormOp() | BroadcastToOp():
                return None
            case _ if user.fusion() <= FusionPattern.BROADCAST:
                others = (each for each in user.operands if each is not last.results[0])
                if len(user.results) != 1 or shape_of(user.results[0]) != shape:
                    return None
                if not all(each in constants for each in others):
                    return None
                chain.append(user)
            case _:
                return None
        last = user


@dataclass(frozen=True)
class PadChannelsPass(ModulePass):
    """Compute some channels more than a convolution has, if it then has whole blocks and nobody notices.

    A classifier that is a convolution has 1000 channels, say. In blocks of 8 it uses half of
    a vector of 16; with 1008 channels all of it. The filters that are added are zeros, at the end of constant
    weights, and `fold-constants` evaluates that. What is computed for them is dropped after the
    image has been reduced to one pixel, so only chains of ops that treat channels on their
    own, and end there, are changed; and only where at most one channel in 8 is added.

    Before:

    ```mlir
    func.func @main(%x : tensor<1x4x6x6xf32>) -> tensor<1x15xf32> {
      %w = relay.constant dense<1.0> : tensor<15x4x1x1xf32>
      %b = relay.constant dense<2.0> : tensor<15x1x1xf32>
      %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<15x4x1x1xf32>) -> tensor<1x15x6x6xf32>
      %1 = relay.add %0, %b : (tensor<1x15x6x6xf32>, tensor<15x1x1xf32>) -> tensor<1x15x6x6xf32>
      %2 = relay.mean %1 {axes = array<i64: 2, 3>, keepdims = false} : tensor<1x15x6x6xf32> -> tensor<1x15xf32>
      func.return %2 : tensor<1x15xf32>
    }
    ```

    After `pad-channels{block=8},dce`:

    ```mlir
    func.func @main(%x: tensor<1x4x6x6xf32>) -> tensor<1x15xf32> {
      %w = relay.constant dense<1.000000e+00> : tensor<15x4x1x1xf32>
      %b = relay.constant dense<2.000000e+00> : tensor<15x1x1xf32>
      %0 = relay.pad %w {before = array<i64: 0, 0, 0, 0>, after = array<i64: 1, 0, 0, 0>, mode = "constant", value = 0.000000e+00 : f64} : tensor<15x4x1x1xf32> -> tensor<16x4x1x1xf32>
      %1 = relay.conv2d %x, %0 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<16x4x1x1xf32>) -> tensor<1x16x6x6xf32>
      %2 = relay.pad %b {before = array<i64: 0, 0, 0>, after = array<i64: 1, 0, 0>, mode = "constant", value = 0.000000e+00 : f64} : tensor<15x1x1xf32> -> tensor<16x1x1xf32>
      %3 = relay.add %1, %2 : (tensor<1x16x6x6xf32>, tensor<16x1x1xf32>) -> tensor<1x16x6x6xf32>
      %4 = relay.mean %3 {axes = array<i64: 2, 3>, keepdims = false} : tensor<1x16x6x6xf32> -> tensor<1x16xf32>
      %5 = relay.strided_slice %4 {begin = array<i64: 0, 0>, sizes = array<i64: 1, 15>, strides = array<i64: 1, 1>} : tensor<1x16xf32> -> tensor<1x15xf32>
      func.return %5 : tensor<1x15xf32>
    }
    ```
    """

    name = "pad-channels"

    block: int = 16
    """How many channels lie side by side: the lanes of a vector."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.block < 1:
            fail(op, f"expected block of at least 1, got {self.block}")
        constants = ConstantValues(op)
        for each in tuple(op.walk()):
            if isinstance(each, Conv2dOp):
                self.pad(each, constants)

    def pad(self, op: Conv2dOp, constants: ConstantValues) -> None:
        """Rewrite a convolution and what follows it, where that is worth it."""
        shape = shape_of(op.result)
        plain = op.kernel_layout is op.data_layout is op.result_layout is None
        if not plain or DYNAMIC in shape or op.weight not in constants:
            return
        channels = shape[CHANNELS]
        padded = padded_channels(channels, self.block)
        if op.groups.value.data != 1 or padded is None:
            return
        chain = pixelwise_chain(op, constants)
        if chain is None:
            return
        extra = padded - channels
        value = self.widen(op, {op.weight: _filled(op.weight, 0, extra, op)})
        before = op.results[0]
        for each in chain:
            values: dict[SSAValue, SSAValue] = {before: value}
            for operand in each.operands:
                at = len(shape_of(operand)) - 3
                if operand is before or at < 0 or shape_of(operand)[at] != channels:
                    continue
                values[operand] = _filled(operand, at, extra, each)
            before = each.results[0]
            value = self.widen(each, values)
        kept = StridedSliceOp(
            value,
            begin=tuple(0 for _ in shape_of(value)),
            sizes=shape_of(before),
            strides=tuple(1 for _ in shape_of(value)),
        )
        _insert(kept, chain[-1])
        before.replace_all_uses_with(kept.results[0])
        for each in reversed((op, *chain)):
            Rewriter.erase_op(each)

    def widen(self, op: RelayOp, values: Mapping[SSAValue, SSAValue]) -> SSAValue:
        """Insert a copy of an op on other operands."""
        copy = op.clone()
        copy.operands = tuple(values.get(each, each) for each in op.operands)
        copy.update_result_types()
        return _insert(copy, op)


def _filled(value: SSAValue, axis: int, extra: int, user: Operation) -> SSAValue:
    """Insert what adds zeros at the end of an axis of a constant."""
    rank = len(shape_of(value))
    after = tuple(extra if each == axis else 0 for each in range(rank))
    return _insert(PadOp(value, before=(0,) * rank, after=after), user)


def _insert(op: Operation, before: Operation) -> SSAValue:
    """Insert an op that belongs to another one, in front of it; return its result."""
    inherit_origins(op, before)
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.results[0]
