"""Fuse ops into kernels."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.symbol_table import get_name_if_symbol

from partita.analysis.diagnostics import fail
from partita.analysis.fusion import FusionGroup, FusionLimits, fusion_groups, is_splat
from partita.analysis.structural_hash import DIGITS, Dataflow, Key, dataflow
from partita.dialects.byoc import HOST_CODE
from partita.dialects.partita import KERNEL, inherit_origins

STEM_LENGTH = 40
"""Characters of a kernel's name that say what it computes."""

HASH_DIGITS = 8
"""Hexadecimal digits of a kernel's name that tell it from others; more where these do not."""


@dataclass(frozen=True)
class FuseOpsPass(ModulePass):
    """Divide a graph into kernels: groups of ops that need no memory between them.

    Each group becomes a private function marked `partita.kernel`, and the graph calls it.
    Groups that compute the same share one function; its name is made of its ops and a
    hash of its structure, so it stays the same when other parts of the graph change.
    Which ops form a group does not depend on the order in which the graph lists them
    (`partita.analysis.fusion` has the rules), nor do names, or the order of arguments.

    Constants of one repeated value are computed inside kernels; others stay in
    the graph and are arguments. Ops that relay does not define stay as they are, and
    so do kernels. Dead ops are fused as if they were results: run `dce` first.

    Before:

    ```mlir
    func.func @main(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>, %b : tensor<4x1x1xf32>) -> tensor<1x4x36xf32> attributes {partita.entry} {
      %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
      %1 = relay.add %0, %b : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
      %2 = relay.relu %1 : tensor<1x4x6x6xf32>
      %3 = relay.reshape %2 {shape = array<i64: 1, 4, 36>} : tensor<1x4x6x6xf32> -> tensor<1x4x36xf32>
      func.return %3 : tensor<1x4x36xf32>
    }
    ```

    After `fuse-ops`:

    ```mlir
    func.func @main(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>, %b : tensor<4x1x1xf32>) -> tensor<1x4x36xf32> attributes {partita.entry} {
      %0 = func.call @conv2d_add_relu_dc0ca114(%x, %w, %b) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
      %1 = func.call @reshape_f8ae54d8(%0) : (tensor<1x4x6x6xf32>) -> tensor<1x4x36xf32>
      func.return %1 : tensor<1x4x36xf32>
    }
    func.func private @conv2d_add_relu_dc0ca114(%0 : tensor<1x3x8x8xf32>, %1 : tensor<4x3x3x3xf32>, %2 : tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32> attributes {partita.kernel} {
      %3 = relay.conv2d %0, %1 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
      %4 = relay.add %3, %2 : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
      %5 = relay.relu %4 : tensor<1x4x6x6xf32>
      func.return %5 : tensor<1x4x6x6xf32>
    }
    func.func private @reshape_f8ae54d8(%0 : tensor<1x4x6x6xf32>) -> tensor<1x4x36xf32> attributes {partita.kernel} {
      %1 = relay.reshape %0 {shape = array<i64: 1, 4, 36>} : tensor<1x4x6x6xf32> -> tensor<1x4x36xf32>
      func.return %1 : tensor<1x4x36xf32>
    }
    ```
    """

    name = "fuse-ops"

    max_depth: int = 64
    """Ops in a kernel, at most."""

    max_arguments: int = 32
    """Tensors that a kernel of several ops reads and writes, at most."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for option, value in (
            ("max-depth", self.max_depth),
            ("max-arguments", self.max_arguments),
        ):
            if value < 1:
                fail(op, f"expected {option} of at least 1, got {value}")
        limits = FusionLimits(self.max_depth, self.max_arguments)
        graphs = [
            (block, [_Kernel.of(each) for each in fusion_groups(block, limits)])
            for block in _graphs(op)
        ]
        distinct: dict[Key, _Kernel] = {}
        for _, kernels in graphs:
            for kernel in kernels:
                distinct.setdefault(kernel.flow.key, kernel)
        symbols = {name.data for each in op.ops if (name := get_name_if_symbol(each))}
        names = kernel_names([each.flow for each in distinct.values()], symbols)
        functions = [each.function(names[key]) for key, each in distinct.items()]
        for block, kernels in graphs:
            _call(block, kernels, names)
        _insert(op, functions)


def _insert(module: ModuleOp, kernels: Sequence[FuncOp]) -> None:
    """Add kernels at the end, but before the host's code for external functions, of which there may be thousands.

    xDSL's verifier of calls looks from the front.
    """
    block = module.body.block
    for each in block.ops:
        if HOST_CODE in each.attributes:
            block.insert_ops_before(kernels, each)
            return
    block.add_ops(kernels)


def kernel_names(
    flows: Sequence[Dataflow], taken: Collection[str] = (), digits: int = HASH_DIGITS
) -> Mapping[Key, str]:
    """Name kernels, each unlike the others and unlike names that are taken.

    Where two names would be equal, both get more digits: which comes first does not matter.
    """
    pending = {flow.key: (_stem(flow), flow.digest()) for flow in flows}
    names: dict[Key, str] = {}
    while pending:
        proposed = {
            key: f"{stem}_{digest[:digits]}" for key, (stem, digest) in pending.items()
        }
        counts = Counter((*proposed.values(), *taken))
        names |= {key: name for key, name in proposed.items() if counts[name] == 1}
        pending = {key: pending[key] for key in proposed if key not in names}
        digits += 1
        assert digits <= DIGITS, "unequal kernels have unequal digests"
    return names


def _stem(flow: Dataflow) -> str:
    """Name the ops of a kernel, as many as there is room for."""
    stem = ""
    for op in flow.operations:
        longer = f"{stem}_{op.name.rpartition('.')[2]}".removeprefix("_")
        if len(longer) > STEM_LENGTH:
            break
        stem = stem if is_splat(op) else longer
    return stem


def _graphs(module: ModuleOp) -> list[Block]:
    """Return the bodies of the functions that may call kernels."""
    return [
        function.body.block
        for function in module.ops
        if isinstance(function, FuncOp)
        and KERNEL not in function.attributes
        and len(function.body.blocks) == 1
    ]


@dataclass(frozen=True)
class _Kernel:
    """A group, and the dataflow of it and its splat constants."""

    group: FusionGroup
    flow: Dataflow

    @staticmethod
    def of(group: FusionGroup) -> "_Kernel":
        return _Kernel(
            group,
            dataflow(group.results, lambda op: op in group.operations or is_splat(op)),
        )

    def function(self, name: str) -> FuncOp:
        """Make a function of clones of the ops."""
        body = Block(arg_types=[each.type for each in self.flow.arguments])
        values: dict[SSAValue, SSAValue] = dict(
            zip(self.flow.arguments, body.args, strict=True)
        )
        body.add_ops(
            [op.clone(values, clone_name_hints=False) for op in self.flow.operations]
        )
        results = ReturnOp(*(values[each] for each in self.flow.results))
        body.add_op(results)
        function = FuncOp(
            name, (body.arg_types, results.operand_types), Region(body), "private"
        )
        function.attributes[KERNEL] = UnitAttr()
        return function

    def call(self, name: str, values: dict[SSAValue, SSAValue]) -> None:
        """Call the function where the last op stands; `values` are results that have been replaced before."""
        call = CallOp(
            name,
            [values.get(each, each) for each in self.flow.arguments],
            [each.type for each in self.flow.results],
        )
        inherit_origins(
            call, *(op for op in self.flow.operations if op in self.group.operations)
        )
        for old, new in zip(self.flow.results, call.results, strict=True):
            values[old] = new
        Rewriter.insert_op(call, InsertPoint.before(self.group.sink))


def _call(block: Block, kernels: Sequence[_Kernel], names: Mapping[Key, str]) -> None:
    """Replace the ops of all kernels of a block by calls."""
    values: dict[SSAValue, SSAValue] = {}
    for kernel in kernels:
        kernel.call(names[kernel.flow.key], values)
    for old, new in values.items():
        old.replace_all_uses_with(new)
        new.name_hint = old.name_hint
    fused = {op for kernel in kernels for op in kernel.flow.operations}
    for op in reversed(tuple(block.ops)):
        if op in fused and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)
