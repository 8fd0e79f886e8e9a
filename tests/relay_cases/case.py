"""An op on random inputs, and how results of two levels compare.

A case gives

- `case.module()`: a module of one function `@main`, marked `partita.entry`, whose arguments are the
  inputs `%x0`, `%x1`, … and whose results are the op's; `module(kernel=True)` marks it `partita.kernel` instead;
- `case.inputs(seed)`: numpy arrays for it, the same for the same seed;
- `case.expected(inputs)`: what the relay interpreter gives on them;
- `assert_close(actual, expected)`: equal dtype and shape, integers equal, floats to 1e-5
  of the range (`f16`: to its precision), NaN and infinities at the same places.

An argument that is an array is no input but a `relay.constant` inside the function.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp

from partita.dialects import relay
from partita.dialects.partita import ENTRY, KERNEL
from partita.interpreters import interpret
from partita.interpreters.scalar import Array
from partita.shapes import Shape, element_type, tensor_of

Build = Callable[..., relay.RelayOp]


@dataclass(frozen=True)
class Input:
    """A random array: uniform in a range (as far as the type goes), or bools."""

    shape: Shape
    dtype: str = "float32"
    low: float = -2.0
    high: float = 2.0
    special: bool = False
    """Whether some elements are NaN, infinities and zeros of both signs, or extreme integers."""

    def array(self, rng: np.random.Generator) -> Array:
        dtype = np.dtype(self.dtype)
        if dtype.kind == "b":
            return rng.random(self.shape) < 0.5
        if dtype.kind == "f":
            array = rng.uniform(self.low, self.high, self.shape).astype(dtype)
            values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], dtype)
        else:
            info = np.iinfo(dtype)
            low, high = max(int(self.low), info.min), min(int(self.high), info.max)
            array = rng.integers(low, high, self.shape, dtype, endpoint=True)
            values = np.array([info.min, info.max, 0, 1], dtype)
        if self.special and array.size:
            flat = array.reshape(-1)
            at = rng.permutation(flat.size)[: max(len(values), flat.size // 3)]
            flat[at] = rng.permutation(np.resize(values, len(at)))
        return array


@dataclass(frozen=True)
class Case:
    """An op on inputs."""

    name: str
    """Op, variant and element type."""

    arguments: tuple[Input | Array, ...]
    """Inputs and constants."""

    build: Build
    """Values of the arguments to the op; ops that it makes on the way are part of the function."""

    def __str__(self) -> str:
        return self.name

    @property
    def random(self) -> tuple[Input, ...]:
        """The arguments that are inputs."""
        return tuple(each for each in self.arguments if isinstance(each, Input))

    def module(self, kernel: bool = False) -> ModuleOp:
        """Make a module of one function."""
        types = [
            tensor_of(each.shape, element_type(np.dtype(each.dtype)))
            for each in self.random
        ]
        function = FuncOp("main", (types, ()))
        block = function.body.block
        for index, argument in enumerate(block.args):
            argument.name_hint = f"x{index}"
        with ImplicitBuilder(block):
            inputs = iter(block.args)
            op = self.build(
                *(
                    next(inputs)
                    if isinstance(each, Input)
                    else relay.ConstantOp.of(each).result
                    for each in self.arguments
                )
            )
            ReturnOp(*op.results)
        function.update_function_type()
        function.attributes[KERNEL if kernel else ENTRY] = UnitAttr()
        return ModuleOp([function])

    def inputs(self, seed: int = 0) -> tuple[Array, ...]:
        """Make inputs."""
        rng = np.random.default_rng([seed, *self.name.encode()])
        return tuple(each.array(rng) for each in self.random)

    def expected(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Return what relay means."""
        return interpret(self.module(), inputs)

    def slack(self, inputs: Sequence[Array]) -> float:
        """Return 1e-5 of the largest float on the way to the results.

        A graph may cancel nearly all of its values: what is left is as wrong as they were.
        """
        module = self.module()
        (function,) = module.ops
        assert isinstance(function, FuncOp)
        block = function.body.block
        end = block.last_op
        assert end is not None
        end.operands = [value for op in block.ops for value in op.results]
        function.update_function_type()
        values = [
            value[np.isfinite(value.astype(np.float64))].astype(np.float64)
            for value in interpret(module, inputs)
            if value.dtype.kind == "f"
        ]
        return 1e-5 * max(
            (float(np.max(np.abs(value), initial=0.0)) for value in values), default=0.0
        )


def assert_close(
    actual: Sequence[Array], expected: Sequence[Array], slack: float = 0.0
) -> None:
    """Compare results of two levels; floats may differ by `slack` besides."""
    assert len(actual) == len(expected)
    for got, want in zip(actual, expected, strict=True):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        if want.dtype.kind != "f":
            np.testing.assert_array_equal(got, want)
            continue
        finite = want[np.isfinite(want)].astype(np.float64)
        scale = float(np.max(np.abs(finite), initial=0.0))
        tolerance = 2e-3 if want.dtype.itemsize == 2 else 1e-5
        np.testing.assert_allclose(
            got.astype(np.float64),
            want.astype(np.float64),
            rtol=0,
            atol=tolerance * max(scale, 1e-6) + slack,
        )


FLOATS = ("float32", "float64", "float16")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
NUMBERS = (*FLOATS, *INTEGERS)


def case(
    op: type[relay.RelayOp],
    variant: str,
    *arguments: Input | Array,
    **attributes: object,
) -> Case:
    """Make a case of an op's constructor with these attributes."""
    stem = op.name.removeprefix("relay.")
    name = f"{stem}-{variant}" if variant else stem
    return Case(name, arguments, partial(op, **attributes))
