"""A module of functions over buffers as one C source file."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from partita.analysis.over_buffers import check_over_buffers
from partita.dialects.partita import KERNEL
from partita.errors import CodegenError
from partita.targets.c.kernel import Kernel, emit_kernel
from partita.targets.c.names import Names
from partita.targets.c.region import Region, Weights, emit_region, is_region
from partita.targets.c.support import Support
from partita.weights import Weight

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

    weights: tuple[Weight, ...]
    """What a caller passes as `weights`, in this order."""


def emit_c(functions: Sequence[FuncOp], weights_as_tables: bool = False) -> Program:
    """Write functions over buffers in C: kernels as functions of the file, those that call them for others.

    Without functions that call others, all are for others. Raises `CodegenError` for what C
    cannot be made for, `WeightsError` for a table of a weight that is not loaded.
    """
    functions = [each for each in functions if not each.is_declaration]
    for each in functions:
        check_over_buffers(each)
    names, support = Names(), Support()
    regions = [each for each in functions if is_region(each)]
    kernels: dict[str, Kernel] = {}
    for each in functions:
        if each not in regions:
            symbol = each.sym_name.data
            static = bool(regions) or KERNEL in each.attributes
            name = names.unique(symbol, "kernel")
            kernels[symbol] = emit_kernel(each, name, support, static)
    weights = Weights(weights_as_tables, names)
    written = [
        emit_region(each, names.unique(each.sym_name.data, "region"), kernels, weights)
        for each in regions
    ]
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
        *(each.text for each in kernels.values()),
        *(each.text for each in written),
    ]
    return Program(
        "\n\n".join(filter(None, parts)) + "\n",
        "\n".join(public),
        tuple(written),
        tuple(weights.passed),
    )


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
