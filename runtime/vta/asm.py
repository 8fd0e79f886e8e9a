"""Instructions as lines of text, and back.

    load.inp data+14 y=3 x=14 stride=14 pad=1,0,1,1 sram=64 pop=next push=next
    gemm uops=0:9 loops=7x14 dst=14,1 src=16,1 wgt=0,0
    alu.shr uops=9:10 loops=1x98 dst=0,1 src=0,1 imm=8 push=next
    store.out out+0 y=1 x=98 stride=98 sram=0 pop=prev push=prev
    finish pop=next

A line is a mnemonic and fields in any order. A field that is not there is 0, and fields that are 0 are left out where
nothing is lost to the reader. What a LOAD or STORE finds in DRAM is a buffer and an offset in elements, or `dram=` and
an absolute one. `pad` has rows above and below, then columns left and right; pairs are for the outer and inner loop.
`docs/vta-isa.md` specifies all of it.
"""

import re
from collections.abc import Iterator, Mapping

from partita.errors import PartitaError, did_you_mean
from partita.runtime.vta import isa
from partita.runtime.vta.isa import AluOpcode, Memory, Opcode

MNEMONICS: Mapping[str, tuple[Opcode, int]] = {
    **{
        f"{opcode.name.lower()}.{memory.name.lower()}": (opcode, memory.value)
        for opcode in (Opcode.LOAD, Opcode.STORE)
        for memory in Memory
    },
    "gemm": (Opcode.GEMM, 0),
    **{f"alu.{each.name.lower()}": (Opcode.ALU, each.value) for each in AluOpcode},
    "finish": (Opcode.FINISH, 0),
}
"""The opcode of each mnemonic, and what it says about memory or the ALU."""

NAMES: Mapping[tuple[int, int], str] = {
    what: mnemonic for mnemonic, what in MNEMONICS.items()
}

SELECTORS = {
    Opcode.LOAD: "memory",
    Opcode.STORE: "memory",
    Opcode.ALU: "alu_opcode",
}
"""The column that a mnemonic sets besides the opcode."""

TOKENS = {
    "pop": {"prev": "pop_prev", "next": "pop_next"},
    "push": {"prev": "push_prev", "next": "push_next"},
}

MOVE_KEYS = {
    "dram": ("dram_base",),
    "y": ("y_size",),
    "x": ("x_size",),
    "stride": ("x_stride",),
    "pad": ("y_pad_0", "y_pad_1", "x_pad_0", "x_pad_1"),
    "sram": ("sram_base",),
}
LOOP_KEYS = {
    "uops": ("uop_bgn", "uop_end"),
    "loops": ("iter_out", "iter_in"),
    "dst": ("dst_factor_out", "dst_factor_in"),
    "src": ("src_factor_out", "src_factor_in"),
}
GEMM_KEYS = {**LOOP_KEYS, "wgt": ("wgt_factor_out", "wgt_factor_in")}
ALU_KEYS = {**LOOP_KEYS, "imm": ("imm",), "unused_imm": ("imm",)}

KEYS: Mapping[Opcode, Mapping[str, tuple[str, ...]]] = {
    Opcode.LOAD: MOVE_KEYS,
    Opcode.STORE: MOVE_KEYS,
    Opcode.GEMM: GEMM_KEYS,
    Opcode.FINISH: {},
    Opcode.ALU: ALU_KEYS,
}
"""What the fields of each kind of instruction are called in text, and the columns that they stand for."""

SHOWN = ("y", "x", "stride", "sram", "uops", "loops", "dst", "src", "wgt")
"""What is written even if it is 0, unless an instruction does nothing."""

SEPARATORS = {"uops": ":", "loops": "x"}
"""What stands between the numbers of a field, where that is no comma."""

NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


class AssemblyError(PartitaError):
    """A line of text is not what it should be."""


def describe(stream: isa.Instructions, number: int) -> str:
    """Return an instruction of a stream in words for an error: `instruction 7 (load.inp dram=64 y=1 x=4 stride=4)`."""
    return f"instruction {number} ({next(lines(stream[number : number + 1]))})"


def lines(
    stream: isa.Instructions, operands: Mapping[int, str] | None = None
) -> Iterator[str]:
    """Yield a line for each instruction; `operands` are what buffers are called, by instruction."""
    operands = {} if operands is None else operands
    for number, row in enumerate(isa.columns(stream).tolist()):
        yield _line(dict(zip(isa.FIELD_NAMES, row, strict=True)), operands.get(number))


def _line(row: Mapping[str, int], operand: str | None) -> str:
    opcode = Opcode(row["opcode"])
    selected = row[SELECTORS[opcode]] if opcode in SELECTORS else 0
    words = [NAMES[opcode, selected]]
    if operand is not None:
        words.append(f"{operand}+{row['dram_base']}")
    moves = opcode not in (Opcode.LOAD, Opcode.STORE) or row["x_size"]
    for key, fields in KEYS[opcode].items():
        values = [row[field] for field in fields]
        shown = any(values) or (moves and key in SHOWN)
        if key == "dram":
            shown = operand is None and (any(values) or moves)
        elif key == "imm":
            shown = row["use_imm"]
        elif key == "unused_imm":
            shown = row["imm"] and not row["use_imm"]
        if shown:
            text = SEPARATORS.get(key, ",").join(map(str, values))
            words.append(f"{key}={text}")
    if row["reset"]:
        words.append("reset")
    for key, flags in TOKENS.items():
        chosen = [name for name, field in flags.items() if row[field]]
        if chosen:
            words.append(f"{key}={','.join(chosen)}")
    return " ".join(words)


def parse_line(line: str) -> tuple[dict[str, int], str | None]:
    """Return the fields that a line gives, and the buffer that it names.

    Raises `AssemblyError` for what is no instruction; ranges are not looked at.
    """
    mnemonic, *words = line.split()
    if mnemonic not in MNEMONICS:
        hint = did_you_mean(mnemonic, MNEMONICS)
        raise AssemblyError(f"expected an instruction, got {mnemonic}{hint}")
    opcode, selected = MNEMONICS[mnemonic]
    row: dict[str, int] = {"opcode": opcode.value}
    if opcode in SELECTORS:
        row[SELECTORS[opcode]] = selected
    buffer = None
    given: set[str] = set()
    for word in words:
        key, equals, text = word.partition("=")
        if not equals and KEYS[opcode] is MOVE_KEYS and "+" in word:
            key = "dram"
            buffer, _, offset = word.rpartition("+")
            row["dram_base"] = _number(mnemonic, word, offset)
        elif not equals and key == "reset" and KEYS[opcode].keys() >= LOOP_KEYS.keys():
            row["reset"] = 1
        elif equals and key in KEYS[opcode]:
            row |= _numbers(mnemonic, key, text, KEYS[opcode][key])
        elif equals and key in TOKENS:
            row |= _flags(mnemonic, key, text)
        else:
            expected = ", ".join((*KEYS[opcode], *TOKENS))
            raise AssemblyError(
                f"{mnemonic}: expected fields of {expected}, got {word}"
            )
        if key in given or {"imm", "unused_imm"} <= given | {key}:
            raise AssemblyError(f"{mnemonic}: {word} repeats another field")
        given.add(key)
    if "imm" in given:
        row["use_imm"] = 1
    return row, buffer


def _flags(mnemonic: str, key: str, text: str) -> dict[str, int]:
    flags = TOKENS[key]
    names = text.split(",")
    if not set(names) <= flags.keys():
        raise AssemblyError(
            f"{mnemonic}: expected {key}=prev, next or prev,next, got {text}"
        )
    return {flags[name]: 1 for name in names}


def _numbers(
    mnemonic: str, key: str, text: str, fields: tuple[str, ...]
) -> dict[str, int]:
    separator = SEPARATORS.get(key, ",")
    texts = text.split(separator)
    if len(texts) != len(fields):
        form = separator.join("N" * len(fields))
        raise AssemblyError(f"{mnemonic}: expected {key}={form}, got {key}={text}")
    return {
        field: _number(mnemonic, f"{key}={text}", each)
        for field, each in zip(fields, texts, strict=True)
    }


def _number(mnemonic: str, word: str, text: str) -> int:
    if not NUMBER.fullmatch(text):
        raise AssemblyError(f"{mnemonic}: expected an integer in {word}, got {text!r}")
    return int(text)
