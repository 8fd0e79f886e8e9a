"""What tests of the command line compile and run, and what a failure has to look like."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from partita.tools.arrays import Array
from partita.weights import weight, write_weights

Outcome = tuple[int, str, str]
"""Exit code, standard output, standard error."""

Run = Callable[..., Outcome]
"""Runs `partita` with some arguments."""

MODEL = """\
<ir_version: 8, opset_import: ["" : 17]>
small (float[N, 4] x, int64[2] "a/b") => (float[N, 4] y, int64[2] file) {
    t = Add(x, x)
    y = Relu(t)
    file = Neg("a/b")
}
"""

WEIGHT = weight(np.arange(24, dtype=np.float32))

IR = f"""\
func.func @f(%x : tensor<24xf32>) -> tensor<24xf32> {{
  %w = relay.constant #partita.weight<"{WEIGHT.digest}"> : tensor<24xf32>
  %0 = relay.add %x, %w : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  func.return %0 : tensor<24xf32>
}}
func.func @g(%x : tensor<4xf32>) -> tensor<4xf32> {{
  %0 = relay.relu %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}}
"""


def arrays(rows: int = 3) -> dict[str, Array]:
    return {
        "x": np.linspace(-1, 1, 4 * rows, dtype=np.float32).reshape(rows, 4),
        "a/b": np.array([5, -6]),
    }


def write_ir() -> None:
    Path("m.mlir").write_text(IR)
    write_weights(Path("m.weights.safetensors"), [WEIGHT])


def refused(result: Outcome) -> str:
    """Expect one sentence, and return it without the name of the tool."""
    code, out, err = result
    assert (code, out) == (1, "")
    tool, _, message = err.removesuffix("\n").partition(": error: ")
    assert tool in ("partita", "partita-opt")
    assert "\n" not in message
    assert "internal error" not in message
    assert not message.endswith(".")
    return message
