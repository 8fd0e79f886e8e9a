"""What messages call instructions."""

from partita.runtime.vta.isa import (
    AluOpcode,
    Instructions,
    Memory,
    Opcode,
    moves_data,
)


def named(instructions: Instructions, number: int) -> str:
    """Return `instruction 7 (LOAD INP)` or the like."""
    return f"instruction {number} ({kind(instructions, number)})"


def kind(instructions: Instructions, number: int) -> str:
    """Return what kind of instruction one is, as far as it is any."""
    row = instructions[number : number + 1]
    opcode = int(row["opcode"][0])
    if opcode not in list(Opcode):
        return f"opcode {opcode}"
    name = Opcode(opcode).name
    if opcode in (Opcode.LOAD, Opcode.STORE):
        memory = int(row["memory"][0])
        what = Memory(memory).name if memory in list(Memory) else f"memory {memory}"
        return f"{name} {what}" if moves_data(row)[0] else f"{name} of nothing"
    if opcode == Opcode.ALU:
        operation = int(row["alu_opcode"][0])
        known = operation in list(AluOpcode)
        return f"ALU {AluOpcode(operation).name if known else operation}"
    return f"{name} reset" if opcode == Opcode.GEMM and row["reset"][0] else name
