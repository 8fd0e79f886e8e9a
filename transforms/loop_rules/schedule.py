"""The schedule of one kernel: inline, then a rule for each block that is left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp

from partita.dialects import sched
from partita.transforms.loop_rules.inlining import inline
from partita.transforms.loop_rules.nest import Nest, Stage
from partita.transforms.loop_rules.steps import Steps
from partita.transforms.loop_rules.tiles import Registers


@dataclass(frozen=True)
class Draft:
    """A schedule that rules are writing."""

    stages: tuple[Stage, ...]
    """The blocks that are left after inlining, in order."""

    registers: Registers

    costly: frozenset[str] = frozenset()
    """Labels of those that compute something costly."""

    steps: Steps = field(default_factory=Steps)

    done: set[str] = field(default_factory=set[str])
    """Labels of blocks that are scheduled: rules add those that they schedule with others."""


Rule = Callable[[Draft, Stage], bool]
"""Schedules blocks of one kind: it adds the steps for a block, or says that the block is of another kind."""


def schedule(
    function: FuncOp, registers: Registers, rules: Sequence[Rule]
) -> sched.SequenceOp | None:
    """Return the schedule of a kernel as `lower-te-to-tir` leaves it; `None` if it needs none, or had one.

    Of the rules, each block gets the first that takes it; a block that none takes keeps its plain loops.
    """
    nest = Nest.of(function)
    if not all(stage.is_bare for stage in nest.stages):
        return None
    inlined = inline(nest)
    draft = Draft(inlined.stages, registers, inlined.costly)
    for label in inlined.labels:
        draft.steps.compute_inline(draft.steps.block(label))
    for stage in inlined.stages:
        if stage.label not in draft.done:
            any(rule(draft, stage) for rule in rules)
    return draft.steps.sequence(function.sym_name.data)
