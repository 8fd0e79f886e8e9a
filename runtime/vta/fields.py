"""Where the bits of VTA instructions and micro-ops are, for given sizes of the on-chip buffers.

The original declares an instruction as a C struct of bit-fields on two 64-bit words, and a micro-op as one on a 32-bit
word, with widths that follow from the buffers. Fields lie one after another from the lowest bit up; one that would
cross a word's end starts the next word (the rule of the System V and AAPCS ABIs). The same rule is applied here, so
that streams agree with the original for every configuration, also where a field moves to the other word. Micro-ops
agree unless there are more inputs than accumulators: the original's `src_idx` is too narrow to name them all then.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from partita.errors import PartitaError

INSTRUCTION_BITS = 128
UOP_BITS = 32
WORD_BITS = 64

SRAM_BITS = 16
"""The width of `sram_base`: no buffer has more elements than it can name."""

DRAM_BITS = 32
"""The width of `dram_base`, and of physical addresses in bytes."""

ITERATION_BITS = 14
"""The width of `iter_out` and `iter_in`."""


class FieldOverflow(PartitaError):
    """An instruction or micro-op has no room for one of its fields."""


@dataclass(frozen=True)
class Field:
    """A run of bits in an instruction or micro-op."""

    first: int
    """Its lowest bit; bit 0 is the lowest of the first byte."""

    width: int
    signed: bool = False
    """Whether it holds two's complement."""

    @property
    def least(self) -> int:
        """The smallest value that it holds."""
        return -(1 << self.width - 1) if self.signed else 0

    @property
    def most(self) -> int:
        """The largest value that it holds."""
        return (1 << self.width - self.signed) - 1

    @property
    def word(self) -> int:
        """The 64-bit word that it is in."""
        return self.first // WORD_BITS

    @property
    def shift(self) -> int:
        """Its lowest bit, within that word."""
        return self.first % WORD_BITS


Layout = Mapping[str, Field]
"""Fields by name, in the order of their bits."""


@dataclass(frozen=True)
class Fields:
    """The layout of each kind of instruction, and of the micro-op."""

    memory: Layout
    """LOAD and STORE."""

    gemm: Layout
    alu: Layout
    finish: Layout
    uop: Layout


FLAGS = {
    "opcode": 3,
    "pop_prev": 1,
    "pop_next": 1,
    "push_prev": 1,
    "push_next": 1,
}
"""What every instruction starts with."""


def fields_of(uop: int, inp: int, wgt: int, acc: int) -> Fields:
    """Return the layout for buffers whose numbers of elements have these binary logarithms.

    Raises `FieldOverflow`, which names the field that finds no room.
    """
    source = max(inp, acc)  # a micro-op's source is INP for GEMM and ACC for ALU
    loops = {
        "reset": 1,
        "uop_bgn": uop,
        "uop_end": uop + 1,
        "iter_out": ITERATION_BITS,
        "iter_in": ITERATION_BITS,
        "dst_factor_out": acc,
        "dst_factor_in": acc,
    }
    return Fields(
        memory=_pack(
            "a LOAD or STORE instruction",
            {
                **FLAGS,
                "memory": 3,
                "sram_base": SRAM_BITS,
                "dram_base": DRAM_BITS,
                "y_size": 16,
                "x_size": 16,
                "x_stride": 16,
                "y_pad_0": 4,
                "y_pad_1": 4,
                "x_pad_0": 4,
                "x_pad_1": 4,
            },
        ),
        gemm=_pack(
            "a GEMM instruction",
            {
                **FLAGS,
                **loops,
                "src_factor_out": inp,
                "src_factor_in": inp,
                "wgt_factor_out": wgt,
                "wgt_factor_in": wgt,
            },
        ),
        alu=_pack(
            "an ALU instruction",
            {
                **FLAGS,
                **loops,
                "src_factor_out": acc,
                "src_factor_in": acc,
                "alu_opcode": 3,
                "use_imm": 1,
                "imm": 16,
            },
        ),
        finish=_pack("a FINISH instruction", FLAGS),
        uop=_pack(
            "a micro-op", {"dst": acc, "src": source, "wgt": wgt}, UOP_BITS, UOP_BITS
        ),
    )


def _pack(
    kind: str,
    widths: Mapping[str, int],
    word: int = WORD_BITS,
    bits: int = INSTRUCTION_BITS,
) -> Layout:
    """Place fields one after another, none across the end of a word."""
    layout: dict[str, Field] = {}
    position = 0
    for name, width in widths.items():
        if position % word + width > word:
            position += -position % word
        if position + width > bits:
            raise FieldOverflow(
                f"{name} does not fit: {kind} has {bits} bits, "
                f"and it would take bits {position} to {position + width - 1}"
            )
        layout[name] = Field(position, width, signed=name == "imm")
        position += width
    return layout
