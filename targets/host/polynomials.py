"""exp, log, tanh and erf in single precision, without branches or tables, for any number of lanes.

| function | error in units of the last place, at most | on |
|---|---|---|
| exp | 1.5 | all results, denormal ones too |
| log | 1 | all positive numbers |
| tanh | 1.5 | all numbers |
| erf | 3, and 2e-7 absolute | all numbers; near denormal results 64 units |

`tests/test_host_math.py` measures them. NaN gives NaN, infinities give their limits,
zeros keep their signs. Multiplications and additions are fused where the processor can.
Reductions and coefficients of exp, log and tanh are those of Moshier's Cephes library
(single precision); erf is `x * P(x * x)` below 1 and `1 - exp(Q(x))` from there on.
"""

from collections.abc import Sequence

from partita.targets.host.emitter import Emitter, Value

F32 = "float"

EXP = (
    1.9875691500e-4,
    1.3981999507e-3,
    8.3334519073e-3,
    4.1665795894e-2,
    1.6666665459e-1,
    5.0000001201e-1,
)
LOG = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
TANH = (
    -5.70498872745e-3,
    2.06390887954e-2,
    -5.37397155531e-2,
    1.33314422036e-1,
    -3.33332819422e-1,
)
ERF = (
    7.853861353153693e-5,
    -8.010193625184903e-4,
    5.188327685732524e-3,
    -2.685381193529856e-2,
    1.128358514861418e-1,
    -3.761262582423300e-1,
    1.128379165726710e0,
)
LOG_ERFC = (
    1.639938045702725e-6,
    -4.6112914479519475e-5,
    5.972644379346062e-4,
    -4.761717258065271e-3,
    2.6427043834778896e-2,
    -1.1009019757280725e-1,
    -6.318156994669097e-1,
    -1.1302392014843885e0,
    3.214710427901224e-4,
)
"""Highest power first: the logarithm of `1 - erf` on [1, 4], interpolated at Chebyshev nodes of [0.98, 4]."""

LN2_HIGH, LN2_LOW = 0.693359375, -2.12194440e-4
ROUNDER = 1.5 * 2.0**23
BIAS = 127
SQRT_HALF = 0.707106781186547524
LOG2_E = 1.44269504088896341


class _Arithmetic:
    """Float arithmetic in the lanes of one value."""

    def __init__(self, emitter: Emitter, lanes: int):
        self.emitter = emitter
        self.lanes = lanes

    def number(self, value: float) -> Value:
        constant = self.emitter.constant(value, F32)
        return self.emitter.splat(constant, self.lanes)

    def add(self, a: Value, b: Value) -> Value:
        return self.emitter.binary("fadd contract", a, b)

    def subtract(self, a: Value, b: Value) -> Value:
        return self.emitter.binary("fsub contract", a, b)

    def multiply(self, a: Value, b: Value) -> Value:
        return self.emitter.binary("fmul contract", a, b)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """Return `a * b + c`, in one step if that is fast."""
        return self.emitter.intrinsic("fmuladd", a, b, c)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        return self.emitter.binary(f"fcmp {predicate}", a, b, "i1")

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """Horner's rule, highest power first."""
        result = self.number(coefficients[0])
        for coefficient in coefficients[1:]:
            result = self.fma(result, x, self.number(coefficient))
        return result

    def scale(self, x: Value, biased: Value) -> Value:
        """Multiply by 2 to an integer (`i32`), whose lowest nine bits hold it plus the bias of exponents."""
        emitter = self.emitter
        bits = emitter.binary("shl", biased, emitter.constant(23, "i32"))
        return emitter.binary("fmul", x, emitter.convert("bitcast", bits, F32))


def exp(emitter: Emitter, x: Value) -> Value:
    """`2^n * P(x - n ln 2)`, with the power applied in two halves for denormal results.

    Comparisons keep a NaN, which then stays one whatever it is multiplied by.
    """
    m = _Arithmetic(emitter, x.lanes)
    low, high = m.number(-104.0), m.number(89.0)
    inside = emitter.select(m.compare("olt", high, x), high, x)
    inside = emitter.select(m.compare("ogt", low, inside), low, inside)
    p, bits = _parts_of_exp(m, inside, 2 * BIAS)
    half = emitter.binary("lshr", bits, emitter.constant(1, "i32"))
    rest = emitter.binary("sub", bits, half)
    return m.scale(m.scale(p, half), rest)


def _normal_exp(m: _Arithmetic, x: Value) -> Value:
    """Compute exp on [-87, 88], where results are normal numbers, and of NaN."""
    return m.scale(*_parts_of_exp(m, x, BIAS))


def _parts_of_exp(m: _Arithmetic, x: Value, bias: int) -> tuple[Value, Value]:
    """Return `P(x - n ln 2)`, and an integer (`i32`) whose lowest bits are `n + bias`.

    To add `ROUNDER` rounds to an integer, which is then in the lowest bits of the sum.
    """
    rounder = m.number(ROUNDER + bias)
    shifted = m.fma(x, m.number(LOG2_E), rounder)
    n = m.subtract(shifted, rounder)
    r = m.fma(n, m.number(-LN2_HIGH), x)
    r = m.fma(n, m.number(-LN2_LOW), r)
    p = m.fma(m.multiply(r, r), m.polynomial(r, EXP), m.add(r, m.number(1.0)))
    return p, m.emitter.convert("bitcast", shifted, "i32")


def log(emitter: Emitter, x: Value) -> Value:
    """Logarithm of the mantissa in [sqrt(1/2), sqrt(2)), plus the exponent times ln 2."""
    m = _Arithmetic(emitter, x.lanes)
    tiny = m.compare("olt", x, m.number(2.0**-126))
    normal = emitter.select(tiny, m.multiply(x, m.number(2.0**23)), x)
    bits = emitter.convert("bitcast", normal, "i32")
    shifted = emitter.binary("lshr", bits, emitter.constant(23, "i32"))
    bias = emitter.select(
        tiny, emitter.constant(149, "i32"), emitter.constant(126, "i32")
    )
    exponent = emitter.convert("sitofp", emitter.binary("sub", shifted, bias), F32)
    mantissa_bits = emitter.binary("and", bits, emitter.constant(0x7FFFFF, "i32"))
    mantissa = emitter.convert(
        "bitcast",
        emitter.binary("or", mantissa_bits, emitter.constant(126 << 23, "i32")),
        F32,
    )
    small = m.compare("olt", mantissa, m.number(SQRT_HALF))
    exponent = emitter.select(small, m.subtract(exponent, m.number(1.0)), exponent)
    doubled = emitter.select(small, m.add(mantissa, mantissa), mantissa)
    f = m.subtract(doubled, m.number(1.0))
    z = m.multiply(f, f)
    y = m.multiply(m.multiply(m.polynomial(f, LOG), f), z)
    y = m.fma(exponent, m.number(LN2_LOW), y)
    y = m.fma(z, m.number(-0.5), y)
    result = m.fma(exponent, m.number(LN2_HIGH), m.add(f, y))
    infinity = m.number(float("inf"))
    result = emitter.select(m.compare("oeq", x, infinity), infinity, result)
    zero = m.number(0.0)
    result = emitter.select(m.compare("oeq", x, zero), m.number(float("-inf")), result)
    return emitter.select(m.compare("ult", x, zero), m.number(float("nan")), result)


def tanh(emitter: Emitter, x: Value) -> Value:
    """Compute a polynomial near zero, `1 - 2 / (exp(2 |x|) + 1)` elsewhere."""
    m = _Arithmetic(emitter, x.lanes)
    magnitude = emitter.intrinsic("fabs", x)
    z = m.multiply(x, x)
    near = m.fma(m.multiply(m.polynomial(z, TANH), z), x, x)
    limit = m.number(10.0)
    inside = emitter.select(m.compare("olt", limit, magnitude), limit, magnitude)
    power = _normal_exp(m, m.add(inside, inside))
    quotient = emitter.binary("fdiv", m.number(2.0), m.add(power, m.number(1.0)))
    far = m.subtract(m.number(1.0), quotient)
    result = emitter.select(m.compare("olt", magnitude, m.number(0.625)), near, far)
    return emitter.intrinsic("copysign", result, x)


def erf(emitter: Emitter, x: Value) -> Value:
    """Compute a polynomial below 1, one minus the exponential of a polynomial above."""
    m = _Arithmetic(emitter, x.lanes)
    magnitude = emitter.intrinsic("fabs", x)
    near = m.multiply(x, m.polynomial(m.multiply(x, x), ERF))
    limit = m.number(4.0)
    inside = emitter.select(m.compare("olt", limit, magnitude), limit, magnitude)
    rest = _normal_exp(m, m.polynomial(inside, LOG_ERFC))
    far = emitter.intrinsic("copysign", m.subtract(m.number(1.0), rest), x)
    return emitter.select(m.compare("olt", magnitude, m.number(1.0)), near, far)
