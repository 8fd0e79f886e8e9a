"""Steps that move blocks, and that say where their results are kept."""

from xdsl.dialects.builtin import (
    StringAttr,
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
