"""`partita inspect`: what an artifact holds. Nothing here needs a compiler, nor the machine it is for."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from partita.runtime import Artifact, CopyStep, ExternalStep, KernelStep, TensorSpec
from partita.tools.tables import size, table


def inspect_file(path: Path, steps: bool) -> None:
    """Print the signature, machine and sizes of an artifact, and its steps if asked to."""
    artifact = Artifact.read(path)
    plan = artifact.plan
    kinds = Counter(each.KEY for each in plan.steps)
    facts = (
        ("entry", artifact.entry),
        ("inputs", _listed(plan.inputs)),
        ("outputs", _listed(plan.outputs)),
        ("targets", ", ".join(artifact.targets)),
        ("machine", f"{artifact.machine.triple}, {artifact.machine.cpu}"),
        ("steps", ", ".join(f"{count} {kind}" for kind, count in kinds.items())),
        ("objects", _sized([len(each) for each in artifact.objects.values()])),
        ("modules", _sized([len(each) for each in artifact.modules.values()])),
        ("weights", _sized([each.nbytes for each in artifact.weights.values()])),
        ("arena", size(plan.arena)),
    )
    print(table(facts, right=2))
    if not steps:
        return
    rows = [("step", "grid", "what", "from")]
    for number, step in enumerate(plan.steps):
        match step:
            case KernelStep():
                rows.append((str(number), str(step.grid), step.kernel, step.origin))
            case ExternalStep():
                what = f"@{step.function} of {step.target}"
                rows.append((str(number), "", what, step.origin))
            case CopyStep():
                rows.append((str(number), "", f"copy of {size(step.nbytes)}", ""))
            case _:
                rows.append((str(number), "", step.KEY, ""))
    print()
    print(table(rows, right=len(rows[0])))


def _listed(specs: Sequence[TensorSpec]) -> str:
    return ", ".join(f"{each.name}: {each.type}" for each in specs) or "none"


def _sized(sizes: Sequence[int]) -> str:
    return f"{len(sizes)}, {size(sum(sizes))}"
