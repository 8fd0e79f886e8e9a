"""Models in, executables out.

| file | says |
|---|---|
| `pipelines` | which passes run in which order, as data that users can add to |
| `compile` | how they are run, code is made, and an executable is put together |
"""

from partita.driver.pipelines import GRAPH_PASSES, Insertion, full_pipeline, insert

__all__ = [
    "GRAPH_PASSES",
    "Compilation",
    "Insertion",
    "compile",
    "full_pipeline",
    "insert",
    "load_onnx",
]
