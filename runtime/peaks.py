"""What this machine can do at best, measured: multiply-adds on f32, and reading of memory.

Both kernels are LLVM text with explicit vectors. The first keeps as many chains of fused multiply-adds in flight as
there are registers for; the second reads a buffer that no cache holds. Their results are stored, so that nothing is
left out.
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from partita.runtime.llvm import native_object
from partita.runtime.machine import Machine
from partita.runtime.native import Call, Code, Table
from partita.runtime.tensors import aligned_empty

ROUNDS = 1 << 16
"""Multiply-adds of every chain in one piece of work."""

PIECES = 32
"""Pieces of work that threads share."""

CHUNK = 4 << 20
"""Bytes that one piece reads."""

STREAMS = 8
"""Vectors that are read at a time."""

TRIALS = 7

WIDTHS = {"avx512f": (16, 24), "fma": (8, 12)}
"""Lanes of a vector of f32, and chains that fit into registers, by the feature that allows them."""

NARROW = (4, 12)


@dataclass(frozen=True)
class Peaks:
    """The most that some threads reached together."""

    operations: float
    """On f32, a second; a multiply-add is two."""

    nbytes: float
    """Read from memory, a second."""


def measure_peaks(threads: int) -> Peaks:
    """Measure for about a third of a second, and return the best of several trials."""
    machine = Machine.host()
    lanes, chains = _widths(machine)
    names = ("partita_peak_operations", "partita_peak_reads")
    texts = (_operations_ir(names[0], lanes, chains), _reads_ir(names[1], lanes))
    text = "\n".join((*texts, ATTRIBUTES))
    code = Code(
        {"peaks": native_object(text, passes=False)}, dict.fromkeys(names, "peaks")
    )
    try:
        sink = aligned_empty((PIECES, 64), np.dtype(np.uint8))
        sink[:] = 0
        source = aligned_empty((PIECES * CHUNK,), np.dtype(np.uint8))
        source[:] = 1
        pointers = (sink.ctypes.data, source.ctypes.data)
        best = [
            min(_seconds(code, name, pointers, threads) for _ in range(TRIALS))
            for name in names
        ]
    finally:
        code.close()
    operations = 2 * lanes * chains * ROUNDS * PIECES
    return Peaks(operations / best[0], source.nbytes / best[1])


def _seconds(code: Code, name: str, pointers: tuple[int, int], threads: int) -> float:
    """Return how long one call of a kernel takes, worker threads being awake already."""
    call = Call(code.address(name), 0, PIECES, parallel=True)
    table = Table(code, [call], len(pointers))
    table.pointers[:] = pointers
    try:
        table.run(threads)
        start = perf_counter()
        table.run(threads)
        return perf_counter() - start
    finally:
        table.dismiss()


def _widths(machine: Machine) -> tuple[int, int]:
    for feature, widths in WIDTHS.items():
        if feature in machine.features:
            return widths
    return NARROW


ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }'


def _operations_ir(name: str, lanes: int, chains: int) -> str:
    """Return a kernel whose every piece adds the product of two constants to some sums, over and over."""
    vector = f"<{lanes} x float>"
    starts = "\n".join(
        f"  %sum{i} = phi {vector} [ %start, %piece ], [ %next{i}, %round ]"
        for i in range(chains)
    )
    updates = "\n".join(
        f"  %next{i} = call {vector} @llvm.fma.v{lanes}f32({vector} %sum{i}, {vector} %start, {vector} %start)"
        for i in range(chains)
    )
    return TEMPLATE.format(
        name=name,
        declaration=f"declare {vector} @llvm.fma.v{lanes}f32({vector}, {vector}, {vector})",
        # Read, so that the compiler knows nothing of it; small, so that sums stay finite.
        before=f"  %start = load {vector}, ptr %place",
        starts=starts,
        rounds=ROUNDS,
        updates=updates,
        after=_folded(vector, "fadd", chains),
        vector=vector,
    )


def _reads_ir(name: str, lanes: int) -> str:
    """Return a kernel whose every piece reads a chunk of the second buffer."""
    vector, size = f"<{lanes} x i32>", 4 * lanes
    starts = "\n".join(
        f"  %sum{i} = phi {vector} [ zeroinitializer, %piece ], [ %next{i}, %round ]"
        for i in range(STREAMS)
    )
    updates = "\n".join(
        f"  %offset{i} = add i64 %base, {i * size}\n"
        f"  %at{i} = getelementptr i8, ptr %chunk, i64 %offset{i}\n"
        f"  %read{i} = load {vector}, ptr %at{i}\n"
        f"  %next{i} = or {vector} %sum{i}, %read{i}"
        for i in range(STREAMS)
    )
    before = (
        "  %second = getelementptr i8, ptr %arguments, i64 8\n"
        "  %source = load ptr, ptr %second\n"
        f"  %first = mul i64 %i, {CHUNK}\n"
        "  %chunk = getelementptr i8, ptr %source, i64 %first"
    )
    return TEMPLATE.format(
        name=name,
        declaration="",
        before=before,
        starts=starts,
        rounds=CHUNK // (STREAMS * size),
        updates=f"  %base = mul i64 %n, {STREAMS * size}\n{updates}",
        after=_folded(vector, "or", STREAMS),
        vector=vector,
    )


def _folded(vector: str, operation: str, count: int) -> str:
    lines = [f"  %fold0 = {operation} {vector} %next0, %next0"]
    lines += [
        f"  %fold{i} = {operation} {vector} %fold{i - 1}, %next{i}"
        for i in range(1, count)
    ]
    return "\n".join((*lines, f"  store {vector} %fold{count - 1}, ptr %place"))


TEMPLATE = """
{declaration}
define void @{name}(ptr %arguments, i64 %begin, i64 %end) #0 {{
entry:
  %sink = load ptr, ptr %arguments
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %after, %stored ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %piece, label %done
piece:
  %row = shl i64 %i, 6
  %place = getelementptr i8, ptr %sink, i64 %row
{before}
  br label %round
round:
  %n = phi i64 [ 0, %piece ], [ %n_next, %round ]
{starts}
{updates}
  %n_next = add i64 %n, 1
  %again = icmp ult i64 %n_next, {rounds}
  br i1 %again, label %round, label %stored
stored:
{after}
  %after = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""
