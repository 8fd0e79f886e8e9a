"""ONNX models in, `relay` out.

A node becomes the relay ops that its converter makes, in the order of the graph; what has no converter but is
defined by other ops is replaced by them. Operands that are constant and small are evaluated on the way, so
that the arithmetic of shapes leaves no ops behind, and converters see the shapes that it computes.

| file | says |
|---|---|
| `source`, `tensors`, `shapes` | how models, arrays and types of inputs are read |
| `functions` | which ops are defined by others, and how a call is replaced by them |
| `graph` | what must hold before anything is converted |
| `builder`, `node` | where converters put ops, and how they see a node |
| `operators` | the converters, by file |
| `opaque` | nodes that are carried along as they are, where a target runs them |
| `importer`, `frontend` | the whole, for Python and for `partita-opt` |
"""

from partita.frontends.onnx.frontend import ONNXFrontend, ONNXTextFrontend
from partita.frontends.onnx.importer import import_onnx
from partita.frontends.onnx.shapes import SHAPE_EXAMPLE

__all__ = ["SHAPE_EXAMPLE", "ONNXFrontend", "ONNXTextFrontend", "import_onnx"]
