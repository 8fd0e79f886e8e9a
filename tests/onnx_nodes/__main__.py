"""Run all node tests for the host, and with onnxruntime; say why those that fail do, and list those that pass."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from onnx_nodes import TARGETS, node_tests, run


def main(passing: Path, targets: Sequence[str]) -> None:
    names: list[str] = []
    reasons: Counter[str] = Counter()
    for name, test in node_tests().items():
        try:
            run(test, targets)
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            reasons[type(error).__name__] += 1
            print(f"{name}: {type(error).__name__}: {reason}")
        else:
            names.append(name)
    passing.write_text("\n".join(sorted(names)) + "\n")
    print(f"{passing.stem}: {len(names)} of {len(node_tests())} pass")
    print(f"others fail with {dict(reasons)}", file=sys.stderr)


for each in TARGETS.items():
    main(*each)
