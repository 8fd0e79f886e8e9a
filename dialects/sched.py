"""Schedules: what to do to the loops of a kernel, written down and not yet done.

A `sched.sequence` names a kernel and holds steps. Handles stand for blocks and loops of
the kernel in its state at that point: a step that replaces loops gives new handles and
ends the old ones. The text can be printed, compared, stored and applied elsewhere;
`apply-schedules` carries it out on `tir`, checks every step, and refuses with a reason
what would change results. Rules and tuners write schedules; they never edit loops.

| op | meaning |
|---|---|
| `sched.sequence` | the steps for one kernel |
| `sched.block`, `sched.loops` | find a block by label, and the loops around it, outermost first |
| `sched.split`, `sched.fuse`, `sched.reorder` | reshape a loop nest |
| `sched.compute_at`, `sched.reverse_compute_at` | move a producer, or a consumer, into a loop |
| `sched.compute_inline` | compute a producer where it is read |
| `sched.cache_write`, `sched.set_scope` | where results are kept while they are computed |
| `sched.decompose_reduction` | separate a reduction's first values from its updates |
| `sched.vectorize`, `sched.parallel`, `sched.unroll` | how a loop runs |
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import (
    Block,
    Dialect,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

INFERRED = -1
"""The factor of a split that follows from the others; printed as `?`."""


@irdl_attr_definition
class BlockType(ParametrizedAttribute, TypeAttribute):
    """A handle on a `tir.block`."""

    name = "sched.block"


@irdl_attr_definition
class LoopType(ParametrizedAttribute, TypeAttribute):
    """A handle on a `tir.for`."""

    name = "sched.loop"


BLOCK = BlockType()
LOOP = LoopType()


@irdl_op_definition
class SequenceOp(IRDLOperation):
    """Hold the steps that schedule one kernel.

    ```mlir
    sched.sequence @relu_schedule for @relu {
    ```
    """

    name = "sched.sequence"

    sym_name = prop_def(SymbolNameConstraint())

    kernel = prop_def(FlatSymbolRefAttrConstr)

    body = region_def("single_block")

    traits = traits_def(NoTerminator(), SymbolOpInterface())

    def __init__(self, sym_name: str, kernel: str, body: Region):
        super().__init__(
            properties={
                "sym_name": StringAttr(sym_name),
                "kernel": SymbolRefAttr(kernel),
            },
            regions=(body,),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" for ")
        printer.print_attribute(self.kernel)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> "SequenceOp":
        name = parser.parse_symbol_name()
        parser.parse_characters("for")
        kernel = parser.parse_symbol_name()
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name.data, kernel.data, body)
        if attributes is not None:
            op.attributes |= attributes.data
        return op


@irdl_op_definition
class FindBlockOp(IRDLOperation):
    """Find the block of this label.

    ```mlir
    %b = sched.block "conv2d"
    ```
    """

    name = "sched.block"

    label = prop_def(StringAttr)

    block = result_def(BLOCK)

    assembly_format = "$label attr-dict"

    def __init__(self, label: str):
        super().__init__(properties={"label": StringAttr(label)}, result_types=(BLOCK,))


@irdl_op_definition
class LoopsOp(IRDLOperation):
    """Give the loops around a block, outermost first.

    ```mlir
    %l:3 = sched.loops %b -> 3
    ```
    """

    name = "sched.loops"

    block = operand_def(BLOCK)

    loops = var_result_def(LOOP)

    def __init__(self, block: SSAValue, count: int):
        super().__init__(operands=(block,), result_types=((LOOP,) * count,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.block)
        printer.print_string(f" -> {len(self.loops)}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "LoopsOp":
        block = parser.parse_operand(BLOCK)
        parser.parse_punctuation("->")
        count = parser.parse_integer(allow_boolean=False, allow_negative=False)
        attributes = parser.parse_optional_attr_dict()
        op = cls(block, count)
        op.attributes |= attributes
        return op


@irdl_op_definition
class SplitOp(IRDLOperation):
    """Split a loop into nested ones, outermost first; one factor may be `?`.

    Where the factors do not divide the extent, `tail` says what becomes of the rest:
    `guard` (the default) keeps one nest whose blocks test that they are inside; `peel`
    makes a nest of whole tiles and one for the rest.

    ```mlir
    %o, %i = sched.split %l [?, 16]
    ```
    """

    name = "sched.split"

    loop = operand_def(LOOP)

    factors = prop_def(DenseArrayBase.constr(i64))
    """Extents of the new loops, `INFERRED` for at most one."""

    tail = opt_prop_def(StringAttr)
    """`guard` or `peel`."""

    loops = var_result_def(LOOP)

    def __init__(
        self, loop: SSAValue, factors: Sequence[int | None], tail: str | None = None
    ):
        super().__init__(
            operands=(loop,),
            properties={
                "factors": DenseArrayBase.from_list(
                    i64, [INFERRED if each is None else each for each in factors]
                ),
                "tail": None if tail is None else StringAttr(tail),
            },
            result_types=((LOOP,) * len(factors),),
        )

    @property
    def factor_values(self) -> tuple[int | None, ...]:
        """Extents of the new loops, `None` for the inferred one."""
        return tuple(
            None if value == INFERRED else int(value)
            for value in self.factors.get_values()
        )

    def verify_(self) -> None:
        factors = self.factor_values
        if len(factors) < 2:
            raise VerifyException(f"expected at least two factors, got {len(factors)}")
        if len(factors) != len(self.loops):
            raise VerifyException(
                f"expected {len(factors)} loops, got {len(self.loops)}"
            )
        if factors.count(None) > 1:
            raise VerifyException("expected at most one inferred factor")
        if any(factor is not None and factor < 1 for factor in factors):
            raise VerifyException("expected factors of at least 1")
        if self.tail is not None and self.tail.data not in ("guard", "peel"):
            raise VerifyException(f"expected tail guard or peel, got {self.tail.data}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        with printer.in_square_brackets():
            printer.print_list(
                self.factor_values,
                lambda each: printer.print_string("?" if each is None else str(each)),
            )
        if self.tail is not None:
            printer.print_string(f" {self.tail.data}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "SplitOp":
        loop = parser.parse_operand(LOOP)
        factors = parser.parse_comma_separated_list(
            Parser.Delimiter.SQUARE,
            lambda: (
                None
                if parser.parse_optional_punctuation("?")
                else parser.parse_integer(allow_boolean=False, allow_negative=False)
            ),
        )
        tail = next(
            (each for each in ("guard", "peel") if parser.parse_optional_keyword(each)),
            None,
        )
        attributes = parser.parse_optional_attr_dict()
        op = cls(loop, factors, tail)
        op.attributes |= attributes
        return op


@irdl_op_definition
class FuseOp(IRDLOperation):
    """Make one loop of several that are directly nested, outermost first.

    ```mlir
    %f = sched.fuse %o, %i
    ```
    """

    name = "sched.fuse"

    loops = var_operand_def(LOOP)

    fused = result_def(LOOP)

    assembly_format = "$loops attr-dict"

    def __init__(self, *loops: SSAValue):
        super().__init__(operands=(loops,), result_types=(LOOP,))


@irdl_op_definition
class ReorderOp(IRDLOperation):
    """Put loops of one nest into this order; loops not named keep their places.

    ```mlir
    sched.reorder %i, %o
    ```
    """

    name = "sched.reorder"

    loops = var_operand_def(LOOP)

    assembly_format = "$loops attr-dict"

    def __init__(self, *loops: SSAValue):
        super().__init__(operands=(loops,))


@irdl_op_definition
class ComputeAtOp(IRDLOperation):
    """Move a producer into a loop of its consumers, computing just what they read there.

    ```mlir
    sched.compute_at %b, %l
    ```
    """

    name = "sched.compute_at"

    block = operand_def(BLOCK)

    loop = operand_def(LOOP)

    assembly_format = "$block `,` $loop attr-dict"

    def __init__(self, block: SSAValue, loop: SSAValue):
        super().__init__(operands=(block, loop))


@irdl_op_definition
class ReverseComputeAtOp(IRDLOperation):
    """Move a consumer into a loop of its producer, consuming just what is complete there.

    ```mlir
    sched.reverse_compute_at %b, %l
    ```
    """

    name = "sched.reverse_compute_at"

    block = operand_def(BLOCK)

    loop = operand_def(LOOP)

    assembly_format = "$block `,` $loop attr-dict"

    def __init__(self, block: SSAValue, loop: SSAValue):
        super().__init__(operands=(block, loop))


@irdl_op_definition
class ComputeInlineOp(IRDLOperation):
    """Compute a producer without reduction wherever it is read, and drop its buffer.

    ```mlir
    sched.compute_inline %b
    ```
    """

    name = "sched.compute_inline"

    block = operand_def(BLOCK)

    assembly_format = "$block attr-dict"

    def __init__(self, block: SSAValue):
        super().__init__(operands=(block,))


@irdl_op_definition
class CacheWriteOp(IRDLOperation):
    """Let a block write a new buffer in `scope`, and a new block copy it to the old one.

    ```mlir
    %c = sched.cache_write %b, "local"
    ```
    """

    name = "sched.cache_write"

    block = operand_def(BLOCK)

    scope = prop_def(StringAttr)

    copy = result_def(BLOCK)
    """The block that copies; its label is the block's with `_copy` added."""

    assembly_format = "$block `,` $scope attr-dict"

    def __init__(self, block: SSAValue, scope: str):
        super().__init__(
            operands=(block,),
            properties={"scope": StringAttr(scope)},
            result_types=(BLOCK,),
        )


@irdl_op_definition
class SetScopeOp(IRDLOperation):
    """Keep what a block writes in a memory scope, shrunk to what is alive there at a time.

    ```mlir
    sched.set_scope %b, "local"
    ```
    """

    name = "sched.set_scope"

    block = operand_def(BLOCK)

    scope = prop_def(StringAttr)

    assembly_format = "$block `,` $scope attr-dict"

    def __init__(self, block: SSAValue, scope: str):
        super().__init__(operands=(block,), properties={"scope": StringAttr(scope)})


@irdl_op_definition
class DecomposeReductionOp(IRDLOperation):
    """Write a reduction's first values in a block of its own, just before `loop`.

    ```mlir
    %i = sched.decompose_reduction %b, %l
    ```
    """

    name = "sched.decompose_reduction"

    block = operand_def(BLOCK)

    loop = operand_def(LOOP)

    init = result_def(BLOCK)
    """The block that writes first values; its label is the block's with `_init` added."""

    assembly_format = "$block `,` $loop attr-dict"

    def __init__(self, block: SSAValue, loop: SSAValue):
        super().__init__(operands=(block, loop), result_types=(BLOCK,))


@irdl_op_definition
class VectorizeOp(IRDLOperation):
    """Run a loop's iterations as the lanes of vectors.

    ```mlir
    sched.vectorize %l
    ```
    """

    name = "sched.vectorize"

    loop = operand_def(LOOP)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue):
        super().__init__(operands=(loop,))


@irdl_op_definition
class ParallelOp(IRDLOperation):
    """Run a loop's iterations on several threads.

    ```mlir
    sched.parallel %l
    ```
    """

    name = "sched.parallel"

    loop = operand_def(LOOP)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue):
        super().__init__(operands=(loop,))


@irdl_op_definition
class UnrollOp(IRDLOperation):
    """Run a loop's iterations one after the other, without a loop; with a factor, so many at a time.

    ```mlir
    sched.unroll %l
    ```
    """

    name = "sched.unroll"

    loop = operand_def(LOOP)

    factor = opt_prop_def(IntegerAttr.constr(i64))

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue, factor: int | None = None):
        super().__init__(
            operands=(loop,),
            properties={"factor": None if factor is None else IntegerAttr(factor, i64)},
        )


Sched = Dialect(
    "sched",
    [
        CacheWriteOp,
        ComputeAtOp,
        ComputeInlineOp,
        DecomposeReductionOp,
        FindBlockOp,
        FuseOp,
        LoopsOp,
        ParallelOp,
        ReorderOp,
        ReverseComputeAtOp,
        SequenceOp,
        SetScopeOp,
        SplitOp,
        UnrollOp,
        VectorizeOp,
    ],
    [BlockType, LoopType],
)
