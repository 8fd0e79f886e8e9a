"""Loops over buffers: what is computed, in which order, and where it is kept.

A function at this level takes and fills buffers (`memref`, outputs last) and returns
nothing. Loops have constant bounds; a loop says how it runs (serial, parallel,
vectorized, unrolled). What the loops compute stands in blocks: a `tir.block` names its
own axes, says for each whether it is spatial or reduced and how the surrounding loops
bind it, and its body reads and writes buffers in terms of these axes only. So a schedule
can split, reorder and move loops without looking into a block, and reads and writes of a
block follow from its body.

`te` enters through `lower-te-to-tir`; `sched` changes loops; back ends take it from here.
All integers are signless: signedness is a property of ops.

| op | meaning |
|---|---|
| `tir.for` | a loop with constant bounds, run in one of four ways |
| `tir.block` | a computation for one value of each of its axes |
| `tir.load`, `tir.store` | one element of a buffer, at affine indices |
| `tir.constant` | a buffer with constant content |
"""

from xdsl.ir import Dialect

from partita.dialects.access import INDEX
from partita.dialects.tir.block import BlockOp, index_interval
from partita.dialects.tir.loop import ForOp, LoopKind
from partita.dialects.tir.memory import (
    LOCAL,
    ConstantOp,
    LoadOp,
    StoreOp,
    buffer_type,
    check_access,
)

TIR = Dialect("tir", [BlockOp, ConstantOp, ForOp, LoadOp, StoreOp])

__all__ = [
    "INDEX",
    "LOCAL",
    "TIR",
    "BlockOp",
    "ConstantOp",
    "ForOp",
    "LoadOp",
    "LoopKind",
    "StoreOp",
    "buffer_type",
    "check_access",
    "index_interval",
]
