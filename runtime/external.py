"""A step of the plan that a module of another target runs: what it is, and how it is written.

    {"external": "main_0", "target": "c", "module": "main_0", "origin": "conv_1, relu_1",
     "inputs": [{"buffer": ["input", 0], "name": "x", "dtype": "float32", "shape": [1, 16]}],
     "outputs": [{"buffer": ["arena", 0], "name": "output0", "dtype": "float32", "shape": [1, 16]}],
     "weights": [0, 3], "options": {}, "fallback": []}

`runtime.loaders` finds what runs it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from partita.runtime.json_reader import Node
from partita.runtime.plan import STEPS, Buffer, Extent, Json, Step, TensorSpec

NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
"""What targets, functions and files of a module may be called: each is a part of a member's name."""


@dataclass(frozen=True)
class ExternalStep(Step):
    """Call a function of another target's module on arrays."""

    KEY = "external"

    function: str
    target: str
    """The name of the target, by which its loader is found."""

    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    input_specs: tuple[TensorSpec, ...]
    output_specs: tuple[TensorSpec, ...]
    module: str = ""
    """The function under whose name the artifact keeps the files, as it does those of several functions that are
    alike; if empty, this one's."""

    weights: tuple[int, ...] = ()
    """Numbers of the plan's weights that the loader gets, in its order."""

    options: Mapping[str, object] = field(default_factory=dict[str, object])
    """JSON that code generation left for the loader."""

    origin: str = ""
    """The nodes of the model that this function computes."""

    fallback: tuple[Step, ...] = ()
    """Steps of the host that do the same, for where the module cannot be loaded."""

    @property
    def folder(self) -> str:
        """What the names of the module's members begin with."""
        return f"modules/{self.target}/{self.module or self.function}/"

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return (*self.inputs, *self.outputs)

    @property
    def nested(self) -> tuple[Step, ...]:
        return self.fallback

    @property
    def extents(self) -> tuple[Extent, ...]:
        return (
            *(
                Extent(buffer, spec.nbytes, written=False)
                for buffer, spec in zip(self.inputs, self.input_specs, strict=True)
            ),
            *(
                Extent(buffer, spec.nbytes, written=True)
                for buffer, spec in zip(self.outputs, self.output_specs, strict=True)
            ),
            *(
                Extent(Buffer("weight", each), 0, written=False)
                for each in self.weights
            ),
        )

    def json(self) -> Json:
        def ends(
            buffers: tuple[Buffer, ...], specs: tuple[TensorSpec, ...]
        ) -> list[Json]:
            return [
                {"buffer": buffer.json(), **spec.json()}
                for buffer, spec in zip(buffers, specs, strict=True)
            ]

        return {
            "external": self.function,
            "target": self.target,
            "module": self.module or self.function,
            "origin": self.origin,
            "inputs": ends(self.inputs, self.input_specs),
            "outputs": ends(self.outputs, self.output_specs),
            "weights": list(self.weights),
            "options": dict(self.options),
            "fallback": [each.json() for each in self.fallback],
        }

    @staticmethod
    def read(node: Node) -> "ExternalStep":
        inputs, outputs = node["inputs"].items(), node["outputs"].items()
        options = node["options"]
        return ExternalStep(
            function=_name(node["external"]),
            target=_name(node["target"]),
            module=_name(node["module"]),
            inputs=tuple(Buffer.read(each["buffer"]) for each in inputs),
            outputs=tuple(Buffer.read(each["buffer"]) for each in outputs),
            input_specs=tuple(map(TensorSpec.read, inputs)),
            output_specs=tuple(map(TensorSpec.read, outputs)),
            weights=node["weights"].each(Node.integer),
            options={key: each.value for key, each in options.fields().items()},
            origin=node["origin"].string(),
            fallback=node["fallback"].each(_host_step),
        )


def _name(node: Node) -> str:
    """Read what becomes a part of a member's name."""
    if not NAME.fullmatch(node.string()):
        raise node.fail("a name of letters, digits, '_', '.', '+' and '-'")
    return node.string()


def _host_step(node: Node) -> Step:
    return Step.read_one_of(STEPS, node)


KINDS: tuple[type[Step], ...] = (*STEPS, ExternalStep)
"""Every kind of step that artifacts have."""
