"""Post-dominators are what their definition says, and cheap on every shape of graph."""

from hypothesis import given
from hypothesis import strategies as st

from partita.analysis.postdominators import post_dominators

Users = list[list[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Users:
    count = draw(st.integers(0, 12))
    return [
        sorted(draw(st.sets(st.integers(node + 1, count - 1), max_size=3)))
        if node + 1 < count
        else []
        for node in range(count)
    ]


def by_definition(users: Users) -> list[int]:
    """Find, for each node, the nearest other node that is on every path to the end."""
    end = len(users)
    always: list[set[int]] = [*(set[int]() for _ in users), {end}]
    for node in reversed(range(end)):
        ways = [always[user] for user in users[node] or [end]]
        always[node] = {node}.union(set[int].intersection(*ways))
    return [min(always[node] - {node}) for node in range(end)]


@given(graphs())
def test_agrees_with_the_definition(users: Users) -> None:
    assert post_dominators(users) == by_definition(users)


def test_long_parallel_chains_meet_at_the_end() -> None:
    """Every node leads to the next two, so that no paths meet before the end but the last."""
    count = 100_000
    users = [
        [each for each in (node + 1, node + 2) if each < count] for node in range(count)
    ]
    assert post_dominators(users) == [count - 1] * (count - 1) + [count]
