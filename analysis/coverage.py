"""Whether loops touch all of a box: each combination of consecutive values along the dimensions of a buffer.

An index takes consecutive values if its terms are like the digits of a number, `4 * o + i`
for `i` in [0, 4). A box is touched as a whole if the digits of one dimension are
independent of those of others: they are of different loops, or different digits of one,
as `f floordiv 6` and `f mod 6` of a loop of 24 iterations.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from partita.analysis.affine import (
    DIM,
    QUOTIENT,
    Atom,
    Sum,
    atom_bounds,
    dimensions_of,
)
from partita.dialects.access import Interval


@dataclass(frozen=True, order=True)
class Digit:
    """`number floordiv low mod (high / low)`, where the number runs from 0 to below `extent`, a multiple of `high`."""

    low: int
    high: int
    extent: int
    number: Sum

    @property
    def count(self) -> int:
        """How many values it takes."""
        return self.high // self.low

    def part(self, low: int, high: int) -> "Digit | None":
        """Return a digit of this digit, if it divides evenly."""
        if high % low or self.count % high:
            return None
        return Digit(self.low * low, self.low * high, self.extent, self.number)


def fills_box(
    positions: Sequence[Sum], ranges: Sequence[Interval], inner: Set[int]
) -> bool:
    """Say whether an access is known to touch all of a box while only inner dimensions change."""
    digits: list[Digit] = []
    for position in positions:
        steps: list[tuple[int, int]] = []
        for atom, factor in position.terms:
            if not _dims(atom) & inner:
                continue
            digit = _digit(atom, ranges, inner)
            if digit is None:
                return False
            digits.append(digit)
            steps.append((abs(factor), digit.count))
        if not _consecutive(steps):
            return False
    return _independent(digits)


def _dims(atom: Atom) -> set[int]:
    return {atom.number} if atom.kind == DIM else dimensions_of(atom.dividend)


def _consecutive(steps: Sequence[tuple[int, int]]) -> bool:
    """Say whether a sum of terms, each of so many multiples of a factor, takes all values up to its greatest."""
    reach = 0
    for factor, count in sorted(steps):
        if factor > reach + 1 and count > 1:
            return False
        reach += factor * (count - 1)
    return True


def _digit(atom: Atom, ranges: Sequence[Interval], inner: Set[int]) -> Digit | None:
    """Return an atom as a digit, `None` if it is none, or of outer dimensions too."""
    if not _dims(atom) <= inner:
        return None
    if atom.kind == DIM:
        low, high = ranges[atom.number]
        return Digit(1, high - low + 1, high - low + 1, Sum(0, ((atom, 1),)))
    whole = _number(atom.dividend, ranges, inner)
    if whole is None:
        return None
    if atom.kind == QUOTIENT:
        return whole.part(atom.number, whole.count)
    return whole.part(1, atom.number)


def _number(dividend: Sum, ranges: Sequence[Interval], inner: Set[int]) -> Digit | None:
    """Return a dividend as a number that takes each of its values once, from 0 on."""
    if dividend.constant:
        return None
    if len(dividend.terms) == 1 and dividend.terms[0][1] == 1:
        ((atom, _),) = dividend.terms
        if atom.kind != DIM:
            return _digit(atom, ranges, inner)
    extent = 1
    for factor, atom in sorted((factor, atom) for atom, factor in dividend.terms):
        low, high = atom_bounds(atom, ranges)
        if atom.kind != DIM or low or factor != extent:
            return None
        extent *= high + 1
    return Digit(1, extent, extent, dividend)


def _independent(digits: Sequence[Digit]) -> bool:
    """Say whether digits take each combination of their values."""
    owners: dict[int, Sum] = {}
    above: dict[Sum, int] = {}
    for digit in sorted(digits, key=lambda each: each.low):
        for dim in dimensions_of(digit.number):
            if owners.setdefault(dim, digit.number) != digit.number:
                return False
        if digit.low % above.get(digit.number, 1) or digit.extent % digit.high:
            return False
        if digit.low < above.get(digit.number, 1):
            return False
        above[digit.number] = digit.high
    return True
