"""How the simulator keeps elements of the on-chip memories, so that GEMM finds them as it wants them.

An accumulator is what it is: `batch` rows of `block_out` integers. An input is `batch` rows of `block_in` integers,
widened to factors of 16 bits (or 32, if inputs or weights are wider). A weight element is cut into groups of `GROUP`
rows; a group holds, for one pair of columns after the other, that pair of each of its rows. So one step of a product
takes a pair of an input, the same for all lanes, times a pair of each lane's own: what processors have an instruction
for.
"""

from dataclasses import dataclass

from partita.runtime.vta.config import HardwareConfig

GROUP = 16
"""Most rows of a weight element that are computed at once."""

CHUNK = 64
"""Most integers of an element that are moved at once."""

FACTOR_BITS = 16
"""The least bits of a factor."""


def bits(dtype: object) -> int:
    """Return the width of a numpy integer type."""
    return int(str(dtype).removeprefix("int"))


@dataclass(frozen=True)
class Layout:
    """Sizes and widths of elements as the simulator keeps them."""

    config: HardwareConfig

    @property
    def inp_bits(self) -> int:
        return bits(self.config.inp_dtype)

    @property
    def wgt_bits(self) -> int:
        return bits(self.config.wgt_dtype)

    @property
    def acc_bits(self) -> int:
        return bits(self.config.acc_dtype)

    @property
    def out_bits(self) -> int:
        return bits(self.config.out_dtype)

    @property
    def factor_bits(self) -> int:
        """The width of inputs and weights on the chip."""
        return max(FACTOR_BITS, self.inp_bits, self.wgt_bits)

    @property
    def pairs(self) -> int:
        """Pairs of columns; a single column has a zero beside it."""
        return max(1, self.config.block_in // 2)

    @property
    def rows(self) -> int:
        """Rows of a group of a weight element."""
        return min(GROUP, self.config.block_out)

    @property
    def groups(self) -> int:
        return self.config.block_out // self.rows

    @property
    def lanes(self) -> int:
        """Integers of an accumulator."""
        return self.config.batch * self.config.block_out

    @property
    def inp_size(self) -> int:
        """Bytes of an input on the chip."""
        return self.config.batch * self.pairs * 2 * self.factor_bits // 8

    @property
    def wgt_size(self) -> int:
        """Bytes of a weight element on the chip."""
        return self.config.block_out * self.pairs * 2 * self.factor_bits // 8

    @property
    def acc_size(self) -> int:
        """Bytes of an accumulator on the chip."""
        return self.config.acc_bytes

    @property
    def granule(self) -> int:
        """Bytes of DRAM whose accesses are told apart: the smallest element, of which all others are multiples."""
        config = self.config
        return min(
            *(config.uop_bytes, config.inp_bytes, config.wgt_bytes),
            *(config.acc_bytes, config.out_bytes, config.acc8_bytes),
        )
