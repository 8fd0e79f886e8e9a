"""A trained recogniser that was really quantized reads rendered letters: common_old, out of the ddddocr wheel (MIT).

An optional group: it runs where `PARTITA_DDDDOCR` names a folder that holds the wheel,
`pip install --no-deps --target FOLDER ddddocr==1.6.1`; the wheel is never part of this project.
The images follow the project's shared `real_inputs.py`, against which onnxruntime reads 24 of 24.
"""

import ast
import os
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from ocr_lines import FONTS, ctc_text, fonts
from PIL import Image, ImageDraw, ImageFont

import partita
from partita.targets import OnnxRuntime

FOLDER = os.environ.get("PARTITA_DDDDOCR")
IMAGES = 24
WIDTH = 160
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        FOLDER is None, reason="PARTITA_DDDDOCR names no folder with ddddocr"
    ),
]


def captchas(count: int) -> tuple[list[str], list[NDArray[np.float32]]]:
    """Return texts of five letters, and images of them, (1, 1, 64, 160) in 0..1."""
    rng = random.Random(9)
    texts: list[str] = []
    images: list[NDArray[np.float32]] = []
    for index in range(count):
        text = "".join(rng.choice(LETTERS) for _ in range(5))
        image = Image.new("L", (WIDTH, 64), 255)
        face = ImageFont.truetype(str(fonts() / FONTS[index % len(FONTS)]), 36)
        for place, letter in enumerate(text):
            at = (12 + place * 28, 10 + rng.randrange(6))
            ImageDraw.Draw(image).text(at, letter, font=face, fill=30)
        texts.append(text)
        images.append((np.asarray(image, np.float32) / 255.0)[None, None])
    return texts, images


def characters(package: Path) -> list[str]:
    """Return the characters in class order, class 0 blank."""
    for node in ast.walk(ast.parse((package / "charsets.py").read_text("utf8"))):
        match node:
            case ast.Assign(targets=[ast.Name("CHARSET_OLD")]):
                return ast.literal_eval(node.value)
            case _:
                pass
    raise AssertionError("the wheel has no CHARSET_OLD")


@pytest.mark.parametrize(
    "ops", [("relay.onnx_node",), ()], ids=["host for what relay models", "all"]
)
def test_reads_every_image(ops: Sequence[str]) -> None:
    package = Path(FOLDER or "") / "ddddocr"
    executable = partita.compile(
        package / "common_old.onnx",
        [OnnxRuntime(ops=tuple(ops))],
        shapes={"input1": (1, 1, 64, WIDTH)},
    )
    texts, images = captchas(IMAGES)
    classes = characters(package)
    read = [
        ctc_text(executable.run({"input1": image})["387"], classes) for image in images
    ]
    assert read == texts
