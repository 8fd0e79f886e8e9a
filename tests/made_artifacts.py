"""Artifacts made by hand: kernels written as LLVM text, in plans of a few steps."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from partita.runtime import (
    Artifact,
    Buffer,
    KernelStep,
    Machine,
    Plan,
    TensorSpec,
)
from partita.runtime.llvm import binding
from partita.runtime.plan import Step
from partita.runtime.tensors import Array, digest

LOOP = """
define void @{name}(ptr %arguments, i64 %begin, i64 %end) {{
entry:
  %at1 = getelementptr ptr, ptr %arguments, i64 1
  %at2 = getelementptr ptr, ptr %arguments, i64 2
  %a = load ptr, ptr %arguments
  %b = load ptr, ptr %at1
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %done
body:
{body}
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""
"""A kernel: a loop over its iterations, with its first two buffers as %a and %b and the third one's place as %at2."""

ROTATE = LOOP.format(
    name="rotate",
    body="""
  %up = add i64 %i, 1
  %wraps = icmp eq i64 %up, 48
  %j = select i1 %wraps, i64 0, i64 %up
  %from = getelementptr i64, ptr %a, i64 %j
  %to = getelementptr i64, ptr %b, i64 %i
  %value = load i64, ptr %from
  %more1 = add i64 %value, 1
  store i64 %more1, ptr %to""",
)
"""Iteration i reads element i + 1 of 48, which another thread may have written."""

ROTATE_WHOLE = (
    ROTATE.replace("@rotate", "@rotate_whole")
    .replace("[ %begin,", "[ 0,")
    .replace("%i, %end", "%i, 48")
)
"""The same as one iteration."""

WEIGHTED = (
    LOOP.format(
        name="weighted",
        body="""
  %c = load ptr, ptr %at2
  %pa = getelementptr float, ptr %a, i64 %i
  %pb = getelementptr float, ptr %b, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  %x = load float, ptr %pa
  %w = load float, ptr %pb
  %e = call float @expf(float %x)
  %y = fmul float %e, %w
  store float %y, ptr %pc""",
    )
    + "declare float @expf(float)"
)

MISALIGNMENT = LOOP.format(
    name="misalignment",
    body="""
  %int = ptrtoint ptr %a to i64
  %rest = and i64 %int, 63
  store i64 %rest, ptr %b""",
)
"""Write how far the first buffer is from an aligned address."""


@cache
def assemble(text: str) -> bytes:
    llvm = binding()
    target = llvm.Target.from_triple(Machine.host().triple)
    machine = target.create_target_machine(opt=2, reloc="pic", codemodel="small")
    return machine.emit_object(llvm.parse_assembly(text))


def spec(name: str, dtype: str, *shape: int) -> TensorSpec:
    return TensorSpec(name, dtype, shape)


def artifact(
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    steps: Sequence[Step],
    *,
    arena: int = 0,
    weights: Sequence[Array] = (),
    kernels: Mapping[str, str] = MappingProxyType({}),
) -> Artifact:
    by_digest = {digest(each): each for each in weights}
    plan = Plan(tuple(inputs), tuple(outputs), tuple(steps), tuple(by_digest), arena)
    objects = {f"host/{name}.o": assemble(text) for name, text in kernels.items()}
    return Artifact(plan, Machine.host(), objects, by_digest)


def call(kernel: str, *arguments: Buffer, grid: int = 1) -> KernelStep:
    return KernelStep(kernel, f"host/{kernel}.o", arguments, grid)


X, Y = Buffer("input", 0), Buffer("output", 0)


def never(step: int) -> bool:
    return False


def chain(length: int, serial: Callable[[int], bool]) -> Artifact:
    """Return 48 integers rotated left and incremented `length` times, in parallel steps but for some."""
    places = [Buffer("arena", 0), Buffer("arena", 512)]
    buffers = [X, *(places[i % 2] for i in range(length - 1)), Y]
    ends = enumerate(pairwise(buffers))
    return artifact(
        [spec("x", "int64", 48)],
        [spec("y", "int64", 48)],
        [
            call("rotate_whole", *pair) if serial(i) else call("rotate", *pair, grid=48)
            for i, pair in ends
        ],
        arena=1024,
        kernels={"rotate": ROTATE, "rotate_whole": ROTATE_WHOLE},
    )


def rotated(x: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    return np.roll(x, -length) + length
