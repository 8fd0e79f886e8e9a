"""What a user can get wrong, one kind each; tools print the message and exit with 1."""

from collections.abc import Iterable
from difflib import get_close_matches


class PartitaError(Exception):
    """A failure that the user can understand and act on, told in one sentence."""


class ModelError(PartitaError):
    """A model cannot be read or holds what we do not support."""


class IRError(PartitaError):
    """Textual IR does not parse or verify."""


class PassError(PartitaError):
    """A pass, or a pipeline, cannot do what was asked of it."""


class WeightsError(PartitaError):
    """A weights file is broken, or lacks what a pass needs."""


class OptionError(PartitaError):
    """An option, a name or a configuration value is not one that exists."""


class ArtifactError(PartitaError):
    """A compiled artifact is broken, foreign, or made for another machine."""


class DatabaseError(PartitaError):
    """A schedule database cannot be read or written, or holds what is none of ours."""


class InputError(PartitaError):
    """Inputs given to a compiled model have wrong names, dtypes or shapes."""


class CodegenError(PartitaError):
    """A back end could not make code from the IR it was given."""


class InternalError(PartitaError):
    """The compiler itself failed; what it failed with is the cause."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return `; did you mean …?` for the nearest of the names that exist, nothing if none is near."""
    near = get_close_matches(name, list(names), n=1)
    return f"; did you mean {near[0]}?" if near else ""
