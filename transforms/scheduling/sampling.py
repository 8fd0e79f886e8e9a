"""Choose numbers where a schedule leaves them open.

A schedule whose choices are not decided is a space of schedules; a random number generator
turns it into one of them, and what it chose is recorded in the text.

Source of the primitives: J. Shao et al., "Tensor program optimization with probabilistic
programs", NeurIPS 2022.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from random import Random

from partita.dialects.sched import SampleCategoricalOp, SamplePerfectTileOp
from partita.dialects.tir import ForOp
from partita.transforms.scheduling.state import ScheduleError


@lru_cache(maxsize=256)
def perfect_tiles(extent: int, count: int, innermost: int) -> tuple[Sequence[int], ...]:
    """Return all ways to write an extent as a product of factors, the last one at most `innermost`, in order."""
    if count == 1:
        return ((extent,),) if extent <= innermost else ()
    return tuple(
        (factor, *rest)
        for factor in range(1, extent + 1)
        if extent % factor == 0
        for rest in perfect_tiles(extent // factor, count - 1, innermost)
    )


def _undecided() -> ScheduleError:
    return ScheduleError(
        "nothing is decided; run sample-schedules, or give apply-schedules a seed"
    )


def sample_perfect_tile(
    op: SamplePerfectTileOp, loop: ForOp, random: Random | None
) -> Sequence[int]:
    """Return factors of a loop's extent: those that are decided, else random ones, which become the decision."""
    innermost = op.innermost.value.data
    decided = op.decided
    if decided is None:
        if random is None:
            raise _undecided()
        tiles = perfect_tiles(loop.extent, len(op.factors), innermost)
        decided = tuple(random.choice(tiles))
        op.decide(decided)
    if prod(decided) != loop.extent or min(decided) < 1:
        raise ScheduleError(
            f"expected a decision of factors of {loop.extent}, got "
            + " * ".join(map(str, decided))
            + f" = {prod(decided)}"
        )
    if decided[-1] > innermost:
        raise ScheduleError(
            f"expected an innermost factor of at most {innermost}, got {decided[-1]}"
        )
    return decided


def sample_categorical(op: SampleCategoricalOp, random: Random | None) -> int:
    """Return one of the candidates: the one that is decided, else a random one, which becomes the decision."""
    candidates = op.candidate_values
    if op.decided is None:
        if random is None:
            raise _undecided()
        positions = range(len(candidates))
        op.decide(random.choices(positions, op.weight_values)[0])
    assert op.decided is not None
    return candidates[op.decided]
