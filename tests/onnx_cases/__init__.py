"""Small ONNX models, one for each opset that an op has had."""
