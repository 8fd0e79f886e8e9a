"""The system's C compiler: what it is called, with which flags, and what it makes of a source."""

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from partita.errors import CodegenError
from partita.runtime.machine import Machine

FLAGS = (
    *("-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic", "-fpeel-loops"),
    *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"),
)
"""Vectorize, and unroll short loops so that tiles stay in registers; nobody reads `errno` or floating-point
flags, and products may be fused with sums.

Not `-O3`: at that level gcc 12.2 vectorizes around loops that it unrolled before, and reads nothing
where it should read what a condition allows (dilated pooling beside a border gives zeros).
"""

STANDARD = "-std=c99"

SHARED = ("-shared", "-fPIC", "-fvisibility=default", "-s")
"""A shared object without symbols that nobody looks up."""

TOLD = 3
"""Lines of a compiler's complaint that are repeated."""


@dataclass(frozen=True)
class Compiler:
    """A C compiler with its flags."""

    command: str
    """A program's name or path, and what it is always given."""

    flags: str = ""
    """What it is given besides; nothing stands for our own choice."""

    @property
    def words(self) -> list[str]:
        return shlex.split(self.command)

    def missing(self) -> str | None:
        """Say that the program does not exist, if it does not."""
        words = self.words
        if words and shutil.which(words[0]):
            return None
        return (
            f"no C compiler {words[0] if words else self.command!r} is installed; "
            'install one, or name another by c{cc="…"}'
        )

    def compile(self, source: str, machine: Machine) -> bytes:
        """Return the shared object of a source for a machine; `CodegenError` with the compiler's complaint."""
        if (missing := self.missing()) is not None:
            raise CodegenError(missing)
        with TemporaryDirectory(prefix="partita-c-") as folder:
            path, result = Path(folder) / "module.c", Path(folder) / "module.so"
            path.write_text(source)
            self._run([*self._flags(machine), "-o", str(result), str(path), "-lm"])
            try:
                return result.read_bytes()
            except OSError:
                raise CodegenError(
                    f"{self.words[0]} ended well but left no shared object"
                ) from None

    def _flags(self, machine: Machine) -> list[str]:
        chosen = shlex.split(self.flags) if self.flags else [*FLAGS, *_tuning(machine)]
        return [STANDARD, *SHARED, *chosen]

    def _run(self, arguments: Sequence[str]) -> None:
        words = self.words
        try:
            done = subprocess.run(
                [*words, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise CodegenError(f"cannot run {words[0]}: {error.strerror}") from None
        if done.returncode:
            said = [each for each in done.stderr.splitlines() if "error" in each]
            said = said or done.stderr.splitlines() or [f"code {done.returncode}"]
            raise CodegenError(f"{words[0]} failed: {'; '.join(said[:TOLD])}")


def _tuning(machine: Machine) -> list[str]:
    """Return the flags for a machine: all that this one can do, or what all of its kind can.

    Raises `CodegenError` for another kind of machine, as one compiler makes code for one kind.
    """
    host = Machine.host()
    if machine == host:
        option = "-march" if machine.architecture == "x86_64" else "-mcpu"
        return [f"{option}=native"]
    if (machine.architecture, machine.system) != (host.architecture, host.system):
        raise CodegenError(
            f"expected flags for {machine.architecture} {machine.system}, got none; set options cc and flags"
        )
    return []
