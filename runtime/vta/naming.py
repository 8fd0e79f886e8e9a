"""What messages call instructions, also those that are none."""

from partita.runtime.vta.asm import NAMES, SELECTORS, describe
from partita.runtime.vta.isa import Instructions, Opcode


def named(instructions: Instructions, number: int) -> str:
    """Return `instruction 7 (…)` with the text of the instruction, or only the number if it has none."""
    row = instructions[number]
    opcode = int(row["opcode"])
    known = opcode in list(Opcode)
    selector = SELECTORS.get(Opcode(opcode)) if known else None
    kind = opcode, 0 if selector is None else int(row[selector])
    return describe(instructions, number) if kind in NAMES else f"instruction {number}"
