"""How exact the polynomials of the host are: on samples of all floats, against double precision."""

import ctypes
import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from partita.runtime import Machine
from partita.runtime.objects import LoadedObjects
from partita.targets.host import polynomials
from partita.targets.host.emitter import Emitter, Value
from partita.targets.host.native import Compiler
from partita.targets.host.processors import machine_named

F32 = np.dtype(np.float32)
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

LANES = (1, 4, 16)

_erf = np.vectorize(math.erf, otypes=[np.float64])

EXACT: dict[str, Callable[[Doubles], Doubles]] = {
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "erf": _erf,
}

ULPS = {"exp": 1.5, "log": 1.0, "tanh": 1.5, "erf": 3.0}
"""The bounds that the module states."""

CPUS = ["native", "x86-64"] if Machine.host().architecture == "x86_64" else ["native"]
"""This processor, and one without fused multiplication."""

LOOP = """
define void @{name}(ptr %x, ptr %y, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %to = getelementptr float, ptr %y, i64 %i
  %v = load {type}, ptr %from, align 4
{body}
  store {result}, ptr %to, align 4
  %next = add i64 %i, {lanes}
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


class Functions:
    """Each function in each number of lanes, over arrays."""

    def __init__(self, cpu: str):
        declarations: dict[str, str] = {}
        loops = {
            f"{name}{lanes}": self._loop(name, lanes, declarations)
            for name in EXACT
            for lanes in LANES
        }
        text = "\n".join((*declarations.values(), *loops.values()))
        code = Compiler(machine_named(cpu=cpu)).compile(text)
        self._objects = LoadedObjects({"math": code}, dict.fromkeys(loops, "math"))

    @staticmethod
    def _loop(name: str, lanes: int, declarations: dict[str, str]) -> str:
        emitter = Emitter(declarations)
        value = Value("%v", "float", lanes)
        result = emitter.helper(name, value, getattr(polynomials, name))
        return LOOP.format(
            name=f"{name}{lanes}",
            type=value.vector_type,
            body="\n".join(emitter.lines),
            result=result,
            lanes=lanes,
        )

    def __call__(self, name: str, lanes: int, x: Floats) -> Floats:
        padded = np.zeros(-(-x.size // lanes) * lanes, F32)
        padded[: x.size] = x
        result = np.empty_like(padded)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        function = kind(self._objects[f"{name}{lanes}"])
        function(padded.ctypes.data, result.ctypes.data, padded.size)
        return result[: x.size]


functions = cache(Functions)


def from_bits(bits: range) -> Floats:
    """Return the floats of these bits."""
    count = np.arange(len(bits), dtype=np.uint64)
    return (count * bits.step + bits.start).astype(np.uint32).view(np.float32)


def floats(step: int) -> Floats:
    """Return every so manieth float: each binade of both signs, denormals, infinities and NaN among them."""
    return from_bits(range(0, 1 << 32, step))


def between(low: float, high: float, count: int) -> Floats:
    return np.linspace(low, high, count).astype(F32)


def check(cpu: str, name: str, lanes: int, x: Floats) -> None:
    """Compare with double precision."""
    with np.errstate(all="ignore"):
        exact = EXACT[name](x.astype(np.float64))
        rounded = exact.astype(F32)
    got = functions(cpu)(name, lanes, x)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(rounded))
    kept = ~np.isnan(rounded)
    np.testing.assert_array_equal(np.signbit(got[kept]), np.signbit(rounded[kept]))
    finite = np.isfinite(rounded)
    # The largest results may be rounded to infinity, and back.
    near = np.abs(exact) > np.finfo(F32).max * (1 - 2e-7)
    odd = (np.isinf(got) != np.isinf(rounded)) & kept & ~near
    assert not odd.any(), x[odd][:5]
    kept = finite & np.isfinite(got)
    if not kept.any():
        return
    error = np.abs(got[kept].astype(np.float64) - exact[kept])
    unit = np.spacing(np.abs(rounded[kept])).astype(np.float64)
    allowed = ULPS[name] * unit
    if name == "erf":
        assert error.max(initial=0) <= 2e-7
        tiny = np.finfo(F32).tiny
        allowed = np.where(np.abs(exact[kept]) < 2 * tiny, 64 * unit, allowed)
    worst = int(np.argmax(error - allowed))
    assert error[worst] <= allowed[worst], (
        f"{name}({x[kept][worst]!r}): {error[worst] / unit[worst]} ulp"
    )


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("name", EXACT)
def test_all_binades(name: str, lanes: int, cpu: str) -> None:
    check(cpu, name, lanes, floats(50_021 if name == "erf" else 5_003))


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("exp", -104, 89),
        ("exp", -1, 1),
        ("log", 0.5, 2.5),
        ("log", 0.99, 1.01),
        ("tanh", -2, 2),
        ("tanh", 0.6, 0.65),
        ("erf", -4.5, 4.5),
        ("erf", 0.9, 1.1),
    ],
)
def test_where_they_are_interesting(
    name: str, low: float, high: float, lanes: int, cpu: str
) -> None:
    check(cpu, name, lanes, between(low, high, 100_000))


@pytest.mark.full
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("first", range(8))
@pytest.mark.parametrize("name", EXACT)
def test_many_floats(name: str, first: int, cpu: str) -> None:
    check(cpu, name, 16, from_bits(range(first << 29, (first + 1) << 29, 521)))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("cpu", CPUS)
def test_limits(cpu: str, lanes: int) -> None:
    inf, nan = math.inf, math.nan
    limits = {
        "exp": [(0, 1), (-0.0, 1), (inf, inf), (-inf, 0), (90, inf), (-105, 0)],
        "log": [(1, 0), (0, -inf), (-0.0, -inf), (-1, nan), (inf, inf), (-inf, nan)],
        "tanh": [(0, 0), (-0.0, -0.0), (inf, 1), (-inf, -1), (20, 1), (-20, -1)],
        "erf": [(0, 0), (-0.0, -0.0), (inf, 1), (-inf, -1), (5, 1), (-5, -1)],
    }
    for name, pairs in limits.items():
        x, y = (np.array(each, F32) for each in zip(*pairs, (nan, nan), strict=True))
        got = functions(cpu)(name, lanes, x)
        np.testing.assert_array_equal(got, y)
        kept = ~np.isnan(y)
        np.testing.assert_array_equal(np.signbit(got[kept]), np.signbit(y[kept]))


@pytest.mark.parametrize("name", ["exp", "tanh", "erf"])
def test_growing(name: str) -> None:
    """Where results differ by more than the error, they have the order of the arguments."""
    x = between(-5, 5, 2_000)
    y = functions("native")(name, 16, x)
    assert all(after >= before * (1 - 1e-6) - 1e-6 for before, after in pairwise(y))


def test_bounds_are_stated_once() -> None:
    """The page on the host has the table of the module."""
    page = (Path(__file__).parent.parent / "docs" / "host.md").read_text()
    table = [each for each in (polynomials.__doc__ or "").splitlines() if "|" in each]
    assert len(table) == len(EXACT) + 2
    assert "\n".join(table) in page
