"""How each relay op is written in ONNX: a table of rules, one for each op.

| file | ops |
|---|---|
| `rule` | what a rule is |
| `elementwise`, `binary` | functions of one element, and of elements of several tensors |
| `reduction` | what combines elements along axes |
| `tensor`, `indexing` | what moves elements, constants |
| `nn`, `norm` | convolutions, products, pools; normalization |
| `opaque` | what relay does not model |
"""

from partita.targets.onnxruntime.rules.binary import BINARY
from partita.targets.onnxruntime.rules.elementwise import ELEMENTWISE
from partita.targets.onnxruntime.rules.indexing import INDEXING
from partita.targets.onnxruntime.rules.nn import NN
from partita.targets.onnxruntime.rules.norm import NORM
from partita.targets.onnxruntime.rules.opaque import OPAQUE
from partita.targets.onnxruntime.rules.reduction import REDUCTION
from partita.targets.onnxruntime.rules.rule import Rules
from partita.targets.onnxruntime.rules.tensor import TENSOR

RULES: Rules = {
    **ELEMENTWISE,
    **BINARY,
    **REDUCTION,
    **TENSOR,
    **INDEXING,
    **NN,
    **NORM,
    **OPAQUE,
}
"""The rule of each op of relay."""
