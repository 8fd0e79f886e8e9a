"""A timed program as a trace for Chrome's tracing page and Perfetto.

There is a track for each module, whose spans are instructions, and what the module waits for before each; a track for
the memory channel, which shows the instructions that it serves; and one for the layers that compute is at, if the
program has layers. Arrows are tokens, from the instruction that pushes one to the instruction that pops it. Launches
follow one another. A cycle is shown as a microsecond.
"""

from itertools import pairwise

import numpy as np

from partita.runtime.chrome_trace import ChromeTrace
from partita.runtime.vta.asm import NAMES, SELECTORS
from partita.runtime.vta.cycles import CycleReport
from partita.runtime.vta.isa import Instructions, Module, Opcode, moves_data
from partita.runtime.vta.stalls import CAUSES, previous_ends, wait_times
from partita.runtime.vta.timing import Timing, Words

CHANNEL = "dram"
LAYERS = "layer"

TRACKS = {int(each): each.name.lower() for each in Module}


def trace_of(report: CycleReport, name: str) -> ChromeTrace:
    """Return a trace of a timed program, with what it is called."""
    timing = report.timing
    trace = ChromeTrace(name)
    for track in (*((LAYERS,) if report.layers else ()), *TRACKS.values(), CHANNEL):
        trace.track(track)
    offset = launch_starts(timing)
    _add_instructions(trace, report, offset)
    _add_waits(trace, timing, offset)
    _add_tokens(trace, timing, offset)
    _add_layers(trace, report)
    return trace


def launch_starts(timing: Timing) -> Words:
    """Return for each instruction when its launch begins, in ticks, if launches follow one another."""
    starts = np.cumsum([0, *timing.length])[:-1]
    return starts[timing.launch]


def kinds(instructions: Instructions) -> list[str]:
    """Return what kind of instruction each one is: its mnemonic, `gemm reset`, or `load tokens` if it moves nothing."""
    selected = np.zeros(len(instructions), np.int64)
    for opcode, field in SELECTORS.items():
        mine = instructions["opcode"] == opcode
        selected[mine] = instructions[field][mine]
    idle = (instructions["opcode"] <= Opcode.STORE) & ~moves_data(instructions)
    resets = (instructions["opcode"] == Opcode.GEMM) & (instructions["reset"] != 0)
    names: list[str] = []
    for opcode, which, nothing, reset in zip(
        instructions["opcode"].tolist(),
        *(each.tolist() for each in (selected, idle, resets)),
        strict=True,
    ):
        name = (
            f"{Opcode(opcode).name.lower()} tokens" if nothing else NAMES[opcode, which]
        )
        names.append(f"{name} reset" if reset else name)
    return names


def _add_instructions(trace: ChromeTrace, report: CycleReport, offset: Words) -> None:
    """Add each instruction to the track of its module, and its transfer to that of the channel."""
    timing, ticks = report.timing, report.timing.ticks
    start = ((offset + timing.granted) / ticks).tolist()
    duration = ((timing.end - timing.granted) / ticks).tolist()
    service = (timing.service / ticks).tolist()
    modules, launches = timing.module.tolist(), timing.launch.tolist()
    numbers: list[int] = report.layer.tolist()
    layers = [report.layers[each].name for each in numbers] if report.layers else []
    for number, what in enumerate(kinds(timing.instructions)):
        details: dict[str, object] = {"instruction": number, "launch": launches[number]}
        if layers and layers[number]:
            details["layer"] = layers[number]
        track = TRACKS[modules[number]]
        trace.span(track, what, start[number], duration[number], details)
        if service[number] > 0:
            details = {"instruction": number}
            trace.span(CHANNEL, what, start[number], service[number], details)


def _add_waits(trace: ChromeTrace, timing: Timing, offset: Words) -> None:
    """Add what each module waits for, in the order in which it is waited for."""
    ticks = timing.ticks
    waits = wait_times(timing)
    ended = previous_ends(timing)
    for module in Module:
        mine = np.flatnonzero(timing.module == module)
        now = (offset + ended)[mine]
        for cause in CAUSES[module]:
            wait = waits[cause][mine]
            some = wait > 0
            for start, duration in zip(
                now[some].tolist(), wait[some].tolist(), strict=True
            ):
                trace.span(
                    TRACKS[module],
                    f"wait: {cause.value}",
                    start / ticks,
                    duration / ticks,
                )
            now = now + wait


def _add_tokens(trace: ChromeTrace, timing: Timing, offset: Words) -> None:
    """Add an arrow for each token; one that is left over comes from the launch before."""
    ticks = timing.ticks
    begun = (offset + timing.granted) / ticks
    length = (timing.end - timing.granted) / ticks
    last = begun + length - np.minimum(0.5, length / 2)  # still inside the span
    for tokens in timing.tokens:
        pushed = tokens.pushed[: len(tokens.popped)]
        name = tokens.queue.name.lower().replace("_", " ")
        for source, sink in zip(pushed.tolist(), tokens.popped.tolist(), strict=True):
            trace.flow(
                name,
                (TRACKS[int(timing.module[source])], float(last[source])),
                (TRACKS[int(timing.module[sink])], float(begun[sink])),
            )


def _add_layers(trace: ChromeTrace, report: CycleReport) -> None:
    for name, start, end in layer_spans(report):
        trace.span(LAYERS, name, start, end - start)


def layer_spans(report: CycleReport) -> list[tuple[str, float, float]]:
    """Return which layer compute is at or waits for, from when to when in cycles, over instructions in a row."""
    timing = report.timing
    mine = np.flatnonzero(timing.module == Module.COMPUTE)
    if not report.layers or not len(mine):
        return []
    offset = launch_starts(timing)[mine]
    start = ((offset + previous_ends(timing)[mine]) / timing.ticks).tolist()
    end = ((offset + timing.end[mine]) / timing.ticks).tolist()
    layer = report.layer[mine]
    changes = np.flatnonzero(np.diff(layer)) + 1
    return [
        (
            report.layers[int(layer[first])].name or "no layer",
            start[first],
            end[stop - 1],
        )
        for first, stop in pairwise([0, *changes.tolist(), len(mine)])
    ]
