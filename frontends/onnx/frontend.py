"""ONNX files as input of `partita-opt`, by their suffix."""

from dataclasses import dataclass
from pathlib import Path
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from partita.frontends.onnx.importer import import_source
from partita.frontends.onnx.shapes import SHAPE_EXAMPLE
from partita.frontends.onnx.source import Source, parse_bytes, parse_text
from partita.shapes import parse_shapes


@dataclass(frozen=True)
class ONNXFrontend(Frontend):
    """Reads serialized ONNX models, `.onnx`."""

    name = "onnx"

    shape: tuple[str, ...] | str = ()
    """Shapes of inputs as `x=1x3x224x224`, extents of symbolic dimensions as `N=1`."""

    opaque: bool = False
    """Whether operators that are not supported become `relay.onnx_node`, which the target `onnxruntime` runs."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        texts = (self.shape,) if isinstance(self.shape, str) else self.shape
        source = self.read(input.read(), input_name)
        shapes = parse_shapes(texts, SHAPE_EXAMPLE)
        return import_source(source, shapes, opaque=self.opaque)

    def read(self, content: bytes, name: str) -> Source:
        """Parse the content of a file; external data is relative to its folder."""
        return Source(parse_bytes(content, name), Path(name).parent)


@dataclass(frozen=True)
class ONNXTextFrontend(ONNXFrontend):
    """Reads models in the text syntax of the `onnx` package, `.onnxtxt`."""

    name = "onnxtxt"

    def read(self, content: bytes, name: str) -> Source:
        return Source(parse_text(content, name), Path(name).parent)
