"""Runs the programs of the `numpy` target. Imports no compiler: this is all that a machine needs that only runs."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def linear(data: Array, weight: Array, bias: Array) -> Array:
    return data @ weight.T + bias


FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "matmul": np.matmul,
    "numpy.linear": linear,
}


def load(
    files: Mapping[str, bytes],
    inputs: Sequence[object],
    outputs: Sequence[object],
    weights: Sequence[Array],
    options: Mapping[str, object],
    context: object,
) -> Callable[[Sequence[Array], Sequence[Array]], None]:
    """Read a program once; what is returned runs it, from arrays to arrays."""
    program = json.loads(files["program.json"])
    steps = [(FUNCTIONS[each["function"]], each["reads"]) for each in program["steps"]]
    errors = "raise" if options["checked"] else "ignore"

    def run(arguments: Sequence[Array], results: Sequence[Array]) -> None:
        values = [*arguments, *weights]
        with np.errstate(all=errors):
            for function, reads in steps:
                values.append(function(*(values[each] for each in reads)))
        for result, number in zip(results, program["results"], strict=True):
            result[...] = values[number]

    return run
