"""Where a model comes from: a path, bytes, a protobuf object, or ONNX's text syntax."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx.parser
from google.protobuf.message import DecodeError

from partita.analysis.onnx_scopes import graphs_of, nested
from partita.errors import ModelError

TEXT_SUFFIX = ".onnxtxt"
"""Files of this suffix hold the text syntax of `onnx.parser`."""


@dataclass(frozen=True)
class Source:
    """A parsed model, and what its external data is relative to."""

    model: onnx.ModelProto

    folder: Path | None
    """`None` if the model is not a file."""


def read_source(model: str | Path | bytes | onnx.ModelProto) -> Source:
    """Parse a model; raise `ModelError` if it is none."""
    if isinstance(model, onnx.ModelProto):
        return Source(_checked(model, "model"), None)
    if isinstance(model, bytes):
        return Source(parse_bytes(model, "model"), None)
    path = Path(model)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from None
    if path.suffix == TEXT_SUFFIX:
        return Source(parse_text(content, str(path)), path.parent)
    return Source(parse_bytes(content, str(path)), path.parent)


def parse_bytes(content: bytes, name: str) -> onnx.ModelProto:
    """Parse a serialized model, called `name` in errors."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError:
        raise ModelError(
            f"{name} is not an ONNX model, or is truncated: its protobuf does not parse"
        ) from None
    return _checked(model, name)


def parse_text(content: bytes, name: str) -> onnx.ModelProto:
    """Parse the text syntax of ONNX, called `name` in errors."""
    try:
        model = onnx.parser.parse_model(content.decode())
    except UnicodeDecodeError:
        raise ModelError(f"{name} is not UTF-8 text") from None
    except onnx.parser.ParseError as error:
        raise ModelError(f"{name} is not ONNX text: {_one_line(error)}") from None
    return _checked(model, name)


def _one_line(error: onnx.parser.ParseError) -> str:
    """Make one sentence of the parser's several lines: place and reason, without the context."""
    raw = error.args[0] if error.args else b""
    text = raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
    place = re.search(r"line: (\d+) column: (\d+)", text)
    reason = text.strip().splitlines()[-1].strip().rstrip(".")
    where = f"line {place[1]}, column {place[2]}: " if place else ""
    return f"{where}{reason[:1].lower()}{reason[1:]}"


def _checked(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Refuse a message that parses, but cannot be a model: an empty file, or another message."""
    if not model.HasField("graph") or not (model.graph.output or model.graph.node):
        raise ModelError(
            f"{name} is not an ONNX model, or is truncated: it has no graph"
        )
    if model.ir_version < 3:
        raise ModelError(
            f"{name} has IR version {model.ir_version}, expected 3 or above; "
            "export it again with a newer version of ONNX"
        )
    if not all(isinstance(text, str) for text in _texts(model)):
        raise ModelError(
            f"{name} is not an ONNX model: it has names that are not UTF-8"
        )
    if not model.opset_import:
        raise ModelError(f"{name} does not say which opsets it uses, or is truncated")
    return model


def _texts(model: onnx.ModelProto) -> Iterator[object]:
    """Give all names in a model; protobuf gives bytes for what is not UTF-8."""
    graph = model.graph
    yield graph.name
    outer = (*graph.node, *(n for f in model.functions for n in f.node))
    for node in (each for top in outer for each in nested(top)):
        yield from (node.name, node.op_type, node.domain, node.overload)
        yield from node.input
        yield from node.output
        for attribute in node.attribute:
            yield from (attribute.name, attribute.ref_attr_name)
        for inner in graphs_of(node):
            named = (*inner.input, *inner.output, *inner.initializer)
            yield from (each.name for each in named)
    for tensor in (*graph.initializer, *(s.values for s in graph.sparse_initializer)):
        yield tensor.name
        for entry in tensor.external_data:
            yield from (entry.key, entry.value)
    for value in (*graph.input, *graph.output):
        yield value.name
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
    imports = (model.opset_import, *(each.opset_import for each in model.functions))
    for opset in (each for some in imports for each in some):
        yield opset.domain
    for function in model.functions:
        yield from (function.name, function.domain, function.overload)
        yield from (*function.input, *function.output, *function.attribute)
