"""Which back ends there are: ours, and those of other packages.

Another package registers a back end as an entry point of the group `partita.targets`, whose name is the back end's and
whose value is its class. One that cannot be imported, or is no back end, is only an error to whoever asks for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from inspect import isclass

from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError

from partita.errors import OptionError, did_you_mean
from partita.targets.backend import Backend, ExternalBackend
from partita.targets.c import C
from partita.targets.host import Host
from partita.targets.onednn import OneDnn
from partita.targets.onnxruntime import OnnxRuntime
from partita.transforms.options import configure, problem, spelled

ALL_BACKENDS: tuple[type[Backend], ...] = (Host, C, OnnxRuntime, OneDnn)
"""Ours."""

ENTRY_POINTS = "partita.targets"
"""The group in which other packages name their back ends."""


@dataclass(frozen=True)
class Plugin:
    """A back end of another package: its class, or what is wrong with it."""

    name: str
    kind: type[Backend] | None
    problem: str = ""


@cache
def plugins() -> tuple[Plugin, ...]:
    """Return the back ends of other packages, imported once in a process; none is fatal."""
    ours = {each.name for each in ALL_BACKENDS}
    return tuple(_plugin(each, ours) for each in entry_points(group=ENTRY_POINTS))


def _plugin(point: EntryPoint, ours: Iterable[str]) -> Plugin:
    package = "" if point.dist is None else f" of package {point.dist.name}"
    if point.name in ours:
        return Plugin(point.name, None, f"target {point.name}{package} is ours already")
    try:
        found: object = point.load()
    except Exception as error:
        reason = " ".join(str(error).split()) or "no reason given"
        return Plugin(
            point.name,
            None,
            f"target {point.name}{package} cannot be imported: {type(error).__name__}: {reason}",
        )
    if not isclass(found) or not issubclass(found, Backend):
        return Plugin(
            point.name,
            None,
            f"expected target {point.name}{package} to be a subclass of Backend, got {found!r}",
        )
    if getattr(found, "name", None) != point.name:
        return Plugin(
            point.name,
            None,
            f"expected target {point.name}{package} to have this name, got {getattr(found, 'name', None)}",
        )
    return Plugin(point.name, found)


def backends() -> Iterator[type[Backend]]:
    """Yield every back end that can be imported."""
    yield from ALL_BACKENDS
    yield from (each.kind for each in plugins() if each.kind is not None)


def make_backend(spec: Backend | str) -> Backend:
    """Return a back end, from itself or from text such as `host{cache="none"}`.

    Raises `OptionError` for a name or an option that does not exist, for a back end of another
    package that is broken, and for one that cannot work here, with what to do about it.
    """
    made = spec if isinstance(spec, Backend) else _parse(spec)
    reason = made.unavailable()
    if reason is not None:
        raise OptionError(f"target {made.name} is not available: {reason}")
    return made


def _parse(text: str) -> Backend:
    try:
        parsed = parse_spec(text)
    except ArgSpecParseError as error:
        raise OptionError(f"cannot read target {text!r}: {problem(error)}") from None
    for each in ALL_BACKENDS:
        if each.name == parsed.name:
            return configure(each, parsed, f"target {parsed.name}")
    for plugin in plugins():
        if plugin.name == parsed.name:
            if plugin.kind is None:
                raise OptionError(plugin.problem)
            return configure(plugin.kind, parsed, f"target {parsed.name}")
    known = [each.name for each in backends()]
    raise OptionError(
        f"unknown target {parsed.name}{did_you_mean(parsed.name, known)}; "
        f"choose from {', '.join(known)}"
    )


def make_backends(
    specs: Sequence[Backend | str], made: Sequence[Backend] = ()
) -> tuple[Backend, ...]:
    """Return the back ends in order, those that are `made` already wherever their text is given.

    Raises `OptionError` as `make_backend` does, and for a target given twice.
    """
    by_text = {spelled(each): each for each in made}
    found = tuple(
        by_text[each]
        if isinstance(each, str) and each in by_text
        else make_backend(each)
        for each in specs
    )
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"expected each target once, got {name} twice")
    return found


def external_backends(
    specs: Sequence[str], made: Sequence[Backend] = ()
) -> Mapping[str, ExternalBackend]:
    """Return those of the back ends that run regions of their own, by name and in order."""
    return {
        each.name: each
        for each in make_backends(specs, made)
        if isinstance(each, ExternalBackend)
    }
