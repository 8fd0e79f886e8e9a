"""Times of short functions beside each other on a noisy machine."""

from collections.abc import Callable, Mapping
from time import perf_counter

Run = Callable[[], object]


def fastest(each: Mapping[str, Run], rounds: int, seconds: float) -> dict[str, float]:
    """Return the least seconds that a call takes, of so many bursts of so many seconds, in turn with the others."""
    best = dict.fromkeys(each, float("inf"))
    counts: dict[str, int] = {}
    for name, run in each.items():
        run()
        start = perf_counter()
        run()
        counts[name] = max(1, int(seconds / (perf_counter() - start)))
    for _ in range(rounds):
        for name, run in each.items():
            start = perf_counter()
            for _ in range(counts[name]):
                run()
            best[name] = min(best[name], (perf_counter() - start) / counts[name])
    return best
