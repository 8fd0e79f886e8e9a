"""Run passes one after the other, each shown only what it may see.

Not a pass itself: what `partita-opt`, the driver and passes that run other passes use
in place of xDSL's `PassPipeline`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.arg_spec import parse_pipeline as parse_specs
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ShrinkException,
)

from partita.analysis.verification import verify
from partita.dialects.partita import IsolatedFromHost
from partita.errors import (
    InternalError,
    OptionError,
    PartitaError,
    PassError,
    did_you_mean,
)
from partita.transforms.options import configure, problem

AvailablePasses = Mapping[str, Callable[[], type[ModulePass]]]
"""Passes by name, loaded when they are called, as `xdsl.universe` has them."""


class TargetAware:
    """Mark of a pass that is shown the ops of other targets; a base beside `ModulePass`."""


class Observer:
    """Watch a pipeline run; override what matters."""

    def before(self, each: ModulePass, module: ModuleOp) -> None:
        """See the whole module before a pass."""

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        """See the whole module after a pass, and how long the pass itself took."""

    def inside(self, each: ModulePass, part: str) -> "Observer | None":
        """Return who watches the passes that a pass runs on a part of the module, called `part`; by default nobody."""
        return None


class RunsPasses(ABC):
    """Mark of a pass that runs others on a part of the module; a base beside `ModulePass`."""

    @property
    @abstractmethod
    def part(self) -> str:
        """What people call the part."""

    @abstractmethod
    def nested(self) -> tuple[ModulePass, ...]:
        """Return the passes that it runs."""

    @abstractmethod
    def run(
        self, ctx: Context, module: ModuleOp, observers: "tuple[Observer, ...]"
    ) -> None:
        """Do what `apply` does, watched."""


@dataclass(frozen=True)
class Verifier(Observer):
    """Refuse what a pass left behind if it does not verify, dominance included."""

    passes: Container[str] | None = None
    """Names of the passes to verify after; all if `None`."""

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        if self.passes is None or each.name in self.passes:
            with _blame(f"after {each.name}"):
                verify(module)

    def inside(self, each: ModulePass, part: str) -> Observer:
        return self


@dataclass(frozen=True)
class Pipeline:
    """Passes in order, and who watches them."""

    passes: tuple[ModulePass, ...]

    observers: tuple[Observer, ...] = ()

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Run the passes.

        Around each pass that is not `TargetAware`, ops with the trait `IsolatedFromHost`
        are taken out of the module, and put back at the same places even if the pass fails.
        Observers see them.

        What a pass raises about its input (`DiagnosticException`, `PartitaError`) is passed
        on with a note that names the pass; anything else becomes an `InternalError`.
        """
        for each in self.passes:
            for observer in self.observers:
                observer.before(each, module)
            start = perf_counter()
            with _blame(f"in {each.name}"):
                if isinstance(each, RunsPasses):
                    inside = (o.inside(each, each.part) for o in self.observers)
                    each.run(ctx, module, tuple(o for o in inside if o is not None))
                elif isinstance(each, TargetAware):
                    each.apply(ctx, module)
                else:
                    with _isolated(module):
                        each.apply(ctx, module)
            seconds = perf_counter() - start
            for observer in self.observers:
                observer.after(each, module, seconds)


BLAME = "blamed pass: "
"""What the note on an error begins with that says where in a pipeline it was raised."""


@contextmanager
def _blame(place: str) -> Generator[None]:
    try:
        yield
    except (DiagnosticException, PartitaError) as error:
        error.add_note(BLAME + place)
        raise
    except ShrinkException:
        raise
    except Exception as error:
        message = f"internal error: {type(error).__name__}: {error}"
        internal = InternalError(message)
        internal.add_note(BLAME + place)
        raise internal from error


@contextmanager
def _isolated(module: ModuleOp) -> Generator[None]:
    """Take the ops of other targets out of a module, and put them back."""
    taken = tuple(_take_out(module))
    try:
        yield
    finally:
        for each in taken:
            each.put_back()
    if not all(module.is_ancestor(each.container) for each in taken):
        raise PassError("expected a module that holds code of other targets to be kept")


@dataclass(frozen=True)
class _Taken:
    """What was taken out of one module, and where it stood."""

    container: ModuleOp
    order: tuple[Operation, ...]
    """All ops of the container before."""
    places: tuple[int, ...]
    """Which of them were taken."""

    def put_back(self) -> None:
        """Insert each op beside the nearest of its old neighbours that still stands there."""
        block = self.container.body.block
        for place in self.places:
            op = self.order[place]
            for distance in range(1, len(self.order)):
                before, after = place - distance, place + distance
                if before >= 0 and self.order[before].parent is block:
                    block.insert_ops_after((op,), self.order[before])
                    break
                if after < len(self.order) and self.order[after].parent is block:
                    block.insert_ops_before((op,), self.order[after])
                    break
            else:
                block.add_op(op)


def _take_out(module: ModuleOp) -> Iterator[_Taken]:
    containers = [module]
    while containers:
        container = containers.pop()
        order = tuple(container.body.block.ops)
        places = tuple(
            place for place, op in enumerate(order) if op.has_trait(IsolatedFromHost)
        )
        for place in places:
            order[place].detach()
        if places:
            yield _Taken(container, order, places)
        containers.extend(op for op in order if isinstance(op, ModuleOp))


def parse_passes(text: str, available: AvailablePasses) -> tuple[ModulePass, ...]:
    """Make the passes that a pipeline such as `fuse-ops{max-depth=8},dce` names; it may be broken into lines.

    Raises `OptionError` for text that is no pipeline, and for passes and options that do
    not exist, with the nearest that do.
    """
    try:
        specs = tuple(parse_specs("".join(map(str.strip, text.splitlines()))))
    except ArgSpecParseError as error:
        raise OptionError(f"cannot read pipeline {text!r}: {problem(error)}") from None
    return tuple(_make_pass(spec, available) for spec in specs)


def _make_pass(spec: ArgSpec, available: AvailablePasses) -> ModulePass:
    if spec.name not in available:
        raise OptionError(
            f"unknown pass {spec.name}{did_you_mean(spec.name, available)}"
        )
    return configure(available[spec.name](), spec, f"pass {spec.name}")
