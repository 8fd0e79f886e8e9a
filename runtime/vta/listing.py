"""The text of a program: what `partita disasm` prints and `partita asm` reads.

    vta 1
    config {"TARGET": "pynq", …}
    buffer x input size=1024 offset=0 dtype=int32 shape=16,16
    buffer add_one uop size=4 offset=1280
    layer "add" "add_1" 0:4

    launch
        0  load.uop add_one+0 y=1 x=1 stride=1 sram=0
        …
    uops add_one
        0  0,0,0
    data weights
        AAECAwQ…

Directives stand at the start of a line; instructions, micro-ops (`dst,src,wgt`) and base64 below them are indented. The
numbers before instructions and micro-ops are for readers: they are skipped. Lines that start with `;` are comments, and
so is what follows a `;` after an instruction. `docs/vta-program.md` specifies the form.
"""

import json
from collections.abc import Callable, Iterator
from typing import TypeGuard

from partita.errors import PartitaError
from partita.runtime.vta import isa
from partita.runtime.vta.asm import NUMBER, AssemblyError, lines, parse_line
from partita.runtime.vta.assembly import (
    VERSION,
    Declaration,
    Source,
    read_data,
    read_uops,
    written_data,
    written_operands,
    written_uops,
)
from partita.runtime.vta.buffers import ROLES, Buffer, Layer, role_of
from partita.runtime.vta.config import HardwareConfig
from partita.runtime.vta.program import Program

INDENT = "    "

WIDTH = 96
"""Characters of base64 in a line."""


def program_text(program: Program, *, data: bool = True) -> Iterator[str]:
    """Yield the lines of a program; without `data`, only micro-ops of all contents, which cannot be read back."""
    yield from _head(program.config)
    for buffer in program.buffers:
        yield _buffer_line(buffer)
    for layer in program.layers:
        names = " ".join(json.dumps(each) for each in (layer.name, layer.origin))
        yield f"layer {names} {layer.range.start}:{layer.range.stop}"
    starts = {each.start for each in program.launches}
    heads: dict[int, list[str]] = {}
    for layer in program.layers:
        heads.setdefault(layer.range.start, []).append(f"; {layer.name}")
    width = len(str(len(program.instructions)))
    stream = lines(program.instructions, written_operands(program))
    for number, line in enumerate(stream):
        if number in starts:
            yield ""
            yield "launch"
        yield from heads.get(number, ())
        yield f"{INDENT}{number:>{width}}  {line}"
    for buffer in program.buffers:
        yield from _contents(buffer, program.config, data)


def stream_text(stream: isa.Instructions, config: HardwareConfig) -> Iterator[str]:
    """Yield the lines of a bare stream."""
    yield from _head(config)
    yield ""
    width = len(str(len(stream)))
    for number, line in enumerate(lines(stream)):
        yield f"{INDENT}{number:>{width}}  {line}"


def _head(config: HardwareConfig) -> Iterator[str]:
    yield f"vta {VERSION}"
    yield f"config {json.dumps(config.to_json())}"


def _buffer_line(buffer: Buffer) -> str:
    words = [
        *("buffer", buffer.name, buffer.role),
        f"size={buffer.size}",
        f"offset={buffer.offset}",
    ]
    if buffer.dtype is not None and buffer.shape is not None:
        words.append(f"dtype={buffer.dtype}")
        words.append(f"shape={','.join(map(str, buffer.shape))}")
    if buffer.layout is not None:
        words.append(f"layout={json.dumps(buffer.layout)}")
    return " ".join(words)


def _contents(buffer: Buffer, config: HardwareConfig, data: bool) -> Iterator[str]:
    if buffer.contents is None:
        return
    yield ""
    uops = written_uops(buffer, config)
    if uops is not None:
        yield f"uops {buffer.name}"
        width = len(str(len(uops)))
        for number, row in enumerate(uops.tolist()):
            yield f"{INDENT}{number:>{width}}  {','.join(map(str, row))}"
    elif data:
        yield f"data {buffer.name}"
        text = written_data(buffer.contents)
        for start in range(0, len(text), WIDTH):
            yield INDENT + text[start : start + WIDTH]
    else:
        yield f"; {buffer.size} bytes of {buffer.name} are left out"


def parse_text(text: str) -> Source:
    """Read the text of a program or stream.

    Raises `AssemblyError`, which says in which line, and what a config or micro-ops raise.
    """
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            reader.read(line)
        except PartitaError as error:
            raise AssemblyError(f"line {number}: {error}") from None
    return reader.source()


class _Reader:
    """Reads line after line."""

    def __init__(self) -> None:
        self._source: Source | None = None
        self._version = False
        self._block: Callable[[str], None] = self._instruction
        self._uops: dict[str, list[tuple[int, int, int]]] = {}
        self._data: dict[str, list[str]] = {}
        self._directives: dict[str, Callable[[str], None]] = {
            "config": self._config,
            "buffer": self._buffer,
            "layer": self._layer,
            "launch": self._launch,
            "uops": self._start_uops,
            "data": self._start_data,
        }

    def read(self, line: str) -> None:
        if not line.strip() or line.startswith(";"):
            return
        if line[0].isspace():
            self._block(line)
            return
        word, _, rest = line.strip().partition(" ")
        if not self._version:
            if (word, rest) != ("vta", str(VERSION)):
                raise AssemblyError(f"expected `vta {VERSION}` first, got {line!r:.60}")
            self._version = True
        elif word in self._directives:
            self._directives[word](rest.strip())
        else:
            raise AssemblyError(
                f"expected one of {', '.join(self._directives)}, or an indented line, got {word}"
            )

    def source(self) -> Source:
        source = self._known
        for name, rows in self._uops.items():
            source.declarations[name].contents = read_uops(rows, source.config)
        for name, texts in self._data.items():
            source.declarations[name].contents = read_data(texts, name)
        return source

    @property
    def _known(self) -> Source:
        if self._source is None:
            raise AssemblyError("expected `config` and the hardware first")
        return self._source

    def _config(self, rest: str) -> None:
        try:
            content: object = json.loads(rest)
        except (ValueError, RecursionError):
            content = rest
        if self._source is not None:
            raise AssemblyError("expected one config, got a second")
        # A word instead of JSON is a preset, or a file.
        source = content if _is_object(content) else rest
        self._source = Source(HardwareConfig.load(source))

    def _buffer(self, rest: str) -> None:
        text, _, layout = rest.partition(" layout=")
        words = text.split()
        role = role_of(words[1]) if len(words) > 1 else None
        if role is None:
            raise AssemblyError(
                f"expected a buffer's name and one of {', '.join(ROLES)}, got {rest or 'nothing'}"
            )
        name = words[0]
        declared = Declaration(name, role)
        for word in words[2:]:
            key, _, value = word.partition("=")
            match key:
                case "size" | "offset":
                    setattr(declared, key, _integer(value))
                case "dtype":
                    declared.dtype = value
                case "shape":
                    numbers = value.split(",") if value else ()
                    declared.shape = tuple(_integer(each) for each in numbers)
                case _:
                    raise AssemblyError(
                        f"expected size, offset, dtype, shape or layout, got {word}"
                    )
        if layout:
            declared.layout = _strings(layout, 1)[0]
        if name in self._known.declarations:
            raise AssemblyError(f"buffer {name} is declared twice")
        self._known.declarations[name] = declared

    def _layer(self, rest: str) -> None:
        text, _, extent = rest.rpartition(" ")
        name, origin = _strings(text, 2)
        start, _, stop = extent.partition(":")
        self._known.layers.append(
            Layer(name, origin, range(_integer(start), _integer(stop)))
        )

    def _launch(self, rest: str) -> None:
        self._known.launches.append(len(self._known.rows))
        self._block = self._instruction

    def _instruction(self, line: str) -> None:
        words = line.partition(";")[0].split()
        if words and NUMBER.fullmatch(words[0]):
            del words[0]
        if not words:
            return
        row, operand = parse_line(" ".join(words))
        if operand is not None:
            self._known.operands[len(self._known.rows)] = operand
        self._known.rows.append(row)

    def _start_uops(self, rest: str) -> None:
        rows = self._uops.setdefault(self._declared(rest), [])

        def read(line: str) -> None:
            numbers = [_integer(each) for each in line.split()[-1].split(",")]
            if len(numbers) != 3:
                raise AssemblyError(f"expected dst,src,wgt, got {line.strip()}")
            rows.append((numbers[0], numbers[1], numbers[2]))

        self._block = read

    def _start_data(self, rest: str) -> None:
        texts = self._data.setdefault(self._declared(rest), [])
        self._block = lambda line: texts.append(line.strip())

    def _declared(self, name: str) -> str:
        if name not in self._known.declarations:
            raise AssemblyError(f"no buffer {name} is declared")
        if name in self._uops or name in self._data:
            raise AssemblyError(f"the contents of {name} are given twice")
        return name


def _integer(text: str) -> int:
    if not NUMBER.fullmatch(text) or text.startswith("-"):
        raise AssemblyError(f"expected a number, got {text!r}")
    return int(text)


def _strings(text: str, count: int) -> list[str]:
    """Return JSON strings that stand one after another."""
    decoder = json.JSONDecoder()
    found: list[str] = []
    position = 0
    try:
        for _ in range(count):
            value, position = decoder.raw_decode(text, position)
            if not isinstance(value, str):
                raise ValueError
            found.append(value)
            position += text[position : position + 1].isspace()
    except ValueError:
        position = -1
    if position != len(text):
        what = "a name" if count == 1 else f"{count} names"
        raise AssemblyError(f"expected {what} in double quotes, got {text}")
    return found


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)
