"""Which loop variables follow from the element that an iteration writes.

Iterations that write different elements are independent. Whether they do is decided by
taking index expressions apart: a sum whose terms do not overlap, like `16 * o + i` for
`i` in [0, 16), tells each of its terms, and `x floordiv a` with `x mod a` tell `x`.
"""

from collections.abc import Iterable, Sequence

from partita.analysis.affine import (
    DIM,
    REMAINDER,
    Atom,
    Sum,
    atom_bounds,
    quotient,
)
from partita.dialects.access import Interval


class Knowledge:
    """What follows from the values of some sums."""

    def __init__(self, ranges: Sequence[Interval]):
        self.ranges = ranges
        self.atoms: set[Atom] = set()

    def knows(self, value: Sum) -> bool:
        """Say whether the value of a sum follows."""
        return all(atom in self.atoms for atom, _ in value.terms)

    def learn(self, value: Sum) -> bool:
        """Take a sum's value as known; say whether something new follows from it."""
        unknown = [
            (abs(factor), atom)
            for atom, factor in value.terms
            if atom not in self.atoms
        ]
        found = False
        reach = 0
        # A term is told apart from smaller ones if its steps are longer than they reach.
        taken: list[Atom] = []
        for factor, atom in sorted(unknown):
            low, high = atom_bounds(atom, self.ranges)
            if factor <= reach:
                return found
            reach += factor * (high - low)
            taken.append(atom)
        for atom in taken:
            found = True
            self.atoms.add(atom)
        return found

    def close(self, values: Iterable[Sum]) -> None:
        """Learn sums and all that follows from them together."""
        pending = list(values)
        changed = True
        while changed:
            changed = False
            for value in pending:
                changed |= self.learn(value)
            for atom in tuple(self.atoms):
                if atom.kind != REMAINDER:
                    continue
                whole = quotient(atom.dividend, atom.number, self.ranges)
                if self.knows(whole) and atom.dividend not in pending:
                    pending.append(atom.dividend)
                    changed = True


def determined(
    positions: Iterable[int],
    values: Iterable[Sum],
    ranges: Sequence[Interval],
    fixed: Iterable[int] = (),
) -> bool:
    """Say whether dimensions are known to follow from sums, given fixed dimensions."""
    knowledge = Knowledge(ranges)
    knowledge.atoms.update(Atom(DIM, position) for position in fixed)
    knowledge.close(values)
    return all(
        ranges[position][0] == ranges[position][1]
        or Atom(DIM, position) in knowledge.atoms
        for position in positions
    )
