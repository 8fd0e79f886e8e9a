"""Which function of a module is the one that an artifact runs."""

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from partita.analysis.diagnostics import fail
from partita.dialects.partita import ENTRY


def entry_of(module: ModuleOp, name: str | None = None) -> FuncOp:
    """Return the entry function: the one called `name`, or else the one that is marked, or the only public one.

    Raises `PassFailedException`, which lists the candidates, if that does not settle it.
    """
    functions = [each for each in module.ops if isinstance(each, FuncOp)]
    if name is not None:
        candidates = [each for each in functions if each.sym_name.data == name]
    else:
        public = [each for each in functions if not is_private(each)]
        candidates = [each for each in public if ENTRY in each.attributes] or public
    if len(candidates) == 1:
        return candidates[0]
    names = [each.sym_name.data for each in candidates or functions]
    wanted = "one entry function" if name is None else f"entry function @{name}"
    fail(
        module,
        f"expected {wanted}, got {', '.join(f'@{each}' for each in names) or 'none'}; set entry",
    )


def argument_attributes(function: FuncOp) -> tuple[dict[str, Attribute], ...]:
    """Return a copy of the attributes of each argument."""
    count = len(function.function_type.inputs)
    if function.arg_attrs is None:
        return tuple({} for _ in range(count))
    return tuple(dict(each.data) for each in function.arg_attrs)


def set_argument_attributes(
    function: FuncOp, attributes: tuple[dict[str, Attribute], ...]
) -> None:
    """Replace the attributes of all arguments."""
    if any(attributes):
        function.arg_attrs = ArrayAttr(DictionaryAttr(each) for each in attributes)
    else:
        function.arg_attrs = None


def is_private(function: FuncOp) -> bool:
    """Say whether nothing outside its module can call a function."""
    visibility = function.sym_visibility
    return visibility is not None and visibility.data == "private"
