"""Partita behind the interface that ONNX defines for back ends, `onnx.backend.base`.

```python
import onnx
from partita.tools.onnx_backend import PartitaBackend

outputs = PartitaBackend.run_model(onnx.load("m.onnx"), [x])
```
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.backend.base import Backend, BackendRep

import partita
from partita.errors import InputError, PartitaError
from partita.frontends.onnx import import_onnx

Array = NDArray[np.generic]


class PartitaBackendRep(BackendRep):
    """A compiled model."""

    def __init__(self, executable: partita.Executable):
        self.executable = executable

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Array, ...]:
        """Run on arrays by name, or in the order of the model's inputs."""
        names = [each.name for each in self.executable.inputs]
        if isinstance(inputs, Mapping):
            named = cast(Mapping[str, Array], inputs)
            return tuple(self.executable.run(dict(named)).values())
        values = cast(
            Sequence[Array], inputs if isinstance(inputs, list | tuple) else [inputs]
        )
        if len(values) != len(names):
            raise InputError(
                f"expected {len(names)} inputs ({', '.join(names)}), got {len(values)}"
            )
        named = dict(zip(names, values, strict=True))
        return tuple(self.executable.run(named).values())


class PartitaBackend(Backend):
    """Compiles models for the CPU; nothing is interpreted, and inputs are never taken as constants."""

    @classmethod
    def is_compatible(
        cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any
    ) -> bool:
        """Say whether all ops of a model are supported."""
        try:
            import_onnx(model)
        except PartitaError:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(
        cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any
    ) -> PartitaBackendRep:
        """Compile a model; `kwargs` are those of `partita.compile`."""
        return PartitaBackendRep(partita.compile(model, **kwargs))

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"


is_compatible = PartitaBackend.is_compatible
prepare = PartitaBackend.prepare
run_model = PartitaBackend.run_model
supports_device = PartitaBackend.supports_device
