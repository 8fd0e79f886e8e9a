"""The part of onnxruntime that we use; the package has no types of its own."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

class OrtValue:
    @staticmethod
    def ortvalue_from_numpy(array: NDArray[np.generic], /) -> OrtValue: ...
    def data_ptr(self) -> int: ...

class SessionOptions:
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int
    def add_session_config_entry(self, key: str, value: str) -> None: ...
    def add_external_initializers(
        self, names: list[str], values: list[OrtValue]
    ) -> None: ...

class NodeArg:
    name: str
    shape: Sequence[int | str | None]
    type: str

class IOBinding:
    def bind_input(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: type[np.generic],
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None: ...
    def bind_output(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: type[np.generic],
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None: ...

class InferenceSession:
    def __init__(
        self,
        path_or_bytes: str | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[str] | None = None,
    ) -> None: ...
    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, NDArray[np.generic]],
    ) -> list[NDArray[np.generic]]: ...
    def get_session_options(self) -> SessionOptions: ...
    def get_inputs(self) -> list[NodeArg]: ...
    def get_outputs(self) -> list[NodeArg]: ...
    def io_binding(self) -> IOBinding: ...
    def run_with_iobinding(self, iobinding: IOBinding) -> None: ...

def get_available_providers() -> list[str]: ...

__version__: str
