"""Merge nodes of an acyclic graph as long as it stays acyclic.

A topological order of the merged graph is kept, as a list whose members are labelled so that two are compared at once.
Whether two neighbours can be merged is a search for another path between them, from one end, that never leaves the
part of the order between theirs; if there is none, what the search met moves next to the other end. (Pearce and Kelly,
"A dynamic topological sort algorithm for directed acyclic graphs", 2006, on an order as of Dietz and Sleator, 1987.)
Neighbours are mostly close, so that time is near linear; a search that follows more than `BUDGET` edges gives up, and
if those from both ends do, the two stay apart, so that time is linear at worst. Nothing recurses.
"""

from collections.abc import Callable, Iterable, Sequence

BUDGET = 1024
"""Edges that one search follows, at most."""

SPACING = 1 << 256
"""Between labels, when they are made: so often can the room between two be halved."""

Edges = list[dict[int, None]]


class _PathFoundError(Exception):
    """There is another path between two neighbours."""


class _Order:
    """A list of numbers, in which two can be compared at once."""

    def __init__(self, count: int):
        self.label = [(each + 1) * SPACING for each in range(count)]
        # The list is a ring, closed by the number behind the last one.
        self._next = [*range(1, count + 1), 0]
        self._previous = [count, *range(count)]
        self._end = count

    def members(self) -> list[int]:
        """Return all numbers that are in the list, in order."""
        found: list[int] = []
        each = self._next[self._end]
        while each != self._end:
            found.append(each)
            each = self._next[each]
        return found

    def sorted(self, numbers: Iterable[int]) -> list[int]:
        return sorted(numbers, key=self.label.__getitem__)

    def remove(self, number: int) -> None:
        before, after = self._previous[number], self._next[number]
        self._next[before], self._previous[after] = after, before

    def replace(self, old: int, new: int) -> None:
        """Put a number that is not in the list in the place of one that is."""
        before, after = self._previous[old], self._next[old]
        self._next[before] = self._previous[after] = new
        self._previous[new], self._next[new] = before, after
        self.label[new] = self.label[old]

    def move_before(self, numbers: Sequence[int], place: int) -> None:
        """Move numbers, in this order, to just before another."""
        for each in numbers:
            self.remove(each)
            before = self._previous[place]
            self._next[before] = self._previous[place] = each
            self._previous[each], self._next[each] = before, place
            low = 0 if before == self._end else self.label[before]
            high = low + 2 * SPACING if place == self._end else self.label[place]
            self.label[each] = (low + high) // 2
            if self.label[each] == low:
                self._spread()

    def move_after(self, numbers: Sequence[int], place: int) -> None:
        """Move numbers, in this order, to just after another."""
        self.move_before(numbers, self._next[place])

    def _spread(self) -> None:
        """Make room between all labels."""
        for index, each in enumerate(self.members()):
            self.label[each] = (index + 1) * SPACING


class Contraction:
    """A graph whose nodes are numbered in a topological order, and the groups that were made of them."""

    def __init__(self, successors: Sequence[Iterable[int]]):
        """Start with a group for each node; every successor of a node has a higher number."""
        count = len(successors)
        self._leader = list(range(count))
        self._order = _Order(count)
        self._after: Edges = [dict.fromkeys(each) for each in successors]
        self._before: Edges = [{} for _ in range(count)]
        for node, others in enumerate(self._after):
            for other in others:
                self._before[other][node] = None

    def group(self, node: int) -> int:
        """Return the number of the group that a node is in: that of one of its nodes."""
        leader = self._leader
        root = node
        while leader[root] != root:
            root = leader[root]
        while leader[node] != root:
            leader[node], node = root, leader[node]
        return root

    def groups(self) -> list[int]:
        """Return all groups in a topological order."""
        return self._order.members()

    def predecessors(self, group: int) -> list[int]:
        """Return the groups that have an edge to this one, the last in topological order first."""
        return self._order.sorted(self._neighbours(self._before, group))[::-1]

    def merge(self, first: int, second: int) -> int | None:
        """Merge two groups, the first with an edge to the second; return the group, `None` if they stay apart."""
        label, order = self._order.label, self._order
        low, high = label[first], label[second]
        try:
            between = self._reach(second, self._before, first, lambda at: at > low)
            if between is not None:
                order.move_before(order.sorted(between), first)
                return self._join(kept=first, gone=second)
            between = self._reach(first, self._after, second, lambda at: at < high)
            if between is not None:
                order.move_after(order.sorted(between), second)
                return self._join(kept=second, gone=first)
        except _PathFoundError:
            pass
        return None

    def _reach(
        self, start: int, edges: Edges, goal: int, inside: Callable[[int], bool]
    ) -> dict[int, None] | None:
        """Return the groups that paths from a group lead to, its direct edge to the goal aside.

        Paths are followed as long as labels are inside; the result is `None` if that takes too
        long. Raises `_PathFoundError` if one leads to the goal.
        """
        found: dict[int, None] = {}
        pending = [start]
        followed = 0
        while pending:
            group = pending.pop()
            neighbours = self._neighbours(edges, group)
            followed += len(neighbours)
            if followed > BUDGET:
                return None
            if group != start and goal in neighbours:
                raise _PathFoundError
            for other in neighbours:
                if other not in found and inside(self._order.label[other]):
                    found[other] = None
                    pending.append(other)
        return found

    def _neighbours(self, edges: Edges, group: int) -> dict[int, None]:
        """Return the groups at the other ends of a group's edges."""
        found = dict.fromkeys(map(self.group, edges[group]))
        found.pop(group, None)
        edges[group] = found
        return found

    def _join(self, kept: int, gone: int) -> int:
        """Make one group of two, where one of them stands in the order; the number of that with more edges is its."""
        self._order.remove(gone)
        sizes = [
            len(self._after[each]) + len(self._before[each]) for each in (kept, gone)
        ]
        into, other = (kept, gone) if sizes[0] >= sizes[1] else (gone, kept)
        if into != kept:
            self._order.replace(kept, into)
        self._leader[other] = into
        for edges in (self._after, self._before):
            edges[into].update(edges[other])
            edges[other] = {}
        return into
