"""Steps that move blocks, and that say where their results are kept."""

from xdsl.dialects.builtin import (
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import (
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
)

from partita.dialects.sched.sequence import BLOCK, LOOP


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
class CacheReadOp(IRDLOperation):
    """Let a block read a copy in `scope` of the buffer that it reads first, second, …; count from 0.

    ```mlir
    %c = sched.cache_read %b, 0, "local"
    ```
    """

    name = "sched.cache_read"

    block = operand_def(BLOCK)

    index = prop_def(IntegerAttr.constr(i64))
    """Which of the buffers that the block reads and does not write, in the order in which it reads them."""

    scope = prop_def(StringAttr)

    copy = result_def(BLOCK)
    """The block that copies, just in front of the block's loops; its label is the block's with `_read0` added."""

    assembly_format = "$block `,` $index `,` $scope attr-dict"

    def __init__(self, block: SSAValue, index: int, scope: str):
        super().__init__(
            operands=(block,),
            properties={"index": IntegerAttr(index, i64), "scope": StringAttr(scope)},
            result_types=(BLOCK,),
        )


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
class SplitReductionByPaddingOp(IRDLOperation):
    """Leave out updates that read padding: each tap runs over the outputs for which it lies inside.

    ```mlir
    sched.split_reduction_by_padding %b
    ```
    """

    name = "sched.split_reduction_by_padding"

    block = operand_def(BLOCK)

    assembly_format = "$block attr-dict"

    def __init__(self, block: SSAValue):
        super().__init__(operands=(block,))
