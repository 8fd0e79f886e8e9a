"""Functions from LLVM text, whose object code is kept in the user's cache."""

import ctypes
from pathlib import Path

import pytest

from partita.runtime import compiled
from partita.runtime.compiled import CompiledText
from partita.runtime.object_folder import ObjectFolder

ADD = """
define i64 @add(i64 %a, i64 %b) {
  %sum = add i64 %a, %b
  ret i64 %sum
}
"""

PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache that is empty."""
    kept = ObjectFolder(tmp_path / "objects")
    monkeypatch.setattr(ObjectFolder, "default", lambda: kept)
    return kept.folder


def add(a: int, b: int) -> int:
    text = CompiledText(ADD, {"add": PROTOTYPE})
    return text.functions["add"](a, b)


def test_text_becomes_functions(folder: Path) -> None:
    assert add(2, 40) == 42


def test_code_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second time, nothing is compiled; a torn file is as good as none."""
    add(1, 2)
    (kept,) = folder.iterdir()
    content = kept.read_bytes()
    for torn in (content[:-1], b"", b"\0" + content[1:]):
        kept.write_bytes(torn)
        assert add(3, 4) == 7
        assert kept.read_bytes() == content
    monkeypatch.setattr(compiled, "native_object", None)
    assert add(5, 6) == 11


def test_a_cache_that_cannot_be_written_is_not_used(folder: Path) -> None:
    folder.write_bytes(b"in the way")
    assert add(1, 1) == 2
