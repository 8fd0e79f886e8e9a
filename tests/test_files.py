"""Files are replaced whole, or stay as they are."""

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from partita.runtime.files import replacing


def test_a_file_is_replaced_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with replacing(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [path]


def failing() -> Iterator[bytes]:
    yield b"new"
    raise MemoryError


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(MemoryError), replacing(path) as stream:
        stream.writelines(failing())
    assert path.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link, path = tmp_path / "link", tmp_path / "out"
    link.symlink_to(path)
    with replacing(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    with replacing(path) as stream:
        stream.write(b"new")
    reader.join()
    assert found == [b"new"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_may_get_an_archive() -> None:
    with replacing(Path("/dev/null")) as stream, ZipFile(stream, "w") as archive:
        archive.writestr("a", b"1")
        archive.writestr("b", b"2")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("name", "error"), [("", IsADirectoryError), ("none/out", FileNotFoundError)]
)
def test_where_nothing_can_be_written(
    tmp_path: Path, name: str, error: type[OSError]
) -> None:
    with pytest.raises(error), replacing(tmp_path / name):
        pass
    assert not [*tmp_path.iterdir()]
