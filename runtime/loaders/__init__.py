"""What runs modules of other targets: one loader a target, found by the target's name.

A loader is a function `load(files, inputs, outputs, weights, options, context)`: see `ModuleLoader`. It lives in a
file of this folder, and a line of `LOADERS` names it; a loader of another package is an entry point of the group
`partita.loaders`. A loader is imported when an executable is made that needs it, and imports no compiler.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol, cast

import numpy as np

from partita.errors import ArtifactError, PartitaError, did_you_mean
from partita.runtime.artifact import Artifact
from partita.runtime.external import ExternalStep
from partita.runtime.machine import available_threads
from partita.runtime.plan import Step, TensorSpec
from partita.runtime.tensors import Array

LoadedModule = Callable[[Sequence[Array], Sequence[Array]], None]
"""A function of arrays to read and arrays to fill; they are only valid during a call."""


@dataclass(frozen=True)
class LoaderContext:
    """What loaders may know of the executable that they load modules for."""

    threads: int = field(default_factory=available_threads)
    """How many threads a run uses at most."""

    shared: dict[object, object] = field(default_factory=dict[object, object])
    """Where loaders keep what several modules have in common, under keys of their own."""


class ModuleLoader(Protocol):
    """Prepare the module of one external function, when an executable is made or gets another number of threads.

    `files` are what code generation made, by the names that it gave them; `weights` are aligned and
    read-only, in the order that it gave; `options` is its JSON. Whatever it raises means that the
    module cannot be loaded, and why.
    """

    def __call__(
        self,
        files: Mapping[str, bytes],
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        weights: Sequence[Array],
        options: Mapping[str, object],
        context: LoaderContext,
    ) -> LoadedModule: ...


LOADERS: dict[str, str] = {
    "c": "partita.runtime.loaders.c:load",
    "onednn": "partita.runtime.loaders.onednn:load",
    "onnxruntime": "partita.runtime.loaders.onnxruntime:load",
}
"""Loaders by target, as `module:function`."""

ENTRY_POINTS = "partita.loaders"
"""The group in which other packages name loaders, by target."""


def find_loader(target: str) -> ModuleLoader:
    """Return the loader of a target's modules; raise `ArtifactError` if there is none, and what importing it raises."""
    if target in LOADERS:
        module, _, name = LOADERS[target].partition(":")
        return cast(ModuleLoader, getattr(import_module(module), name))
    from importlib.metadata import entry_points  # Takes long to import.

    found = entry_points(group=ENTRY_POINTS)
    for each in found:
        if each.name == target:
            return cast(ModuleLoader, each.load())
    known = {*LOADERS, *(each.name for each in found)}
    raise ArtifactError(
        f"no loader for this target is installed{did_you_mean(target, sorted(known))}"
    )


def load_external(
    step: Step, artifact: Artifact, context: LoaderContext
) -> Callable[[Sequence[int]], None]:
    """Load the module of an external step; the result takes the addresses of the step's buffers.

    Raises `ArtifactError` if the module cannot be loaded, for whatever reason.
    """
    assert isinstance(step, ExternalStep)
    files = artifact.folders.get(step.folder, {})
    weights = [artifact.weights[artifact.plan.weights[each]] for each in step.weights]
    try:
        loader = find_loader(step.target)
        module = loader(
            files, step.input_specs, step.output_specs, weights, step.options, context
        )
    except Exception as error:
        raise ArtifactError(
            f"cannot load external @{step.function} of target {step.target}: {_reason(error)}"
        ) from error
    return _Call(step, module)


def _reason(error: Exception) -> str:
    """Say what was raised, in one sentence."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, PartitaError | ImportError | OSError):
        return text
    return f"{type(error).__name__}: {text}"


class _Call:
    """Calls a module on views of memory, which are made anew only where addresses change."""

    def __init__(self, step: ExternalStep, module: LoadedModule):
        self._step = step
        self._module = module
        self._specs = (*step.input_specs, *step.output_specs)
        self._addresses = [0] * len(self._specs)
        self._views: list[Array] = [np.empty(0)] * len(self._specs)

    def __call__(self, addresses: Sequence[int]) -> None:
        count = len(self._step.inputs)
        for index, address in enumerate(addresses):
            if address != self._addresses[index]:
                self._views[index] = _view(
                    address, self._specs[index], writable=index >= count
                )
                self._addresses[index] = address
        try:
            self._module(self._views[:count], self._views[count:])
        except Exception as error:
            raise ArtifactError(
                f"external @{self._step.function} of target {self._step.target} failed: {_reason(error)}"
            ) from error


def _view(address: int, spec: TensorSpec, *, writable: bool) -> Array:
    """Return the array of memory that somebody else keeps alive."""
    if spec.nbytes == 0:
        return np.empty(spec.shape, spec.numpy)
    memory = memoryview((ctypes.c_char * spec.nbytes).from_address(address))
    array: Array = np.frombuffer(memory, spec.numpy).reshape(spec.shape)
    array.flags.writeable = writable
    return array
