"""From a function of graph ops to functions over buffers, as C is written from."""

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import Func, FuncOp
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.utils.exceptions import DiagnosticException

from partita.dialects import ALL_DIALECTS
from partita.dialects.partita import ENTRY
from partita.errors import CodegenError
from partita.targets.c.program import functions_of
from partita.targets.c.schedule_c import ScheduleCPass
from partita.transforms.apply_schedules import ApplySchedulesPass
from partita.transforms.fold_constants import FoldConstantsPass
from partita.transforms.fold_padding import FoldPaddingPass
from partita.transforms.fold_scale_axis import FoldScaleAxisPass
from partita.transforms.fuse_ops import FuseOpsPass
from partita.transforms.inline_intrinsics import InlineIntrinsicsPass
from partita.transforms.lower_relay_to_te import LowerRelayToTePass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.matmul_to_dense import MatmulToDensePass
from partita.transforms.pack_weights import PackWeightsPass
from partita.transforms.pipeline import Pipeline
from partita.transforms.plan_memory import PlanMemoryPass
from partita.transforms.simplify_inference import SimplifyInferencePass
from partita.transforms.split_stages import SplitStagesPass

PREPARE: tuple[ModulePass, ...] = (
    SimplifyInferencePass(),
    FoldConstantsPass(),
    FoldScaleAxisPass(),
    FoldConstantsPass(),
    FoldPaddingPass(),
    MatmulToDensePass(),
    CanonicalizePass(),
    DeadCodeElimination(),
    PackWeightsPass(),
    FoldConstantsPass(),
    DeadCodeElimination(),
)
"""What is done with a region before it is lowered, as relay."""

LOWER: tuple[ModulePass, ...] = (
    FuseOpsPass(),
    LowerRelayToTePass(),
    LowerTeToTirPass(),
    ScheduleCPass(),
    ApplySchedulesPass(),
    InlineIntrinsicsPass(),
    SplitStagesPass(),
    PlanMemoryPass(),
)
"""From relay to buffers."""


def lowered(function: FuncOp, name: str | None = None) -> list[FuncOp]:
    """Return the kernels and the function that calls them, for a function of relay, which stays as it is.

    The function that calls is called `name`, or as the one that is given.
    Raises `CodegenError` with the reason of a pass that refuses.
    """
    entry = function.clone()
    entry.attributes[ENTRY] = UnitAttr()
    entry.properties.pop("sym_visibility", None)
    if name is not None:
        entry.properties["sym_name"] = StringAttr(name)
    module = ModuleOp([entry])
    try:
        Pipeline(LOWER).apply(_context(), module)
    except DiagnosticException as error:
        raise CodegenError(str(error)) from error
    return functions_of(module)


def _context() -> Context:
    context = Context()
    for each in (Builtin, Func, *ALL_DIALECTS):
        context.load_dialect(each)
    return context
