"""What happens once all steps of a schedule are done."""

from xdsl.dialects.memref import AllocOp

from partita.analysis.loop_nests import blocks_in
from partita.transforms.scheduling.compact import compact
from partita.transforms.scheduling.kinds import check_independent
from partita.transforms.scheduling.partition import never_runs, partition
from partita.transforms.scheduling.state import State, remove


def finish(state: State) -> None:
    """Shrink local buffers, check loops that run at once, cut loops at guards, drop what is unused."""
    compact(state)
    check_independent(state)
    partition(state)
    for block in tuple(blocks_in(state.function)):
        if never_runs(block):
            remove(block)
    for op in tuple(state.function.body.block.ops):
        if isinstance(op, AllocOp) and op.memref.first_use is None:
            op.detach()
            op.erase()
