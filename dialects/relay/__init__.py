"""Graph dialect: whole tensors in, whole tensors out, no loops, no memory.

Every op is pure, and its result types follow from its operands and attributes, so a
pass may drop, clone or reorder ops freely and never re-runs type inference: an op that
is built has its type, and the verifier checks that it still does. A model enters the
compiler here, and leaves for `te` when each op is replaced by what it computes.

| file | ops |
|---|---|
| `base` | what every op is: inference, verification, fusion pattern |
"""

from xdsl.ir import Dialect

from partita.dialects.relay.nn import Conv2dOp

Relay = Dialect("relay", [Conv2dOp])
