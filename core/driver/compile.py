"""Compile a module: run the passes, make code, and put an executable together."""

from collections.abc import Mapping, Sequence
from functools import cache
from os import PathLike
from pathlib import Path

import onnx
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException
from xdsl.utils.hints import isa

from partita.analysis.entry import entry_of
from partita.analysis.verification import verify
from partita.dialects.partita import ENTRY, KERNEL
from partita.driver.pipelines import Insertion, full_pipeline, insert
from partita.errors import OptionError, PassError, did_you_mean
from partita.frontends.onnx import import_onnx
from partita.runtime import Artifact, Executable, Machine
from partita.shapes import DYNAMIC
from partita.targets import ALL_BACKENDS, Backend, Host
from partita.targets.backend import CodegenContext, Progress, silent
from partita.targets.host.plan import build_plan
from partita.transforms.options import configure, problem
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
    model: str | PathLike[str] | bytes | onnx.ModelProto, shapes: Shapes | None = None
) -> ModuleOp:
    """Read an ONNX model, from a path, bytes or `ModelProto`, as a module.

    `shapes` gives dynamic inputs their shapes. Raises `ModelError`, with one sentence, for a
    model that is broken or holds what is not supported.
    """
    if isinstance(model, PathLike):
        model = Path(model)
    return import_onnx(model, shapes)


def make_backend(spec: Backend | str) -> Backend:
    """Return a back end, from itself or from text such as `host{cache="none"}`.

    Raises `OptionError` for a name or an option that does not exist.
    """
    if isinstance(spec, Backend):
        return spec
    kinds = {kind.name: kind for kind in ALL_BACKENDS}
    try:
        parsed = parse_spec(spec)
    except ArgSpecParseError as error:
        raise OptionError(f"cannot read target {spec!r}: {problem(error)}") from None
    if parsed.name not in kinds:
        raise OptionError(
            f"unknown target {parsed.name}{did_you_mean(parsed.name, kinds)}; "
            f"choose from {', '.join(kinds)}"
        )
    return configure(kinds[parsed.name], parsed, f"target {parsed.name}")


def choose_host(targets: Sequence[Backend | str]) -> Host:
    """Return the host among the targets, with its defaults if it is not named.

    Raises `OptionError` for a target given twice.
    """
    backends = [make_backend(each) for each in targets]
    names = [each.name for each in backends]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"expected each target once, got {name} twice")
    return next((each for each in backends if isinstance(each, Host)), Host())


def prepare(
    module: ModuleOp,
    targets: Sequence[Backend | str] = (),
    insertions: Sequence[Insertion] = (),
    *,
    shapes: Shapes | None = None,
    entry: str | None = None,
    machine: Machine | None = None,
) -> tuple[ModulePass, ...]:
    """Verify a module and mark its entry; return the passes that compile it, in order.

    Raises `OptionError` for what does not exist, xDSL's `DiagnosticException` for a module
    that does not verify or whose entry is not settled.
    """
    verify(module)
    mark_entry(module, entry_of(module, entry))
    passes = full_pipeline(choose_host(targets), module, machine or Machine.host())
    if shapes or _has_dynamic_arguments(module):
        passes = (SpecializeShapesPass(_texts(shapes or {})), *passes)
    return insert(passes, insertions, multiverse().all_passes)


def compile(
    model: Model,
    targets: Sequence[Backend | str] = (),
    *,
    shapes: Shapes | None = None,
    entry: str | None = None,
    insertions: Sequence[Insertion] = (),
    observers: Sequence[Observer] = (),
    progress: Progress = silent,
    threads: int | None = None,
) -> Executable:
    """Compile a model for this machine, and return what runs it.

    The module that is given stays as it is. `targets` are back ends or their text, such as
    `host{cache="none"}`; `shapes` makes dynamic inputs static, `entry` chooses among several
    functions, `insertions` puts passes of the caller's among ours, `observers` see every pass,
    and `progress` is told how many kernels are done. A run uses at most `threads` threads.

    Raises a `PartitaError`: `ModelError` for a model that cannot be read, `OptionError` for
    options, `PassError` or `CodegenError` where a pass or code generation cannot go on.
    """
    artifact = compile_artifact(
        model,
        targets,
        shapes=shapes,
        entry=entry,
        insertions=insertions,
        observers=observers,
        progress=progress,
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
) -> Artifact:
    """Compile a model to what an artifact file holds, for a machine that need not be this one.

    Other arguments and errors are those of `compile`. An artifact can be written anywhere, and
    run where its machine is.
    """
    machine = machine or Machine.host()
    backend = choose_host(targets)
    if isinstance(model, ModuleOp):
        module = model.clone()
    else:
        module, shapes = load_onnx(model, shapes), None
    try:
        passes = prepare(
            module, targets, insertions, shapes=shapes, entry=entry, machine=machine
        )
        graph = str(module)
        Pipeline(passes, (_verifier(passes, insertions), *observers)).apply(
            context(), module
        )
    except DiagnosticException as error:
        raise told(error) from error
    return _assemble(module, backend, machine, graph, progress)


BOUNDARIES = frozenset(
    ("fuse-ops", "lower-relay-to-te", "lower-te-to-tir", "apply-schedules")
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
    """Let one function be the entry, and no other."""
    for function in module.body.block.ops:
        if isinstance(function, FuncOp):
            function.attributes.pop(ENTRY, None)
    entry.attributes[ENTRY] = UnitAttr()


def _texts(shapes: Shapes) -> tuple[str, ...]:
    """Write shapes as the option of `specialize-shapes`."""
    return tuple(
        f"{name}={'x'.join(map(str, shape)) or 'scalar'}"
        for name, shape in shapes.items()
    )


def _has_dynamic_arguments(module: ModuleOp) -> bool:
    return any(
        isa(type, TensorType[Attribute]) and DYNAMIC in type.get_shape()
        for type in entry_of(module).function_type.inputs
    )


def told(error: DiagnosticException) -> PassError:
    """Return what a pass or the verifier refused as an error of ours, with what it says of the place."""
    refusal = PassError(str(error))
    for note in getattr(error, "__notes__", ()):
        refusal.add_note(note)
    return refusal


def _assemble(
    module: ModuleOp, host: Host, machine: Machine, graph: str, progress: Progress
) -> Artifact:
    """Make code of every kernel, and put it together with the plan and the weights."""
    entry = entry_of(module)
    kernels = [
        each
        for each in module.body.block.ops
        if isinstance(each, FuncOp) and KERNEL in each.attributes
    ]
    code = host.codegen(kernels, CodegenContext(machine, progress))
    program = build_plan(
        entry,
        {
            kernel.sym_name.data: each
            for kernel, each in zip(kernels, code, strict=True)
        },
    )
    return Artifact(
        program.plan,
        machine,
        {each.member: each.content for each in code},
        program.weights,
        entry=entry.sym_name.data,
        targets=(host.name,),
        graph=graph,
    )
