"""The JSON of a program: the same as its text, for other tools.

    {"format": "partita.vta", "version": 1,
     "config": {"TARGET": "pynq", …},
     "buffers": [{"name": "x", "role": "input", "size": 1024, "offset": 0, "dtype": "int32", "shape": [16, 16]},
                 {"name": "add_one", "role": "uop", "size": 4, "offset": 1280, "uops": [[0, 0, 0]]},
                 {"name": "w", "role": "constant", "size": 4, "offset": 1344, "data": "AAECAw=="}],
     "launches": [0], "layers": [{"name": "add", "origin": "add_1", "begin": 0, "end": 4}],
     "instructions": [{"opcode": "LOAD", "memory": "UOP", "buffer": "add_one", "y_size": 1, "x_size": 1}]}

An instruction has the fields that are not 0, by the names of `isa.FIELD_NAMES`. A bare stream has no buffers.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum

from partita.errors import ArtifactError
from partita.runtime.json_reader import Node
from partita.runtime.vta import isa
from partita.runtime.vta.asm import AssemblyError
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
from partita.runtime.vta.isa import FIELD_NAMES, AluOpcode, Memory, Opcode
from partita.runtime.vta.program import FORMAT, Program

NAMED: Mapping[str, type[IntEnum]] = {
    "opcode": Opcode,
    "memory": Memory,
    "alu_opcode": AluOpcode,
}
"""The fields that are names in JSON."""


def program_json(program: Program, *, data: bool = True) -> Iterator[str]:
    """Yield the lines of a program; without `data`, only micro-ops of all contents, which cannot be read back."""
    return _document(
        {
            **_head(program.config),
            "buffers": [
                _buffer(each, program.config, data) for each in program.buffers
            ],
            "launches": [each.start for each in program.launches],
            "layers": [
                {
                    "name": each.name,
                    "origin": each.origin,
                    "begin": each.range.start,
                    "end": each.range.stop,
                }
                for each in program.layers
            ],
        },
        _instructions(program.instructions, written_operands(program)),
    )


def stream_json(stream: isa.Instructions, config: HardwareConfig) -> Iterator[str]:
    """Yield the lines of a bare stream."""
    return _document(_head(config), _instructions(stream, {}))


def _head(config: HardwareConfig) -> dict[str, object]:
    return {"format": FORMAT, "version": VERSION, "config": config.to_json()}


def _document(
    head: Mapping[str, object], instructions: Iterable[Mapping[str, object]]
) -> Iterator[str]:
    """Yield an object with one member, and one instruction, a line."""
    for number, (key, value) in enumerate(head.items()):
        yield f"{' ' if number else '{'}{json.dumps(key)}: {json.dumps(value)},"
    yield ' "instructions": ['
    last: str | None = None
    for each in instructions:
        if last is not None:
            yield f"{last},"
        last = f"  {json.dumps(each)}"
    yield f"{last or ''}]}}"


def _buffer(buffer: Buffer, config: HardwareConfig, data: bool) -> dict[str, object]:
    written: dict[str, object] = {
        "name": buffer.name,
        "role": buffer.role,
        "size": buffer.size,
        "offset": buffer.offset,
    }
    if buffer.shape is not None:
        written |= {"dtype": buffer.dtype, "shape": list(buffer.shape)}
    if buffer.layout is not None:
        written["layout"] = buffer.layout
    uops = written_uops(buffer, config)
    if uops is not None:
        written["uops"] = uops.tolist()
    elif buffer.contents is not None and data:
        written["data"] = written_data(buffer.contents)
    return written


def _instructions(
    stream: isa.Instructions, operands: Mapping[int, str]
) -> Iterator[dict[str, object]]:
    for number, row in enumerate(isa.columns(stream).tolist()):
        values = dict(zip(FIELD_NAMES, row, strict=True))
        opcode = Opcode(values.pop("opcode"))
        written: dict[str, object] = {"opcode": opcode.name}
        if opcode in (Opcode.LOAD, Opcode.STORE):
            written["memory"] = Memory(values.pop("memory")).name
        elif opcode is Opcode.ALU:
            written["alu_opcode"] = AluOpcode(values.pop("alu_opcode")).name
        if number in operands:
            written["buffer"] = operands[number]
        yield written | {name: value for name, value in values.items() if value}


def parse_json(text: str) -> Source:
    """Read the JSON of a program or stream.

    Raises `AssemblyError`, which says where, and what a config or micro-ops raise.
    """
    try:
        return _parse(Node.parse(text.encode(), "JSON"))
    except ArtifactError as error:
        raise AssemblyError(str(error)) from None


def _parse(root: Node) -> Source:
    version = (root["format"].value, root["version"].value)
    if version != (FORMAT, VERSION):
        raise AssemblyError(
            f"expected {FORMAT} of version {VERSION}, got {version[0]} of version {version[1]}"
        )
    config = {key: node.value for key, node in root["config"].fields().items()}
    source = Source(HardwareConfig.load(config))
    for node in root["buffers"].items() if "buffers" in root else ():
        declared = _declaration(node, source.config)
        if declared.name in source.declarations:
            raise AssemblyError(f"buffer {declared.name} is declared twice")
        source.declarations[declared.name] = declared
    if "launches" in root:
        source.launches += root["launches"].each(Node.integer)
    for node in root["layers"].items() if "layers" in root else ():
        extent = range(node["begin"].integer(), node["end"].integer())
        source.layers.append(
            Layer(node["name"].string(), node["origin"].string(), extent)
        )
    for number, node in enumerate(root["instructions"].items()):
        row = dict(node.fields())
        if "buffer" in row:
            source.operands[number] = row.pop("buffer").string()
        source.rows.append({name: _field(name, row[name]) for name in row})
        node["opcode"]
    return source


def _field(name: str, node: Node) -> int:
    if name not in FIELD_NAMES:
        raise AssemblyError(f"{node.where}: no instruction has a field {name}")
    if name not in NAMED:
        return node.integer(-(1 << 15))
    names = NAMED[name].__members__
    text = node.string()
    if text not in names:
        raise node.fail(f"one of {', '.join(names)}")
    return names[text].value


def _declaration(node: Node, config: HardwareConfig) -> Declaration:
    role = role_of(node["role"].string())
    if role is None:
        raise node["role"].fail(f"one of {', '.join(ROLES)}")
    declared = Declaration(node["name"].string(), role)
    if "size" in node:
        declared.size = node["size"].integer()
    if "offset" in node:
        declared.offset = node["offset"].integer()
    if "dtype" in node:
        declared.dtype = node["dtype"].string()
    if "shape" in node:
        declared.shape = node["shape"].each(Node.integer)
    if "layout" in node:
        declared.layout = node["layout"].string()
    if "uops" in node:
        declared.contents = read_uops(node["uops"].each(_uop), config)
    elif "data" in node:
        declared.contents = read_data([node["data"].string()], declared.name)
    return declared


def _uop(node: Node) -> tuple[int, int, int]:
    numbers = node.each(Node.integer)
    if len(numbers) != 3:
        raise node.fail("[dst, src, wgt]")
    return numbers[0], numbers[1], numbers[2]
