"""How the time that `fuse-ops` takes grows with a graph: the table of docs/fusion.md.

python benchmarks/fusion.py
"""

from collections.abc import Callable, Mapping
from itertools import cycle, islice
from time import process_time

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from partita.dialects.relay import (
    AddOp,
    ConstantOp,
    Conv2dOp,
    LeakyReluOp,
    NegativeOp,
    ReluOp,
    SigmoidOp,
    SoftmaxOp,
    TanhOp,
)
from partita.shapes import shape_of, tensor_of
from partita.transforms.fuse_ops import FuseOpsPass

SIZES = (1_000, 2_000, 4_000, 8_000)

RUNS = 3


class Graph:
    """A function under construction, and its latest value."""

    def __init__(self):
        self.block = Block(arg_types=[tensor_of((1, 8, 8, 8), f32)])
        self.last: SSAValue = self.block.args[0]

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        self.last = op.results[0]
        return self.last

    def module(self) -> ModuleOp:
        self.block.add_op(ReturnOp(self.last))
        types = (self.block.arg_types, (self.last.type,))
        return ModuleOp([FuncOp("main", types, Region(self.block))])


def chain(ops: int) -> Graph:
    graph = Graph()
    for kind in islice(cycle((ReluOp, TanhOp, NegativeOp, SigmoidOp, TanhOp)), ops):
        graph.add(kind(graph.last))
    return graph


def convolutions(ops: int) -> Graph:
    """Convolution, bias and relu over and over, with weights of their own and 64 pairs of channel counts."""
    graph = Graph()
    generator = np.random.default_rng(0)
    for index in range(ops // 3):
        data, features = graph.last, 8 + 4 * int(generator.integers(8))
        shape = (features, shape_of(data)[1], 1, 1)
        weight = np.full(shape, index, np.float32)
        weight[0] = 0
        kernel = graph.add(ConstantOp.of(weight))
        bias = graph.add(ConstantOp.of(weight[:, :1, :, 0]))
        graph.add(AddOp(graph.add(Conv2dOp(data, kernel)), bias))
        graph.add(ReluOp(graph.last))
    return graph


def skips(ops: int) -> Graph:
    """Half of the ops are a chain, the other half add what each of it gave, last first."""
    graph = Graph()
    values = [graph.last, *(graph.add(TanhOp(graph.last)) for _ in range(ops // 2))]
    for value in reversed(values[:-1]):
        graph.add(AddOp(graph.last, value))
    return graph


def distinct(ops: int) -> Graph:
    graph = Graph()
    for index in range(ops // 2):
        graph.add(LeakyReluOp(graph.last, alpha=index / ops))
        graph.add(SoftmaxOp(graph.last))
    return graph


GRAPHS: Mapping[str, Callable[[int], Graph]] = {
    "elementwise chain": chain,
    "convolution, bias, relu": convolutions,
    "each op also used at the far end": skips,
    "all kernels distinct": distinct,
}


def seconds(module: ModuleOp) -> float:
    start = process_time()
    FuseOpsPass().apply(Context(), module)
    return process_time() - start


def main() -> None:
    print("| ops |", " | ".join(GRAPHS), "|")
    print("|---" * (len(GRAPHS) + 1) + "|")
    for ops in SIZES:
        times = (
            min(seconds(make(ops).module()) for _ in range(RUNS))
            for make in GRAPHS.values()
        )
        print(f"| {ops:,} |", " | ".join(f"{each:.2f}" for each in times), "|")


if __name__ == "__main__":
    main()
