"""Memory scopes have a size."""

from xdsl.dialects.memref import AllocOp
from xdsl.ir import Operation

from partita.analysis.loop_nests import loops_around, writers_of
from partita.analysis.memory_scopes import alive_together, bytes_of, total_bytes
from partita.dialects.tir import buffer_type
from partita.transforms.scheduling.state import ScheduleError, State, name_of


def check_capacities(state: State) -> None:
    """Raise `ScheduleError` if buffers that are alive together take more than their scope has."""
    for scope, capacity in state.capacities.items():
        allocs = alive_together(state.function.body.block, scope)
        size = total_bytes(allocs)
        if size > capacity:
            raise ScheduleError(
                f"expected {scope} buffers of at most {capacity} bytes, got {size}: "
                + ", ".join(map(_described, allocs)),
                state.function,
            )


def _described(alloc: AllocOp) -> str:
    """Say who fills a buffer, how large it is, and in which loop it lives."""
    type = buffer_type(alloc.memref)
    writers = writers_of(alloc.memref)
    loops = loops_around(alloc)
    filled: Operation = writers[-1] if writers else alloc
    shape = "x".join(map(str, type.get_shape()))
    place = f" in {name_of(loops[-1])}" if loops else ""
    return (
        f"{name_of(filled)} fills {shape}x{type.element_type} = "
        f"{bytes_of(type)} bytes{place}"
    )
