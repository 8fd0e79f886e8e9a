"""Random graphs, divided between random back ends: never a cycle, always the results of the host alone.

They are of integers that wrap around, so that every order of computation gives the same.
"""

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import pytest
from example_backend import Example, Other, install
from example_loader import OPS
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

import partita
from partita.dialects import relay
from partita.dialects.byoc import ByocModuleOp, CallOp
from partita.dialects.partita import ENTRY
from partita.driver import compile_artifact
from partita.interpreters import interpret
from partita.runtime import Executable
from partita.shapes import tensor_of
from partita.targets import Backend, Host
from partita.weights import Array

HOST = Host(cache="none")


@pytest.fixture(autouse=True)
def backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be the back ends of tests."""
    install(monkeypatch)


def _calls(module: ModuleOp) -> list[CallOp]:
    return [each for each in module.walk() if isinstance(each, CallOp)]


TYPE = tensor_of((4,), i32)

UNARY: Sequence[Callable[[SSAValue], relay.RelayOp]] = (
    relay.AbsOp,
    relay.NegativeOp,
    relay.ReluOp,
)

BINARY: Sequence[Callable[[SSAValue, SSAValue], relay.RelayOp]] = (
    relay.AddOp,
    relay.BitwiseXorOp,
    relay.MaximumOp,
    relay.MinimumOp,
    relay.MultiplyOp,
    relay.SubtractOp,
)


def random_module(random: Random) -> ModuleOp:
    body = Block(arg_types=[TYPE] * random.randint(1, 3))
    values: list[SSAValue] = list(body.args)

    def pick() -> SSAValue:
        # Mostly what was computed lately, so that graphs are deep too.
        return random.choice(values[-4:] if random.random() < 0.6 else values)

    for _ in range(random.randint(1, 18)):
        kind = random.random()
        op: Operation
        if kind < 0.1:
            array = np.array([random.randint(-9, 9) for _ in range(4)], np.int32)
            op = relay.ConstantOp.of(array)
        elif kind < 0.35:
            op = random.choice(UNARY)(pick())
        else:
            op = random.choice(BINARY)(pick(), pick())
        body.add_op(op)
        values.extend(op.results)
    results = [random.choice(values) for _ in range(random.randint(1, 4))]
    body.add_op(ReturnOp(*results))
    function = FuncOp("main", (body.arg_types, [TYPE] * len(results)), Region(body))
    function.attributes[ENTRY] = UnitAttr()
    return ModuleOp([function])


def random_targets(random: Random) -> list[Backend]:
    names = sorted(OPS)

    def some() -> tuple[str, ...]:
        return tuple(random.sample(names, random.randint(1, len(names))))

    targets: list[Backend] = [Example(some())]
    if random.random() < 0.7:
        targets.append(Other(some()))
    if random.random() < 0.1:
        targets.append(HOST)
    random.shuffle(targets)
    return targets


def random_inputs(module: ModuleOp, random: Random) -> list[Array]:
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)
    return [
        np.array([random.randint(-(2**31), 2**31 - 1) for _ in range(4)], np.int32)
        for _ in function.args
    ]


def check_divided(module: ModuleOp) -> None:
    """Check that regions are on targets, in order, and closed."""
    for each in module.body.block.ops:
        if isinstance(each, ByocModuleOp):
            for name, function in each.functions.items():
                assert isinstance(function, FuncOp)
                assert function.function_type.outputs, name
    for call in _calls(module):
        assert len(set(call.arguments)) == len(call.arguments)
        assert all(result.first_use is not None for result in call.results)


def test_random_graphs_divided_at_random() -> None:
    """Of 1,000 graphs, each divided has no cycle, and means what it did."""
    divided = 0
    for seed in range(1000):
        random = Random(seed)
        module = random_module(random)
        inputs = random_inputs(module, random)
        expected = interpret(module, inputs)
        result = partita.partition(module, random_targets(random))
        check_divided(result)
        divided += bool(_calls(result))
        with np.errstate(all="ignore"):
            got = interpret(result, inputs)
        for one, wanted in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one, wanted, err_msg=f"seed {seed}")
    assert divided > 600


SEEDS = [
    *range(12),
    *(pytest.param(seed, marks=pytest.mark.full) for seed in range(12, 100)),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs_compiled(seed: int) -> None:
    random = Random(seed)
    module = random_module(random)
    inputs = random_inputs(module, random)
    targets = [each for each in random_targets(random) if each is not HOST]
    alone = partita.compile(module, [HOST], threads=1)
    names = [each.name for each in alone.inputs]
    named = dict(zip(names, inputs, strict=True))
    expected = alone.run(named)
    artifact = compile_artifact(module, [*targets, HOST])
    got = Executable(artifact, threads=1).run(named)
    for name, wanted in expected.items():
        np.testing.assert_array_equal(got[name], wanted)
