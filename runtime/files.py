"""Files that are written whole or not at all."""

from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO
from os import getpid
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Generator[BinaryIO]:
    """Open a stream whose content takes the place of a file when the block ends, and is dropped if that fails.

    A device or a pipe is never replaced: it gets the content, all at once, since it has no positions to
    go back to. Raises `OSError`.
    """
    if path.exists() and not path.is_file():
        whole = BytesIO()
        yield whole
        path.write_bytes(whole.getbuffer())
        return
    path = path.resolve()
    partial = path.with_name(f".{path.name}.{getpid()}.partial")
    try:
        with partial.open("xb") as stream:
            yield stream
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
