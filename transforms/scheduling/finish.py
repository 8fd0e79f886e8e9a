"""What happens once all steps of a schedule are done."""

from xdsl.dialects.memref import AllocOp

from partita.analysis.loop_nests import blocks_in
from partita.transforms.scheduling.capacity import check_capacities
from partita.transforms.scheduling.compact import compact
from partita.transforms.scheduling.kinds import check_independent
from partita.transforms.scheduling.padding import guard_padding
from partita.transforms.scheduling.partition import never_runs, partition
from partita.transforms.scheduling.pipeline import pipeline_loops
from partita.transforms.scheduling.state import State, remove
from partita.transforms.scheduling.tensorize import tensorize_loops


def finish(state: State) -> None:
    """Do what needs the whole schedule: shrink buffers, check loops that run at once, cut, pipeline and replace loops."""
    guard_padding(state)
    compact(state)
    check_independent(state)
    partition(state)
    for block in tuple(blocks_in(state.function)):
        if never_runs(block):
            remove(block)
    pipeline_loops(state)
    for op in tuple(state.function.body.block.ops):
        if isinstance(op, AllocOp) and op.memref.first_use is None:
            op.detach()
            op.erase()
    check_capacities(state)
    tensorize_loops(state)
