"""The runtime loader of the back end that tests of partitioning use: an op list, run by numpy."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from partita.runtime.tensors import Array


def relu(x: Array) -> Any:
    return np.maximum(x, x.dtype.type(0))


OPS: Mapping[str, Any] = {
    "abs": np.abs,
    "add": np.add,
    "bitwise_xor": np.bitwise_xor,
    "dropout": np.copy,
    "exp": np.exp,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "negative": np.negative,
    "relu": relu,
    "subtract": np.subtract,
}
"""Functions of operands alone, by the names of their ops."""


def load(
    files: Mapping[str, bytes],
    inputs: Sequence[object],
    outputs: Sequence[object],
    weights: Sequence[Array],
    options: Mapping[str, object],
    context: object,
) -> Callable[[Sequence[Array], Sequence[Array]], None]:
    """Load `ops.json`: ops with the numbers of the values that they read, after inputs and weights, and results."""
    program = json.loads(files["ops.json"])

    def run(arguments: Sequence[Array], results: Sequence[Array]) -> None:
        values: list[Any] = [*arguments, *weights]
        for op in program["ops"]:
            operands: list[Any] = [values[number] for number in op["operands"]]
            if op["name"] == "split":
                values += np.split(operands[0], op["places"], op["axis"])
            else:
                values.append(OPS[op["name"]](*operands))
        for result, number in zip(results, program["results"], strict=True):
            result[...] = values[number]

    return run
