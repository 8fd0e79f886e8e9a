"""Loaders of back ends that only tests have; each loads what `test_external_failures` compiles."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from partita.runtime.tensors import Array

Module = Callable[[Sequence[Array], Sequence[Array]], None]


def load(
    files: Mapping[str, bytes],
    inputs: Sequence[object],
    outputs: Sequence[object],
    weights: Sequence[Array],
    options: Mapping[str, object],
    context: object,
) -> Module:
    """Load a module of one ReLU."""

    def run(arguments: Sequence[Array], results: Sequence[Array]) -> None:
        np.maximum(arguments[0], 0, out=results[0])

    return run


def load_without_library(
    files: Mapping[str, bytes],
    inputs: Sequence[object],
    outputs: Sequence[object],
    weights: Sequence[Array],
    options: Mapping[str, object],
    context: object,
) -> Module:
    """Fail as a loader does whose library is not installed."""
    raise ImportError("librelu is not installed; install relu[library]")


def load_what_fails(
    files: Mapping[str, bytes],
    inputs: Sequence[object],
    outputs: Sequence[object],
    weights: Sequence[Array],
    options: Mapping[str, object],
    context: object,
) -> Module:
    """Load a module that fails when it runs."""

    def run(arguments: Sequence[Array], results: Sequence[Array]) -> None:
        raise ValueError("no such\ndevice")

    return run
