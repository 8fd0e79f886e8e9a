"""Models in, executables out.

| file | says |
|---|---|
| `pipelines` | which passes run in which order, as data that users can add to |
| `compile` | how they are run, code is made, and an executable is put together |
| `explain` | which op runs where, and why |
| `tasks` | what there is to schedule |
"""

from partita.driver.compile import (
    compile,
    compile_artifact,
    context,
    emit_c,
    load_onnx,
    partition,
    prepare,
)
from partita.driver.explain import Explanation, explain
from partita.driver.pipelines import (
    GRAPH_PASSES,
    ExternalPolicy,
    Insertion,
    ScheduleSource,
    full_pipeline,
    insert,
)
from partita.driver.tasks import Task, extract_tasks
from partita.targets import make_backend

__all__ = [
    "GRAPH_PASSES",
    "Explanation",
    "ExternalPolicy",
    "Insertion",
    "ScheduleSource",
    "Task",
    "compile",
    "compile_artifact",
    "context",
    "emit_c",
    "explain",
    "extract_tasks",
    "full_pipeline",
    "insert",
    "load_onnx",
    "make_backend",
    "partition",
    "prepare",
]
