"""How compile time grows with the size of a graph: `python benchmarks/scaling.py [--sizes 1000,2000,4000,8000]`.

Two graphs, object cache cold: a chain of elementwise ops, and convolutions of 64 distinct
shapes. Each size is compiled in a process of its own; seconds are that process's CPU and wall time.
"""

import argparse
import json
import subprocess
import sys
from time import perf_counter, process_time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console
from rich.table import Table

CHAIN = ("Add", "Relu", "Mul", "Sigmoid", "Sub", "Abs")


def chain(size: int) -> onnx.ModelProto:
    """Return `size` elementwise ops, one after the other, with constants of many values."""
    rng = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    value = "x"
    for number in range(size):
        kind = CHAIN[number % len(CHAIN)]
        inputs = [value]
        if kind in ("Add", "Mul", "Sub"):
            weights.append(
                numpy_helper.from_array(
                    rng.uniform(0.5, 1.0, 64).astype(np.float32), f"w{number}"
                )
            )
            inputs.append(f"w{number}")
        value = f"v{number}"
        nodes.append(helper.make_node(kind, inputs, [value], name=f"n{number}"))
    return _model(nodes, weights, [1, 64], [1, 64], value)


def convolutions(size: int) -> onnx.ModelProto:
    """Return `size` convolutions in a row, of 64 distinct shapes."""
    rng = np.random.default_rng(0)
    widths = [16, 32, 48, 64, 80, 96, 112, 128]
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    value, channels = "x", widths[0]
    for number in range(size):
        following = widths[(number * 5 + number // 8) % len(widths)]
        weights.append(
            numpy_helper.from_array(
                (
                    rng.standard_normal((following, channels, 1, 1)) / channels**0.5
                ).astype(np.float32),
                f"w{number}",
            )
        )
        value_before, value = value, f"v{number}"
        nodes.append(
            helper.make_node(
                "Conv", [value_before, f"w{number}"], [value], name=f"conv{number}"
            )
        )
        channels = following
    return _model(nodes, weights, [1, widths[0], 4, 4], [1, channels, 4, 4], value)


def _model(
    nodes: list[onnx.NodeProto],
    weights: list[onnx.TensorProto],
    shape: list[int],
    result: list[int],
    output: str,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "scaling",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, result)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


GRAPHS = {"chain": chain, "convolutions": convolutions}


def measure(name: str, size: int) -> dict[str, float]:
    """Compile one graph in this process."""
    import partita

    model = GRAPHS[name](size)
    wall, cpu = perf_counter(), process_time()
    exe = partita.compile(model, ['host{cache="none"}'], threads=1)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    out = exe.run({"x": np.ones(exe.inputs[0].shape, np.float32)})
    assert all(np.isfinite(each).all() for each in out.values())
    return {"wall": wall, "cpu": cpu, "steps": len(exe.artifact.plan.steps)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default="1000,2000,4000,8000")
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one[0], int(arguments.one[1]))))
        return
    table = Table(title="compile time by size of the graph, object cache cold")
    for column in ("graph", "ops", "kernel calls", "CPU s", "wall s", "CPU ms / op"):
        table.add_column(column, justify="left" if column == "graph" else "right")
    for name in arguments.graphs.split(","):
        for size in map(int, arguments.sizes.split(",")):
            result = subprocess.run(
                [sys.executable, __file__, "--one", name, str(size)],
                check=True,
                capture_output=True,
                text=True,
            )
            row = json.loads(result.stdout)
            table.add_row(
                name,
                str(size),
                str(row["steps"]),
                f"{row['cpu']:.2f}",
                f"{row['wall']:.2f}",
                f"{row['cpu'] / size * 1e3:.2f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
