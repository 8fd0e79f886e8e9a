"""Graph dialect: whole tensors in, whole tensors out, no loops, no memory.

Every op is pure, and its result types follow from its operands and attributes, so a
pass may drop, clone or reorder ops freely and never re-runs type inference: an op that
is built has its type, and the verifier checks that it still does. A model enters the
compiler here, and leaves for `te` when each op is replaced by what it computes.

Integer types say i8 … i64 for signed and ui8 … ui64 for unsigned elements, i1 for truth values.

| file | ops |
|---|---|
| `base` | what every op is: inference, verification, fusion pattern |
| `constant` | `constant` |
| `unary` | functions of one element, without attributes: `relu`, `exp`, … |
| `elementwise` | functions of one element, with attributes: `clip`, `cast`, … |
| `binary` | functions of elements of several tensors, broadcast: `add`, `less`, `where`, … |
| `reduction` | `sum`, `argmax`, `softmax`, … |
| `window`, `nn` | how windows slide; `conv2d`, `dense`, `matmul` |
| `pool` | `max_pool2d`, `avg_pool2d` |
| `norm` | `batch_norm`, `layer_norm`, `lrn` |
| `layout`, `tensor` | what layouts are; ops that rearrange one tensor: `reshape`, `transpose`, `layout_transform`, … |
| `indexing` | ops that pick, join and pad: `concatenate`, `split`, `strided_slice`, `gather`, `pad` |
| `opaque` | `onnx_node`, `onnx_graph`: operators of ONNX that relay does not model |
| `canonicalize` | what is simpler and the same |
"""

from xdsl.ir import Dialect

from partita.dialects.relay.base import FusionPattern, RelayOp
from partita.dialects.relay.binary import (
    BINARY_OPS,
    AddOp,
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    DivideOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LeftShiftOp,
    LessEqualOp,
    LessOp,
    LogicalAndOp,
    LogicalOrOp,
    LogicalXorOp,
    MaximumOp,
    MinimumOp,
    ModOp,
    MultiplyOp,
    NotEqualOp,
    PowerOp,
    RightShiftOp,
    SubtractOp,
    WhereOp,
)
from partita.dialects.relay.constant import ConstantOp
from partita.dialects.relay.elementwise import (
    ELEMENTWISE_OPS,
    CastOp,
    ClipOp,
    DropoutOp,
    HardSigmoidOp,
    IsInfOp,
    IsNanOp,
    LeakyReluOp,
)
from partita.dialects.relay.indexing import (
    INDEXING_OPS,
    ConcatenateOp,
    GatherOp,
    PadOp,
    SplitOp,
    StridedSliceOp,
)
from partita.dialects.relay.nn import NN_OPS, Conv2dOp, DenseOp, MatmulOp
from partita.dialects.relay.norm import NORM_OPS, BatchNormOp, LayerNormOp, LrnOp
from partita.dialects.relay.opaque import CarriedOp, OnnxGraphOp, OnnxNodeOp
from partita.dialects.relay.pool import POOL_OPS, AvgPool2dOp, MaxPool2dOp
from partita.dialects.relay.reduction import (
    REDUCTION_OPS,
    ArgmaxOp,
    ArgminOp,
    LogSoftmaxOp,
    MaxOp,
    MeanOp,
    MinOp,
    ProdOp,
    SoftmaxOp,
    SumOp,
)
from partita.dialects.relay.tensor import (
    TENSOR_OPS,
    BroadcastToOp,
    ExpandDimsOp,
    LayoutTransformOp,
    ReshapeOp,
    SqueezeOp,
    TileOp,
    TransposeOp,
)
from partita.dialects.relay.unary import (
    UNARY_OPS,
    AbsOp,
    AcoshOp,
    AcosOp,
    AsinhOp,
    AsinOp,
    AtanhOp,
    AtanOp,
    BitwiseNotOp,
    CeilOp,
    CoshOp,
    CosOp,
    ErfOp,
    ExpOp,
    FloorOp,
    LogicalNotOp,
    LogOp,
    NegativeOp,
    ReciprocalOp,
    ReluOp,
    RoundOp,
    RsqrtOp,
    SigmoidOp,
    SignOp,
    SinhOp,
    SinOp,
    SqrtOp,
    TanhOp,
    TanOp,
    TruncOp,
)

ALL_OPS: tuple[type[RelayOp], ...] = (
    ConstantOp,
    *UNARY_OPS,
    *ELEMENTWISE_OPS,
    *BINARY_OPS,
    *REDUCTION_OPS,
    *NN_OPS,
    *POOL_OPS,
    *NORM_OPS,
    *TENSOR_OPS,
    *INDEXING_OPS,
)
"""All that relay says the meaning of."""

Relay = Dialect("relay", [*ALL_OPS, OnnxNodeOp, OnnxGraphOp])

__all__ = [
    "ALL_OPS",
    "AbsOp",
    "AcosOp",
    "AcoshOp",
    "AddOp",
    "ArgmaxOp",
    "ArgminOp",
    "AsinOp",
    "AsinhOp",
    "AtanOp",
    "AtanhOp",
    "AvgPool2dOp",
    "BatchNormOp",
    "BitwiseAndOp",
    "BitwiseNotOp",
    "BitwiseOrOp",
    "BitwiseXorOp",
    "BroadcastToOp",
    "CarriedOp",
    "CastOp",
    "CeilOp",
    "ClipOp",
    "ConcatenateOp",
    "ConstantOp",
    "Conv2dOp",
    "CosOp",
    "CoshOp",
    "DenseOp",
    "DivideOp",
    "DropoutOp",
    "EqualOp",
    "ErfOp",
    "ExpOp",
    "ExpandDimsOp",
    "FloorOp",
    "FusionPattern",
    "GatherOp",
    "GreaterEqualOp",
    "GreaterOp",
    "HardSigmoidOp",
    "IsInfOp",
    "IsNanOp",
    "LayerNormOp",
    "LayoutTransformOp",
    "LeakyReluOp",
    "LeftShiftOp",
    "LessEqualOp",
    "LessOp",
    "LogOp",
    "LogSoftmaxOp",
    "LogicalAndOp",
    "LogicalNotOp",
    "LogicalOrOp",
    "LogicalXorOp",
    "LrnOp",
    "MatmulOp",
    "MaxOp",
    "MaxPool2dOp",
    "MaximumOp",
    "MeanOp",
    "MinOp",
    "MinimumOp",
    "ModOp",
    "MultiplyOp",
    "NegativeOp",
    "NotEqualOp",
    "OnnxGraphOp",
    "OnnxNodeOp",
    "PadOp",
    "PowerOp",
    "ProdOp",
    "ReciprocalOp",
    "Relay",
    "RelayOp",
    "ReluOp",
    "ReshapeOp",
    "RightShiftOp",
    "RoundOp",
    "RsqrtOp",
    "SigmoidOp",
    "SignOp",
    "SinOp",
    "SinhOp",
    "SoftmaxOp",
    "SplitOp",
    "SqrtOp",
    "SqueezeOp",
    "StridedSliceOp",
    "SubtractOp",
    "SumOp",
    "TanOp",
    "TanhOp",
    "TileOp",
    "TransposeOp",
    "TruncOp",
    "WhereOp",
]
