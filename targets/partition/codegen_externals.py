"""Compile external functions."""

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.symbol_table import get_name_if_symbol

from partita.analysis.diagnostics import fail
from partita.analysis.placement import graphs
from partita.dialects.byoc import (
    HOST,
    HOST_CODE,
    REJECTED,
    BinaryOp,
    ByocModuleOp,
    CallOp,
    Files,
    external_modules,
    inline_function,
)
from partita.dialects.partita import WeightAttr
from partita.dialects.relay import ConstantOp
from partita.errors import CodegenError, OptionError, PartitaError
from partita.runtime.external import NAME
from partita.runtime.machine import Machine
from partita.targets.backend import (
    Backend,
    CodegenContext,
    ExternalBackend,
    ExternalModule,
    Progress,
    Reject,
    silent,
)
from partita.targets.registry import make_backend, make_backends
from partita.transforms.pipeline import TargetAware
from partita.weights import Weight

ERROR = "error"

POLICIES = (HOST, ERROR)

TOLD = 3
"""Functions that failed for one reason, as far as a message names them."""


class ExternalFailureWarning(UserWarning):
    """A back end could not compile a function, which the host therefore runs."""


def warn(message: str) -> None:
    """Tell of a failure that the host made up for, as Python warns."""
    warnings.warn(message, ExternalFailureWarning, stacklevel=2)


@dataclass(frozen=True)
class CodegenExternalsPass(TargetAware, ModulePass):
    """Let back ends compile their functions: each becomes a `byoc.binary`.

    Code generation must not change what it is given; that is checked. What it returns is
    checked too. If it fails, `on-failure` says what happens: `error` stops; `host` puts the
    ops of the function, as they were kept by `partition-graph{keep-originals=true}`, back in
    place of its calls. With `keep-host-code` every call of a binary also names a function
    of the host that does the same, for where the binary cannot be loaded.

    A back end is the one that the `byoc.module` names. Private functions are what others
    use; they are not compiled by themselves, and go. So does what ops say about why
    targets rejected them.

    Before:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = byoc.call @example::@main_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }
    byoc.module @example attributes {target = "example"} {
      func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
        %0 = relay.exp %x : tensor<4xf32>
        func.return %0 : tensor<4xf32>
      }
    }
    ```

    After `codegen-externals`:

    ```mlir
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = byoc.call @example::@main_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }
    byoc.module @example attributes {target = "example"} {
      byoc.binary @main_0 : (tensor<4xf32>) -> tensor<4xf32> {files = #byoc.files<"5f9b677a3f0bb915b60b3ea16b0b144c">, weights = [], options = "{}"}
    }
    ```
    """

    name = "codegen-externals"

    on_failure: str = HOST
    """`host` or `error`."""

    keep_host_code: bool = False

    backends: tuple[Backend, ...] = field(default=(), repr=False)
    """Back ends that are meant by their text in modules."""

    machine: Machine | None = field(default=None, repr=False)
    """The machine that code is for; if none, this one."""

    progress: Progress = field(default=silent, repr=False)

    tell: Callable[[str], None] = field(default=warn, repr=False)
    """Told about each failure that the host makes up for."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.on_failure not in POLICIES:
            raise OptionError(
                f"expected on-failure of {' or '.join(POLICIES)}, got {self.on_failure}"
            )
        context = CodegenContext(self.machine or Machine.host(), self.progress)
        calls = _calls(op)
        for external in external_modules(op).values():
            (backend,) = make_backends((external.target.data,), self.backends)
            if not isinstance(backend, ExternalBackend):
                fail(external, f"target {backend.name} compiles no external functions")
            self._compile(external, backend, context, calls)
            if not external.functions:
                external.detach()
                external.erase()
        for function in graphs(op):
            for each in function.walk():
                each.attributes.pop(REJECTED, None)

    def _compile(
        self,
        external: ByocModuleOp,
        backend: ExternalBackend,
        context: CodegenContext,
        calls: Mapping[tuple[str, str], Sequence[CallOp]],
    ) -> None:
        """Compile the functions of one target, and replace what could not be compiled."""
        functions = {
            name: each
            for name, each in external.functions.items()
            if isinstance(each, FuncOp)
        }
        wanted = {name: each for name, each in functions.items() if is_compiled(each)}
        modules, failures = generate(external, backend, wanted, context)
        originals = _originals(external)
        module = external.parent_op()
        assert isinstance(module, ModuleOp)
        symbols = _Symbols(module)
        for name, function in wanted.items():
            kept = originals.get(name)
            uses = calls.get((external.sym_name.data, name), ())
            if name in failures:
                self._replace(function, backend, failures[name], kept, uses)
            else:
                if self.keep_host_code:
                    why_not = _keep_host_code(function, backend, kept, uses, symbols)
                    if why_not is not None:
                        self.tell(
                            f"the host has no code for @{name} of target {backend.name}: {why_not}"
                        )
                _insert_binary(function, modules[name])
        for reason in dict.fromkeys(failures.values()):
            names = [name for name, each in failures.items() if each == reason]
            them = "them" if len(names) > 1 else "it"
            self.tell(f"{_failed(backend, names, reason)}; the host runs {them}")
        for each in functions.values():
            each.detach()
            each.erase()
        if external.originals is not None:
            external.originals.detach()

    def _replace(
        self,
        function: FuncOp,
        backend: ExternalBackend,
        reason: str,
        kept: FuncOp | None,
        calls: Sequence[CallOp],
    ) -> None:
        """Let the host do what a function could not be compiled for."""
        failed = _failed(backend, [function.sym_name.data], reason)
        if self.on_failure == ERROR:
            raise CodegenError(
                f"{failed}; set --on-external-failure=host to let the host run it"
            )
        if kept is None or kept.function_type != function.function_type:
            raise CodegenError(f"{failed}; the host cannot run it, as it was not kept")
        why_not = cannot_run(kept)
        if why_not is not None:
            raise CodegenError(f"{failed}; the host cannot run it either: {why_not}")
        for call in calls:
            inline_function(call, kept)


def _failed(backend: Backend, names: Sequence[str], reason: str) -> str:
    """Say which functions could not be compiled."""
    named = ", ".join(f"@{name}" for name in names[:TOLD])
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return f"target {backend.name} cannot compile {named}{more}: {reason}"


def is_compiled(function: FuncOp) -> bool:
    """Say whether a function of a `byoc.module` is one that is called from outside."""
    visibility = function.sym_visibility
    return visibility is None or visibility.data != "private"


def _calls(module: ModuleOp) -> dict[tuple[str, str], list[CallOp]]:
    """Return the calls of each external function, by target and name."""
    found: dict[tuple[str, str], list[CallOp]] = {}
    for function in graphs(module):
        for op in function.body.block.ops:
            if isinstance(op, CallOp):
                found.setdefault((op.target, op.function), []).append(op)
    return found


def _originals(external: ByocModuleOp) -> dict[str, FuncOp]:
    if external.originals is None:
        return {}
    return {
        each.sym_name.data: each
        for each in external.originals.body.block.ops
        if isinstance(each, FuncOp)
    }


def generate(
    external: ByocModuleOp,
    backend: ExternalBackend,
    functions: Mapping[str, FuncOp],
    context: CodegenContext,
) -> tuple[Mapping[str, ExternalModule], dict[str, str]]:
    """Return the modules of functions by name, and why there are none of the others."""
    before = _digest(external)
    modules: dict[str, ExternalModule] = {}
    failures: dict[str, str] = {}
    for done, (name, function) in enumerate(functions.items()):
        try:
            modules[name] = check_module(backend.codegen(function, context))
        except Exception as error:
            failures[name] = _reason(error)
        context.progress(f"{backend.name} functions", done + 1, len(functions))
    try:
        linked = dict(backend.link(modules, context)) if modules else {}
        if linked.keys() != modules.keys():
            raise CodegenError("link returned modules of other functions")
        modules = {name: check_module(each) for name, each in linked.items()}
    except Exception as error:
        failures |= dict.fromkeys(modules, _reason(error))
        modules = {}
    if _digest(external) != before:
        raise CodegenError(
            f"code generation of target {backend.name} changed the functions that it was given"
        )
    return modules, failures


def _digest(op: Operation) -> str:
    """Return a hash of everything that an op is."""
    return blake2b(str(op).encode(), digest_size=16).hexdigest()


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or "no reason given"
    return (
        text if isinstance(error, PartitaError) else f"{type(error).__name__}: {text}"
    )


def check_module(made: object) -> ExternalModule:
    """Return what code generation returned; raise `CodegenError` if it is no module."""
    if not isinstance(made, ExternalModule):
        raise CodegenError(
            f"expected code generation to return an ExternalModule, got {type(made).__name__}"
        )
    files = cast(object, made.files)
    if not isinstance(files, Mapping):
        raise CodegenError(f"expected files by name, got {type(files).__name__}")
    for name, content in cast(Mapping[object, object], files).items():
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise CodegenError(f"{name!r} is no name that a file can have")
        if not isinstance(content, bytes):
            raise CodegenError(
                f"expected the content of file {name} as bytes, got {type(content).__name__}"
            )
    weights = cast(tuple[object, ...], made.weights)
    for each in weights:
        if not isinstance(each, Weight):
            raise CodegenError(f"expected weights, got {type(each).__name__}")
        each.content()
    try:
        json.dumps(made.options)
    except (TypeError, ValueError) as error:
        raise CodegenError(f"expected options that JSON can hold: {error}") from None
    return made


def cannot_run(function: FuncOp) -> str | None:
    """Say why the host cannot run a function; `None` if it can."""
    host = make_backend(HOST)
    for op in function.body.block.ops:
        if op.results and not isinstance(op, ConstantOp):
            answer = host.supports(op)
            if isinstance(answer, Reject):
                return answer.reason
    return None


class _Symbols:
    """The functions of a module that are to be made, each of a name of its own."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.taken = {
            name.data for op in module.ops if (name := get_name_if_symbol(op))
        }

    def add(self, function: FuncOp, name: str) -> str:
        """Add a function, and return its name."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        function.sym_name = StringAttr(name)
        self.module.body.block.add_op(function)
        return name


def _keep_host_code(
    function: FuncOp,
    backend: Backend,
    kept: FuncOp | None,
    calls: Sequence[CallOp],
    symbols: _Symbols,
) -> str | None:
    """Add a function of the host that does what an external one does, and name it in the calls; say why not."""
    if kept is None or kept.function_type != function.function_type:
        return "it was not kept"
    why_not = cannot_run(kept)
    if why_not is not None:
        return why_not
    code = kept.clone()
    code.sym_visibility = StringAttr("private")
    code.attributes[HOST_CODE] = UnitAttr()
    name = symbols.add(code, f"{backend.name}_{function.sym_name.data}_host")
    for call in calls:
        call.host_code = SymbolRefAttr(name)
    return None


def _insert_binary(function: FuncOp, made: ExternalModule) -> None:
    binary = BinaryOp(
        function.sym_name.data,
        function.function_type,
        Files.of(made.files),
        [WeightAttr(each) for each in made.weights],
        made.options,
    )
    assert function.parent is not None
    function.parent.insert_op_before(binary, function)
