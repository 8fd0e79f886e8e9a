"""Packages that only some options need."""

from importlib.util import find_spec

from partita.errors import OptionError


def need(package: str, option: str) -> None:
    """Raise `OptionError` if a package of the extra `viz` is missing."""
    if find_spec(package) is None:
        raise OptionError(f"{option} needs the package {package}; install partita[viz]")
