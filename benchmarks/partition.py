"""How the time to divide a graph grows with its size: `python benchmarks/partition.py [--sizes 2000,5000,10000,20000]`.

Seconds of processor time of each pass, and of verification, on graphs of elementwise ops that two back ends take:

- `chain`: in turns, one after the other;
- `skips`: in turns, each also uses what came two and five ops before;
- `apart`: a chain of one target, each op of which also feeds an op of the host, and uses one;
- `dense`: blocks of 60 layers, each an op of a target on the concatenation, on the host, of all before it in its block.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import ClassVar

from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp, UnitAttr, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from partita.analysis.verification import verify
from partita.dialects import relay
from partita.dialects.byoc import external_modules
from partita.dialects.partita import ENTRY
from partita.driver import context
from partita.driver.pipelines import partition_pipeline
from partita.shapes import tensor_of
from partita.targets.backend import (
    Accept,
    CodegenContext,
    ExternalBackend,
    ExternalModule,
    Reject,
)
from partita.transforms.pipeline import Pipeline

LAYERS = 60


@dataclass(frozen=True)
class One(ExternalBackend):
    """Takes one kind of op."""

    name: ClassVar[str] = "one"

    op: ClassVar[type[Operation]] = relay.ReluOp

    def supports(self, op: Operation) -> Accept | Reject:
        return Accept() if isinstance(op, self.op) else Reject("of another kind")

    def codegen(self, function: FuncOp, context: CodegenContext) -> ExternalModule:
        return ExternalModule({})


@dataclass(frozen=True)
class Two(One):
    """Takes another kind of op."""

    name: ClassVar[str] = "two"

    op: ClassVar[type[Operation]] = relay.AddOp


class Graph:
    """A function that is built op by op."""

    def __init__(self, shape: Sequence[int]):
        self.block = Block(arg_types=[tensor_of(tuple(shape), f32)])
        self.values: list[SSAValue] = list(self.block.args)

    def add(self, op: relay.RelayOp) -> SSAValue:
        self.block.add_op(op)
        self.values.append(op.results[0])
        return op.results[0]

    def module(self, results: Sequence[SSAValue]) -> ModuleOp:
        self.block.add_op(ReturnOp(*results))
        types = [each.type for each in results]
        function = FuncOp("main", (self.block.arg_types, types), Region(self.block))
        function.attributes[ENTRY] = UnitAttr()
        return ModuleOp([function])


def chain(size: int) -> ModuleOp:
    graph = Graph([4])
    for number in range(size):
        last = graph.values[-1]
        graph.add(relay.AddOp(last, last) if number % 2 else relay.ReluOp(last))
    return graph.module(graph.values[-1:])


def skips(size: int) -> ModuleOp:
    graph = Graph([4])
    for _ in range(size // 3):
        last, second, fifth = (
            graph.values[-min(n, len(graph.values))] for n in (1, 2, 5)
        )
        value = graph.add(relay.AddOp(last, second))
        graph.add(relay.AddOp(graph.add(relay.ReluOp(value)), fifth))
    return graph.module(graph.values[-1:])


def apart(size: int) -> ModuleOp:
    graph = Graph([4])
    host = taken = graph.values[0]
    results: list[SSAValue] = []
    for _ in range(size // 3):
        host = graph.add(relay.ErfOp(host))
        taken = graph.add(relay.AddOp(taken, host))
        results.append(graph.add(relay.ErfOp(taken)))
    return graph.module([taken, *results])


def dense(size: int) -> ModuleOp:
    graph = Graph([1, 4])
    before = [graph.values[0]]
    for number in range(size // 4):
        if number % LAYERS == 0:
            before = before[-1:]
        joined = graph.add(relay.ConcatenateOp(before, axis=0))
        taken = graph.add(relay.ReluOp(graph.add(relay.AddOp(joined, joined))))
        before.append(graph.add(relay.MaxOp(taken, axes=[0], keepdims=True)))
    return graph.module(before[-1:])


GRAPHS: Sequence[Callable[[int], ModuleOp]] = (chain, skips, apart, dense)


def _seconds(action: Callable[[], None]) -> float:
    """Return the processor's time that something takes."""
    start = process_time()
    action()
    return process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="2000,5000,10000,20000")
    sizes = [int(each) for each in parser.parse_args().sizes.split(",")]
    passes = partition_pipeline((One(), Two()), keep_originals=True)
    names = [each.name for each in passes]
    table = Table("graph", "ops", "regions", *names, "verify", "µs an op")
    for make in GRAPHS:
        for size in sizes:
            module = make(size)
            ops = sum(1 for _ in module.walk()) - 3
            seconds = [
                _seconds(partial(Pipeline((each,)).apply, context(), module))
                for each in passes
            ]
            seconds.append(_seconds(partial(verify, module)))
            regions = sum(
                len(each.functions) for each in external_modules(module).values()
            )
            table.add_row(
                *(make.__name__, str(ops), str(regions)),
                *(f"{each:.2f}" for each in seconds),
                f"{sum(seconds) / ops * 1e6:.0f}",
            )
        table.add_section()
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
