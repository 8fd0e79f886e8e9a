"""What there is to schedule in a model: its kernels and other targets' regions, each kind of them once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from partita.analysis.canonical_task import canonical_function, task_key
from partita.analysis.cost import macs
from partita.analysis.entry import is_private
from partita.analysis.verification import verify
from partita.dialects import byoc
from partita.dialects.byoc import external_modules
from partita.dialects.partita import ENTRY, KERNEL, merge_origins
from partita.driver.compile import (
    Model,
    Shapes,
    context,
    has_dynamic_arguments,
    loaded,
    multiverse,
    settle,
    told,
)
from partita.driver.pipelines import (
    Insertion,
    compute_pipeline,
    host_among,
    insert,
    partition_pipeline,
)
from partita.runtime import Machine
from partita.targets import Backend, ExternalBackend
from partita.targets.registry import make_backends
from partita.transforms.lower_relay_to_te import Computes, LowerRelayToTePass
from partita.transforms.pipeline import Observer, Pipeline


@dataclass(frozen=True)
class Task:
    """Something to schedule, measure and tune, apart from the model that it comes from."""

    key: str
    """The same for whatever computes the same, in any model and process: what schedules are kept by."""

    target: str
    """The back end that runs it, as schedule databases know it."""

    name: str
    """The function that it was first met as. Only for people: it may say `conv2d` or `main_0`."""

    weight: int
    """How many times the functions of the model call it; 0 if they do not."""

    macs: int
    """Multiply-accumulates of doing it once."""

    origins: tuple[str, ...]
    """The nodes of the model that it came from."""

    module: ModuleOp = field(repr=False)
    """What computes it, in a module of its own that can be compiled and run.

    For the host, the entry calls one kernel of `te.compute` ops; schedules refer to their labels. For
    other targets, the entry is the region as a graph. Constants are those of its first occurrence.
    """

    @property
    def function(self) -> FuncOp:
        """The kernel, or the region."""
        functions = [each for each in self.module.ops if isinstance(each, FuncOp)]
        kernels = [each for each in functions if KERNEL in each.attributes]
        return (kernels or functions)[0]


def extract_tasks(
    model: Model,
    targets: Sequence[Backend | str] | Backend | str = (),
    *,
    shapes: Shapes | None = None,
    entry: str | None = None,
    machine: Machine | None = None,
    insertions: Sequence[Insertion] = (),
    computes: Computes | None = None,
) -> list[Task]:
    """Return what compiling a model would have to schedule: for each target, each different task once.

    All functions of the module count, and tasks stand in the order in which these call them. Nothing
    is scheduled and no code is made, so rules that fail do not matter. What other targets take is
    theirs as a whole, and never the host's, whether the module is partitioned already or these
    `targets` partition it. `insertions` are those of the compilation; the ones that come
    where there are loops already have no say. Other arguments and errors are those of `compile`.
    """
    if isinstance(targets, Backend | str):
        targets = (targets,)
    backends = make_backends(targets)
    host, machine = host_among(backends), machine or Machine.host()
    asked = [each for each in backends if isinstance(each, ExternalBackend)]
    module, shapes = loaded(model, shapes, backends)
    costs = _Costs()
    try:
        passes = (
            *_settle(module, shapes, entry),
            *(partition_pipeline(backends) if asked else ()),
            *compute_pipeline(host, module, machine, computes),
        )
        names = {each.name for each in passes}
        early = [each for each in insertions if each.after in names]
        passes = insert(passes, early, multiverse().all_passes)
        Pipeline(passes, (costs,)).apply(context(), module)
    except DiagnosticException as error:
        raise told(error) from error
    return _distinct(_sources(module, host, asked, costs.macs))


def _settle(
    module: ModuleOp, shapes: Shapes | None, entry: str | None
) -> tuple[ModulePass, ...]:
    """Do as compiling does, except that a module of static functions need not have one entry."""
    dynamic = any(
        isinstance(each, FuncOp) and has_dynamic_arguments(each) for each in module.ops
    )
    if dynamic or shapes or entry is not None:
        return settle(module, shapes, entry)
    verify(module)
    return ()


@dataclass
class _Costs(Observer):
    """Counts multiplications of kernels while they are graphs."""

    macs: dict[str, int] = field(default_factory=dict[str, int])
    """By function name."""

    def before(self, each: ModulePass, module: ModuleOp) -> None:
        if isinstance(each, LowerRelayToTePass):
            for kernel in _functions(module, kernels=True):
                self.macs[kernel.sym_name.data] = macs(kernel)


def _functions(module: ModuleOp, *, kernels: bool) -> Iterator[FuncOp]:
    """Yield the kernels that have a body, or all other functions."""
    for each in module.ops:
        if (
            isinstance(each, FuncOp)
            and each.body.blocks
            and (KERNEL in each.attributes) is kernels
        ):
            yield each


@dataclass(frozen=True)
class _Source:
    """A function that does a task."""

    target: str
    function: FuncOp
    macs: int
    calls: Sequence[Operation]


def _sources(
    module: ModuleOp,
    host: Backend,
    asked: Sequence[Backend],
    kernel_macs: Mapping[str, int],
) -> list[_Source]:
    """Return kernels and regions in the order in which functions call them, those that nobody calls last."""
    texts = {each.name: each.task_target() for each in asked}
    calls: dict[tuple[str, str], list[Operation]] = {}
    for function in _functions(module, kernels=False):
        for op in function.body.block.ops:
            match op:
                case CallOp():
                    called = host.name, op.callee.string_value()
                case byoc.CallOp():
                    called = op.target, op.function
                case _:
                    continue
            calls.setdefault(called, []).append(op)
    sources: dict[tuple[str, str], _Source] = {}
    for kernel in _functions(module, kernels=True):
        name = host.name, kernel.sym_name.data
        cost = kernel_macs.get(kernel.sym_name.data, 0)
        sources[name] = _Source(host.task_target(), kernel, cost, calls.get(name, ()))
    for target, external in external_modules(module).items():
        text = texts.get(target, external.target.data)
        for function in external.functions.values():
            if isinstance(function, FuncOp) and not is_private(function):
                name = target, function.sym_name.data
                sources[name] = _Source(
                    text, function, macs(function), calls.get(name, ())
                )
    order = (*(each for each in calls if each in sources), *sources)
    return [sources[each] for each in dict.fromkeys(order)]


def _distinct(sources: Sequence[_Source]) -> list[Task]:
    """Return a task for all sources that do the same for the same target, in order."""
    groups: dict[tuple[str, str], list[_Source]] = {}
    for source in sources:
        key = source.target, task_key(source.function)
        groups.setdefault(key, []).append(source)
    return [_task(target, key, group) for (target, key), group in groups.items()]


def _task(target: str, key: str, group: Sequence[_Source]) -> Task:
    first = group[0]
    calls = [call for source in group for call in source.calls]
    origin = merge_origins(*(calls or first.function.body.block.ops))
    return Task(
        key,
        target,
        first.function.sym_name.data,
        len(calls),
        first.macs,
        () if origin is None else tuple(origin.data.split(", ")),
        _module(first.function),
    )


def _module(function: FuncOp) -> ModuleOp:
    """Return a module whose entry does what a function does: calls it if it is a kernel, or is it."""
    name = function.sym_name.data
    if KERNEL not in function.attributes:
        entry = canonical_function(function, name)
        entry.attributes[ENTRY] = UnitAttr()
        return ModuleOp([entry])
    kernel = canonical_function(function, name)
    kernel.sym_visibility = StringAttr("private")
    kernel.attributes[KERNEL] = UnitAttr()
    type = kernel.function_type
    body = Block(arg_types=type.inputs)
    call = CallOp(name, body.args, type.outputs.data)
    body.add_ops((call, ReturnOp(*call.results)))
    entry = FuncOp(f"run_{name}", type, Region(body))
    entry.attributes[ENTRY] = UnitAttr()
    return ModuleOp([entry, kernel])
