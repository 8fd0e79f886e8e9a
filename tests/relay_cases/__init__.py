"""One table of relay ops in every variant, with inputs: what each level below is compared on.

```python
from relay_cases import CASES, Case, assert_close

@pytest.mark.parametrize("each", CASES, ids=str)
def test_level(each: Case) -> None:
    inputs = each.inputs()           # numpy arrays, the same for the same seed
    module = each.module()           # func.func @main(%x0, %x1, …), marked partita.entry
    ...                              # lower and run it; module(kernel=True) marks it partita.kernel
    assert_close(results, each.expected(inputs))
```
"""

from relay_cases.case import Case, Input, assert_close
from relay_cases.elementwise import ELEMENTWISE_CASES
from relay_cases.joined import joined
from relay_cases.nn import NN_CASES
from relay_cases.reduction import REDUCTION_CASES
from relay_cases.tensor import TENSOR_CASES

CASES: tuple[Case, ...] = (
    *ELEMENTWISE_CASES,
    *REDUCTION_CASES,
    *NN_CASES,
    *TENSOR_CASES,
)
"""Every op of relay, in every attribute and element type that matters; names are unique."""

__all__ = ["CASES", "Case", "Input", "assert_close", "joined"]
