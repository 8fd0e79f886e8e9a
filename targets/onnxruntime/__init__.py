"""The `onnxruntime` back end: a region becomes an ONNX model, and onnxruntime runs it.

| file | says |
|---|---|
| `kernels` | which opset models are in, and which element types onnxruntime has kernels for |
| `graph` | how a model is put together |
| `rules` | what each op of relay is in ONNX |
| `export` | from a function to a model |
| `emit` | models as text |
| `backend` | what the driver is told |
"""

from partita.targets.onnxruntime.backend import OnnxRuntime

__all__ = ["OnnxRuntime"]
