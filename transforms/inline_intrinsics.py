"""Say with loops what intrinsics do, for machines that have none."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from partita.analysis.diagnostics import fail
from partita.analysis.loop_nests import Access, accesses_in, blocks_in
from partita.analysis.memory_scopes import GLOBAL, scope_of
from partita.dialects.partita import inherit_origins
from partita.dialects.tir import INTRINSIC, LOCAL, CallOp, MemoryOp, buffer_type
from partita.shapes import Shape
from partita.transforms.scheduling.indices import set_access


@dataclass(frozen=True)
class InlineIntrinsicsPass(ModulePass):
    """Replace calls of intrinsics by their loops, and memories of their machine by the stack.

    What an intrinsic does is the text of its body, so a kernel that was scheduled for
    another machine runs on this one, and computes the same.

    Before:

    ```mlir
    tir.memory "acc" of 64 bytes
    func.func private @negate(%t : memref<8xi32, "acc">, %v : memref<8xi32>) attributes {tir.intrinsic} {
      tir.for %i = 0 to 8 {
        tir.block "negate" spatial (%a in 8) at [%i] {
          %zero = arith.constant 0 : i32
          %u = tir.load %v[%a] : memref<8xi32>
          %n = arith.subi %zero, %u : i32
          tir.store %n, %t[%a] : memref<8xi32, "acc">
        }
      }
      func.return
    }
    func.func @kernel(%x : memref<2x8xi32>, %y : memref<2x8xi32>) {
      tir.for %r = 0 to 2 {
        %t = memref.alloc() : memref<8xi32, "acc">
        tir.call "minus" @negate(%t[0][8], %x[%r, 0][1, 8]) : memref<8xi32, "acc">, memref<2x8xi32>
        tir.for %c = 0 to 8 {
          tir.block "copy" spatial (%a in 2, %b in 8) at [%r, %c] {
            %v = tir.load %t[%c] : memref<8xi32, "acc">
            tir.store %v, %y[%a, %b] : memref<2x8xi32>
          }
        }
      }
      func.return
    }
    ```

    After `inline-intrinsics`:

    ```mlir
    func.func @kernel(%x : memref<2x8xi32>, %y : memref<2x8xi32>) {
      tir.for %r = 0 to 2 {
        %t = memref.alloc() : memref<8xi32, "local">
        tir.for %i = 0 to 8 {
          tir.block "minus" spatial (%a in 8) at [%i] {
            %zero = arith.constant 0 : i32
            %u = tir.load %x[%r, %a] : memref<2x8xi32>
            %n = arith.subi %zero, %u : i32
            tir.store %n, %t[%a] : memref<8xi32, "local">
          }
        }
        tir.for %c = 0 to 8 {
          tir.block "copy" spatial (%a in 2, %b in 8) at [%r, %c] {
            %v = tir.load %t[%c] : memref<8xi32, "local">
            tir.store %v, %y[%a, %b] : memref<2x8xi32>
          }
        }
      }
      func.return
    }
    ```
    """

    name = "inline-intrinsics"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        intrinsics: dict[str, FuncOp] = {}
        memories: list[MemoryOp] = []
        for each in op.ops:
            if isinstance(each, FuncOp) and INTRINSIC in each.attributes:
                intrinsics[each.sym_name.data] = each
            elif isinstance(each, MemoryOp):
                memories.append(each)
        for function in op.ops:
            if isinstance(function, FuncOp) and INTRINSIC not in function.attributes:
                _inline(function, intrinsics)
        for each in (*intrinsics.values(), *memories):
            Rewriter.erase_op(each)


def _inline(function: FuncOp, intrinsics: dict[str, FuncOp]) -> None:
    for op in tuple(function.walk()):
        if isinstance(op, CallOp):
            name = op.callee.root_reference.data
            intrinsic = intrinsics.get(name)
            if intrinsic is None or not intrinsic.body.blocks:
                fail(op, f"expected an intrinsic @{name} with a body, got none")
            _replace(op, intrinsic)
    for op in function.walk():
        if isinstance(op, AllocOp) and scope_of(op) not in (GLOBAL, LOCAL.data):
            type = buffer_type(op.memref)
            local = MemRefType(type.element_type, type.shape, memory_space=LOCAL)
            Rewriter.replace_value_with_new_type(op.memref, local)


def _replace(call: CallOp, intrinsic: FuncOp) -> None:
    """Put the loops of an intrinsic in the place of a call."""
    body = intrinsic.body.block
    if len(call.buffers) != len(body.args):
        fail(call, f"expected {len(body.args)} tiles, got {len(call.buffers)}")
    tiles: dict[SSAValue, _Tile] = {
        argument: _Tile(*tile)
        for argument, tile in zip(body.args, call.tiles, strict=True)
    }
    for argument, tile in tiles.items():
        expected, found = buffer_type(argument), buffer_type(tile.buffer)
        if _long(expected.get_shape()) != _long(tile.sizes) or (
            expected.element_type,
            expected.memory_space,
        ) != (found.element_type, found.memory_space):
            got = "x".join(map(str, tile.sizes))
            fail(call, f"expected a tile {expected}, got {got} of {found}")
    parent = call.parent_block()
    assert parent is not None
    for op in body.ops:
        if isinstance(op, ReturnOp):
            continue
        copy = op.clone()
        parent.insert_op_before(copy, call)
        for block in blocks_in(copy):
            block.properties["label"] = call.label
            inherit_origins(block, call)
        for access in tuple(accesses_in(copy)):
            if access.buffer in tiles:
                _readdress(access, tiles[access.buffer], tuple(call.indices))
    Rewriter.erase_op(call)


@dataclass(frozen=True)
class _Tile:
    """What an argument stands for."""

    buffer: SSAValue

    begin: tuple[AffineExpr, ...]
    """Where it begins, as expressions of the call's indices."""

    sizes: Shape


def _long(shape: Shape) -> Shape:
    return tuple(extent for extent in shape if extent != 1)


def _readdress(access: Access, tile: _Tile, indices: tuple[SSAValue, ...]) -> None:
    """Let an access of an argument be one of the tile that it stands for."""
    shape = buffer_type(access.buffer).get_shape()
    inside = iter(
        expr
        for expr, extent in zip(access.access.results, shape, strict=True)
        if extent != 1
    )
    count = len(access.indices)
    dims = [AffineExpr.dimension(count + i) for i in range(len(indices))]
    exprs = [
        begin.replace_dims_and_symbols(dims, ())
        + (next(inside) if size != 1 else AffineExpr.constant(0))
        for begin, size in zip(tile.begin, tile.sizes, strict=True)
    ]
    set_access(access, exprs, (*access.indices, *indices), tile.buffer)
