"""The function that executes a run of instructions, in a given order, as one configuration of hardware does."""

from typing import Any

from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.isa import FIELD_NAMES, AluOpcode, Memory, Module, Opcode
from partita.runtime.vta.kernels.arithmetic import emit_alu, emit_gemm, emit_reset
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
    instruction = _emit_instruction(module, layout)
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


def _emit_instruction(module: Any, layout: Layout) -> Step:
    """Emit the execution of any instruction, by opcode, memory and ALU opcode."""
    config = layout.config
    loads: dict[Memory, Step] = {}
    store = None
    for move in moves(layout):
        if move.memory is Memory.OUT:
            store = emit_store(module, move, layout.granule)
        elif move.memory is not Memory.ACC_8BIT or config.acc_8bit:
            loads[move.memory] = emit_load(module, move, layout.granule)
    assert store is not None
    gemm, reset = emit_gemm(module, layout), emit_reset(module, layout)
    alus = {
        (opcode, imm): emit_alu(module, layout, opcode, imm=imm)
        for opcode in AluOpcode
        if opcode is not AluOpcode.MUL or config.alu_mul
        for imm in (False, True)
    }
    step = Step(module, "instruction")
    step.hide()
    _check_fields(step)

    def run(action: Step, performer: Module) -> None:
        words = state_words(step)
        done = WORDS[f"done_{performer.name.lower()}"]
        words[done] = sequence = words[done] + 1
        words[WORDS["sequence"]] = sequence
        step.leave(step.call(action, step.pointer("state_at"), step.pointer("row_at")))

    def idle(performer: Module) -> None:
        """Let a LOAD or STORE of nothing only count as done."""
        with step.when(step("x_size").equals(0)):
            step.count(f"done_{performer.name.lower()}", step.word(1))
            step.leave(Fault.NONE)

    with step.cases(step("opcode")) as opcodes:
        with opcodes.case(Opcode.LOAD), step.cases(step("memory")) as memories:
            for each in Memory:
                on_load = each in (Memory.INP, Memory.WGT)
                with memories.case(each):
                    performer = Module.LOAD if on_load else Module.COMPUTE
                    idle(performer)
                    if each in loads:
                        run(loads[each], performer)
        with opcodes.case(Opcode.STORE):
            idle(Module.STORE)
            with step.when(step("memory").equals(Memory.OUT)):
                run(store, Module.STORE)
        with opcodes.case(Opcode.GEMM):
            with step.when(step("reset").differs(0)):
                run(reset, Module.COMPUTE)
            run(gemm, Module.COMPUTE)
        with opcodes.case(Opcode.FINISH):
            step.count("done_compute", step.word(1))
            step.leave(Fault.NONE)
        with (
            opcodes.case(Opcode.ALU),
            step.cases(step("alu_opcode") * 2 + _bit(step("use_imm"))) as kinds,
        ):
            for (opcode, imm), action in alus.items():
                with kinds.case(2 * opcode + imm):
                    run(action, Module.COMPUTE)
    step.leave(Fault.FIELD)
    return step


def _bit(value: Value) -> Value:
    return value.differs(0).choose(1, 0)


def _check_fields(step: Step) -> None:
    """Refuse values that no field can hold, so that no index computed from them overflows."""
    bits = step.word(0)
    for name in FIELD_NAMES:
        if name not in WIDE:
            bits = bits | step(name)
    wide = step("dram_base") >> 32
    with step.when((bits >> NARROW | wide).differs(0), likely=False):
        step.leave(Fault.FIELD)
