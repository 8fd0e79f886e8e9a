"""What rewrites of one op into several have in common."""

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from partita.dialects.partita import inherit_origins


class Insertion:
    """Inserts ops before the matched one, each with the merged origin of all that the rewrite replaces."""

    def __init__(self, rewriter: PatternRewriter, *replaced: Operation):
        self._rewriter = rewriter
        self._replaced = replaced

    def __call__(self, op: Operation) -> SSAValue:
        """Insert an op; return its first result."""
        inherit_origins(op, *self._replaced)
        return self._rewriter.insert(op).results[0]


def erase_unused(rewriter: PatternRewriter, *ops: Operation) -> None:
    """Erase those of these ops, users first, that nothing uses any more.

    A producer that a rewrite bypassed would otherwise count as another user of its
    own operands until `dce` runs, and keep later rewrites from matching.
    """
    for op in ops:
        if not any(result.uses for result in op.results):
            rewriter.erase(op)
