"""Packages that look installed: a folder on the path, with what `importlib.metadata` reads of entry points."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from partita.targets.registry import plugins

EntryPoints = Mapping[str, Mapping[str, str]]
"""What each name of a group stands for."""


def write_package(
    folder: Path, name: str, files: Mapping[str, str], points: EntryPoints
) -> None:
    """Write modules, by path, and the metadata of a package that holds them."""
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    listed = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in names.items())
        for group, names in points.items()
    )
    written = {
        **files,
        f"{metadata.name}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{metadata.name}/entry_points.txt": listed,
    }
    for path, text in written.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


@contextmanager
def installed(folder: Path) -> Generator[None]:
    """Let a folder's packages be found, and forget them afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    plugins.cache_clear()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        plugins.cache_clear()
        for name in set(sys.modules) - before:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if Path(origin).is_relative_to(folder):
                del sys.modules[name]
