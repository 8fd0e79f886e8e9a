"""Times of short functions beside each other on a noisy machine."""

from collections.abc import Callable, Mapping
from time import perf_counter, thread_time

Run = Callable[[], object]


def fastest(
    each: Mapping[str, Run], rounds: int, seconds: float, threads: int = 1
) -> dict[str, float]:
    """Return the least seconds that a call takes, of so many bursts of so many seconds, in turn with the others.

    With one thread, seconds are those in which it had a processor.
    """
    clock = thread_time if threads == 1 else perf_counter
    best = dict.fromkeys(each, float("inf"))
    counts: dict[str, int] = {}
    for name, run in each.items():
        run()
        start = clock()
        run()
        counts[name] = max(1, int(seconds / max(clock() - start, 1e-6)))
    for _ in range(rounds):
        for name, run in each.items():
            start = clock()
            for _ in range(counts[name]):
                run()
            best[name] = min(best[name], (clock() - start) / counts[name])
    return best
