"""Loops over buffers: what is computed, in which order, and where it is kept.

A function at this level takes and fills buffers (`memref`, outputs last) and returns
nothing. Loops have constant bounds; a loop says how it runs (serial, parallel,
vectorized, unrolled, pipelined). What the loops compute stands in blocks: a `tir.block` names its
own axes, says for each whether it is spatial or reduced and how the surrounding loops
bind it, and its body reads and writes buffers in terms of these axes only. So a schedule
can split, reorder and move loops without looking into a block, and reads and writes of a
block follow from its body.

`te` enters through `lower-te-to-tir`; `sched` changes loops; back ends take it from here.
All integers are signless: signedness is a property of ops.

| op | meaning |
|---|---|
| `tir.for` | a loop with constant bounds, run in one of five ways |
| `tir.block` | a computation for one value of each of its axes |
| `tir.load`, `tir.store` | one element of a buffer, at affine indices |
| `tir.constant` | a buffer with constant content |
| `tir.call` | an instruction on tiles of buffers, whose meaning is the text of a function |
| `tir.memory` | a memory scope of the machine, and its size |
"""

from xdsl.ir import Dialect

from partita.dialects.access import INDEX
from partita.dialects.tir.block import BlockOp, index_interval
from partita.dialects.tir.intrinsics import INTRINSIC, SCOPE, CallOp, MemoryOp
from partita.dialects.tir.loop import ForOp, LoopKind
from partita.dialects.tir.memory import (
    LOCAL,
    ConstantOp,
    LoadOp,
    StoreOp,
    buffer_type,
    check_access,
)

TIR = Dialect("tir", [BlockOp, CallOp, ConstantOp, ForOp, LoadOp, MemoryOp, StoreOp])

__all__ = [
    "INDEX",
    "INTRINSIC",
    "LOCAL",
    "SCOPE",
    "TIR",
    "BlockOp",
    "CallOp",
    "ConstantOp",
    "ForOp",
    "LoadOp",
    "LoopKind",
    "MemoryOp",
    "StoreOp",
    "buffer_type",
    "check_access",
    "index_interval",
]
