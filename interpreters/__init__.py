"""What each level means, on numpy arrays."""

from collections.abc import Mapping, Sequence
from typing import cast, overload

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from partita.dialects.relay import OnnxGraphOp, OnnxNodeOp, RelayOp
from partita.errors import InputError
from partita.interpreters.byoc import BYOC
from partita.interpreters.module import (
    Impl,
    Interpreter,
    argument_names,
    names_of,
    run_function,
)
from partita.interpreters.relay import RELAY, evaluate
from partita.interpreters.te import TE
from partita.interpreters.tir import TIR
from partita.weights import Array


def _relay(
    op: Operation, operands: tuple[Array, ...], _: Interpreter
) -> tuple[Array, ...]:
    return evaluate(cast(RelayOp, op), operands)


TABLES: tuple[Mapping[type[Operation], Impl], ...] = (
    dict.fromkeys((*RELAY, OnnxNodeOp, OnnxGraphOp), _relay),
    BYOC,
    TE,
    TIR,
)
"""What the ops of each level mean."""


def interpreter(module: ModuleOp) -> Interpreter:
    """Make an interpreter of a module at any level, or of several at once."""
    return Interpreter(
        module, {op: impl for table in TABLES for op, impl in table.items()}
    )


@overload
def interpret(
    module: ModuleOp, inputs: Mapping[str, Array], entry: str | None = None
) -> dict[str, Array]: ...


@overload
def interpret(
    module: ModuleOp, inputs: Sequence[Array], entry: str | None = None
) -> tuple[Array, ...]: ...


def interpret(
    module: ModuleOp,
    inputs: Mapping[str, Array] | Sequence[Array],
    entry: str | None = None,
) -> dict[str, Array] | tuple[Array, ...]:
    """Run a function on inputs: by name, which gives results by name, or in order, which gives them in order.

    Names are `partita.name`, else those of the text, else positions. Where functions write to memory, the
    last arguments are results. Raises `InputError` if inputs do not fit, `IRError` if the module cannot be run.
    """
    runner = interpreter(module)
    function = runner.entry(entry)
    if not isinstance(inputs, Mapping):
        return run_function(runner, function, inputs)
    names = argument_names(function)
    wanted = names[: len(inputs)]
    if set(wanted) != set(inputs):
        raise InputError(
            f"expected inputs {', '.join(names)}, got {', '.join(inputs) or 'none'}"
        )
    results = run_function(runner, function, [inputs[name] for name in wanted])
    returned = len(function.function_type.outputs)
    labels = (*names_of(function.res_attrs, [None] * returned), *names[len(inputs) :])
    return dict(zip(labels, results, strict=True))


__all__ = ["TABLES", "Impl", "Interpreter", "evaluate", "interpret", "interpreter"]
