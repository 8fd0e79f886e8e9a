"""Pipelines as data: which passes run, in which order, and where users add their own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from partita.dialects.byoc import HOST, external_modules
from partita.errors import OptionError, did_you_mean
from partita.runtime import Machine
from partita.targets import Backend, ExternalBackend, Host, make_backend
from partita.targets.backend import KernelBackend, Progress, silent
from partita.targets.partition import (
    AnnotateTargetPass,
    CodegenExternalsPass,
    MergeCompositePass,
    PruneRegionsPass,
)
from partita.targets.partition.codegen_externals import warn
from partita.transforms.apply_tuned_schedules import ApplyTunedSchedulesPass
from partita.transforms.apply_tuned_schedules import warn as warn_of_schedule
from partita.transforms.collect_weights import CollectWeightsPass
from partita.transforms.fold_constants import FoldConstantsPass
from partita.transforms.fold_padding import FoldPaddingPass
from partita.transforms.fold_scale_axis import FoldScaleAxisPass
from partita.transforms.for_each_external import ForEachExternalPass
from partita.transforms.lower_relay_to_te import Computes
from partita.transforms.matmul_to_dense import MatmulToDensePass
from partita.transforms.merge_equal_ops import MergeEqualOpsPass
from partita.transforms.merge_regions import MergeRegionsPass
from partita.transforms.options import spelled
from partita.transforms.partition_graph import PartitionGraphPass
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
)
"""What is done with the host's part of a graph."""

PARTITION_PREPARATION: tuple[ModulePass, ...] = (
    FoldConstantsPass(),
    DeadCodeElimination(),
)
"""What is done with a graph before it is divided: nothing is given away that need not be computed."""


@dataclass(frozen=True)
class Insertion:
    """Passes of the user's, and the pass after whose last run they go."""

    after: str

    pipeline: str
    """In the syntax of `partita-opt -p`."""


@dataclass(frozen=True)
class ExternalPolicy:
    """What becomes of what other targets than the host cannot compile, or load."""

    on_failure: str = "host"
    """`host`: the host runs what could not be compiled; `error`: that is an error."""

    keep_host_code: bool = False
    """Whether the host has code for all of it, for where it cannot be loaded."""

    tell: Callable[[str], None] = warn
    """Told about each function that the host has to run."""

    progress: Progress = silent
    """Told how many functions are compiled."""


@dataclass(frozen=True)
class ScheduleSource:
    """Where schedules of the host's kernels come from, beside the rules of the host."""

    db: str = ""
    """The file of a database; none if empty."""

    given: Mapping[str, str] = field(default_factory=dict[str, str])
    """Text of schedules by the key of their task, which come before those of the database."""

    tell: Callable[[str], None] = warn_of_schedule
    """Told about each kernel that the database has no schedule for, or none that applies."""

    def passes(self, host: Backend, machine: Machine) -> tuple[ModulePass, ...]:
        """Return the pass that gives kernels their schedules, if anybody asked for it."""
        if not self.db and not self.given:
            return ()
        target = host.task_target()
        return (
            ApplyTunedSchedulesPass(self.db, target, machine, self.given, self.tell),
        )


def full_pipeline(
    backends: Sequence[Backend],
    module: ModuleOp,
    machine: Machine,
    policy: ExternalPolicy = ExternalPolicy(),
    schedules: ScheduleSource = ScheduleSource(),
    computes: Computes | None = None,
) -> tuple[ModulePass, ...]:
    """Return all passes from a graph to what the host's plan and code are made of.

    The order is: what targets need before the graph is divided, the division, what each
    target does to its part, its code, and then the host's part. A module may be divided
    already, or in part.
    """
    host = host_among(backends)
    host_part = (
        *compute_pipeline(host, module, machine, computes),
        *schedules.passes(host, machine),
        *host.loop_passes(module, machine),
    )
    asked = [each for each in backends if isinstance(each, ExternalBackend)]
    externals = (*asked, *_present(module, asked))
    if not externals:
        return host_part
    keep = policy.on_failure == HOST or policy.keep_host_code
    return (
        *(partition_pipeline(backends, keep_originals=keep) if asked else ()),
        *(each for backend in externals for each in _post_partition(backend)),
        CodegenExternalsPass(
            policy.on_failure,
            policy.keep_host_code,
            externals,
            machine,
            progress=policy.progress,
            tell=policy.tell,
        ),
        *host_part,
        CollectWeightsPass(),
    )


def compute_pipeline(
    host: KernelBackend, module: ModuleOp, machine: Machine, computes: Computes | None
) -> tuple[ModulePass, ...]:
    """Return the passes from the host's part of a graph to its kernels as `te`; they know no schedule."""
    return (
        *GRAPH_PASSES,
        *host.pre_partition(),
        *host.compute_passes(module, machine, computes),
    )


def _present(
    module: ModuleOp, asked: Sequence[ExternalBackend]
) -> Iterator[ExternalBackend]:
    """Yield the back ends whose functions a module has, beside those that are asked for."""
    names = {each.name for each in asked}
    for name, external in external_modules(module).items():
        if name not in names:
            backend = make_backend(external.target.data)
            if isinstance(backend, ExternalBackend):
                yield backend


def partition_pipeline(
    backends: Sequence[Backend], *, keep_originals: bool = False
) -> tuple[ModulePass, ...]:
    """Return the passes that divide a graph between back ends."""
    texts, backends = tuple(map(spelled, backends)), tuple(backends)
    return (
        *PARTITION_PREPARATION,
        *(each for backend in backends for each in backend.pre_partition()),
        AnnotateTargetPass(texts, backends),
        MergeCompositePass(texts, backends),
        MergeRegionsPass(),
        PruneRegionsPass(texts, backends),
        PartitionGraphPass(keep_originals),
    )


def whole_graph_pipeline(backend: ExternalBackend) -> tuple[ModulePass, ...]:
    """Return the passes that prepare a graph that one back end takes as a whole."""
    return (
        *PARTITION_PREPARATION,
        *backend.pre_partition(),
        *backend.post_partition(),
    )


def _post_partition(backend: ExternalBackend) -> Iterator[ModulePass]:
    passes = tuple(backend.post_partition())
    if passes:
        yield ForEachExternalPass(backend.name, ",".join(map(spelled, passes)), passes)


def host_among(backends: Sequence[Backend]) -> Host:
    """Return the host among back ends, with its defaults if it is not there."""
    return next((each for each in backends if isinstance(each, Host)), Host())


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
