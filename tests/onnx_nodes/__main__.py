"""Run all node tests, say why those that fail do, and write the list of those that pass."""

import sys
from collections import Counter

from onnx_nodes import PASSING, node_tests, run


def main() -> None:
    passing: list[str] = []
    reasons: Counter[str] = Counter()
    for name, test in node_tests().items():
        try:
            run(test)
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            reasons[type(error).__name__] += 1
            print(f"{name}: {type(error).__name__}: {reason}")
        else:
            passing.append(name)
    PASSING.write_text("\n".join(sorted(passing)) + "\n")
    print(f"{len(passing)} of {len(node_tests())} pass")
    print(f"others fail with {dict(reasons)}", file=sys.stderr)


main()
