"""C code means what relay means: every op in every variant.

Cases are compiled together, many to one source file.
"""

from collections.abc import Iterator, Sequence

import pytest
from relay_cases import CASES, Case, assert_close, joined
from xdsl.dialects.func import FuncOp

from partita.interpreters.scalar import Array
from partita.runtime import Machine
from partita.runtime.loaders import LoaderContext
from partita.runtime.loaders.c import load
from partita.runtime.plan import TensorSpec
from partita.runtime.tensors import aligned_empty
from partita.targets.backend import CodegenContext
from partita.targets.c import C

GROUP = 90
"""Cases in one source file."""

GROUPS = [CASES[first : first + GROUP] for first in range(0, len(CASES), GROUP)]

FAST = C(flags="-O1 -Wall -Wextra -Werror -pedantic")
"""Cases are small: what takes time is to compile them."""


def specs(arrays: Sequence[Array]) -> list[TensorSpec]:
    return [
        TensorSpec(f"x{position}", each.dtype.name, each.shape)
        for position, each in enumerate(arrays)
    ]


def run(
    backend: C, function: FuncOp, inputs: Sequence[Array], outputs: Sequence[Array]
) -> None:
    """Compile a function, and fill outputs of the shapes and dtypes that it gives."""
    context = CodegenContext(Machine.host())
    name = function.sym_name.data
    made = backend.link({name: backend.codegen(function, context)}, context)[name]
    weights = [each.content() for each in made.weights]
    module = load(
        made.files,
        specs(inputs),
        specs(outputs),
        weights,
        made.options,
        LoaderContext(),
    )
    module(inputs, outputs)


def check(backend: C, cases: Sequence[Case]) -> None:
    """Compile cases, run them, and compare; report every case that differs."""
    (function,) = joined(cases).ops
    assert isinstance(function, FuncOp)
    before = str(function)
    inputs = [case.inputs() for case in cases]
    expected = [case.expected(given) for case, given in zip(cases, inputs, strict=True)]
    outputs = [
        aligned_empty(each.shape, each.dtype) for one in expected for each in one
    ]
    run(backend, function, [each for one in inputs for each in one], outputs)
    assert str(function) == before
    results: Iterator[Array] = iter(outputs)
    failed: list[str] = []
    for case, want in zip(cases, expected, strict=True):
        try:
            assert_close([next(results) for _ in want], want)
        except AssertionError as error:
            failed.append(f"{case}: {error}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(group, marks=[pytest.mark.full] if i % 3 else [], id=str(group[0]))
        for i, group in enumerate(GROUPS)
    ],
)
def test_every_op(cases: Sequence[Case]) -> None:
    check(FAST, cases)


def test_optimized() -> None:
    """What our own flags allow changes no result beyond tolerance."""
    check(C(), CASES[::8])


@pytest.mark.full
def test_weights_as_tables() -> None:
    check(C(flags=FAST.flags, weights="table"), CASES[::8])
