"""Scalars that are written as mathematics: a body of a `te.compute`, and the values in it.

A `Scalar` knows the element type of the tensor that it belongs to, with its signedness,
so `x + y` is `arith.addf`, `arith.addi` or a logical or, and `x.lt(y)` compares as it must.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.dialects.builtin import f32 as F32
from xdsl.dialects.builtin import i32 as I32
from xdsl.dialects.builtin import i64 as I64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from partita.dialects.partita import RemainderOp
from partita.dialects.te import ReadOp, YieldOp
from partita.shapes import (
    Shape,
    dtype_of,
    element_of,
    is_float,
    is_unsigned,
    scalar_type,
    shape_of,
)

Axes = Sequence[AffineExpr]
"""Index expressions: of a compute's axes, or of a read."""

Number = float | int | bool

INDEX = IndexType()

_BINARY: Mapping[str, Mapping[str, Callable[[SSAValue, SSAValue], Operation]]] = {
    "add": {"float": arith.AddfOp, "signed": arith.AddiOp, "bool": arith.OrIOp},
    "sub": {"float": arith.SubfOp, "signed": arith.SubiOp},
    "mul": {"float": arith.MulfOp, "signed": arith.MuliOp, "bool": arith.AndIOp},
    "div": {
        "float": arith.DivfOp,
        "signed": arith.DivSIOp,
        "unsigned": arith.DivUIOp,
    },
    "rem": {"signed": arith.RemSIOp, "unsigned": arith.RemUIOp},
    "maximum": {
        "float": arith.MaximumfOp,
        "signed": arith.MaxSIOp,
        "unsigned": arith.MaxUIOp,
        "bool": arith.OrIOp,
    },
    "minimum": {
        "float": arith.MinimumfOp,
        "signed": arith.MinSIOp,
        "unsigned": arith.MinUIOp,
        "bool": arith.AndIOp,
    },
    "and": {"signed": arith.AndIOp, "bool": arith.AndIOp},
    "or": {"signed": arith.OrIOp, "bool": arith.OrIOp},
    "xor": {"signed": arith.XOrIOp, "bool": arith.XOrIOp},
    "shl": {"signed": arith.ShLIOp},
    "shr": {"signed": arith.ShRSIOp, "unsigned": arith.ShRUIOp},
    "pow": {"float": math.PowFOp, "signed": math.IPowIOp},
}
"""The op of each operation for each kind of type; unsigned is as signed where not stated."""

_PREDICATES: Mapping[str, Mapping[str, str]] = {
    "float": {
        "eq": "oeq",
        "ne": "une",
        "lt": "olt",
        "le": "ole",
        "gt": "ogt",
        "ge": "oge",
    },
    "signed": {
        "eq": "eq",
        "ne": "ne",
        "lt": "slt",
        "le": "sle",
        "gt": "sgt",
        "ge": "sge",
    },
    "unsigned": {
        "eq": "eq",
        "ne": "ne",
        "lt": "ult",
        "le": "ule",
        "gt": "ugt",
        "ge": "uge",
    },
}


def kind(element: Attribute) -> str:
    """Return `float`, `signed`, `unsigned` or `bool`; `index` is signed."""
    if is_float(element):
        return "float"
    if element == i1:
        return "bool"
    return "unsigned" if is_unsigned(element) else "signed"


def widened(element: Attribute) -> Attribute:
    """Return the type to compute in: `f32` for `f16`, else the type itself."""
    return F32 if is_float(element) and _width(element) == 16 else element


def _width(element: Attribute) -> int:
    return 1 if element == i1 else dtype_of(element).itemsize * 8


def constant_attr(
    value: Number, element: Attribute
) -> IntegerAttr[IntegerType | IndexType] | FloatAttr[AnyFloat]:
    """Make the attribute of a constant scalar; integers are taken modulo their width."""
    type = scalar_type(element)
    match type:
        case IndexType():
            return IntegerAttr(int(value), type)
        case IntegerType():
            width = type.width.data
            bits = int(value) & ((1 << width) - 1)
            negative = width > 1 and bits >> (width - 1)
            return IntegerAttr(bits - (1 << width) if negative else bits, type)
        case _:
            assert isinstance(type, Float16Type | Float32Type | Float64Type)
            return FloatAttr(float(value), type)


@dataclass(frozen=True)
class Scalar:
    """A value in a body; its operators emit the ops of its type."""

    body: "Body"

    value: SSAValue

    element: Attribute
    """Its type as an element of a tensor, with signedness."""

    @property
    def number(self) -> Number | None:
        """The constant that this is, `None` for anything else."""
        constant = self.value.owner
        if not isinstance(constant, arith.ConstantOp):
            return None
        value = constant.value
        assert isinstance(value, IntegerAttr | FloatAttr)
        return value.value.data

    def like(self, other: "Scalar | Number") -> "Scalar":
        """Make a number a constant of this scalar's type."""
        if isinstance(other, Scalar):
            return other
        return self.body.constant(other, self.element)

    def _binary(self, name: str, other: "Scalar | Number") -> "Scalar":
        ops = _BINARY[name]
        op = ops.get(kind(self.element)) or ops["signed"]
        return self._made(op(self.value, self.like(other).value))

    def _made(self, op: Operation, element: Attribute | None = None) -> "Scalar":
        return Scalar(self.body, self.body.emit(op), element or self.element)

    def __add__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("add", other)

    def __sub__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("sub", other)

    def __rsub__(self, other: Number) -> "Scalar":
        return self.like(other) - self

    def __mul__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("mul", other)

    def __truediv__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("div", other)

    def __rtruediv__(self, other: Number) -> "Scalar":
        return self.like(other) / self

    def __mod__(self, other: "Scalar | Number") -> "Scalar":
        """Take the remainder of a division that truncates: integers only."""
        return self._binary("rem", other)

    def __pow__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("pow", other)

    def __and__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("and", other)

    def __or__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("or", other)

    def __xor__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("xor", other)

    def __lshift__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("shl", other)

    def __rshift__(self, other: "Scalar | Number") -> "Scalar":
        return self._binary("shr", other)

    def __neg__(self) -> "Scalar":
        if is_float(self.element):
            return self._made(arith.NegfOp(self.value))
        return 0 - self

    def __invert__(self) -> "Scalar":
        return self ^ (True if self.element == i1 else -1)

    def maximum(self, other: "Scalar | Number") -> "Scalar":
        """Take the larger value, NaN if one is NaN."""
        return self._binary("maximum", other)

    def largest(self, other: "Scalar | Number") -> "Scalar":
        """Take the larger value, NaN if one is NaN; of two zeros, any."""
        result = self.maximum(other)
        op = result.value.owner
        if isinstance(op, arith.MaximumfOp):
            op.fastmath = arith.FastMathFlagsAttr((FastMathFlag.NO_SIGNED_ZEROS,))
        return result

    def minimum(self, other: "Scalar | Number") -> "Scalar":
        """Take the smaller value, NaN if one is NaN."""
        return self._binary("minimum", other)

    def math(self, op: Callable[[SSAValue], Operation]) -> "Scalar":
        """Apply an op of one operand and the same type."""
        return self._made(op(self.value))

    def _compare(self, predicate: str, other: "Scalar | Number") -> "Scalar":
        right = self.like(other).value
        if is_float(self.element):
            op = arith.CmpfOp(self.value, right, _PREDICATES["float"][predicate])
        else:
            signedness = "signed" if kind(self.element) == "signed" else "unsigned"
            op = arith.CmpiOp(self.value, right, _PREDICATES[signedness][predicate])
        return self._made(op, i1)

    def eq(self, other: "Scalar | Number") -> "Scalar":
        return self._compare("eq", other)

    def ne(self, other: "Scalar | Number") -> "Scalar":
        return self._compare("ne", other)

    def lt(self, other: "Scalar | Number") -> "Scalar":
        return self._compare("lt", other)

    def le(self, other: "Scalar | Number") -> "Scalar":
        return self._compare("le", other)

    def gt(self, other: "Scalar | Number") -> "Scalar":
        return self._compare("gt", other)

    def ge(self, other: "Scalar | Number") -> "Scalar":
        return self._compare("ge", other)

    def copysign(self, sign: "Scalar") -> "Scalar":
        """Give this magnitude the sign of another float."""
        return self._made(math.CopySignOp(self.value, sign.value))

    def remainder(self, divisor: "Scalar") -> "Scalar":
        """Take the remainder of floats, with the sign of this one."""
        return self._made(RemainderOp(self.value, divisor.value))

    def as_unsigned(self) -> "Scalar":
        """Take the same bits as an unsigned integer."""
        unsigned = IntegerType(_width(self.element), Signedness.UNSIGNED)
        return Scalar(self.body, self.value, unsigned)

    def isnan(self) -> "Scalar":
        return self._made(arith.CmpfOp(self.value, self.value, "uno"), i1)

    def select(self, then: "Scalar", otherwise: "Scalar | Number") -> "Scalar":
        """Choose one of two values by this truth value."""
        other = then.like(otherwise)
        return then._made(arith.SelectOp(self.value, then.value, other.value))

    def cast(self, to: Attribute) -> "Scalar":
        """Convert to another element type, as ONNX's Cast does.

        Floats are truncated toward zero; what is out of range becomes the nearest integer
        in range, and NaN zero. Integers of more bits lose the upper ones.
        """
        if to == self.element:
            return self
        if to == i1:
            return self.ne(0)
        source, target = kind(self.element), scalar_type(to)
        if isinstance(to, IndexType) or isinstance(self.element, IndexType):
            return self._made(arith.IndexCastOp(self.value, target), to)
        width, own_width = _width(to), _width(self.element)
        if isinstance(target, IntegerType):
            if source == "float":
                return self._saturated(to)
            if width == own_width:
                return Scalar(self.body, self.value, to)
            if width < own_width:
                return self._made(arith.TruncIOp(self.value, IntegerType(width)), to)
            extend = arith.ExtSIOp if source == "signed" else arith.ExtUIOp
            return self._made(extend(self.value, IntegerType(width)), to)
        assert isinstance(target, Float16Type | Float32Type | Float64Type)
        if source == "float":
            resize = arith.ExtFOp if width > own_width else arith.TruncFOp
            return self._made(resize(self.value, target), to)
        convert = arith.SIToFPOp if source == "signed" else arith.UIToFPOp
        return self._made(convert(self.value, target), to)

    def _saturated(self, to: Attribute) -> "Scalar":
        """Convert a float to an integer, such that no conversion is undefined."""
        value, width = self.widened(), _width(to)
        signed = kind(to) == "signed"
        low = -(1 << (width - 1)) if signed else 0
        end = 1 << (width - 1 if signed else width)
        dtype = dtype_of(value.element)
        high = dtype.type(end - 1)
        exact = int(high) == end - 1
        if not exact:
            high = np.nextafter(dtype.type(end), dtype.type(0))
        inside = value.maximum(low).minimum(float(high))
        if width == 64 and not signed:
            number = inside._made(arith.FPToUIOp(inside.value, I64), to)
        else:
            wide = I32 if end <= 1 << 31 else I64
            number = inside._made(arith.FPToSIOp(inside.value, wide), wide).cast(to)
        if not exact:
            number = value.ge(float(end)).select(number.like(end - 1), number)
        return value.isnan().select(number.like(0), number)

    def widened(self) -> "Scalar":
        """Convert `f16` to `f32`, in which its ops are computed."""
        return self.cast(widened(self.element))


class Body:
    """The block of a `te.compute` or of a combiner that is being written."""

    def __init__(self, block: Block, shape: Shape, splats: Mapping[SSAValue, Number]):
        self.block = block
        self._shape = shape
        self._splats = splats
        self._indices: list[SSAValue] = list(block.args)
        self._constants: dict[Attribute, SSAValue] = {}

    def emit(self, op: Operation) -> SSAValue:
        """Append an op and return its result."""
        self.block.add_op(op)
        return op.results[0]

    def finish(self, *values: Scalar) -> None:
        """End the block with its values."""
        self.block.add_op(YieldOp(*(value.value for value in values)))

    def constant(self, value: Number, element: Attribute) -> Scalar:
        """Make a constant; of several equal ones there is one."""
        attribute = constant_attr(value, element)
        known = self._constants.get(attribute)
        if known is None:
            known = self._constants[attribute] = self.emit(arith.ConstantOp(attribute))
        return Scalar(self, known, element)

    def read(
        self, source: SSAValue, indices: Axes, otherwise: Scalar | None = None
    ) -> Scalar:
        """Read an element; a tensor that holds a single repeated value becomes that constant.

        With `otherwise`, the index may lie outside, which holds for such a tensor too.
        """
        element = element_of(source)
        splat = self._splats.get(source)
        if splat is not None and otherwise is None:
            return self.constant(splat, element)
        op = ReadOp(
            source,
            AffineMap(len(self._indices), 0, tuple(indices)),
            self._indices,
            None if otherwise is None else otherwise.value,
        )
        return Scalar(self, self.emit(op), element)

    def read_broadcast(self, source: SSAValue, axes: Axes) -> Scalar:
        """Read the element that numpy broadcasts to an index: last axes match, extents of 1 repeat."""
        return self.read(source, broadcast_indices(shape_of(source), axes, self._shape))

    def index(self, value: Scalar) -> AffineExpr:
        """Use a computed integer as an index; reads at it need a value for outside."""
        self._indices.append(value.cast(INDEX).value)
        return AffineExpr.dimension(len(self._indices) - 1)

    def value_of(self, expr: AffineExpr) -> Scalar:
        """Compute an index expression as a scalar of type `index`."""
        match expr:
            case AffineConstantExpr(value=value):
                return self.constant(value, INDEX)
            case AffineDimExpr(position=position):
                return Scalar(self, self._indices[position], INDEX)
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
                return self.value_of(lhs) + self.value_of(rhs)
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=rhs):
                return self.value_of(lhs) * self.value_of(rhs)
            case _:
                raise ValueError(f"expected sums and products, got {expr}")


def broadcast_indices(
    shape: Shape, axes: Axes, result: Shape
) -> tuple[AffineExpr, ...]:
    """Return where numpy's broadcasting finds, in a shape, the element of an index of the result."""
    first = len(axes) - len(shape)
    return tuple(
        axis if extent == whole else AffineExpr.constant(0)
        for extent, axis, whole in zip(shape, axes[first:], result[first:], strict=True)
    )
