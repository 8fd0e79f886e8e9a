"""Networks that tests and benchmarks share: ONNX models with seeded random weights, made in memory.

Scripts of `benchmarks/` import this as `networks`; pytest has `benchmarks` on its path for the same reason.

| file | makes |
|---|---|
| `light` | the nine light graphs that the `onnx` package ships, with weights that show a wrong convolution |
| `made` | a ResNet-18, a MobileNet and a small transformer encoder, node by node |
| `statistics` | batch-norm statistics measured on a random input, so that values keep their scale through depth |
"""

from networks.light import LIGHT, light
from networks.made import mobilenet, resnet18, transformer
from networks.statistics import random_inputs

__all__ = [
    "LIGHT",
    "light",
    "mobilenet",
    "random_inputs",
    "resnet18",
    "transformer",
]
