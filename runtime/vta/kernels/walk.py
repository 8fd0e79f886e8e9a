"""The function that executes a run of instructions, in a given order, as one configuration of hardware does."""

from typing import Any

from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.isa import FIELD_NAMES, AluOpcode, Memory, Module, Opcode
from partita.runtime.vta.kernels.arithmetic import (
    DST,
    INP,
    SRC,
    WGT,
    emit_alu,
    emit_check,
    emit_gemm,
    emit_reset,
)
from partita.runtime.vta.kernels.emitter import Function, Value, ir
from partita.runtime.vta.kernels.layout import Layout
from partita.runtime.vta.kernels.moves import emit_load, emit_store, moves
from partita.runtime.vta.kernels.state import (
    WORDS,
    Fault,
    Step,
    memory,
    state_words,
)

EXECUTE = "partita_vta_execute"
"""`EXECUTE(state, begin, end)` executes the instructions at these places of the order, and returns a `Fault`."""

NARROW = 20
"""More bits than any field has, but for those that follow."""

WIDE = {"dram_base": 32, "imm": None}
"""Fields with more bits, or that may be negative."""


def execute_ir(config: HardwareConfig) -> str:
    """Return the module's text."""
    module = ir.Module("vta")
    layout = Layout(config)
    instruction = _Dispatch(module, layout).step
    execute = Function(module, EXECUTE, ("state_at", "begin", "end"))
    words = state_words(execute)
    fields = execute.array(memory(execute, "instructions"), 64)
    order = execute.array(memory(execute, "order"), 32)
    clocks = execute.array(memory(execute, "clocks"), 32)
    owners = execute.array(memory(execute, "buffer_of"), 32)
    buffers = execute.array(memory(execute, "buffers"), 64)
    ordered = words[WORDS["ordered"]].differs(0)
    with execute.range(execute["end"], execute["begin"]) as place:
        number = order[place]
        with execute.when(ordered):
            for module_number in Module:
                name = f"known_{module_number.name.lower()}"
                words[WORDS[name]] = clocks[number * len(Module) + module_number]
        owner = owners[number]
        for offset, name in enumerate(("origin", "low", "high")):
            words[WORDS[name]] = buffers[owner * 3 + offset]
        fault = execute.call(
            instruction,
            execute.pointer("state_at"),
            fields.address(number * len(FIELD_NAMES)),
        )
        with execute.when(fault.differs(Fault.NONE), likely=False):
            words[WORDS["fault_instruction"]] = number
            execute.leave(fault)
    execute.leave(Fault.NONE)
    return str(module)


class _Dispatch:
    """The function under construction that executes any instruction."""

    def __init__(self, module: Any, layout: Layout):
        self._module = module
        self._layout = layout
        parts = {
            Opcode.LOAD: self._loads(),
            Opcode.STORE: self._store(),
            Opcode.GEMM: self._gemms(),
            Opcode.ALU: self._alus(),
            Opcode.FINISH: self._finish(),
        }
        self.step = step = Step(module, "instruction")
        step.hide()
        _check_fields(step)
        with step.cases(step("opcode")) as opcodes:
            for opcode, part in parts.items():
                with opcodes.case(opcode):
                    step.leave(_call(step, part))
        step.leave(Fault.FIELD)

    def _part(self, name: str) -> Step:
        step = Step(self._module, name)
        step.hide("alwaysinline")
        return step

    def _loads(self) -> Step:
        layout = self._layout
        known = {
            move.memory: emit_load(self._module, move, layout.granule)
            for move in moves(layout)
            if move.memory is not Memory.OUT
            and (layout.config.acc_8bit or move.memory is not Memory.ACC_8BIT)
        }
        step = self._part("load")
        with step.cases(step("memory")) as memories:
            for each in Memory:
                on_load = each in (Memory.INP, Memory.WGT)
                with memories.case(each):
                    _begin(step, Module.LOAD if on_load else Module.COMPUTE)
                    _leave_idle(step)
                    if each in known:
                        step.leave(_call(step, known[each]))
        step.leave(Fault.FIELD)
        return step

    def _store(self) -> Step:
        layout = self._layout
        (move,) = (each for each in moves(layout) if each.memory is Memory.OUT)
        store = emit_store(self._module, move, layout.granule)
        step = self._part("store_any")
        _begin(step, Module.STORE)
        _leave_idle(step)
        with step.when(step("memory").differs(Memory.OUT), likely=False):
            step.leave(Fault.FIELD)
        step.leave(_call(step, store))
        return step

    def _gemms(self) -> Step:
        module, layout = self._module, self._layout
        kinds = (
            (
                emit_check(module, layout, "gemm", DST, INP, WGT, reads=True),
                emit_gemm(module, layout),
            ),
            (
                emit_check(module, layout, "reset", DST, reads=False),
                emit_reset(module, layout),
            ),
        )
        step = self._part("gemm_any")
        _begin(step, Module.COMPUTE)
        for resets, (checks, action) in enumerate(kinds):
            with step.when(step("reset").differs(0).equals(resets)):
                _check(step, checks)
                step.leave(_call(step, action))
        step.leave(Fault.FIELD)
        return step

    def _alus(self) -> Step:
        module, layout = self._module, self._layout
        opcodes = [
            each
            for each in AluOpcode
            if layout.config.alu_mul or each is not AluOpcode.MUL
        ]
        kinds = [
            (
                emit_check(module, layout, name, *operands, reads=True),
                {each: emit_alu(module, layout, each, imm=imm) for each in opcodes},
            )
            for imm, name, operands in (
                (False, "alu_src", (DST, SRC)),
                (True, "alu_imm", (DST,)),
            )
        ]
        step = self._part("alu_any")
        _begin(step, Module.COMPUTE)
        for imm, (checks, actions) in enumerate(kinds):
            with step.when(step("use_imm").differs(0).equals(imm)):
                _check(step, checks)
                with step.cases(step("alu_opcode")) as operations:
                    for opcode, action in actions.items():
                        with operations.case(opcode):
                            step.leave(_call(step, action))
        step.leave(Fault.FIELD)
        return step

    def _finish(self) -> Step:
        step = self._part("finish")
        _begin(step, Module.COMPUTE)
        step.leave(Fault.NONE)
        return step


def _call(step: Step, other: Step) -> Value:
    """Go on with another function for the same instruction."""
    return step.call(other, step.pointer("state_at"), step.pointer("row_at"))


def _check(step: Step, checks: Step) -> None:
    """Leave with the fault that checks find."""
    fault = _call(step, checks)
    with step.when(fault.differs(Fault.NONE), likely=False):
        step.leave(fault)


def _begin(step: Step, performer: Module) -> None:
    """Give the instruction its number in its module."""
    words = state_words(step)
    done = WORDS[f"done_{performer.name.lower()}"]
    words[done] = sequence = words[done] + 1
    words[WORDS["sequence"]] = sequence


def _leave_idle(step: Step) -> None:
    """Leave it at that if a LOAD or STORE moves nothing."""
    with step.when(step("x_size").equals(0)):
        step.leave(Fault.NONE)


def _check_fields(step: Step) -> None:
    """Refuse values that no field can hold, so that no index computed from them overflows."""
    bits = step.word(0)
    for name in FIELD_NAMES:
        if name not in WIDE:
            bits = bits | step(name)
    wide = step("dram_base") >> 32
    with step.when((bits >> NARROW | wide).differs(0), likely=False):
        step.leave(Fault.FIELD)
