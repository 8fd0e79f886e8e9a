"""The machine that code is for, and whether this one can run it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from partita.errors import ArtifactError
from partita.runtime.llvm import binding


@dataclass(frozen=True)
class Machine:
    """A processor and its operating system, as LLVM names them."""

    triple: str
    cpu: str
    features: frozenset[str]
    """The CPU features that code may use, beyond what every processor of the architecture has."""

    @staticmethod
    @cache
    def host() -> "Machine":
        """Return the machine that this process runs on."""
        llvm = binding()
        features = {name for name, has in llvm.get_host_cpu_features().items() if has}
        return Machine(
            llvm.get_process_triple(), llvm.get_host_cpu_name(), frozenset(features)
        )

    @property
    def architecture(self) -> str:
        name = self.triple.partition("-")[0]
        return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)

    @property
    def system(self) -> str:
        names = {"linux": "linux", "darwin": "macos", "macos": "macos"}
        found = [system for name, system in names.items() if name in self.triple]
        return found[0] if found else self.triple.partition("-")[2]

    def check(self, available: "Machine") -> None:
        """Raise `ArtifactError` if code for this machine cannot run on the `available` one."""
        wanted, got = (
            f"{each.architecture} {each.system}" for each in (self, available)
        )
        if wanted != got:
            raise ArtifactError(f"compiled for {wanted}, but this machine is {got}")
        missing = self.features - available.features
        if missing:
            raise ArtifactError(f"compiled for {_some(missing)}, which this CPU lacks")


def available_threads() -> int:
    """Return how many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _some(names: Iterable[str]) -> str:
    """Return the first four names, and how many more there are."""
    names = sorted(names)
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more
