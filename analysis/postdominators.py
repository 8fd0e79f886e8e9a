"""Where all paths from an op meet again."""

from collections.abc import Sequence


def post_dominators(users: Sequence[Sequence[int]]) -> list[int]:
    """Return the immediate post-dominator of each node of an acyclic graph; `len(users)` where there is none.

    `users[i]` are the nodes that node `i` leads to, all of them greater than `i`.
    The immediate post-dominator is the first node that every path from `i` to the
    end of the graph goes through: the place where the tree paths of all users meet.
    Each node keeps its parent and one ancestor further up, chosen so that any
    ancestor is a logarithmic number of steps away (Myers, "An applicative
    random-access stack", 1983): time is O(edges * log nodes), whatever the shape.
    """
    end = len(users)
    parent = [end] * (end + 1)
    jump = [end] * (end + 1)
    depth = [0] * (end + 1)

    def ancestor_at(node: int, level: int) -> int:
        while depth[node] > level:
            far = jump[node]
            node = far if depth[far] >= level else parent[node]
        return node

    def meet(one: int, other: int) -> int:
        level = min(depth[one], depth[other])
        one, other = ancestor_at(one, level), ancestor_at(other, level)
        while one != other:
            if jump[one] != jump[other]:
                one, other = jump[one], jump[other]
            else:
                one, other = parent[one], parent[other]
        return one

    for node in reversed(range(end)):
        up, *others = users[node] or (end,)
        for other in others:
            up = meet(up, other)
        far = jump[up]
        balanced = depth[up] - depth[far] == depth[far] - depth[jump[far]]
        parent[node], depth[node] = up, depth[up] + 1
        jump[node] = jump[far] if balanced else up
    return parent[:end]
