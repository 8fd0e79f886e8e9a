"""From a file to an executable."""

from os import PathLike
from pathlib import Path

from partita.errors import ArtifactError
from partita.runtime.artifact import Artifact
from partita.runtime.executable import Executable
from partita.runtime.machine import Machine


def load(
    path: str | PathLike[str], *, threads: int | None = None, timed: bool = False
) -> Executable:
    """Read a compiled model; raise `ArtifactError` if it is broken or made for another machine.

    `threads` and `timed` are as for `Executable`.
    """
    artifact = Artifact.read(path, machine=Machine.host())
    try:
        return Executable(artifact, threads=threads, timed=timed)
    except ArtifactError as error:
        raise ArtifactError(f"{Path(path)}: {error}") from error
