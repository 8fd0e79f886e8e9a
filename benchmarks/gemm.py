"""Matrix products beside numpy and onnxruntime, one thread each.

`python benchmarks/gemm.py [--rounds 30] [--seconds 0.02]`

All run in one process, in turn, on the same arrays; figures are GFLOP/s of the fastest of `rounds` bursts of `seconds`.
`constant` says whether the second operand is a weight, which Partita packs when it compiles; numpy gets it as it is, so
that it may be transposed. A last column gives Partita's part of the faster of the two. OpenBLAS is the one that
numpy brings, with its kernel for this processor.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import onnx
import onnxruntime
from bursts import Run, fastest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console
from rich.table import Table

import partita

Array = NDArray[Any]


@dataclass(frozen=True)
class Product:
    """`a @ b` of these shapes; batches come first."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    constant: bool = False
    """Whether `b` is a weight."""

    transposed: bool = False
    """Whether `b` is given as its transpose."""

    @property
    def flops(self) -> int:
        return 2 * prod(self.a) * self.b[-1]

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.a))} @ {'x'.join(map(str, self.b))}{' (bᵀ)' if self.transposed else ''}"


THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
CORE = "OPENBLAS_CORETYPE"

PRODUCTS = (
    *(Product((n, n), (n, n)) for n in (64, 128, 256, 512, 1024)),
    *(Product((n, n), (n, n), constant=True) for n in (256, 512, 1024)),
    Product((512, 512), (512, 512), transposed=True),
    Product((100, 300), (300, 77)),
    Product((100, 300), (300, 77), constant=True),
    Product((37, 1000), (1000, 513)),
    Product((128, 384), (384, 384), constant=True),
    Product((128, 384), (384, 1536), constant=True),
    Product((128, 1536), (1536, 384), constant=True),
    Product((8, 768), (768, 768), constant=True),
    Product((1, 2048), (2048, 1000), constant=True),
    Product((1, 25088), (25088, 4096), constant=True),
    Product((1, 512), (512, 512)),
    Product((512, 512), (512, 1)),
    Product((12, 128, 64), (12, 64, 128)),
    Product((12, 128, 128), (12, 128, 64)),
    Product((12, 128, 64), (12, 64, 128), transposed=True),
)


def model(product: Product, b: Array) -> onnx.ModelProto:
    """Return the product as a graph; `b` is its second operand as given."""
    nodes: list[onnx.NodeProto] = []
    second = "b"
    if product.transposed:
        axes = [*range(b.ndim - 2), b.ndim - 1, b.ndim - 2]
        nodes.append(helper.make_node("Transpose", ["b"], ["t"], perm=axes))
        second = "t"
    nodes.append(helper.make_node("MatMul", ["a", second], ["y"]))
    shape = (*product.a[:-1], product.b[-1])

    def value(name: str, shape: tuple[int, ...]) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    weights = [numpy_helper.from_array(b, "b")] if product.constant else []
    inputs = [value("a", product.a)]
    if not product.constant:
        inputs.append(value("b", b.shape))
    graph = helper.make_graph(nodes, "g", inputs, [value("y", shape)], weights)
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9)


def runs(product: Product) -> tuple[Mapping[str, Run], float]:
    """Return what computes a product, by engine, and Partita's largest difference to numpy over the result's range."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal(product.a, dtype=np.float32)
    b = rng.standard_normal(product.b, dtype=np.float32)
    given = np.ascontiguousarray(np.swapaxes(b, -1, -2)) if product.transposed else b
    second = np.swapaxes(given, -1, -2) if product.transposed else b
    text = model(product, given)
    exe = partita.compile(text, ["host"])
    exe.set_threads(1)
    inputs = {"a": a} if product.constant else {"a": a, "b": given}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        text.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    out = np.empty((*product.a[:-1], product.b[-1]), np.float32)
    expected = a.astype(np.float64) @ second.astype(np.float64)
    error = np.abs(exe.run(inputs)["y"] - expected).max() / np.ptp(expected)
    return {
        "partita": lambda: exe.run(inputs),
        "numpy": lambda: np.matmul(a, second, out=out),
        "onnxruntime": lambda: session.run(None, inputs),
    }, float(error)


def environment() -> dict[str, str]:
    """Return the environment in which OpenBLAS takes one thread, and its kernel for this processor."""
    return {
        **{name: value for name, value in os.environ.items() if name != CORE},
        **dict.fromkeys(THREADS, "1"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.02)
    parser.add_argument("--only", default="", help="part of the products' names")
    arguments = parser.parse_args()
    if os.environ != environment():  # OpenBLAS read it when numpy was imported.
        sys.exit(
            subprocess.run([sys.executable, *sys.argv], env=environment()).returncode
        )
    table = Table(title="products of float32 matrices, one thread; GFLOP/s")
    table.add_column("product")
    table.add_column("constant")
    for column in ("partita", "numpy", "onnxruntime", "of the best", "error"):
        table.add_column(column, justify="right")
    for product in PRODUCTS:
        if arguments.only not in product.name:
            continue
        engines, error = runs(product)
        times = fastest(engines, arguments.rounds, arguments.seconds)
        speeds = {name: product.flops / time / 1e9 for name, time in times.items()}
        best = max(speed for name, speed in speeds.items() if name != "partita")
        table.add_row(
            product.name,
            "yes" if product.constant else "",
            *(f"{speed:.1f}" for speed in speeds.values()),
            f"{speeds['partita'] / best:.0%}",
            f"{error:.0e}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
