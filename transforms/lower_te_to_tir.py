"""Replace tensors by buffers, and tensor expressions by the plainest loops that compute them."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    TensorType,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp, CopyOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from partita.analysis.diagnostics import fail
from partita.dialects import byoc, relay, te, tir
from partita.dialects.access import INDEX
from partita.dialects.partita import ORIGIN, SIGNATURE
from partita.dialects.tir import buffer_type
from partita.shapes import DYNAMIC, scalar_type


@dataclass(frozen=True)
class LowerTeToTirPass(ModulePass):
    """Make every function fill buffers that its caller passes, with one loop nest for each compute.

    Results become the last arguments; `partita.signature` keeps what the function's type
    was. A compute becomes a loop for each axis, reduction axes innermost, around one
    block; it writes the result's buffer if it is returned, else one that is allocated.
    Functions that call others are changed alike: a call gets buffers for its results, a
    constant becomes a `tir.constant`. A value that is returned twice, or that is an
    argument or a constant, is copied. Tensors without elements are buffers like others,
    but nothing is computed for them; a reduction over nothing just writes what it starts
    from. An argument or result with the attribute `tir.scope` becomes a buffer in that
    memory scope. Nothing is scheduled: that is for `apply-schedules`.

    Before:

    ```mlir
    func.func @double(%x : tensor<4xf32>) -> tensor<4xf32> {
      %y = te.compute "double" (%i in 4) {
        %v = te.read %x[%i] : tensor<4xf32>
        %d = arith.addf %v, %v : f32
        te.yield %d : f32
      } : tensor<4xf32>
      func.return %y : tensor<4xf32>
    }
    ```

    After `lower-te-to-tir`:

    ```mlir
    func.func @double(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.signature = (tensor<4xf32>) -> tensor<4xf32>} {
      tir.for %i = 0 to 4 {
        tir.block "double" spatial (%i_1 in 4) at [%i] {
          %v = tir.load %x[%i_1] : memref<4xf32>
          %d = arith.addf %v, %v : f32
          tir.store %d, %y[%i_1] : memref<4xf32>
        }
      }
      func.return
    }
    ```
    """

    name = "lower-te-to-tir"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in tuple(op.body.block.ops):
            if isinstance(function, FuncOp):
                _lower_function(function)


def buffer_of(type: Attribute, scope: Attribute | None = None) -> MemRefType[Attribute]:
    """Return the type of the buffer that holds a tensor, in a memory scope; integers become signless."""
    assert isa(type, TensorType[Attribute])
    return MemRefType(
        scalar_type(type.element_type),
        type.get_shape(),
        memory_space=scope or NoneAttr(),
    )


def _scopes(function: FuncOp) -> list[Attribute | None]:
    """Return the memory scope that each argument and result says it is in."""
    noted: list[DictionaryAttr | None] = []
    for attributes, types in (
        (function.arg_attrs, function.function_type.inputs),
        (function.res_attrs, function.function_type.outputs),
    ):
        noted += (None,) * len(types) if attributes is None else attributes.data
    return [None if each is None else each.data.get(tir.SCOPE) for each in noted]


def _lower_function(function: FuncOp) -> None:
    """Lower one function in place, of a declaration its type; one over other things than tensors stays."""
    types = (*function.function_type.inputs, *function.function_type.outputs)
    if not all(isa(type, TensorType[Attribute]) for type in types):
        return
    for type in types:
        if isa(type, TensorType[Attribute]) and DYNAMIC in type.get_shape():
            fail(
                function,
                f"expected static shapes, got {type}; run specialize-shapes first",
            )
    inputs, outputs = function.function_type.inputs, function.function_type.outputs
    buffers = tuple(map(buffer_of, types, _scopes(function)))
    if function.body.blocks:
        body = Region(_lowered(function.body.block, buffers))
        function.detach_region(function.body)
        function.add_region(body)
    function.attributes[SIGNATURE] = function.function_type
    function.properties["function_type"] = FunctionType.from_lists(buffers, ())
    _join_argument_attributes(function, len(inputs), len(outputs))


def _lowered(old: Block, types: Sequence[MemRefType[Attribute]]) -> Block:
    """Return the body of a function over tensors as one over buffers, those of results last."""
    new = Block(arg_types=types)
    lowering = _Lowering(new)
    for before, after in zip(old.args, new.args, strict=False):
        after.name_hint = before.name_hint
        lowering.buffers[before] = after
    returned = old.last_op
    assert isinstance(returned, ReturnOp)
    results = tuple(zip(returned.arguments, new.args[len(old.args) :], strict=True))
    for value, destination in results:
        if isinstance(value.owner, te.ComputeOp | CallOp | byoc.CallOp):
            lowering.destinations.setdefault(value, destination)
            destination.name_hint = value.name_hint
    for each in old.ops:
        lowering.lower(each)
    for value, destination in results:
        if lowering.buffers[value] is not destination:
            new.add_op(CopyOp(lowering.buffers[value], destination))
    new.add_op(ReturnOp())
    return new


def _join_argument_attributes(function: FuncOp, inputs: int, outputs: int) -> None:
    """Make attributes of results attributes of the arguments that they became."""
    if function.arg_attrs is None and function.res_attrs is None:
        return
    none = DictionaryAttr({})
    arguments = (none,) * inputs if function.arg_attrs is None else function.arg_attrs
    results = (none,) * outputs if function.res_attrs is None else function.res_attrs
    function.properties["arg_attrs"] = ArrayAttr((*arguments, *results))
    function.properties.pop("res_attrs", None)


class _Lowering:
    """Lowers the ops of one function, one after the other."""

    def __init__(self, block: Block):
        self.block = block
        self.buffers: dict[SSAValue, SSAValue] = {}
        """Where each tensor is kept."""
        self.destinations: dict[SSAValue, SSAValue] = {}
        """The argument that a returned tensor is written to."""

    def lower(self, op: Operation) -> None:
        """Add what computes this op's results to the block."""
        match op:
            case te.ComputeOp():
                outputs = [self._output(result) for result in op.outputs]
                if 0 not in op.shape:
                    self.block.add_op(_nest(op, outputs, self.buffers))
            case relay.ConstantOp():
                constant = tir.ConstantOp(op.value, buffer_of(op.result.type))
                self._add(constant, op)
                self.buffers[op.result] = constant.result
                constant.result.name_hint = op.result.name_hint
            case CallOp():
                arguments = [self.buffers[each] for each in op.arguments]
                arguments += [self._output(result) for result in op.results]
                self._add(CallOp(op.callee, arguments, ()), op)
            case byoc.CallOp():
                arguments = [self.buffers[each] for each in op.arguments]
                arguments += [self._output(result) for result in op.outputs]
                call = byoc.CallOp(op.target, op.function, arguments, ())
                call.host_code = op.host_code
                self._add(call, op)
            case ReturnOp():
                pass
            case _:
                fail(
                    op,
                    f"expected te.compute, relay.constant or func.call, got {op.name}; "
                    "run lower-relay-to-te first",
                )

    def _add(self, new: Operation, old: Operation) -> None:
        new.attributes |= old.attributes
        self.block.add_op(new)

    def _output(self, result: SSAValue) -> SSAValue:
        """Return the buffer that a result is written to."""
        buffer = self.destinations.get(result)
        if buffer is None:
            type = buffer_of(result.type)
            alloc = AllocOp((), (), type)
            alloc.memref.name_hint = result.name_hint
            self.block.add_op(alloc)
            buffer = alloc.memref
        self.buffers[result] = buffer
        return buffer


def _nest(
    compute: te.ComputeOp,
    outputs: Sequence[SSAValue],
    buffers: dict[SSAValue, SSAValue],
) -> Operation:
    """Return the loops that fill `outputs`, which have elements, around one block."""
    empty = 0 in compute.reduction_shape
    reduction = () if empty else compute.reduction_shape
    extents = (*compute.shape, *reduction)
    loops = [
        tir.ForOp.empty(extent, axis.name_hint)
        for extent, axis in zip(extents, compute.body.block.args, strict=False)
    ]
    block = tir.BlockOp(
        compute.label.data,
        [loop.variable for loop in loops],
        AffineMap.identity(len(loops)),
        compute.shape,
        reduction,
        _init(compute, outputs) if empty else _body(compute, outputs, buffers),
        _init(compute, outputs) if reduction else None,
    )
    if ORIGIN in compute.attributes:
        block.attributes[ORIGIN] = compute.attributes[ORIGIN]
    inner: Operation = block
    for loop in reversed(loops):
        loop.body.block.add_op(inner)
        inner = loop
    return inner


def _axes(values: Sequence[SSAValue]) -> Block:
    """Return a block with an index argument for each value, of the same name."""
    block = Block(arg_types=(INDEX,) * len(values))
    for argument, value in zip(block.args, values, strict=True):
        argument.name_hint = value.name_hint
    return block


def _body(
    compute: te.ComputeOp,
    outputs: Sequence[SSAValue],
    buffers: dict[SSAValue, SSAValue],
) -> Region:
    """Return the body of the block: the scalar body, then the update of each output."""
    block = _axes(compute.body.block.args)
    values: dict[SSAValue, SSAValue] = dict(
        zip(compute.body.block.args, block.args, strict=True)
    )
    results = _clone(compute.body.block, block, values, buffers)
    axes = block.args[: len(compute.shape)]
    if compute.reduction_shape:
        old = [_load(block, output, axes) for output in outputs]
        combine = compute.combine.block
        values |= zip(combine.args, (*old, *results), strict=True)
        results = _clone(combine, block, values, buffers)
    for value, output in zip(results, outputs, strict=True):
        block.add_op(tir.StoreOp(value, output, AffineMap.identity(len(axes)), axes))
    return Region(block)


def _init(compute: te.ComputeOp, outputs: Sequence[SSAValue]) -> Region:
    """Return the init of the block: what each output starts from."""
    block = _axes(compute.axes)
    for init, output in zip(compute.inits, outputs, strict=True):
        assert isa(init, FloatAttr[AnyFloat] | IntegerAttr[IntegerType])
        constant = arith.ConstantOp(init)
        block.add_ops(
            (
                constant,
                tir.StoreOp(
                    constant.result,
                    output,
                    AffineMap.identity(len(block.args)),
                    block.args,
                ),
            )
        )
    return Region(block)


def _load(block: Block, buffer: SSAValue, axes: Sequence[SSAValue]) -> SSAValue:
    load = tir.LoadOp(buffer, AffineMap.identity(len(axes)), axes)
    block.add_op(load)
    return load.result


def _clone(
    source: Block,
    target: Block,
    values: dict[SSAValue, SSAValue],
    buffers: dict[SSAValue, SSAValue],
) -> tuple[SSAValue, ...]:
    """Copy scalar ops, turn reads into loads, and return what the block yields."""
    for op in source.ops:
        match op:
            case te.YieldOp():
                return tuple(values[value] for value in op.values)
            case te.ReadOp(otherwise=SSAValue() as otherwise) if (
                0 in buffer_type(buffers[op.source]).get_shape()
            ):
                values[op.result] = values[otherwise]
            case te.ReadOp():
                load = tir.LoadOp(
                    buffers[op.source],
                    op.access,
                    [values[index] for index in op.indices],
                    None if op.otherwise is None else values[op.otherwise],
                )
                load.result.name_hint = op.result.name_hint
                target.add_op(load)
                values[op.result] = load.result
            case _:
                target.add_op(op.clone(values))
    raise AssertionError("a verified region ends with te.yield")
