"""The part of igraph that we use; the package has no types of its own."""

from collections.abc import Sequence

class Layout:
    coords: list[list[float]]

class Graph:
    def __init__(
        self, n: int, edges: Sequence[tuple[int, int]], directed: bool
    ) -> None: ...
    def layout_sugiyama(self, layers: Sequence[int], maxiter: int) -> Layout: ...
