"""Passes that ask back ends: who takes which op, and who makes code.

| pass | asks |
|---|---|
| `annotate-target` | which ops a back end supports |
| `merge-composite` | which groups of ops it runs as one |
| `prune-regions` | whether a region pays |
| `codegen-externals` | for code |

Passes name targets by text, which `partita.targets.registry` knows; in Python they may also be given back ends.
"""

from xdsl.passes import ModulePass

from partita.targets.partition.annotate_target import AnnotateTargetPass
from partita.targets.partition.codegen_externals import CodegenExternalsPass
from partita.targets.partition.merge_composite import MergeCompositePass
from partita.targets.partition.prune_regions import PruneRegionsPass

PARTITION_PASSES: tuple[type[ModulePass], ...] = (
    AnnotateTargetPass,
    MergeCompositePass,
    PruneRegionsPass,
    CodegenExternalsPass,
)

__all__ = [
    "PARTITION_PASSES",
    "AnnotateTargetPass",
    "CodegenExternalsPass",
    "MergeCompositePass",
    "PruneRegionsPass",
]
