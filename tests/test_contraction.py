"""Merging nodes of graphs: never a cycle, and nothing left that could be merged."""

from collections.abc import Sequence
from random import Random

from partita.analysis.contraction import Contraction

Graph = Sequence[set[int]]


def random_graph(random: Random) -> Graph:
    count = random.randint(1, 24)
    density = random.choice((0.05, 0.1, 0.2, 0.4))
    return [
        {later for later in range(node + 1, count) if random.random() < density}
        for node in range(count)
    ]


def edges_between(graph: Graph, merged: Contraction) -> set[tuple[int, int]]:
    """Return the edges between groups."""
    found = {
        (merged.group(node), merged.group(later))
        for node, others in enumerate(graph)
        for later in others
    }
    return {(before, after) for before, after in found if before != after}


def reachable(edges: set[tuple[int, int]], start: int) -> set[int]:
    found: set[int] = set()
    pending = [start]
    while pending:
        node = pending.pop()
        for before, after in edges:
            if before == node and after not in found:
                found.add(after)
                pending.append(after)
    return found


def test_groups_are_always_in_a_topological_order() -> None:
    """Whatever pairs of neighbours are tried, those merge whose merging makes no cycle, and no others."""
    for seed in range(300):
        random = Random(seed)
        graph = random_graph(random)
        merged = Contraction(graph)
        for _ in range(12):
            edges = sorted(edges_between(graph, merged))
            if not edges:
                break
            first, second = random.choice(edges)
            around = any(
                second in reachable(set(edges), after)
                for before, after in edges
                if before == first and after != second
            )
            group = merged.merge(first, second)
            assert (group is None) == around
            if group is not None:
                assert merged.group(first) == merged.group(second) == group
            order = {each: place for place, each in enumerate(merged.groups())}
            assert set(order) == {merged.group(each) for each in range(len(graph))}
            for before, after in edges_between(graph, merged):
                assert order[before] < order[after]


def test_predecessors_are_nearest_first() -> None:
    merged = Contraction([{3}, {2, 3}, {3}, set()])
    assert merged.predecessors(3) == [2, 1, 0]
    group = merged.merge(2, 3)
    assert group is not None
    assert merged.predecessors(group) == [1, 0]


def test_one_chain_becomes_one_group() -> None:
    count = 3000
    merged = Contraction([{each + 1} for each in range(count - 1)] + [set()])
    group = 0
    for each in range(1, count):
        made = merged.merge(group, each)
        assert made is not None
        group = made
    assert merged.groups() == [group]


def test_labels_are_spread_when_they_are_used_up() -> None:
    """What is moved again and again to the same place leaves no room between labels."""
    count = 2000
    # 0 -> 1 -> ... are merged; before each, a node is needed that nothing else needs.
    successors: list[set[int]] = [set() for _ in range(2 * count)]
    for each in range(1, count):
        successors[2 * each - 2].add(2 * each)
        successors[2 * each - 1].add(2 * each)
    merged = Contraction(successors)
    group = 0
    for each in range(1, count):
        made = merged.merge(group, merged.group(2 * each))
        assert made is not None
        group = made
    order = merged.groups()
    assert order.index(group) == count - 1
