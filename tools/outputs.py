"""Files that command lines write: whole or not at all."""

from pathlib import Path

from partita.errors import OptionError
from partita.runtime.files import replacing


def check_writable(output: Path) -> None:
    """Refuse before the work what would be refused after it."""
    if output.is_dir():
        raise OptionError(f"cannot write {output}: it is a folder")
    if not output.parent.is_dir():
        raise OptionError(f"cannot write {output}: there is no folder {output.parent}")


def write_text(output: Path, text: str) -> None:
    """Write text in place of what the file holds; raise `OptionError` if it cannot be written."""
    try:
        with replacing(output) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise OptionError(f"cannot write {output}: {error.strerror or error}") from None
