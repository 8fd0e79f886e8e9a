"""Options in text, such as those of `fuse-ops{max-depth=8}`, for what is a dataclass: passes and back ends."""

import re
from dataclasses import fields
from typing import Any, TypeVar, get_type_hints

from xdsl.utils.arg_spec import (
    ArgSpec,
    ArgSpecConvertible,
    ParameterListType,
    ParameterType,
)
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.hints import isa, type_repr

from partita.errors import OptionError, did_you_mean

KindT = TypeVar("KindT", bound=ArgSpecConvertible)


def configure(kind: type[KindT], spec: ArgSpec, label: str) -> KindT:
    """Make one of a kind with the options that text gives it; errors call it by the label.

    Raises `OptionError` for an option that does not exist, is missing, or is of another type.
    """
    given = spec.normalize_parameter_names().parameters
    options, types = _options(kind), get_type_hints(kind)
    for name, values in given.items():
        if name not in options:
            raise OptionError(
                f"{label} has no option {_spelled(name)}"
                f"{did_you_mean(_spelled(name), map(_spelled, options))}; {_listed(kind)}"
            )
        if not _fits(values, types[name]):
            raise OptionError(
                f"expected option {_spelled(name)} of {label} to be of type "
                f"{type_repr(types[name])}, got {', '.join(map(str, values)) or 'no value'}"
            )
    for name in sorted(kind.required_fields() - given.keys()):
        raise OptionError(f"{label} needs option {_spelled(name)}; {_listed(kind)}")
    try:
        return kind.from_spec(spec)
    except ValueError as error:
        raise OptionError(f"{label}: {error}") from None


BARE = re.compile(r"(?!true\b|false\b)[A-Za-z_][A-Za-z0-9_-]*")
"""Text that is an option's value without quotes."""

ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t"})


def spelled(thing: ArgSpecConvertible) -> str:
    """Return the text from which `configure` makes an equal pass or back end, as far as text can."""
    values = thing.spec().parameters
    options = [
        "=".join((_spelled(name), ",".join(map(_value, values[name]))))
        if values[name]
        else _spelled(name)
        for name in _options(type(thing))
        if name in values
    ]
    return f"{thing.name}{{{' '.join(options)}}}" if options else thing.name


def _value(value: ParameterType) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            if BARE.fullmatch(value):
                return value
            return f'"{value.translate(ESCAPES)}"'
        case _:
            return str(value)


def problem(error: ArgSpecParseError) -> str:
    """Return what is wrong with text that xDSL cannot read as options, without the lines that show where."""
    last = str(error).strip().splitlines()[-1].strip()
    if last == "Unknown token":
        return "unknown token; values that hold more than letters, digits, - and _ need double quotes"
    return last[:1].lower() + last[1:]


def _fits(values: ParameterListType, hint: Any) -> bool:
    """Say whether option values in text are a value of this type, as xDSL reads them."""
    if not values:
        return isa(None, hint)
    return isa(values, hint) or (len(values) == 1 and isa(values[0], hint))


def _options(kind: type[ArgSpecConvertible]) -> tuple[str, ...]:
    """Return the fields that text can set; one that Python alone sets is kept out of `repr`."""
    return tuple(each.name for each in fields(kind) if each.init and each.repr)


def _listed(kind: type[ArgSpecConvertible]) -> str:
    types = get_type_hints(kind)
    listed = [
        f"{_spelled(name)}: {type_repr(types[name])}{_default(getattr(kind, name, None))}"
        for name in _options(kind)
    ]
    return f"its options are {', '.join(listed)}" if listed else "it has none"


def _default(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return f" = {str(value).lower()}"
        case str():
            return f' = "{value}"'
        case _:
            return f" = {value}"


def _spelled(name: str) -> str:
    return name.replace("_", "-")
