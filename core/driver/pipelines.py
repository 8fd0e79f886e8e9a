"""Pipelines as data: which passes run, in which order, and where users add their own."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from partita.errors import OptionError, did_you_mean
from partita.runtime import Machine
from partita.targets.backend import KernelBackend
from partita.transforms.fold_constants import FoldConstantsPass
from partita.transforms.fold_padding import FoldPaddingPass
from partita.transforms.fold_scale_axis import FoldScaleAxisPass
from partita.transforms.matmul_to_dense import MatmulToDensePass
from partita.transforms.merge_equal_ops import MergeEqualOpsPass
from partita.transforms.pack_weights import PackWeightsPass
from partita.transforms.pipeline import AvailablePasses, parse_passes
from partita.transforms.reduce_strength import ReduceStrengthPass
from partita.transforms.simplify_inference import SimplifyInferencePass
from partita.transforms.sink_reshapes import SinkReshapesPass

GRAPH_PASSES: tuple[ModulePass, ...] = (
    SimplifyInferencePass(),
    FoldConstantsPass(),
    ReduceStrengthPass(),
    SinkReshapesPass(),
    FoldScaleAxisPass(),
    FoldConstantsPass(),
    FoldPaddingPass(),
    MatmulToDensePass(),
    SinkReshapesPass(),
    CanonicalizePass(),
    MergeEqualOpsPass(),
    DeadCodeElimination(),
    PackWeightsPass(),
    FoldConstantsPass(),
    DeadCodeElimination(),
)
"""What is done with a graph whatever its target."""


@dataclass(frozen=True)
class Insertion:
    """Passes of the user's, and the pass after whose last run they go."""

    after: str

    pipeline: str
    """In the syntax of `partita-opt -p`."""


def full_pipeline(
    backend: KernelBackend, module: ModuleOp, machine: Machine
) -> tuple[ModulePass, ...]:
    """Return all passes from a graph to what a back end makes a machine's code of."""
    return (*GRAPH_PASSES, *backend.pre_partition(), *backend.pipeline(module, machine))


def insert(
    passes: Sequence[ModulePass],
    insertions: Sequence[Insertion],
    available: AvailablePasses,
) -> tuple[ModulePass, ...]:
    """Return the passes with a user's among them.

    Raises `OptionError` for a pass that is not in the pipeline, or does not exist.
    """
    result = list(passes)
    for insertion in insertions:
        names = [each.name for each in result]
        if insertion.after not in names:
            raise OptionError(
                f"expected a pass of the pipeline to insert after, got {insertion.after}"
                + did_you_mean(insertion.after, names)
            )
        last = len(names) - names[::-1].index(insertion.after)
        result[last:last] = parse_passes(insertion.pipeline, available)
    return tuple(result)
