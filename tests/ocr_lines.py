"""Inputs and decoding for a text recogniser, seeded: the same everywhere, given the same fonts.

The lines, how they are rendered and how scores are decoded follow the project's shared
`real_inputs.py`, against which onnxruntime reads 48 of 48 lines; rendering needs Pillow
and the DejaVu fonts (Debian's fonts-dejavu, or matplotlib's package data).
"""

import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

FONTS = (
    "DejaVuSans.ttf",
    "DejaVuSans-Bold.ttf",
    "DejaVuSerif.ttf",
    "DejaVuSansMono.ttf",
)

WORDS = [
    "accelerator",
    "compiler",
    "relay",
    "tensor",
    "schedule",
    "kernel",
    "matrix",
    "vector",
    "quantize",
    "dataflow",
    "partition",
    "graph",
    "memory",
    "buffer",
    "cycle",
    "winograd",
    "convolution",
    "pipeline",
    "latency",
    "throughput",
    "register",
    "operand",
    "address",
    "module",
    "lowering",
    "runtime",
    "loader",
    "signal",
    "binary",
    "layout",
]


def fonts() -> Path:
    """Return the folder of the DejaVu fonts."""
    folders = [Path("/usr/share/fonts/truetype/dejavu")]
    matplotlib = find_spec("matplotlib")
    if matplotlib is not None and matplotlib.origin is not None:
        folders.append(Path(matplotlib.origin).parent / "mpl-data" / "fonts" / "ttf")
    return next(each for each in folders if (each / FONTS[0]).exists())


def strings(count: int) -> list[str]:
    """Return two words, ten digits, or Word-number, in turn."""
    rng = random.Random(0)
    made: list[str] = []
    for i in range(count):
        if i % 3 == 0:
            made.append(" ".join(rng.choice(WORDS) for _ in range(2)))
        elif i % 3 == 1:
            made.append("".join(rng.choice("0123456789") for _ in range(10)))
        else:
            made.append(rng.choice(WORDS).capitalize() + f"-{rng.randrange(1000)}")
    return made


def line_input(
    text: str, index: int, folder: Path, width: int = 320, height: int = 48
) -> NDArray[np.float32]:
    """Render `text` as PaddleOCR wants it: (1, 3, height, width), BGR, (x / 255 - 0.5) / 0.5, zeros at the right."""
    face = ImageFont.truetype(str(folder / FONTS[index % len(FONTS)]), 30)
    left, top, right, bottom = map(int, face.getbbox(text))
    image = Image.new("RGB", (right - left + 24, height), (255, 255, 255))
    ImageDraw.Draw(image).text(
        (12 - left, (height - (bottom - top)) // 2 - top),
        text,
        font=face,
        fill=(20, 20, 20),
    )
    shown = min(width, int(np.ceil(image.width * height / image.height)))
    resized = image.resize((shown, height), Image.Resampling.BILINEAR)
    pixels = np.asarray(resized, np.float32)[:, :, ::-1].transpose(2, 0, 1) / 255.0
    result = np.zeros((1, 3, height, width), np.float32)
    result[0, :, :, :shown] = (pixels - 0.5) / 0.5
    return result


def charset(config: Path) -> list[str]:
    """Return the characters in class order, class 0 blank, from the `inference.yml` beside the model."""
    import yaml

    settings: dict[str, Any] = yaml.safe_load(config.read_text(encoding="utf8"))
    listed = settings["PostProcess"]["character_dict"]
    return ["blank", *map(str, listed), " "]


def ctc_text(scores: NDArray[Any], characters: list[str]) -> str:
    """Decode scores (1, time, classes): the best class of each step, repeats and blanks dropped."""
    text: list[str] = []
    last = -1
    classes: list[int] = scores.reshape(-1, scores.shape[-1]).argmax(-1).tolist()
    for best in classes:
        if best not in (last, 0):
            text.append(characters[best])
        last = best
    return "".join(text)
