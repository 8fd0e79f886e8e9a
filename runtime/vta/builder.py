"""Build a program step by step: declare buffers, add instructions, and get everything placed and checked.

    builder = ProgramBuilder(HardwareConfig.load("pynq"))
    x = builder.input("x", 1024)
    y = builder.output("y", 1024)
    add_one = builder.uops("add_one", [(0, 0, 0)])
    builder.load(Memory.UOP, add_one, columns=1)
    …
    program = builder.build()

Single instructions are methods; whole streams that were computed as arrays are added with `extend`. Tokens are flags of
each instruction, or with `serial=True` every instruction waits for the one before it.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.runtime.plan import ALIGNMENT
from partita.runtime.vta import isa
from partita.runtime.vta.buffers import (
    Buffer,
    Layer,
    ProgramError,
    Role,
    tensor_bytes,
)
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.isa import AluOpcode, Memory, Module, Opcode
from partita.runtime.vta.program import Program

Pair = tuple[int, int]
"""What a loop instruction has for its outer and its inner loop."""

NO_BUFFER = -1


@dataclass(frozen=True)
class Handle:
    """A buffer that was declared."""

    number: int


@dataclass(frozen=True)
class Tokens:
    """What an instruction waits for before it starts, and tells when it ends.

    `prev` and `next` are the modules before and after its own, of load, compute, store in this order.
    """

    pop_prev: bool = False
    pop_next: bool = False
    push_prev: bool = False
    push_next: bool = False


NO_TOKENS = Tokens()


class ProgramBuilder:
    """Collects the parts of a program for one configuration."""

    def __init__(self, config: HardwareConfig, *, serial: bool = False):
        """Start an empty program; `serial` makes every instruction wait for the one before it, by tokens."""
        self.config = config
        self._serial = serial
        self._buffers: list[Buffer] = []
        self._fixed: set[int] = set()
        self._streams: list[isa.Instructions] = []
        self._targets: list[NDArray[np.int64]] = []
        self._count = 0
        self._stops: list[int] = []
        self._layers: list[Layer] = []

    def buffer(
        self,
        name: str,
        role: Role,
        size: int | None = None,
        *,
        dtype: str | None = None,
        shape: Sequence[int] | None = None,
        layout: str | None = None,
        offset: int | None = None,
        contents: "NDArray[np.uint8] | None" = None,
    ) -> Handle:
        """Declare a buffer of any role: by its size in bytes, by the tensor or by the contents that it has.

        It is placed behind others, or at an `offset` in the arena that the caller chose.
        """
        if size is None and contents is not None:
            size = len(contents)
        elif size is None:
            if dtype is None or shape is None:
                raise ProgramError(
                    f"buffer {name}: expected a size, or dtype and shape"
                )
            size = tensor_bytes(dtype, shape)
        shape = None if shape is None else tuple(shape)
        declared = Buffer(name, role, size, offset or 0, dtype, shape, layout, contents)
        handle = Handle(len(self._buffers))
        if offset is not None:
            self._fixed.add(handle.number)
        self._buffers.append(declared)
        return handle

    def input(
        self,
        name: str,
        size: int | None = None,
        *,
        dtype: str | None = None,
        shape: Sequence[int] | None = None,
        layout: str | None = None,
    ) -> Handle:
        """Declare what each run gives: by its size in bytes, or as a tensor."""
        return self.buffer(name, "input", size, dtype=dtype, shape=shape, layout=layout)

    def output(
        self,
        name: str,
        size: int | None = None,
        *,
        dtype: str | None = None,
        shape: Sequence[int] | None = None,
        layout: str | None = None,
    ) -> Handle:
        """Declare what each run leaves behind."""
        return self.buffer(
            name, "output", size, dtype=dtype, shape=shape, layout=layout
        )

    def scratch(self, name: str, size: int) -> Handle:
        """Declare memory that is only used during a run."""
        return self.buffer(name, "scratch", size)

    def constant(
        self, name: str, data: NDArray[Any], *, layout: str | None = None
    ) -> Handle:
        """Declare what comes with the program: an array as it lies in memory."""
        return self.buffer(
            name,
            "constant",
            dtype=data.dtype.name,
            shape=data.shape,
            layout=layout,
            contents=np.ascontiguousarray(data).reshape(-1).view(np.uint8),
        )

    def uops(self, name: str, uops: isa.Uops | list[tuple[int, int, int]]) -> Handle:
        """Declare micro-ops, as `(dst, src, wgt)` each; raises `IsaError` for fields that do not fit."""
        array: isa.Uops = np.array(uops, isa.UOP)
        words = isa.encode_uops(array, self.config)
        return self.buffer(name, "uop", contents=words.view(np.uint8))

    def load(
        self,
        memory: Memory,
        source: Handle,
        *,
        dram: int = 0,
        sram: int = 0,
        rows: int = 1,
        columns: int,
        stride: int | None = None,
        pads: tuple[int, int, int, int] = (0, 0, 0, 0),
        tokens: Tokens = NO_TOKENS,
    ) -> None:
        """Load `rows` of `columns` elements that are `stride` (by default `columns`) apart in DRAM.

        `dram` counts elements from the start of the buffer. `pads` are rows above and below, and columns left and
        right, that become zero.
        """
        self._move(
            *(Opcode.LOAD, memory, source, dram, sram, rows, columns, stride),
            tokens,
            **dict(
                zip(("y_pad_0", "y_pad_1", "x_pad_0", "x_pad_1"), pads, strict=True)
            ),
        )

    def store(
        self,
        destination: Handle,
        *,
        dram: int = 0,
        sram: int = 0,
        rows: int = 1,
        columns: int,
        stride: int | None = None,
        tokens: Tokens = NO_TOKENS,
    ) -> None:
        """Store the low bits of accumulators from `sram` on, one after another, as rows that are `stride` apart."""
        self._move(
            *(Opcode.STORE, Memory.OUT, destination, dram, sram, rows, columns, stride),
            tokens,
        )

    def gemm(
        self,
        uops: range,
        *,
        loops: Pair = (1, 1),
        dst: Pair = (0, 0),
        src: Pair = (0, 0),
        wgt: Pair = (0, 0),
        reset: bool = False,
        tokens: Tokens = NO_TOKENS,
    ) -> None:
        """Multiply and accumulate, or `reset` accumulators, for the micro-ops of a range of their buffer.

        They are repeated in two `loops`; `dst`, `src` and `wgt` are what each iteration adds to their fields.
        """
        self._loop(
            *(Opcode.GEMM, uops, loops, dst, src, tokens),
            reset=int(reset),
            wgt_factor_out=wgt[0],
            wgt_factor_in=wgt[1],
        )

    def alu(
        self,
        opcode: AluOpcode,
        uops: range,
        *,
        loops: Pair = (1, 1),
        dst: Pair = (0, 0),
        src: Pair = (0, 0),
        imm: int | None = None,
        tokens: Tokens = NO_TOKENS,
    ) -> None:
        """Combine each accumulator with an immediate, or without one with a second accumulator."""
        self._loop(
            *(Opcode.ALU, uops, loops, dst, src, tokens),
            alu_opcode=opcode,
            use_imm=int(imm is not None),
            imm=imm or 0,
        )

    def token(self, module: Module, tokens: Tokens = NO_TOKENS) -> None:
        """Add an instruction of a module that only pops and pushes tokens."""
        opcode = Opcode.STORE if module is Module.STORE else Opcode.LOAD
        memory = Memory.INP if module is Module.LOAD else Memory.UOP
        self._add(tokens, opcode=opcode, memory=memory)

    def finish(self, tokens: Tokens = NO_TOKENS) -> None:
        """End a launch: nothing may still be running when this instruction executes."""
        self._add(tokens, opcode=Opcode.FINISH)
        self._stops.append(self._count)

    def extend(
        self, stream: isa.Instructions, targets: "NDArray[np.int64] | None" = None
    ) -> None:
        """Add whole instructions, with the number of the `Handle` that each refers to, or -1.

        A FINISH in them ends a launch. Tokens are taken as they are; a builder that is `serial` takes none.
        """
        if self._serial:
            raise ProgramError("expected single instructions in a serial program")
        if targets is None:
            targets = np.full(len(stream), NO_BUFFER)
        ends = np.flatnonzero(stream["opcode"] == Opcode.FINISH) + 1
        self._stops += (ends + self._count).tolist()
        self._append(stream, targets)

    @contextmanager
    def layer(self, name: str, origin: str = "") -> Generator[None]:
        """Name the instructions that are added inside."""
        start = self._count
        yield
        self._layers.append(Layer(name, origin, range(start, self._count)))

    def build(self) -> Program:
        """Return the program; raises `ProgramError` if it contradicts itself, `IsaError` if bits cannot express it."""
        stream = np.concatenate([isa.instructions(0), *self._streams])
        targets = np.concatenate([np.zeros(0, np.int64), *self._targets])
        isa.check_fields(stream, self.config)
        rows = np.flatnonzero(targets != NO_BUFFER)
        stops = list(self._stops)
        if self._count and stops[-1:] != [self._count]:
            stops.append(self._count)
        return Program(
            self.config,
            stream,
            tuple(
                range(start, stop)
                for start, stop in zip((0, *stops), stops, strict=False)
            ),
            self._placed(stream[rows], targets[rows]),
            np.stack([rows, targets[rows]], axis=1),
            tuple(self._layers),
        )

    def _placed(
        self, accesses: isa.Instructions, targets: NDArray[np.int64]
    ) -> tuple[Buffer, ...]:
        """Place buffers one after another, each at a multiple of the elements that it is accessed in."""
        alignment = np.full(len(self._buffers), ALIGNMENT)
        sizes = isa.element_bytes(self.config)[accesses["memory"]]
        np.maximum.at(alignment, targets, sizes)
        end = max((self._buffers[each].end for each in self._fixed), default=0)
        placed: list[Buffer] = []
        for number, each in enumerate(self._buffers):
            if number not in self._fixed:
                each = replace(each, offset=end + -end % int(alignment[number]))
                end = each.end
            placed.append(each)
        return tuple(placed)

    def _move(
        self,
        opcode: Opcode,
        memory: Memory,
        buffer: Handle,
        dram: int,
        sram: int,
        rows: int,
        columns: int,
        stride: int | None,
        tokens: Tokens,
        **pads: int,
    ) -> None:
        self._add(
            tokens,
            buffer.number if rows and columns else NO_BUFFER,
            opcode=opcode,
            memory=memory,
            sram_base=sram,
            dram_base=dram,
            y_size=rows,
            x_size=columns,
            x_stride=columns if stride is None else stride,
            **pads,
        )

    def _loop(
        self,
        opcode: Opcode,
        uops: range,
        loops: Pair,
        dst: Pair,
        src: Pair,
        tokens: Tokens,
        **others: int,
    ) -> None:
        self._add(
            tokens,
            opcode=opcode,
            uop_bgn=uops.start,
            uop_end=uops.stop,
            iter_out=loops[0],
            iter_in=loops[1],
            dst_factor_out=dst[0],
            dst_factor_in=dst[1],
            src_factor_out=src[0],
            src_factor_in=src[1],
            **others,
        )

    def _add(self, tokens: Tokens, target: int = NO_BUFFER, **fields: int) -> None:
        """Add one instruction."""
        row = isa.instructions(1)
        for name, value in (fields | asdict(tokens)).items():
            row[name] = value
        if self._serial:
            self._wait_for_last(row)
        self._append(row, np.array([target]))

    def _append(self, stream: isa.Instructions, targets: NDArray[np.int64]) -> None:
        self._streams.append(stream)
        self._targets.append(targets)
        self._count += len(stream)

    def _wait_for_last(self, row: isa.Instructions) -> None:
        """Let an instruction wait for the one before it, through the compute module if their modules are no neighbours.

        Launches wait for each other without tokens.
        """
        if self._stops[-1:] == [self._count] or not self._count:
            return
        last = self._streams[-1]
        before, after = (int(isa.module_of(each)[-1]) for each in (last, row))
        if abs(after - before) > 1:
            self.token(Module.COMPUTE)
            last, before = self._streams[-1], Module.COMPUTE
        if after > before:
            last["push_next"] = row["pop_prev"] = 1
        elif after < before:
            last["push_prev"] = row["pop_next"] = 1
