"""How each ONNX op becomes relay ops: a function per op, or per family, that handles every opset it has had.

| file | ops |
|---|---|
| `elementwise` | arithmetic, comparisons, logic, rounding, casts |
| `activation` | what networks put after layers |
| `reduction` | sums, norms, softmax |
| `nn`, `window`, `pool` | convolutions, matrix products; how padding is spelt; pools |
| `normalization` | batch, layer, group, instance normalization and their like |
| `tensor` | what rearranges a tensor |
| `indexing` | what picks, joins and pads |
| `constant` | constants, and what is known from types alone |
| `einsum` | products written as equations |
"""

from partita.frontends.onnx.node import Table
from partita.frontends.onnx.operators.activation import ACTIVATION
from partita.frontends.onnx.operators.constant import CONSTANT
from partita.frontends.onnx.operators.einsum import EINSUM
from partita.frontends.onnx.operators.elementwise import ELEMENTWISE
from partita.frontends.onnx.operators.indexing import INDEXING
from partita.frontends.onnx.operators.nn import NN
from partita.frontends.onnx.operators.normalization import NORMALIZATION
from partita.frontends.onnx.operators.pool import POOL
from partita.frontends.onnx.operators.reduction import REDUCTION
from partita.frontends.onnx.operators.tensor import TENSOR

TABLES: tuple[Table, ...] = (
    ELEMENTWISE,
    ACTIVATION,
    REDUCTION,
    NN,
    POOL,
    NORMALIZATION,
    TENSOR,
    INDEXING,
    CONSTANT,
    EINSUM,
)

CONVERTERS: Table = {key: made for each in TABLES for key, made in each.items()}
"""Every converter, by domain and op type."""
