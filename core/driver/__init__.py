"""Models in, executables out.

| file | says |
|---|---|
| `pipelines` | which passes run in which order, as data that users can add to |
| `compile` | how they are run, code is made, and an executable is put together |
"""

from partita.driver.compile import (
    compile,
    compile_artifact,
    context,
    load_onnx,
    make_backend,
    prepare,
)
from partita.driver.pipelines import GRAPH_PASSES, Insertion, full_pipeline, insert

__all__ = [
    "GRAPH_PASSES",
    "Insertion",
    "compile",
    "compile_artifact",
    "context",
    "full_pipeline",
    "insert",
    "load_onnx",
    "make_backend",
    "prepare",
]
