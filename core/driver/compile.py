"""Compile a module: run the passes, make code, and put an executable together."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from os import PathLike
from pathlib import Path

import onnx
from xdsl.context import Context
from xdsl.dialects.builtin import (
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.hints import isa

from partita.analysis.entry import (
    argument_attributes,
    entry_of,
    set_argument_attributes,
)
from partita.analysis.schedule_database import ScheduleDatabase
from partita.analysis.verification import verify
from partita.dialects.byoc import HOST_CODE, BinaryOp, external_modules
from partita.dialects.partita import ENTRY, KERNEL, NAME, SIGNATURE
from partita.driver.pipelines import (
    ExternalPolicy,
    Insertion,
    ScheduleSource,
    full_pipeline,
    host_among,
    insert,
    partition_pipeline,
    whole_graph_pipeline,
)
from partita.errors import OptionError, PassError
from partita.frontends.onnx import import_onnx
from partita.interpreters.module import argument_names
from partita.runtime import Artifact, Executable, ExternalStep, Machine
from partita.shapes import DYNAMIC, check_shapes
from partita.targets import Backend
from partita.targets.backend import CodegenContext, Progress, silent
from partita.targets.c import C
from partita.targets.host.plan import build_plan
from partita.targets.partition.codegen_externals import warn
from partita.targets.registry import make_backends
from partita.transforms.apply_tuned_schedules import warn as warn_of_schedule
from partita.transforms.lower_relay_to_te import Computes
from partita.transforms.pipeline import Observer, Pipeline, Verifier, parse_passes
from partita.transforms.specialize_shapes import SpecializeShapesPass

Model = ModuleOp | str | PathLike[str] | bytes | onnx.ModelProto
"""A module, or an ONNX model that `load_onnx` reads."""

Shapes = Mapping[str, Sequence[int]]
"""Shapes of inputs by name, and values of symbolic dimensions, `{"N": (1,)}`."""


@cache
def multiverse() -> Universe:
    """Return everything that is installed: ours, xDSL's, and what other packages add."""
    return Universe.get_multiverse()


def context() -> Context:
    """Return a context in which every installed dialect can be parsed."""
    made = Context()
    for name, dialect in multiverse().all_dialects.items():
        made.register_dialect(name, dialect)
    return made


def load_onnx(
    model: str | PathLike[str] | bytes | onnx.ModelProto,
    shapes: Shapes | None = None,
    targets: Sequence[Backend | str] = (),
) -> ModuleOp:
    """Read an ONNX model, from a path, bytes or `ModelProto`, as a module.

    `shapes` gives dynamic inputs their shapes. Where `onnxruntime` is among the `targets`, operators that
    are not modelled are carried along for it. Raises `ModelError`, with one sentence, for a
    model that is broken or holds what is not supported.
    """
    opaque = any(each.carries_onnx for each in make_backends(targets))
    if isinstance(model, PathLike):
        model = Path(model)
    return import_onnx(model, shapes, opaque=opaque)


def prepare(
    module: ModuleOp,
    targets: Sequence[Backend | str] = (),
    insertions: Sequence[Insertion] = (),
    *,
    shapes: Shapes | None = None,
    entry: str | None = None,
    machine: Machine | None = None,
    policy: ExternalPolicy = ExternalPolicy(),  # noqa: B008
    schedules: ScheduleSource = ScheduleSource(),  # noqa: B008
    computes: Computes | None = None,
) -> tuple[ModulePass, ...]:
    """Verify a module and mark its entry; return the passes that compile it, in order.

    Raises `OptionError` for what does not exist, xDSL's `DiagnosticException` for a module
    that does not verify or whose entry is not settled.
    """
    passes = (
        *settle(module, shapes, entry),
        *full_pipeline(
            make_backends(targets),
            module,
            machine or Machine.host(),
            policy,
            schedules,
            computes,
        ),
    )
    return insert(passes, insertions, multiverse().all_passes)


def partition(
    model: Model,
    targets: Sequence[Backend | str],
    *,
    shapes: Shapes | None = None,
    entry: str | None = None,
) -> ModuleOp:
    """Divide a model's graph between targets, and return the module; a module that is given stays as it is.

    Each target's part is in a `byoc.module`; ops say why targets rejected them. Arguments and
    errors are those of `compile`.
    """
    pipeline = partition_pipeline(make_backends(targets))
    return _graph_after(pipeline, model, targets, shapes, entry, (Verifier(),))


def emit_c(
    model: Model,
    folder: str | PathLike[str],
    targets: Sequence[Backend | str] = ("c",),
    *,
    shapes: Shapes | None = None,
    entry: str | None = None,
    observers: Sequence[Observer] = (),
) -> None:
    """Write a model as a folder of C sources, with a program that runs it on files, to be built with `make`.

    `targets` say with which options target `c` does it; it has to take the whole model. The
    folder must be new or empty, and nothing is left of it on failure. Other arguments and
    errors are those of `compile`.
    """
    backend = next(
        (each for each in make_backends(targets) if isinstance(each, C)), None
    )
    if backend is None:
        raise OptionError("expected target c, which writes C; set target c")
    pipeline = whole_graph_pipeline(backend)
    module = _graph_after(pipeline, model, (backend,), shapes, entry, observers)
    backend.write_project(entry_of(module), Path(folder))


def _graph_after(
    passes: Sequence[ModulePass],
    model: Model,
    targets: Sequence[Backend | str],
    shapes: Shapes | None,
    entry: str | None,
    observers: Sequence[Observer],
) -> ModuleOp:
    """Return a module of one's own, with its entry marked, after passes on its graph."""
    module, shapes = loaded(model, shapes, targets)
    try:
        passes = (*settle(module, shapes, entry), *passes)
        Pipeline(passes, tuple(observers)).apply(context(), module)
    except DiagnosticException as error:
        raise told(error) from error
    return module


def loaded(
    model: Model, shapes: Shapes | None, targets: Sequence[Backend | str]
) -> tuple[ModuleOp, Shapes | None]:
    """Return a module of one's own, and the shapes that it does not have yet."""
    if isinstance(model, ModuleOp):
        return model.clone(), shapes
    return load_onnx(model, shapes, targets), None


def settle(
    module: ModuleOp, shapes: Shapes | None, entry: str | None
) -> tuple[ModulePass, ...]:
    """Verify a module and mark its entry; return what makes the entry's arguments static, if they are not."""
    verify(module)
    function = entry_of(module, entry)
    mark_entry(module, function)
    if shapes or has_dynamic_arguments(function):
        return (SpecializeShapesPass(_texts(shapes or {})),)
    return ()


def compile(
    model: Model,
    targets: Sequence[Backend | str] = (),
    *,
    shapes: Shapes | None = None,
    entry: str | None = None,
    insertions: Sequence[Insertion] = (),
    observers: Sequence[Observer] = (),
    progress: Progress = silent,
    on_external_failure: str = "host",
    keep_host_fallback: bool = False,
    db: str | PathLike[str] | None = None,
    schedules: Mapping[str, str] | None = None,
    computes: Computes | None = None,
    threads: int | None = None,
) -> Executable:
    """Compile a model for this machine, and return what runs it.

    The module that is given stays as it is. `targets` are back ends or their text, such as
    `host{cache="none"}`; `shapes` makes dynamic inputs static, `entry` chooses among several
    functions, `insertions` puts passes of the caller's among ours, `observers` see every pass,
    and `progress` is told how many kernels are done. A run uses at most `threads` threads.

    Targets named first take first what they support, and the host takes the rest. If one cannot
    compile what it took, the host runs it and a Python warning says so, or with
    `on_external_failure="error"` that is an error. With `keep_host_fallback` the executable also
    holds code of the host for all of it, for where a module cannot be loaded.

    Kernels of the host get the schedules that `schedules` gives for the keys of their tasks (see
    `extract_tasks`), or else those of the database `db`, or else what rules make. A Python warning
    names each task for which a database that was asked for has no schedule, or none that
    applies; one that `schedules` gives has to apply. `computes` keeps what graphs were lowered to
    for compilations of similar models.

    Raises a `PartitaError`: `ModelError` for a model that cannot be read, `OptionError` for
    options, `DatabaseError` for a database that cannot be read, `PassError` or `CodegenError` where a
    pass or code generation cannot go on.
    """
    artifact = compile_artifact(
        model,
        targets,
        shapes=shapes,
        entry=entry,
        insertions=insertions,
        observers=observers,
        progress=progress,
        on_external_failure=on_external_failure,
        keep_host_fallback=keep_host_fallback,
        db=db,
        schedules=schedules,
        computes=computes,
    )
    return Executable(artifact, threads=threads)


def compile_artifact(
    model: Model,
    targets: Sequence[Backend | str] = (),
    *,
    shapes: Shapes | None = None,
    entry: str | None = None,
    machine: Machine | None = None,
    insertions: Sequence[Insertion] = (),
    observers: Sequence[Observer] = (),
    progress: Progress = silent,
    on_external_failure: str = "host",
    keep_host_fallback: bool = False,
    db: str | PathLike[str] | None = None,
    schedules: Mapping[str, str] | None = None,
    computes: Computes | None = None,
    tell: Callable[[str], None] | None = None,
) -> Artifact:
    """Compile a model to what an artifact file holds, for a machine that need not be this one.

    `tell` gets what would be a warning. Other arguments and errors are those of `compile`. An
    artifact can be written anywhere, and run where its machine is.
    """
    machine = machine or Machine.host()
    backends = make_backends(targets)
    if db is not None:
        ScheduleDatabase(db).check()
    module, shapes = loaded(model, shapes, backends)
    policy = ExternalPolicy(
        on_external_failure, keep_host_fallback, tell or warn, progress
    )
    source = ScheduleSource(str(db or ""), schedules or {}, tell or warn_of_schedule)
    try:
        passes = prepare(
            module,
            backends,
            insertions,
            shapes=shapes,
            entry=entry,
            machine=machine,
            policy=policy,
            schedules=source,
            computes=computes,
        )
        graph = str(module)
        Pipeline(passes, (_verifier(passes, insertions), *observers)).apply(
            context(), module
        )
    except DiagnosticException as error:
        raise told(error) from error
    return _assemble(module, backends, machine, graph, progress)


BOUNDARIES = frozenset(
    (
        "partition-graph",
        "codegen-externals",
        "fuse-ops",
        "lower-relay-to-te",
        "lower-te-to-tir",
        "apply-schedules",
    )
)
"""Passes after which a level is left; what they leave is verified."""


def _verifier(
    passes: Sequence[ModulePass], insertions: Sequence[Insertion]
) -> Verifier:
    """Return what verifies at level boundaries, after passes of the user's, and at the end."""
    ours = BOUNDARIES | {each.name for each in passes[-1:]}
    theirs = {
        each.name
        for insertion in insertions
        for each in parse_passes(insertion.pipeline, multiverse().all_passes)
    }
    return Verifier(ours | theirs)


def mark_entry(module: ModuleOp, entry: FuncOp) -> None:
    """Let one function be the entry, and no other; its arguments keep the names that the text gives them."""
    for function in module.body.block.ops:
        if isinstance(function, FuncOp):
            function.attributes.pop(ENTRY, None)
    entry.attributes[ENTRY] = UnitAttr()
    signature = entry.attributes.get(SIGNATURE, entry.function_type)
    assert isinstance(signature, FunctionType)
    attributes = argument_attributes(entry)
    names = argument_names(entry)[: len(signature.inputs)]
    if len(set(names)) == len(names):
        for each, name in zip(attributes, names, strict=False):
            each.setdefault(NAME, StringAttr(name))
        set_argument_attributes(entry, attributes)


def _texts(shapes: Shapes) -> tuple[str, ...]:
    """Write shapes as the option of `specialize-shapes`."""
    check_shapes(shapes)
    return tuple(
        f"{name}={'x'.join(map(str, shape)) or 'scalar'}"
        for name, shape in shapes.items()
    )


def has_dynamic_arguments(function: FuncOp) -> bool:
    """Say whether the shape of an argument is not known."""
    return any(
        isa(type, TensorType[Attribute]) and DYNAMIC in type.get_shape()
        for type in function.function_type.inputs
    )


def told(error: DiagnosticException) -> PassError:
    """Return what a pass or the verifier refused as an error of ours, with what it says of the place."""
    refusal = PassError(str(error))
    for note in getattr(error, "__notes__", ()):
        refusal.add_note(note)
    return refusal


def _assemble(
    module: ModuleOp,
    backends: Sequence[Backend],
    machine: Machine,
    graph: str,
    progress: Progress,
) -> Artifact:
    """Make code of every kernel, and put it together with the plan, the weights and other targets' modules."""
    host = host_among(backends)
    entry = entry_of(module)
    functions = [each for each in module.body.block.ops if isinstance(each, FuncOp)]
    kernels = [each for each in functions if KERNEL in each.attributes]
    code = host.codegen(kernels, CodegenContext(machine, progress))
    binaries = {
        (target, name): each
        for target, external in external_modules(module).items()
        for name, each in external.functions.items()
        if isinstance(each, BinaryOp)
    }
    program = build_plan(
        entry,
        {
            kernel.sym_name.data: each
            for kernel, each in zip(kernels, code, strict=True)
        },
        binaries,
        {
            each.sym_name.data: each
            for each in functions
            if HOST_CODE in each.attributes
        },
    )
    called = [each for each in program.plan.steps if isinstance(each, ExternalStep)]
    asked = (each.name for each in backends if each.name != host.name)
    others = dict.fromkeys((*asked, *(step.target for step in called)))
    return Artifact(
        program.plan,
        machine,
        {each.member: each.content for each in code},
        program.weights,
        entry=entry.sym_name.data,
        targets=(host.name, *others),
        graph=graph,
        modules={
            f"{step.folder}{name}": content
            for step in called
            for name, content in binaries[step.target, step.function]
            .files.data.content()
            .items()
        },
    )
