"""What messages and pictures call instructions."""

from partita.runtime.vta.isa import AluOpcode, Instructions, Memory, Opcode

OPCODES = {int(each): each.name for each in Opcode}
MEMORIES = {int(each): each.name for each in Memory}
OPERATIONS = {int(each): each.name for each in AluOpcode}

DETERMINING = ("opcode", "memory", "x_size", "alu_opcode", "reset")
"""The fields that say of what kind an instruction is."""


def named(instructions: Instructions, number: int) -> str:
    """Return `instruction 7 (LOAD INP)` or the like."""
    return f"instruction {number} ({kinds(instructions[number : number + 1])[0]})"


def kinds(instructions: Instructions) -> list[str]:
    """Return what kind of instruction each one is, as far as it is any."""
    columns = (instructions[field].tolist() for field in DETERMINING)
    return list(map(_kind, *columns))


def _kind(opcode: int, memory: int, size: int, operation: int, reset: int) -> str:
    if opcode not in OPCODES:
        return f"opcode {opcode}"
    name = OPCODES[opcode]
    if opcode in (Opcode.LOAD, Opcode.STORE):
        what = MEMORIES.get(memory, f"memory {memory}")
        return f"{name} {what}" if size else f"{name} of nothing"
    if opcode == Opcode.ALU:
        return f"ALU {OPERATIONS.get(operation, operation)}"
    return f"{name} reset" if opcode == Opcode.GEMM and reset else name
