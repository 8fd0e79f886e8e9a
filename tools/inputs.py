"""What command lines read: models, IR with its weights, arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from partita.analysis.ir_text import decode_ir
from partita.analysis.weights import attach_weights
from partita.driver import Insertion, context, load_onnx
from partita.errors import IRError, OptionError
from partita.frontends import ALL_FRONTENDS
from partita.frontends.onnx import SHAPE_EXAMPLE
from partita.shapes import parse_shapes
from partita.targets import Backend
from partita.weights import WeightFile

SIDE_FILE = ".weights.safetensors"
"""What the name of a weights file ends in that lies beside `.mlir` text, after the text's stem."""

IR_SUFFIX = ".mlir"

Shapes = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Model:
    """A module, and the shapes that its arguments are still to be given."""

    module: ModuleOp

    shapes: Shapes


def read_model(
    path: Path,
    shapes: Sequence[str],
    weights: Path | None,
    targets: Sequence[Backend | str] = (),
) -> Model:
    """Read IR or a model, by the suffix of its name; `weights` is where the content of IR's weights is.

    What a model may hold depends on the `targets`: see `load_onnx`.

    Raises a `PartitaError`, or xDSL's `ParseError`, for what cannot be read.
    """
    given = parse_shapes(shapes, SHAPE_EXAMPLE)
    suffixes = [IR_SUFFIX, *(f".{each.name}" for each in ALL_FRONTENDS)]
    if path.suffix not in suffixes:
        raise OptionError(
            f"expected a model whose name ends in {' or '.join(suffixes)}, got {path}"
        )
    if path.suffix == IR_SUFFIX:
        return Model(_read_ir(path, weights), given)
    if weights is not None:
        raise OptionError(f"--weights is for IR, and {path} has weights of its own")
    return Model(load_onnx(path, given, targets), {})


def _read_ir(path: Path, weights: Path | None) -> ModuleOp:
    try:
        text = decode_ir(path.read_bytes(), str(path))
    except OSError as error:
        raise IRError(f"cannot read {path}: {error.strerror or error}") from None
    module = Parser(context(), text, str(path)).parse_module()
    weights = weights or weights_beside(path)
    if weights is not None:
        attach_weights(module, WeightFile(weights))
    return module


def weights_beside(path: Path) -> Path | None:
    """Return the weights file that lies beside IR text, if one does."""
    beside = path.with_suffix(SIDE_FILE)
    return beside if beside.is_file() else None


def read_insertion(text: str) -> Insertion:
    """Read `after=PASS:PIPELINE`."""
    place, colon, pipeline = text.partition(":")
    key, _, name = place.partition("=")
    if key.strip() != "after" or not name.strip() or not colon:
        raise OptionError(
            f"expected passes to insert as after=PASS:PIPELINE, got {text!r}"
        )
    return Insertion(name.strip(), pipeline)
