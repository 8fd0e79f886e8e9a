"""A program under construction: `partita.runtime.loaders.onednn` says what it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from partita.dialects.partita import WeightAttr
from partita.dialects.relay import ConstantOp
from partita.shapes import Shape, shape_of
from partita.weights import Weight, weight

Json = dict[str, object]


@dataclass
class Program:
    """Tensors have names, and every op adds one."""

    weights: dict[str, Weight] = field(default_factory=dict[str, Weight])
    """By digest, in the order of their numbers."""

    constants: dict[str, Json] = field(default_factory=dict[str, Json])
    """Weights as tensors of a shape, by name."""

    ops: list[Json] = field(default_factory=list[Json])

    outputs: list[str] = field(default_factory=list[str])

    origin: str = ""
    """Where the ops to come are from."""

    _names: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    _seen: dict[tuple[str, Shape], str] = field(
        default_factory=dict[tuple[str, Shape], str]
    )

    def json(self) -> Json:
        return {
            "weights": self.constants,
            "ops": self.ops,
            "outputs": self.outputs,
        }

    def name(self, value: SSAValue, shape: Shape | None = None) -> str:
        """Return the name of a tensor, seen in a shape of as many elements."""
        own = shape_of(value)
        shape = own if shape is None else shape
        if isinstance(value.owner, ConstantOp):
            return self._constant(value.owner, shape)
        name = self._names[value]
        return name if shape == own else self.view(name, shape)

    def view(self, name: str, shape: Shape) -> str:
        """Return the name of a tensor in another shape."""
        key = name, shape
        if key not in self._seen:
            self._seen[key] = self.add("view", [name], shape)
        return self._seen[key]

    def add(
        self, op: str, operands: Sequence[str], shape: Shape, **attributes: object
    ) -> str:
        """Add an op and return the name of its result."""
        result = f"value{len(self.ops)}"
        made: Json = {"op": op}
        if self.origin:
            made["origin"] = self.origin
        made |= {"operands": [*operands], "result": result, "shape": list(shape)}
        self.ops.append(made | attributes)
        return result

    def bind(self, value: SSAValue, name: str) -> None:
        """State what a value is called."""
        self._names[value] = name

    def _constant(self, op: ConstantOp, shape: Shape) -> str:
        held = op.value.data if isinstance(op.value, WeightAttr) else weight(op.array())
        key = held.digest, shape
        if key not in self._seen:
            self.weights.setdefault(held.digest, held)
            number = list(self.weights).index(held.digest)
            name = self._seen[key] = f"weight{len(self.constants)}"
            self.constants[name] = {"number": number, "shape": list(shape)}
        return self._seen[key]


def padded(shape: Shape, rank: int) -> Shape:
    """Return a shape with leading axes of extent 1."""
    return (1,) * (rank - len(shape)) + shape
