"""`partita simulate`: what a VTA program computes, and where its cycles go. Nothing here needs a compiler."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from partita.errors import OptionError, PartitaError, did_you_mean
from partita.runtime.plan import TensorSpec
from partita.runtime.vta.buffers import Bytes
from partita.runtime.vta.cycles import Account, CycleReport, time_program, time_stream
from partita.runtime.vta.devices import SIMULATOR, Device, Simulator, open_device
from partita.runtime.vta.program import Program
from partita.runtime.vta.simulator import OrderName
from partita.runtime.vta.stalls import CAUSES, Cause
from partita.runtime.vta.trace import trace_of
from partita.tools.arrays import write_npz
from partita.tools.outputs import check_writable, write_text
from partita.tools.tables import size, table
from partita.tools.timeline import check_timeline, write_timeline
from partita.tools.vta_files import VtaCode, read_vta_code


class WrongMemoryError(PartitaError):
    """A program does not leave in memory what its record says."""


@dataclass(frozen=True)
class SimulateRequest:
    """What the command line asks for; see `partita simulate --help`."""

    file: Path
    config: str | None = None
    inputs: Sequence[str] = ()
    random_inputs: int = 0
    device: str = SIMULATOR
    order: str | None = None
    seed: int = 0
    unchecked: bool = False
    timing_only: bool = False
    output: Path | None = None
    json: bool = False
    trace: Path | None = None
    timeline: Path | None = None


@dataclass(frozen=True)
class MemoryCheck:
    """How memory after a run compares with what a record has."""

    different: int
    """How many bytes differ."""

    where: str
    """The first of them, by buffer."""


def simulate_file(request: SimulateRequest) -> None:
    """Execute and time a program: write what is asked for, and print tables or JSON.

    Raises `WrongMemoryError`, after everything else, if the program has a record that says otherwise.
    """
    for output in (request.output, request.trace, request.timeline):
        if output is not None:
            check_writable(output)
    if request.timeline is not None:
        check_timeline(request.timeline)
    device = _device(request)
    code = read_vta_code(request.file, request.config)
    check = None
    if not request.timing_only:
        check = _execute(code, device, request)
    report = _time(code)
    name = request.file.name
    if request.trace is not None:
        write_text(request.trace, trace_of(report, name).text())
    if request.timeline is not None:
        write_timeline(request.timeline, report, name)
    if request.json:
        print(json.dumps(_data(request, report, check), indent=2))
    else:
        print(_text(request, report, check))
    if check is not None and check.different:
        raise WrongMemoryError(
            f"memory differs from {name} in {check.different} byte{'s'[: check.different != 1]} after the run, "
            f"first in {check.where}"
        )


def _execute(
    code: VtaCode, device: Device, request: SimulateRequest
) -> MemoryCheck | None:
    """Run a program, write its outputs, and compare memory with what its record says, if it has one that does."""
    program = code.program
    if program is None:
        raise OptionError(
            f"{request.file} is a stream without its data; set --timing-only"
        )
    memory = _memory(program, request)
    device.run(program, memory)
    if request.output is not None:
        write_npz(request.output, program.outputs(memory))
    after = None if code.record is None else code.record.after
    return None if after is None else _compare(program, memory, after)


def _time(code: VtaCode) -> CycleReport:
    if code.program is None:
        return time_stream(code.stream, code.config)
    return time_program(code.program)


def _device(request: SimulateRequest) -> Device:
    """Return the device that is asked for, with the options that the simulator has."""
    if request.timing_only and request.output is not None:
        raise OptionError(
            "expected --output without --timing-only: nothing computes it"
        )
    if request.device != SIMULATOR:
        if request.order is not None or request.unchecked:
            raise OptionError(
                "expected --order and --unchecked with --device sim only: others execute as they do"
            )
        return open_device(request.device)
    names: tuple[OrderName, ...] = get_args(OrderName)
    wanted = request.order or names[0]
    for each in names:
        if each == wanted:
            checks = not request.unchecked
            return Simulator(each, request.seed, checks, checks)
    raise OptionError(
        f"expected --order {', '.join(names)}, got {wanted}{did_you_mean(wanted, names)}"
    )


def _memory(program: Program, request: SimulateRequest) -> Bytes:
    """Return the arena before the run, with the inputs that are given and others made up."""
    specs = [
        TensorSpec(each.name, each.dtype or "uint8", each.shape or (each.size,))
        for each in program.buffers
        if each.role == "input" and each.contents is None
    ]
    if not specs and not request.inputs:
        return program.memory()
    # Records have no inputs; most of what these need to be read is slow to import.
    from partita.tools.running import inputs_of

    return program.memory(inputs_of(specs, request.inputs, request.random_inputs))


def _compare(program: Program, memory: Bytes, after: Bytes) -> MemoryCheck:
    different = np.flatnonzero(memory != after)
    where = ""
    if len(different):
        first = int(different[0])
        owner = next(
            each for each in program.buffers if each.offset <= first < each.end
        )
        where = f"byte {first - owner.offset} of {owner.name}"
    return MemoryCheck(len(different), where)


def _data(
    request: SimulateRequest, report: CycleReport, check: MemoryCheck | None
) -> dict[str, object]:
    memory = None
    if check is not None:
        memory = {
            "as_recorded": not check.different,
            "different_bytes": check.different,
            "first": check.where or None,
        }
    return {
        "file": str(request.file),
        "executed_on": None if request.timing_only else request.device,
        "memory": memory,
        **report.to_json(),
    }


def _text(
    request: SimulateRequest, report: CycleReport, check: MemoryCheck | None
) -> str:
    parts = [_summary(request, report, check), _modules(report), _bounds(report)]
    accounts = report.layers or report.launches
    if len(accounts) > 1:
        parts.append(_accounts("layer" if report.layers else "launch", accounts))
    return "\n\n".join(parts)


def _summary(
    request: SimulateRequest, report: CycleReport, check: MemoryCheck | None
) -> str:
    total, launches = report.total, len(report.launches)
    text = (
        f"{request.file.name}: {total.instructions} instruction{'s'[: total.instructions != 1]}, "
        f"{launches} launch{'es'[: 2 * (launches != 1)]}, {report.cycles} cycles"
    )
    if request.timing_only:
        return f"{text}; nothing was executed"
    if check is None:
        return f"{text}; executed on {request.device}"
    how = "differs from" if check.different else "is as in"
    return f"{text}; memory after it {how} the record"


COLUMNS = (
    *(Cause.FETCH, Cause.LOAD_TOKEN, Cause.COMPUTE_TOKEN, Cause.STORE_TOKEN),
    *(Cause.DRAM, Cause.EMPTY),
)
"""What modules wait for, as columns of the table."""


def _modules(report: CycleReport) -> str:
    """Return a table of the share of time in which each module is busy, and waits for what."""
    total = report.total
    cycles = sum(report.timing.length) / report.timing.ticks
    rows = [
        ("module", "instructions", "busy", *(each.value for each in COLUMNS)),
        *(
            (
                module.name.lower(),
                str(time.instructions),
                _share(time.busy, cycles),
                *(
                    _share(time.stalls[each], cycles) if each in CAUSES[module] else ""
                    for each in COLUMNS
                ),
            )
            for module, time in total.modules.items()
        ),
        ("dram", "", _share(total.dram_busy, cycles), *("" for _ in COLUMNS)),
    ]
    return table([tuple(each.replace("_", " ") for each in row) for row in rows])


def _bounds(report: CycleReport) -> str:
    """Return a table of what no other order of the same work goes below."""
    total = report.total
    gemm = f"{total.gemm - (total.padding or 0)} multiplications"
    if total.padding is None:
        gemm += ", those by padding among them"
    elif total.padding:
        gemm += f"; {total.padding} more are by padding"
    compute = f"these, {total.reset} resets, {total.alu} ALU micro-ops"
    dram = f"{size(total.read)} read, {size(total.written)} written"
    rows = [
        ("bound", "of", "cycles", "of all"),
        *(
            (name, what, _cycles(cycles), _share(cycles, total.cycles))
            for name, what, cycles in (
                ("gemm", gemm, total.gemm_bound),
                ("compute", compute, total.compute_bound),
                ("dram", dram, total.dram_bound),
            )
        ),
    ]
    return table(rows, right=2)


def _accounts(what: str, accounts: Sequence[Account]) -> str:
    """Return a table of the parts of a program."""
    whole = sum(each.cycles for each in accounts)
    head = (what, "cycles", "of all", "gemm", "compute", "dram", "instructions", "DRAM")
    rows = [
        (
            each.name or "none",
            _cycles(each.cycles),
            _share(each.cycles, whole),
            *(f"{share:.1%}" for share in each.utilization.values()),
            str(each.instructions),
            size(each.dram_bytes),
        )
        for each in accounts
    ]
    return table([head, *rows])


def _cycles(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else ""
