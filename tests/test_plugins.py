"""Back ends of other packages: good ones are there, and broken ones are told of only to who asks for them."""

from collections.abc import Generator
from pathlib import Path

import pytest
from installed import installed, write_package

from partita.errors import OptionError
from partita.targets.registry import backends, make_backend

GOOD = """
from dataclasses import dataclass
from typing import ClassVar
from partita.targets.backend import Accept, ExternalBackend, ExternalModule

@dataclass(frozen=True)
class Good(ExternalBackend):
    name: ClassVar[str] = "good"
    size: int = 3
    def supports(self, op):
        return Accept()
    def codegen(self, function, context):
        return ExternalModule({})

class Lacking(Good):
    name = "lacking"
    def unavailable(self):
        return "its library is not installed; install good[library]"

class Other(Good):
    name = "another"

class host(Good):
    name = "host"

def function():
    pass
"""

POINTS = {
    "good": "good_pack:Good",
    "lacking": "good_pack:Lacking",
    "misnamed": "good_pack:Other",
    "host": "good_pack:host",
    "function": "good_pack:function",
    "raises": "bad_pack:Anything",
    "missing": "no_such_pack:Anything",
    "lost": "good_pack:NoSuchClass",
}


@pytest.fixture(autouse=True)
def _packages(tmp_path: Path) -> Generator[None]:
    files = {"good_pack.py": GOOD, "bad_pack.py": "raise ValueError('a\\nb')"}
    write_package(tmp_path, "some-back-ends", files, {"partita.targets": POINTS})
    with installed(tmp_path):
        yield


def test_good_ones_are_there() -> None:
    assert {"host", "good", "lacking"} <= {each.name for each in backends()}
    made = make_backend("good{size=4}")
    assert made.name == "good"
    assert getattr(made, "size", None) == 4
    assert make_backend("host").name == "host"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "lacking",
            "target lacking is not available: its library is not installed; install good[library]",
        ),
        (
            "raises",
            "target raises of package some-back-ends cannot be imported: ValueError: a b",
        ),
        (
            "missing",
            "target missing of package some-back-ends cannot be imported: "
            "ModuleNotFoundError: No module named 'no_such_pack'",
        ),
        (
            "lost",
            "target lost of package some-back-ends cannot be imported: "
            "AttributeError: module 'good_pack' has no attribute 'NoSuchClass'",
        ),
        (
            "misnamed",
            "expected target misnamed of package some-back-ends to have this name, got another",
        ),
        (
            "good{size=a}",
            "expected option size of target good to be of type int, got a",
        ),
        (
            "good{sise=1}",
            "target good has no option sise; did you mean size?; its options are size: int = 3",
        ),
    ],
)
def test_what_is_wrong_is_said(target: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        make_backend(target)
    assert str(caught.value) == message


def test_what_is_no_back_end_is_refused() -> None:
    with pytest.raises(OptionError, match="to be a subclass of Backend, got <function"):
        make_backend("function")


def test_an_unknown_name_lists_what_can_be_used() -> None:
    with pytest.raises(OptionError) as caught:
        make_backend("goood")
    message = str(caught.value)
    assert "; did you mean good?; choose from host" in message
    assert "raises" not in message
