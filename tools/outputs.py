"""Files that command lines write: whole or not at all."""

import os
from pathlib import Path

from partita.errors import OptionError


def check_writable(output: Path) -> None:
    """Refuse before the work what would be refused after it."""
    if output.is_dir():
        raise OptionError(f"cannot write {output}: it is a folder")
    if not output.parent.is_dir():
        raise OptionError(f"cannot write {output}: there is no folder {output.parent}")


def write_text(output: Path, text: str) -> None:
    """Write text in place of what the file holds; raise `OptionError` if it cannot be written."""
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(output)
    except OSError as error:
        raise OptionError(f"cannot write {output}: {error.strerror or error}") from None
    finally:
        partial.unlink(missing_ok=True)
