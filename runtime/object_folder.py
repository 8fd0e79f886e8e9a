"""Object code kept on disk under a hash of what it is made from. Losing it costs time only."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Self

from platformdirs import user_cache_path

DIGEST = 16
"""Bytes of the digest that a kept file starts with: a torn file is made again."""


@dataclass(frozen=True)
class ObjectFolder:
    """A folder of object files, shared by processes."""

    folder: Path

    @classmethod
    def default(cls) -> Self:
        """Return the folder in the user's cache."""
        return cls(user_cache_path("partita") / "objects")

    def get(self, parts: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
        """Return the object code that `parts` determine; `make` makes it if it is not kept."""
        path = self.folder / f"{_key(parts)}.o"
        try:
            code = path.read_bytes()
            if len(code) > DIGEST and _digest(code[DIGEST:]) == code[:DIGEST]:
                return code[DIGEST:]
        except OSError:
            pass
        code = make()
        self._keep(path, _digest(code) + code)
        return code

    def _keep(self, path: Path, content: bytes) -> None:
        """Write a file whole or not at all; a cache that cannot be written is not used."""
        name = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self.folder, delete=False) as file:
                name = Path(file.name)
                file.write(content)
            name.replace(path)
        except OSError:
            if name is not None:
                name.unlink(missing_ok=True)


def _digest(code: bytes) -> bytes:
    return blake2b(code, digest_size=DIGEST).digest()


def _key(parts: tuple[str, ...]) -> str:
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(part.encode() + b"\0")
    return state.hexdigest()
