"""Read JSON that others wrote: every field has a type, and a failure says where."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TypeGuard, TypeVar

from partita.errors import ArtifactError

T = TypeVar("T")


@dataclass(frozen=True)
class Node:
    """A JSON value and the place where it stands, such as `plan.json: steps[3]`."""

    value: object
    where: str

    @staticmethod
    def parse(text: bytes, where: str) -> "Node":
        try:
            return Node(json.loads(text), where)
        except (ValueError, RecursionError) as error:
            raise ArtifactError(f"{where} is no valid JSON: {error}") from None

    def fail(self, expected: str) -> ArtifactError:
        """Return the error for a value that is not what was `expected`."""
        got = repr(self.value)
        got = got if len(got) <= 60 else f"{got[:60]}…"
        return ArtifactError(f"{self.where}: expected {expected}, got {got}")

    def fields(self) -> dict[str, "Node"]:
        """Return the fields of an object."""
        if not _is_object(self.value):
            raise self.fail("an object")
        return {key: self[key] for key in self.value}

    def __contains__(self, key: str) -> bool:
        return _is_object(self.value) and key in self.value

    def __getitem__(self, key: str) -> "Node":
        if not _is_object(self.value) or key not in self.value:
            raise self.fail(f'an object with "{key}"')
        return Node(self.value[key], f"{self.where}: {key}")

    def items(self) -> tuple["Node", ...]:
        """Return the items of an array."""
        if not _is_array(self.value):
            raise self.fail("an array")
        return tuple(
            Node(item, f"{self.where}[{index}]")
            for index, item in enumerate(self.value)
        )

    def each(self, read: Callable[["Node"], T]) -> tuple[T, ...]:
        """Read every item of an array."""
        return tuple(read(item) for item in self.items())

    def string(self) -> str:
        if not isinstance(self.value, str):
            raise self.fail("a string")
        return self.value

    def integer(self, least: int = 0) -> int:
        """Return an integer of at most 63 bits that is at least `least`."""
        value = self.value
        if type(value) is not int or not least <= value < 1 << 63:
            raise self.fail(f"an integer of at least {least}")
        return value

    def number(self) -> float:
        """Return a finite number, with a fraction or without."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail("a number")
        try:
            number = float(value)
        except OverflowError:
            raise self.fail("a number that fits 64 bits") from None
        if not isfinite(number):
            raise self.fail("a finite number")
        return number


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _is_array(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)
