"""What each relay op computes, as `te.compute` ops: a table of rules, one for each op.

| file | holds |
|---|---|
| `body` | scalars with operators, and the body that they are written in |
| `builder` | computes and reductions written as functions of their axes |
| `index`, `windows` | index expressions, padding |
| `elementwise`, `reduction`, `nn`, `pool`, `norm`, `tensor` | the rules |
"""

from partita.transforms.te_rules.builder import Rules
from partita.transforms.te_rules.elementwise import ELEMENTWISE_RULES
from partita.transforms.te_rules.nn import NN_RULES
from partita.transforms.te_rules.norm import NORM_RULES
from partita.transforms.te_rules.pool import POOL_RULES
from partita.transforms.te_rules.reduction import REDUCTION_RULES
from partita.transforms.te_rules.tensor import TENSOR_RULES

TE_RULES: Rules = {
    **ELEMENTWISE_RULES,
    **REDUCTION_RULES,
    **NN_RULES,
    **POOL_RULES,
    **NORM_RULES,
    **TENSOR_RULES,
}
"""The rule of each op of relay but `relay.constant`, which is not computed."""
