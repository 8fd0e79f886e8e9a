"""The back end that tests of partitioning use: it takes what it is told to, and makes lists of ops."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from example_loader import OPS
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from partita.analysis import patterns
from partita.analysis.patterns import anything, constant
from partita.dialects import relay
from partita.dialects.byoc import CompositeOp, YieldOp
from partita.dialects.relay.base import ints
from partita.errors import CodegenError
from partita.runtime.loaders import LOADERS
from partita.targets import registry
from partita.targets.backend import (
    Accept,
    CodegenContext,
    CompositePattern,
    ExternalBackend,
    ExternalModule,
    Reject,
)
from partita.weights import Weight, weight


@dataclass(frozen=True)
class Example(ExternalBackend):
    """Runs elementwise ops and splits by numpy."""

    name: ClassVar[str] = "example"

    ops: tuple[str, ...] = ()
    """Ops that it supports, `add` for `relay.add`; if none, all that it can run."""

    def supports(self, op: Operation) -> Accept | Reject:
        name = op.name.removeprefix("relay.")
        if name not in (self.ops or (*OPS, "split")):
            return Reject(f"{op.name} is not among its ops")
        return Accept()

    def patterns(self) -> Sequence[CompositePattern]:
        return (
            CompositePattern(
                f"{self.name}.multiply_add",
                patterns.op(
                    relay.AddOp,
                    patterns.op(
                        relay.MultiplyOp, anything(), constant(), commutative=True
                    ),
                    anything(),
                    commutative=True,
                ),
            ),
        )

    def pays(self, region: Sequence[Operation]) -> Accept | Reject:
        if all(isinstance(each, relay.DropoutOp) for each in region):
            return Reject("its region does nothing")
        return Accept()

    def codegen(self, function: FuncOp, context: CodegenContext) -> ExternalModule:
        return _Writer(function).module()


@dataclass(frozen=True)
class Other(Example):
    """Another one, which finds single ops not worth it and has no patterns."""

    name: ClassVar[str] = "other"

    minimum_ops: ClassVar[int] = 2

    def patterns(self) -> Sequence[CompositePattern]:
        return ()


class _Writer:
    """Writes a function as `ops.json`."""

    def __init__(self, function: FuncOp):
        self.function = function
        self.numbers: dict[SSAValue, int] = {}
        self.weights: list[Weight] = []
        self.ops: list[dict[str, Any]] = []

    def module(self) -> ExternalModule:
        block = self.function.body.block
        for argument in block.args:
            self.numbers[argument] = len(self.numbers)
        self.count = len(self.numbers)
        for op in self.function.walk():
            if isinstance(op, relay.ConstantOp):
                self.weights.append(weight(np.array(op.array())))
                self.numbers[op.result] = self.count
                self.count += 1
        results = self.write(block.ops)
        text = json.dumps({"ops": self.ops, "results": results})
        return ExternalModule({"ops.json": text.encode()}, tuple(self.weights))

    def write(self, ops: Any) -> list[int]:
        """Write ops, and return the numbers of what the last one ends with."""
        for op in ops:
            operands = [self.numbers[each] for each in op.operands]
            match op:
                case relay.ConstantOp():
                    continue
                case ReturnOp() | YieldOp():
                    return operands
                case CompositeOp():
                    body = op.body.block
                    self.numbers |= zip(body.args, operands, strict=True)
                    numbers = self.write(body.ops)
                    self.numbers |= zip(op.results, numbers, strict=True)
                    continue
                case relay.SplitOp():
                    places = np.cumsum(ints(op.sizes))[:-1].tolist()
                    more = {"places": places, "axis": op.axis.value.data}
                case relay.RelayOp() if op.name.removeprefix("relay.") in OPS:
                    more = {}
                case _:
                    raise CodegenError(f"{op.name} is not among its ops")
            self.ops.append(
                {"name": op.name.removeprefix("relay."), "operands": operands, **more}
            )
            for result in op.results:
                self.numbers[result] = self.count
                self.count += 1
        raise AssertionError("a block ends with a terminator")


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be these back ends, as long as a test runs."""
    everything = (*registry.ALL_BACKENDS, Example, Other)
    monkeypatch.setattr(registry, "ALL_BACKENDS", everything)
    for name in (Example.name, Other.name):
        monkeypatch.setitem(LOADERS, name, "example_loader:load")
