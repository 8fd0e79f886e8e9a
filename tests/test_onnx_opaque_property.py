"""Random models of what relay does not model give what onnxruntime gives, however they are divided."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

import partita
from partita.targets.onnxruntime import OnnxRuntime

QUICK = 8
"""Seeds that are tried for every change."""

DEPTH = 3
"""Graphs in graphs, at most."""


@dataclass
class Writer:
    """Writes nodes in ONNX's text, all of whose tensors are of four elements."""

    random: Random

    depth: int = 0

    tensors: list[str] = field(default_factory=lambda: ["x", "w"])

    sequences: list[str] = field(default_factory=list[str])

    lines: list[str] = field(default_factory=list[str])

    count: list[int] = field(default_factory=lambda: [0])
    """Of names, in all graphs."""

    def name(self) -> str:
        self.count[0] += 1
        return f"v{self.count[0]}"

    def tensor(self) -> str:
        return self.random.choice(self.tensors)

    def define(self, text: str) -> str:
        """Add a node; `text` is what follows the name of its result."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def inner(self, *arguments: str) -> "Writer":
        """Write a few nodes in a graph, which sees all that is outside."""
        tensors = [*self.tensors, *arguments]
        inside = Writer(
            self.random, self.depth + 1, tensors, [*self.sequences], count=self.count
        )
        inside.write(self.random.randint(1, 3))
        return inside

    def write(self, count: int) -> None:
        for _ in range(count):
            kind = self.random.choice(KINDS)
            nested = kind in (if_node, loop_node)
            if not (nested and self.depth == DEPTH):
                self.tensors.append(kind(self))


def unary(writer: Writer) -> str:
    operator = writer.random.choice(("Relu", "Abs", "Neg", "Tanh"))
    return writer.define(f"{operator} ({writer.tensor()})")


def binary(writer: Writer) -> str:
    operator = writer.random.choice(("Add", "Sub", "Mul"))
    return writer.define(f"{operator} ({writer.tensor()}, {writer.tensor()})")


def if_node(writer: Writer) -> str:
    graphs: list[str] = []
    for name in ("then_branch", "else_branch"):
        inside = writer.inner()
        result = inside.define(f"Identity ({inside.tensors[-1]})")
        body = " ".join(inside.lines)
        graphs.append(f"{name} = {name} () => (float[4] {result}) {{ {body} }}")
    return writer.define(f"If (c) <{', '.join(graphs)}>")


def loop_node(writer: Writer) -> str:
    number, go, state = writer.name(), writer.name(), writer.name()
    inside = writer.inner(state)
    half = inside.define(f"Mul ({inside.tensors[-1]}, half)")
    on, shown = inside.define(f"Identity ({go})"), inside.define(f"Relu ({half})")
    taken = f"int64 {number}, bool {go}, float[4] {state}"
    given = f"bool {on}, float[4] {half}, float[4] {shown}"
    first, every, start = writer.name(), writer.name(), writer.tensor()
    writer.lines.append(
        f"{first}, {every} = Loop (three, , {start}) "
        f"<body = body ({taken}) => ({given}) {{ {' '.join(inside.lines)} }}>"
    )
    writer.tensors.append(first)
    return writer.define(f"ReduceSum <keepdims = 0> ({every}, axis)")


def sequence(writer: Writer) -> str:
    made = writer.define(f"SequenceConstruct ({writer.tensor()}, {writer.tensor()})")
    writer.sequences.append(made)
    place = writer.random.choice(("zero", "one"))
    return writer.define(
        f"SequenceAt ({writer.random.choice(writer.sequences)}, {place})"
    )


def joined(writer: Writer) -> str:
    if not writer.sequences:
        return unary(writer)
    chosen = writer.random.choice(writer.sequences)
    rows = writer.define(f"ConcatFromSequence <axis = 0, new_axis = 1> ({chosen})")
    return writer.define(f"ReduceMax <axes = [0], keepdims = 0> ({rows})")


def of_another_shape_each_time(writer: Writer) -> str:
    places = writer.define(f"NonZero ({writer.tensor()})")
    number = writer.define(f"Cast <to = 1> ({writer.define(f'Size ({places})')})")
    return writer.define(f"Add ({number}, {writer.tensor()})")


def by_way_of(code: int) -> Callable[[Writer], str]:
    """Go through another element type."""

    def write(writer: Writer) -> str:
        between = writer.define(f"Cast <to = {code}> ({writer.tensor()})")
        return writer.define(f"Cast <to = 1> ({between})")

    return write


def optional(writer: Writer) -> str:
    held = writer.define(f"Optional ({writer.tensor()})")
    return writer.define(f"OptionalGetElement ({held})")


KINDS: tuple[Callable[[Writer], str], ...] = (
    *(unary, binary, if_node, loop_node, sequence, joined),
    *(of_another_shape_each_time, optional),
    *(by_way_of(onnx.TensorProto.BFLOAT16), by_way_of(onnx.TensorProto.STRING)),
)


def model_of(seed: int) -> onnx.ModelProto:
    writer = Writer(Random(seed))
    writer.write(writer.random.randint(4, 12))
    outputs = dict.fromkeys(
        (writer.tensors[-1], writer.random.choice(writer.tensors[2:]))
    )
    results = ", ".join(f"float[4] {each}" for each in outputs)
    constants = "int64 three = {3}, float half = {0.5}, int64 zero = {0}, int64 one = {1}, int64[1] axis = {0}"
    return onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> '
        f"g (bool c, float[4] x, float[4] w) => ({results}) <{constants}> {{ {' '.join(writer.lines)} }}"
    )


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=() if seed < QUICK else pytest.mark.full)
        for seed in range(80)
    ],
)
def test_random_model(seed: int) -> None:
    model = model_of(seed)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    random = np.random.default_rng(seed)
    names = [each.name for each in session.get_inputs()]
    for ops in ((), ("relay.onnx_node",)):
        executable = partita.compile(
            model, [OnnxRuntime(ops=ops)], on_external_failure="error", threads=1
        )
        for condition in (True, False):
            inputs = {
                "c": np.array(condition),
                "x": random.standard_normal(4, np.float32),
                "w": random.integers(-1, 2, 4).astype(np.float32),
            }
            expected = session.run(None, {name: inputs[name] for name in names})
            got = executable.run(inputs)
            for want, each in zip(expected, got.values(), strict=True):
                np.testing.assert_allclose(
                    each, np.asarray(want, np.float32), 1e-3, 1e-4
                )
