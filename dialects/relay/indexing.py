"""Ops that take tensors apart, put them together, and pick elements."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AnyTensorType,
    AnyTensorTypeConstr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from partita.dialects.relay.base import (
    INTEGERS,
    Canonical,
    Fusion,
    FusionPattern,
    RelayOp,
    check_axes,
    dense,
    integer,
    ints,
    normalize_axis,
    number,
)
from partita.dialects.relay.tensor import ViewOp
from partita.shapes import DYNAMIC, Shape, element_of, is_float, shape_of, tensor_of

PAD_MODES = ("constant", "edge", "reflect", "wrap")
"""What `relay.pad` fills with: a value, the border, the image mirrored at or repeated after the border."""


@irdl_op_definition
class ConcatenateOp(RelayOp):
    """Put tensors one after another along an axis.

    ```mlir
    %y = relay.concatenate %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    ```
    """

    name = "relay.concatenate"

    inputs = var_operand_def(AnyTensorTypeConstr)
    """One or more, equal in all other axes."""

    axis = prop_def(IntegerAttr.constr(i64))

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.INJECTIVE), Canonical())

    assembly_format = "$inputs attr-dict `:` functional-type(operands, results)"

    def __init__(self, inputs: Sequence[SSAValue], *, axis: int):
        rank = len(shape_of(inputs[0])) if inputs else 1
        super().__init__((inputs,), {"axis": integer(normalize_axis(axis, rank))})

    def infer(self) -> tuple[AnyTensorType, ...]:
        if not self.inputs:
            raise VerifyException("expected one input or more, got 0")
        axis = self.axis.value.data
        element = element_of(self.inputs[0])
        shape = list(shape_of(self.inputs[0]))
        check_axes((axis,), len(shape), "axis")
        for each in self.inputs[1:]:
            if element_of(each) != element:
                raise VerifyException(
                    f"expected inputs of one element type, got {element} and {element_of(each)}"
                )
            other = shape_of(each)
            if len(other) != len(shape):
                raise VerifyException(
                    f"expected inputs of one rank, got {len(shape)} and {len(other)}"
                )
            for at, extent in enumerate(other):
                if at == axis:
                    unknown = DYNAMIC in (extent, shape[at])
                    shape[at] = DYNAMIC if unknown else shape[at] + extent
                elif shape[at] == DYNAMIC:
                    shape[at] = extent
                elif extent not in (shape[at], DYNAMIC):
                    raise VerifyException(
                        f"expected inputs of equal extent along axis {at}, got {shape[at]} and {extent}"
                    )
        return (tensor_of(tuple(shape), element),)


@irdl_op_definition
class SplitOp(RelayOp):
    """Take a tensor apart along an axis.

    ```mlir
    %y, %z = relay.split %x {sizes = array<i64: 1, 2>, axis = 0 : i64} : (tensor<3x4xf32>) -> (tensor<1x4xf32>, tensor<2x4xf32>)
    ```
    """

    name = "relay.split"

    data = operand_def(AnyTensorTypeConstr)

    sizes = prop_def(DenseArrayBase.constr(i64))
    """The extent of each result along the axis."""

    axis = prop_def(IntegerAttr.constr(i64))

    parts = var_result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.INJECTIVE))

    assembly_format = "$data attr-dict `:` functional-type(operands, results)"

    def __init__(self, data: SSAValue, *, sizes: Sequence[int], axis: int):
        rank = len(shape_of(data))
        super().__init__(
            (data,),
            {"sizes": dense(sizes), "axis": integer(normalize_axis(axis, rank))},
            result_count=len(sizes),
        )

    def infer(self) -> tuple[AnyTensorType, ...]:
        data, sizes, axis = shape_of(self.data), ints(self.sizes), self.axis.value.data
        check_axes((axis,), len(data), "axis")
        if min(sizes, default=0) < 0:
            raise VerifyException(
                f"expected sizes that are not negative, got {', '.join(map(str, sizes))}"
            )
        if data[axis] not in (DYNAMIC, sum(sizes)):
            raise VerifyException(
                f"expected sizes that add up to {data[axis]}, got {', '.join(map(str, sizes))}"
            )
        if len(sizes) != len(self.results):
            raise VerifyException(
                f"expected {len(sizes)} results, got {len(self.results)}"
            )
        return tuple(
            tensor_of((*data[:axis], size, *data[axis + 1 :]), element_of(self.data))
            for size in sizes
        )


@irdl_op_definition
class StridedSliceOp(ViewOp):
    """Pick elements at regular distances along each axis.

    `result[i] = data[begin + i * strides]` for `i < sizes`, on each axis

    ```mlir
    %y = relay.strided_slice %x {begin = array<i64: 0, 5>, sizes = array<i64: 2, 3>, strides = array<i64: 1, -2>} : tensor<4x6xf32> -> tensor<2x3xf32>
    ```
    """

    name = "relay.strided_slice"

    begin = prop_def(DenseArrayBase.constr(i64))
    """The index of the first element, for each axis."""

    sizes = prop_def(DenseArrayBase.constr(i64))
    """How many elements, for each axis. Where data is dynamic, -1 is all that there are."""

    strides = prop_def(DenseArrayBase.constr(i64))
    """The distance between two elements, negative for backward, for each axis."""

    traits = traits_def(Fusion(FusionPattern.INJECTIVE), Canonical())

    def __init__(
        self,
        data: SSAValue,
        *,
        begin: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int],
    ):
        super().__init__(
            (data,),
            {"begin": dense(begin), "sizes": dense(sizes), "strides": dense(strides)},
        )

    def infer_shape(self, data: Shape) -> Shape:
        begin, sizes, strides = ints(self.begin), ints(self.sizes), ints(self.strides)
        for name, values in (("begin", begin), ("sizes", sizes), ("strides", strides)):
            if len(values) != len(data):
                raise VerifyException(
                    f"expected {name} of {len(data)} values, got {len(values)}"
                )
        if 0 in strides:
            raise VerifyException("expected strides other than 0, got 0")
        return tuple(
            sliced_extent(axis, *each)
            for axis, each in enumerate(zip(data, begin, sizes, strides, strict=True))
        )


def sliced_extent(axis: int, extent: int, begin: int, size: int, stride: int) -> int:
    """Return how many elements a slice takes along an axis; raise `VerifyException` if it leaves the data."""
    if size == -1:
        if extent == DYNAMIC:
            return DYNAMIC
        size = len(range(begin, extent if stride > 0 else -1, stride))
    last = begin + (size - 1) * stride
    if size < 0 or (
        size > 0
        and (min(begin, last) < 0 or (extent != DYNAMIC and max(begin, last) >= extent))
    ):
        raise VerifyException(
            f"expected slice within [0, {'?' if extent == DYNAMIC else extent}) along axis {axis}, "
            f"got {size} elements from {begin} by {stride}"
        )
    return size


@irdl_op_definition
class GatherOp(RelayOp):
    """Pick slices of data along an axis by index; a negative index counts from the end.

    `result[i..., j..., k...] = data[i..., indices[j...], k...]`; indices out of range are undefined.

    ```mlir
    %y = relay.gather %x, %i {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    ```
    """

    name = "relay.gather"

    data = operand_def(AnyTensorTypeConstr)

    indices = operand_def(AnyTensorTypeConstr)

    axis = prop_def(IntegerAttr.constr(i64))

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Fusion(FusionPattern.INJECTIVE))

    assembly_format = (
        "$data `,` $indices attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, data: SSAValue, indices: SSAValue, *, axis: int = 0):
        axis = normalize_axis(axis, len(shape_of(data)))
        super().__init__((data, indices), {"axis": integer(axis)})

    def infer(self) -> tuple[AnyTensorType, ...]:
        data, axis = shape_of(self.data), self.axis.value.data
        check_axes((axis,), len(data), "axis")
        INTEGERS.check(self.indices, "indices")
        shape = (*data[:axis], *shape_of(self.indices), *data[axis + 1 :])
        return (tensor_of(shape, element_of(self.data)),)


@irdl_op_definition
class PadOp(ViewOp):
    """Add elements before and after the data along each axis.

    ```mlir
    %y = relay.pad %x {before = array<i64: 0, 1>, after = array<i64: 0, 2>, mode = "constant", value = 0.000000e+00 : f64} : tensor<2x3xf32> -> tensor<2x6xf32>
    ```
    """

    name = "relay.pad"

    before = prop_def(DenseArrayBase.constr(i64))
    """How many elements, for each axis; a negative number removes elements where mode is constant."""

    after = prop_def(DenseArrayBase.constr(i64))
    """As `before`."""

    mode = prop_def(StringAttr)
    """`constant`, `edge` (repeat the border), `reflect` (mirror at the border) or `wrap` (start over)."""

    value = prop_def(FloatAttr.constr(f64) | IntegerAttr.constr(i64))
    """What a constant pad is made of; of type f64 for floating-point data, else i64."""

    traits = traits_def(Fusion(FusionPattern.INJECTIVE), Canonical())

    def __init__(
        self,
        data: SSAValue,
        *,
        before: Sequence[int],
        after: Sequence[int],
        mode: str = "constant",
        value: float = 0.0,
    ):
        super().__init__(
            (data,),
            {
                "before": dense(before),
                "after": dense(after),
                "mode": StringAttr(mode),
                "value": number(value, element_of(data)),
            },
        )

    def infer_shape(self, data: Shape) -> Shape:
        before, after, mode = ints(self.before), ints(self.after), self.mode.data
        if mode not in PAD_MODES:
            raise VerifyException(f"expected mode {', '.join(PAD_MODES)}, got {mode}")
        for name, values in (("before", before), ("after", after)):
            if len(values) != len(data):
                raise VerifyException(
                    f"expected {name} of {len(data)} values, got {len(values)}"
                )
        wanted = f64 if is_float(element_of(self.data)) else i64
        if self.value.type != wanted:
            raise VerifyException(
                f"expected value of type {wanted}, got {self.value.type}"
            )
        return tuple(
            padded_extent(axis, mode, *each)
            for axis, each in enumerate(zip(data, before, after, strict=True))
        )


def padded_extent(axis: int, mode: str, extent: int, before: int, after: int) -> int:
    """Return an extent after padding; raise `VerifyException` if the mode cannot pad so much, or so little."""
    if mode != "constant":
        if min(before, after) < 0:
            raise VerifyException(
                f"expected padding that is not negative in mode {mode}, got {min(before, after)}"
            )
        reach = extent - 1 if mode == "reflect" else extent
        most = 1 if mode == "edge" else max(before, after)
        if extent != DYNAMIC and max(before, after) > 0 and most > reach:
            raise VerifyException(
                f"expected padding of at most {reach} along axis {axis} in mode {mode}, got {max(before, after)}"
            )
    if extent == DYNAMIC:
        return DYNAMIC
    if extent + before + after < 0:
        raise VerifyException(
            f"expected padding that leaves elements along axis {axis}, got {extent} {before:+} {after:+}"
        )
    return extent + before + after


INDEXING_OPS: tuple[type[RelayOp], ...] = (
    ConcatenateOp,
    SplitOp,
    StridedSliceOp,
    GatherOp,
    PadOp,
)
