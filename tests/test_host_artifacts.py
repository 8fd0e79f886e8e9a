"""What artifacts of the host hold: weights once and nowhere else, and the same bytes every time."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx_graphs import random_model
from xdsl.dialects.builtin import (
    AnyDenseElement,
    DenseIntOrFPElementsAttr,
    ModuleOp,
)
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

import partita
from partita.targets.host import Host
from partita.transforms.pipeline import Observer

HOST = Host(cache="none")

LARGEST_IN_IR = 16
"""Elements of a constant that IR may hold, unless all are the same."""


class Constants(Observer):
    """Looks for large constants after every pass."""

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        for op in module.walk():
            for value in (*op.properties.values(), *op.attributes.values()):
                if isa(value, DenseIntOrFPElementsAttr[AnyDenseElement]):
                    assert value.is_splat() or len(value) <= LARGEST_IN_IR, each.name


@pytest.mark.parametrize("seed", range(6))
def test_weights_are_in_neither_ir_nor_code(seed: int) -> None:
    model = random_model(seed)
    artifact = partita.compile_artifact(model, [HOST], observers=[Constants()])
    assert artifact.weights.keys() == set(artifact.plan.weights)
    for array in artifact.weights.values():
        content = np.ascontiguousarray(array).tobytes()
        if array.size > LARGEST_IN_IR and content.strip(b"\0"):
            for name, code in artifact.objects.items():
                assert content[:64] not in code, name


PROGRAM = """
import sys
import onnx, partita
from partita.targets.host import Host
path, out = sys.argv[1:]
partita.compile_artifact(path, [Host(cache="none")]).write(out)
"""


@pytest.mark.parametrize("seed", [1, 8])
def test_artifacts_are_the_same_every_time(seed: int, tmp_path: Path) -> None:
    """Compiling depends on the model alone: not on the process, the order of sets, or what was compiled before."""
    model = tmp_path / "m.onnx"
    model.write_bytes(random_model(seed).SerializeToString())
    contents: list[bytes] = []
    for hashes in ("0", "1"):
        out = tmp_path / f"{hashes}.partita"
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(model), str(out)],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": hashes},
        )
        contents.append(out.read_bytes())
    for _ in range(2):
        partita.compile_artifact(model, [HOST]).write(tmp_path / "here.partita")
        contents.append((tmp_path / "here.partita").read_bytes())
    assert len(set(contents)) == 1
