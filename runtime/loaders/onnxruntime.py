"""Runs ONNX models through onnxruntime, on the buffers of the plan: nothing is copied.

Options that code generation leaves: `weights`, the names of the initializers whose content the artifact keeps;
`providers` and `threads`; `spinning`, whether threads wait busily for the next run.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from partita.errors import ArtifactError
from partita.runtime.loaders import LoadedModule, LoaderContext
from partita.runtime.plan import TensorSpec
from partita.runtime.tensors import Array

try:
    import onnxruntime
except ImportError:
    raise ArtifactError(
        "onnxruntime is not installed; install partita[onnxruntime]"
    ) from None

MODEL = "model.onnx"

PROCESSOR = "CPUExecutionProvider"

ONLY_FATAL = 4
"""Of onnxruntime's log: what fails is raised as well."""


def load(
    files: Mapping[str, bytes],
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    weights: Sequence[Array],
    options: Mapping[str, object],
    context: LoaderContext,
) -> LoadedModule:
    """Make a session of the model; its weights are used where they lie."""
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = ONLY_FATAL
    most = cast(int, options["threads"]) or context.threads
    settings.intra_op_num_threads = min(most, context.threads)
    if not options["spinning"]:
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    names = cast(Sequence[str], options["weights"])
    held = [onnxruntime.OrtValue.ortvalue_from_numpy(each) for each in weights]
    if held:
        settings.add_external_initializers(list(names), held)
    session = onnxruntime.InferenceSession(
        files[MODEL], settings, _providers(cast(Sequence[str], options["providers"]))
    )
    return _Session(session, inputs, outputs, held)


def _providers(wanted: Sequence[str]) -> Sequence[str]:
    """Return the providers to use; raise `ArtifactError` for one that this onnxruntime lacks."""
    available = onnxruntime.get_available_providers()
    for each in wanted:
        if each not in available:
            raise ArtifactError(
                f"this onnxruntime has no {each}; it has {', '.join(available)}"
            )
    return wanted or (PROCESSOR,)


class _Session:
    """A session whose inputs and outputs are bound to the arrays of a call, anew only where they change."""

    def __init__(
        self,
        session: onnxruntime.InferenceSession,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        weights: Sequence[onnxruntime.OrtValue],
    ):
        self._session = session
        self._binding = session.io_binding()
        self._weights = weights
        """Kept alive: the session uses their memory."""
        self._inputs = [each.name for each in session.get_inputs()]
        self._outputs = [each.name for each in session.get_outputs()]
        self._bound: list[Array | None] = [None] * (len(inputs) + len(outputs))

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        binding = self._binding
        for index, (name, array) in enumerate(zip(self._inputs, inputs, strict=True)):
            if self._bound[index] is not array:
                binding.bind_input(
                    name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data
                )
                self._bound[index] = array
        for index, (name, array) in enumerate(
            zip(self._outputs, outputs, strict=True), len(inputs)
        ):
            if self._bound[index] is not array:
                binding.bind_output(
                    name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data
                )
                self._bound[index] = array
        self._session.run_with_iobinding(binding)
