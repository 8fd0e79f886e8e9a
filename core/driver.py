"""Models in, executables out: what to run, in which order, and nothing else."""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from partita.dialects.partita import ENTRY, KERNEL
from partita.runtime import Artifact, Executable, Machine
from partita.targets.backend import CodegenContext
from partita.targets.host.backend import Host
from partita.targets.host.plan import build_plan
from partita.transforms.bind_parameters import BindParametersPass
from partita.transforms.fold_constants import FoldConstantsPass
from partita.transforms.fold_padding import FoldPaddingPass
from partita.transforms.fold_scale_axis import FoldScaleAxisPass
from partita.transforms.matmul_to_dense import MatmulToDensePass
from partita.transforms.merge_equal_ops import MergeEqualOpsPass
from partita.transforms.pack_weights import PackWeightsPass
from partita.transforms.pipeline import Pipeline
from partita.transforms.simplify_inference import SimplifyInferencePass

GRAPH: tuple[ModulePass, ...] = (
    SimplifyInferencePass(),
    FoldConstantsPass(),
    FoldScaleAxisPass(),
    FoldConstantsPass(),
    FoldPaddingPass(),
    CanonicalizePass(),
    MergeEqualOpsPass(),
    DeadCodeElimination(),
    MatmulToDensePass(),
    PackWeightsPass(),
    FoldConstantsPass(),
    DeadCodeElimination(),
)
