"""A module of functions over buffers as one C source file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from partita.analysis.over_buffers import check_over_buffers
from partita.dialects.partita import KERNEL
from partita.errors import CodegenError
from partita.targets.c.kernel import Kernel, emit_kernel
from partita.targets.c.names import Names, identifier
from partita.targets.c.region import (
    ARENA_NAME,
    Region,
    Weights,
    arena,
    emit_region,
    is_region,
)
from partita.targets.c.support import Support

INCLUDES = "\n".join(
    f"#include <{each}.h>" for each in ("math", "stdbool", "stdint", "string")
)


@dataclass(frozen=True)
class Program:
    """C source, and what those who call it need to know."""

    source: str
    """Self-contained: it includes nothing but headers of the C library."""

    declarations: str
    """Of the functions that others may call."""

    regions: tuple[Region, ...]


def emit_c(functions: Sequence[FuncOp], weights_as_tables: bool = False) -> Program:
    """Write functions over buffers in C: kernels as functions of the file, those that call them for others.

    Without functions that call others, all are for others. Raises `CodegenError` for what C
    cannot be made for, `WeightsError` for a table of a weight that is not loaded.
    """
    return emit_together((functions,), weights_as_tables)


def emit_together(
    modules: Iterable[Sequence[FuncOp]], weights_as_tables: bool = False
) -> Program:
    """Write the functions of several modules as `emit_c` does; kernels that are alike are there once."""
    names, support = Names((ARENA_NAME,)), Support()
    weights = Weights(weights_as_tables, names)
    kernels: dict[str, Kernel] = {}
    regions: list[FuncOp] = []
    written: list[Region] = []
    for module in modules:
        functions = [each for each in module if not each.is_declaration]
        for each in functions:
            check_over_buffers(each)
        callers = [each for each in functions if is_region(each)]
        own: dict[str, Kernel] = {}
        for each in functions:
            if each in callers:
                continue
            static = bool(callers) or KERNEL in each.attributes
            kernel = _emit_kernel(each, kernels, names, support, static)
            own[each.sym_name.data] = kernels[kernel.name] = kernel
        for each in callers:
            name = names.unique(each.sym_name.data, "region")
            written.append(emit_region(each, name, own, weights))
        regions += callers
    public = [
        *(
            f"{each.declaration};"
            for each in kernels.values()
            if not each.declaration.startswith("static ")
        ),
        *(
            f"{text};"
            for each in written
            for text in (each.declaration, each.runner_declaration)
        ),
    ]
    parts = [
        INCLUDES,
        "\n".join(public),
        support.text,
        "\n".join(weights.tables),
        arena(regions),
        *(each.text for each in kernels.values()),
        *(each.text for each in written),
    ]
    return Program(
        "\n\n".join(filter(None, parts)) + "\n",
        "\n".join(public),
        tuple(written),
    )


def _emit_kernel(
    function: FuncOp,
    known: Mapping[str, Kernel],
    names: Names,
    support: Support,
    static: bool,
) -> Kernel:
    """Write a kernel, unless there is one that is like it, and was called the same."""
    symbol = function.sym_name.data
    before = known.get(identifier(symbol, "kernel"))
    if before is not None:
        again = emit_kernel(function, before.name, support, static)
        if again.is_like(before):
            return before
    return emit_kernel(function, names.unique(symbol, "kernel"), support, static)


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """Return the functions of a module that have a body; raise `CodegenError` if there are none."""
    functions = [
        each
        for each in module.body.block.ops
        if isinstance(each, FuncOp) and not each.is_declaration
    ]
    if not functions:
        raise CodegenError("expected functions to make C of, got none")
    return functions
