"""The plan: what an artifact does when it runs, as buffers and an ordered list of steps.

A plan is data. It names buffers of four spaces (the arena, weights, inputs, outputs), and every step reads and writes
some of them; nothing else happens in a run. `plan.json` is its text:

    {"arena": 4096,
     "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 16]}], "outputs": [...],
     "weights": ["9f3c..."],
     "steps": [{"kernel": "relu_1a2b", "object": "host/relu_1a2b.o", "origin": "relu_1", "grid": 4, "work": [256, 2048],
                "arguments": [["input", 0], ["arena", 64]]},
               {"copy": [["arena", 64], ["output", 0]], "bytes": 64}]}

Kinds of steps are told apart by their first key. A target that brings its own kind passes its class to `Plan.parse`.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np

from partita.errors import ArtifactError
from partita.runtime.json_reader import Node

ALIGNMENT = 64
"""Every buffer except an input starts at a multiple of this many bytes."""

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"),
)
"""The element types of buffers, by their numpy names."""

Json = dict[str, object]
Space = Literal["arena", "weight", "input", "output"]


@dataclass(frozen=True)
class Buffer:
    """Where a step's data is: an offset into the arena, or the index of a weight, input or output."""

    space: Space
    position: int

    def json(self) -> list[object]:
        return [self.space, self.position]

    @staticmethod
    def read(node: Node) -> "Buffer":
        items = node.items()
        if len(items) != 2 or items[0].value not in get_args(Space):
            raise node.fail(f"[space, position] with a space of {get_args(Space)}")
        return Buffer(cast(Space, items[0].value), items[1].integer())


@dataclass(frozen=True)
class TensorSpec:
    """The name, element type and shape of an input or output."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def numpy(self) -> "np.dtype[Any]":
        return np.dtype(self.dtype)

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.numpy.itemsize

    def __str__(self) -> str:
        return f"{self.name!r}: {self.type}"

    @property
    def type(self) -> str:
        """The element type and shape as a user writes them: `float32[1, 3]`."""
        return f"{self.dtype}{list(self.shape)}"

    def json(self) -> Json:
        return {"name": self.name, "dtype": self.dtype, "shape": list(self.shape)}

    @staticmethod
    def read(node: Node) -> "TensorSpec":
        dtype = node["dtype"]
        if dtype.value not in DTYPES:
            raise dtype.fail(f"a dtype of {', '.join(DTYPES)}")
        shape = node["shape"].each(Node.integer)
        return TensorSpec(node["name"].string(), dtype.string(), shape)


class Step(ABC):
    """One unit of work. Each kind is a frozen dataclass."""

    KEY: ClassVar[str]
    """The JSON key that tells this kind from others."""

    @property
    @abstractmethod
    def buffers(self) -> tuple[Buffer, ...]:
        """What the step reads or writes."""

    @property
    def extents(self) -> "tuple[Extent, ...]":
        """What is known of how much of its buffers the step uses, and how."""
        return ()

    @property
    def nested(self) -> "tuple[Step, ...]":
        """Steps that may run in place of this one."""
        return ()

    @abstractmethod
    def json(self) -> Json: ...

    @staticmethod
    @abstractmethod
    def read(node: Node) -> "Step": ...

    @staticmethod
    def read_one_of(kinds: "Iterable[type[Step]]", node: Node) -> "Step":
        """Read a step of one of these kinds."""
        by_key = {kind.KEY: kind for kind in kinds}
        for key, kind in by_key.items():
            if key in node:
                return kind.read(node)
        raise node.fail(f"a step with one of the keys {', '.join(by_key)}")


@dataclass(frozen=True)
class Extent:
    """How much of a buffer a step uses."""

    buffer: Buffer
    nbytes: int
    written: bool


@dataclass(frozen=True)
class Work:
    """How much one call of a kernel does."""

    operations: int
    """On elements: a multiply-add is two."""

    nbytes: int
    """Read and written, each byte of a buffer once."""

    def json(self) -> list[object]:
        return [self.operations, self.nbytes]

    @staticmethod
    def read(node: Node) -> "Work":
        numbers = node.each(lambda each: each.integer(least=0))
        if len(numbers) != 2:
            raise node.fail("[operations, bytes]")
        return Work(*numbers)


NO_WORK = Work(0, 0)


@dataclass(frozen=True)
class KernelStep(Step):
    """Call a host kernel on iterations `[0, grid)` of its outermost loop.

    The kernel is `void kernel(void **arguments, int64_t begin, int64_t end)`. Its iterations are independent, so
    that threads share a `grid` above 1 among them; a kernel too small for that has a `grid` of 1.
    """

    KEY = "kernel"

    kernel: str
    """The symbol."""

    object: str
    """The artifact's member that defines the symbol."""

    arguments: tuple[Buffer, ...]
    grid: int = 1
    origin: str = ""
    """The nodes of the model that this kernel computes."""

    work: Work = NO_WORK

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return self.arguments

    def json(self) -> Json:
        return {
            "kernel": self.kernel,
            "object": self.object,
            "origin": self.origin,
            "grid": self.grid,
            "work": self.work.json(),
            "arguments": [each.json() for each in self.arguments],
        }

    @staticmethod
    def read(node: Node) -> "KernelStep":
        return KernelStep(
            kernel=node["kernel"].string(),
            object=node["object"].string(),
            arguments=node["arguments"].each(Buffer.read),
            grid=node["grid"].integer(least=0),
            origin=node["origin"].string(),
            work=Work.read(node["work"]) if "work" in node else NO_WORK,
        )


@dataclass(frozen=True)
class CopyStep(Step):
    """Copy `nbytes` bytes from one buffer to another."""

    KEY = "copy"

    source: Buffer
    destination: Buffer
    nbytes: int

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return (self.source, self.destination)

    @property
    def extents(self) -> tuple[Extent, ...]:
        return (
            Extent(self.source, self.nbytes, written=False),
            Extent(self.destination, self.nbytes, written=True),
        )

    def json(self) -> Json:
        ends = [self.source.json(), self.destination.json()]
        return {"copy": ends, "bytes": self.nbytes}

    @staticmethod
    def read(node: Node) -> "CopyStep":
        ends = node["copy"].each(Buffer.read)
        if len(ends) != 2:
            raise node["copy"].fail("a source and a destination")
        return CopyStep(*ends, node["bytes"].integer())


STEPS: tuple[type[Step], ...] = (KernelStep, CopyStep)
"""The kinds of steps that are native code; `runtime.external` has the other one."""


@dataclass(frozen=True)
class Plan:
    """Buffers and steps of a compiled model; `check` proves that every buffer exists."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    steps: tuple[Step, ...]
    weights: tuple[str, ...] = ()
    """Digests of the weights, which steps refer to by position."""

    arena: int = 0
    """Bytes of intermediate memory."""

    def check(self) -> None:
        """Raise `ArtifactError` for names given twice, and for buffers that do not exist or do not fit."""
        for kind, tensors in (("input", self.inputs), ("output", self.outputs)):
            seen: set[str] = set()
            for name in (each.name for each in tensors):
                if name in seen:
                    raise ArtifactError(f"the plan has two {kind}s named {name!r}")
                seen.add(name)
        for index, step in enumerate(self.steps):
            where = f"step {index} of the plan"
            for each in (step, *step.nested):
                for buffer in each.buffers:
                    self._check_buffer(buffer, where)
                for extent in each.extents:
                    self._check_extent(extent, each.KEY, where)

    def all_steps(self) -> Iterator[Step]:
        """Yield every step, and those that may run in its place."""
        for step in self.steps:
            yield step
            yield from step.nested

    def _check_buffer(self, buffer: Buffer, where: str) -> None:
        if buffer.space == "arena":
            if buffer.position > self.arena or buffer.position % ALIGNMENT:
                raise ArtifactError(
                    f"{where}: expected an offset that is a multiple of {ALIGNMENT} in an arena of "
                    f"{self.arena} bytes, got {buffer.position}"
                )
            return
        counts = {
            "weight": len(self.weights),
            "input": len(self.inputs),
            "output": len(self.outputs),
        }
        if buffer.position >= counts[buffer.space]:
            raise ArtifactError(
                f"{where}: expected one of {counts[buffer.space]} {buffer.space}s, got number {buffer.position}"
            )

    def _check_extent(self, extent: Extent, kind: str, where: str) -> None:
        buffer = extent.buffer
        self._check_buffer(buffer, where)
        if extent.written and buffer.space in ("input", "weight"):
            raise ArtifactError(f"{where} writes to an {buffer.space}")
        room = self._room(buffer)
        if room is not None and extent.nbytes > room:
            verb = "copies" if kind == CopyStep.KEY else "uses"
            raise ArtifactError(
                f"{where} {verb} {extent.nbytes} bytes, but {buffer.space} {buffer.position} has {room}"
            )

    def _room(self, buffer: Buffer) -> int | None:
        """Return how many bytes a buffer has at most; `None` for a weight, which the plan does not describe."""
        if buffer.space == "arena":
            return self.arena - buffer.position
        if buffer.space == "weight":
            return None
        ends = self.inputs if buffer.space == "input" else self.outputs
        return ends[buffer.position].nbytes

    def text(self) -> str:
        """Return `plan.json`, one step a line."""
        head = {
            "arena": self.arena,
            "inputs": [each.json() for each in self.inputs],
            "outputs": [each.json() for each in self.outputs],
            "weights": list(self.weights),
        }
        lines = ",\n".join(json.dumps(each.json()) for each in self.steps)
        return f'{json.dumps(head)[:-1]},\n"steps": [\n{lines}\n]}}\n'

    @staticmethod
    def parse(
        text: bytes, where: str = "plan.json", kinds: Iterable[type[Step]] = STEPS
    ) -> "Plan":
        """Read and check `plan.json` with steps of these kinds."""
        node = Node.parse(text, where)
        kinds = tuple(kinds)

        def step(node: Node) -> Step:
            return Step.read_one_of(kinds, node)

        plan = Plan(
            inputs=node["inputs"].each(TensorSpec.read),
            outputs=node["outputs"].each(TensorSpec.read),
            steps=node["steps"].each(step),
            weights=node["weights"].each(Node.string),
            arena=node["arena"].integer(),
        )
        plan.check()
        return plan
