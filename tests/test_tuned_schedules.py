"""Schedules that were found reach the kernels that they are for: by key, whatever model, names and order."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from numpy.typing import NDArray
from onnx_graphs import random_model
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

import partita
from networks import light, mobilenet, transformer
from partita.analysis.canonical_task import task_key
from partita.analysis.schedule_database import Record, ScheduleDatabase
from partita.analysis.schedule_text import parse_schedule, schedule_text
from partita.dialects.sched import Schedule, SequenceOp
from partita.dialects.tir import CallOp
from partita.driver import Task, context
from partita.errors import DatabaseError, IRError, PassError
from partita.runtime import Machine
from partita.targets.host import Host
from partita.targets.host.schedule_host import ScheduleHostPass
from partita.transforms.apply_schedules import ApplySchedulesPass
from partita.transforms.apply_tuned_schedules import (
    ApplyTunedSchedulesPass,
    ScheduleWarning,
)
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.pipeline import Observer, Pipeline, Verifier

NO_CACHE = Host(cache="none")

MLP = """\
<ir_version: 8, opset_import: ["" : 17]>
mlp (float[4, 64] x, float[64, 64] w, float[64] b) => (float[4, 64] y) {
    h = Gemm(x, w, b)
    i = Relu(h)
    j = Softmax(i)
    k = Gemm(j, w, b)
    y = Relu(k)
}
"""

OTHER = """\
<ir_version: 8, opset_import: ["" : 17]>
other (float[64] bias, float[64, 64] weight, float[4, 64] image) => (float[4, 64] result) {
    a = Sigmoid(image)
    b = Gemm(a, weight, bias)
    result = Relu(b)
}
"""

SCHEDULE = """
sched.sequence @mine for @any {
  %bias = sched.block "map_1"
  sched.compute_inline %bias
  %product = sched.block "reduce_0"
  %i, %j, %k = sched.loops %product -> 3
  %jo, %ji = sched.split %j [?, 32]
  sched.reorder %i, %jo, %k, %ji
  sched.vectorize %ji
  sched.parallel %i
}
"""
"""Tiles of 32 columns, which no rule of ours makes."""

ILLEGAL = SCHEDULE.replace("sched.vectorize %ji", "sched.vectorize %k")


class Sequences(Observer):
    """Collects the schedules that tuning attached, by kernel."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        if each.name == "apply-tuned-schedules":
            self.found = {
                op.kernel.string_value(): str(op)
                for op in module.ops
                if isinstance(op, SequenceOp)
            }


def dense(model: str) -> Task:
    """Return the task of a model that multiplies."""
    tasks = partita.extract_tasks(onnx.parser.parse_model(model))
    (task,) = [each for each in tasks if each.macs]
    return task


def record(
    text: str = SCHEDULE, *seconds: float, machine: Machine | None = None
) -> Record:
    sequence = parse_schedule(context(), text, "k")
    return Record(
        dense(MLP).key,
        "host",
        machine or Machine.host(),
        schedule_text(sequence),
        seconds,
    )


@pytest.fixture
def db(tmp_path: Path) -> ScheduleDatabase:
    return ScheduleDatabase(tmp_path / "tuning.db")


def run(
    model: str,
    *,
    told: Sequence[str] = (),
    db: str | PathLike[str] | None = None,
    schedules: Mapping[str, str] | None = None,
) -> tuple[dict[str, str], NDArray[Any]]:
    """Compile and run a model; expect warnings of kernels; return what was attached, and the result."""
    sequences = Sequences()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exe = partita.compile(
            onnx.parser.parse_model(model),
            [NO_CACHE],
            observers=[sequences],
            db=db,
            schedules=schedules,
        )
    messages = [str(each.message) for each in caught]
    assert len(messages) == len(told)
    for message, expected in zip(messages, told, strict=True):
        assert expected in message
    assert all(each.category is ScheduleWarning for each in caught)
    rng = np.random.default_rng(0)
    inputs = {
        each.name: rng.standard_normal(each.shape).astype(np.float32)
        for each in exe.inputs
    }
    (result,) = exe.run(inputs).values()
    return sequences.found, result


MISSING = ("no tuned schedule found for task softmax_",)
"""What is told of the kernel of the first model that does not multiply."""


def test_without_a_database_nothing_is_said() -> None:
    assert run(MLP)[0] == {}


def test_kernels_get_the_best_schedule_of_their_task(db: ScheduleDatabase) -> None:
    worse = SCHEDULE.replace("32", "16")
    db.add(record(worse, 2e-6, 3e-6), record(SCHEDULE, 1e-6), record(worse, 2e-6))
    _, expected = run(MLP)
    attached, result = run(MLP, told=MISSING, db=db.path)
    ((kernel, text),) = attached.items()
    assert kernel.startswith("matmul")
    assert "[?, 32]" in text
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_equal_layers_of_other_models_get_it_too(db: ScheduleDatabase) -> None:
    """Names, origins, and the order and number of what is around them do not matter."""
    db.add(record())
    first, _ = run(MLP, told=MISSING, db=db.path)
    second, result = run(
        OTHER, told=("no tuned schedule found for task sigmoid_",), db=db.path
    )
    (one,), (other,) = first.values(), second.values()
    assert one == other
    np.testing.assert_allclose(result, run(OTHER)[1], rtol=1e-5, atol=1e-5)


def test_what_does_not_apply_is_told_and_rules_take_over(db: ScheduleDatabase) -> None:
    db.add(record(ILLEGAL, 1e-6))
    attached, result = run(
        MLP,
        told=(
            "does not apply, and rules take its place: sched.vectorize of loop %r0 of kernel @matmul",
            *MISSING,
        ),
        db=db.path,
    )
    assert attached == {}
    np.testing.assert_array_equal(result, run(MLP)[1])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no IR", "expected a sched.sequence: "),
        ("module {}", "expected one sched.sequence, got nothing"),
        ("func.func private @f()", "expected one sched.sequence, got func.func"),
        (SCHEDULE.replace("reduce_0", "conv2d"), "no such block"),
        (
            SCHEDULE.replace("-> 3", "-> 2")
            .replace(", %k = ", " = ")
            .replace(", %k,", ","),
            "expected 2 loops, got 3",
        ),
        (
            SCHEDULE.replace("32]", "%none]").replace(
                "sched.sequence @mine for @any {",
                "sched.sequence @mine for @any {\n%none = sched.sample_categorical [0, 32] decision 0",
            ),
            "expected factors of at least 1, got 0",
        ),
        (SCHEDULE.replace("32", "1" + "0" * 20), "expected a number of 63 bits"),
        (
            SCHEDULE + '"' + "\\n" * 4000,
            "expected a string that is closed on its line",
        ),
        ("builtin.module {" * 3000, "got ops within ops"),
    ],
)
def test_text_that_is_no_schedule_is_told(
    db: ScheduleDatabase, text: str, reason: str
) -> None:
    db.add(replace(record(), schedule=text))
    attached, _ = run(MLP, told=(reason, *MISSING), db=db.path)
    assert attached == {}


SPACE = """
sched.sequence @space for @any {
  %bias = sched.block "map_1"
  sched.compute_inline %bias
  %product = sched.block "reduce_0"
  %i, %j, %k = sched.loops %product -> 3
  %o, %n = sched.sample_perfect_tile %j innermost 64 -> 2
  %jo, %ji = sched.split %j [%o, %n]
  sched.reorder %i, %jo, %k, %ji
  sched.vectorize %ji
}
"""


def test_a_point_of_a_space_is_a_schedule_and_a_space_is_none(
    db: ScheduleDatabase,
) -> None:
    db.add(record(SPACE))
    told = ("sched.sample_perfect_tile", *MISSING)
    assert run(MLP, told=told, db=db.path)[0] == {}
    db.add(record(SPACE.replace("-> 2\n", "-> 2 decision [2, 32]\n"), 1e-6))
    attached, result = run(MLP, told=MISSING, db=db.path)
    assert ["decision [2, 32]" in each for each in attached.values()] == [True]
    np.testing.assert_allclose(result, run(MLP)[1], rtol=1e-5, atol=1e-5)


LAYERS = """
func.func @main(%x : tensor<4x64xf32>, %w : tensor<64x64xf32>) -> tensor<4x64xf32> attributes {partita.entry} {
  %s = relay.constant dense<5.000000e-01> : tensor<f32>
  %t = relay.constant dense<-3.000000e+00> : tensor<f32>
  %0 = relay.matmul %x, %w : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %1 = relay.multiply %0, %s : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %2 = relay.round %1 : tensor<4x64xf32>
  %3 = relay.matmul %2, %w : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %4 = relay.multiply %3, %t : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %5 = relay.round %4 : tensor<4x64xf32>
  func.return %5 : tensor<4x64xf32>
}
"""


@pytest.mark.parametrize("swapped", [False, True])
def test_layers_that_differ_in_constants_share_a_schedule(
    db: ScheduleDatabase, swapped: bool
) -> None:
    """They are two kernels of one task: what is stored for one is for both, met in whatever order."""
    text = LAYERS
    if swapped:
        text = (
            text.replace("%s = ", "%u = ")
            .replace("%t = ", "%s = ")
            .replace("%u = ", "%t = ")
        )
    (task,) = partita.extract_tasks(Parser(context(), LAYERS).parse_module())
    db.add(replace(record(), task=task.key))
    sequences = Sequences()
    module = Parser(context(), text).parse_module()
    partita.compile(module, [NO_CACHE], db=db.path, observers=[sequences])
    assert len(sequences.found) == 2
    assert all("[?, 32]" in each for each in sequences.found.values())


def test_schedules_of_other_machines_are_not_used(db: ScheduleDatabase) -> None:
    db.add(record(SCHEDULE, 1e-6, machine=replace(Machine.host(), cpu="another")))
    told = ("no tuned schedule found for task matmul", *MISSING)
    assert run(MLP, told=told, db=db.path)[0] == {}


def test_schedules_that_are_given_come_first(db: ScheduleDatabase) -> None:
    db.add(record(SCHEDULE, 1e-6))
    mine = {dense(MLP).key: SCHEDULE.replace("32", "8")}
    attached, _ = run(MLP, told=MISSING, db=db.path, schedules=mine)
    assert ["[?, 8]" in each for each in attached.values()] == [True]
    attached, _ = run(MLP, schedules=mine)
    assert ["[?, 8]" in each for each in attached.values()] == [True]


def test_schedules_are_made_step_by_step() -> None:
    task, schedule = dense(MLP), Schedule()
    product = schedule.block("reduce_0")
    i, j, k = schedule.loops(product, ["i", "j", "k"])
    outer, lanes = schedule.split(j, None, 8)
    schedule.reorder(i, outer, k, lanes)
    schedule.vectorize(lanes)
    attached, result = run(MLP, schedules={task.key: str(schedule.sequence(task.name))})
    assert ["[?, 8]" in each for each in attached.values()] == [True]
    np.testing.assert_allclose(result, run(MLP)[1], rtol=1e-5, atol=1e-5)


def test_schedules_that_are_given_have_to_apply() -> None:
    key = dense(MLP).key
    with pytest.raises(
        PassError,
        match=r"the schedule given for task matmul.* does not apply: sched.vectorize",
    ):
        run(MLP, schedules={key: ILLEGAL})
    with pytest.raises(
        PassError, match="expected schedules of tasks of the module, got ffff"
    ):
        run(MLP, schedules={key: SCHEDULE, "f" * 32: SCHEDULE})


def test_a_schedule_in_the_module_is_the_users(db: ScheduleDatabase) -> None:
    """A module with kernels and schedules of its own is compiled with these."""
    db.add(record(SCHEDULE, 1e-6))
    module = dense(MLP).module
    kernel = dense(MLP).name
    mine = parse_schedule(context(), SCHEDULE.replace("32", "8"), kernel)
    module.body.block.add_op(mine)
    sequences = Sequences()
    partita.compile(module, [NO_CACHE], db=db.path, observers=[sequences])
    assert ["[?, 8]" in each for each in sequences.found.values()] == [True]


def test_a_database_that_is_none_is_refused_first(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="there is no schedule database"):
        run(MLP, db=tmp_path / "none.db")


def store_what_rules_make(db: ScheduleDatabase, model: onnx.ModelProto) -> None:
    for task in partita.extract_tasks(model):
        module = task.module.clone()
        LowerTeToTirPass().apply(context(), module)
        ScheduleHostPass().apply(context(), module)
        for op in module.ops:
            if isinstance(op, SequenceOp):
                text = schedule_text(op)
                db.add(Record(task.key, task.target, Machine.host(), text))


MODELS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    **{f"random {seed}": partial(random_model, seed) for seed in range(4)},
    "mlp": lambda: onnx.parser.parse_model(MLP),
    "squeezenet": lambda: light("squeezenet"),
    "mobilenet": mobilenet,
    "transformer": transformer,
}

LONG = ("mobilenet", "squeezenet", "transformer")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=pytest.mark.full) if each in LONG else each
        for each in MODELS
    ],
)
def test_what_rules_make_can_be_kept(db: ScheduleDatabase, name: str) -> None:
    """Stored by task and attached to kernels, it gives the very code that rules give."""
    model, told = MODELS[name](), list[str]()
    store_what_rules_make(db, model)
    artifact = partita.compile_artifact(model)
    stored = partita.compile_artifact(model, db=db.path, tell=told.append)
    assert stored.objects == artifact.objects
    assert not [each for each in told if "does not apply" in each]
    assert len(db.records()) > 0


MACHINE = """
tir.memory "fast" of 64 bytes
func.func private @load_4(%u: tensor<4xf32>) -> (tensor<4xf32> {tir.scope = "fast"}) attributes {tir.intrinsic} {
  %t = te.compute "load" (%i in 4) {
    %v = te.read %u[%i] : tensor<4xf32>
    te.yield %v : f32
  } : tensor<4xf32>
  func.return %t : tensor<4xf32>
}
func.func @negative(%x: tensor<32xf32>) -> tensor<32xf32> {
  %y = te.compute "neg" (%i in 32) {
    %v = te.read %x[%i] : tensor<32xf32>
    %n = arith.negf %v : f32
    te.yield %n : f32
  } : tensor<32xf32>
  func.return %y : tensor<32xf32>
}
"""

LOADS = """
sched.sequence @loads for @any {
  %b = sched.block "map_0"
  %i = sched.loops %b -> 1
  %o, %n = sched.split %i [8, 4]
  %c = sched.cache_read %b, 0, "fast"
  sched.compute_at %c, %o
  %l:2 = sched.loops %c -> 2
  sched.tensorize %l#1, @load_4
}
"""


def test_schedules_use_what_the_machine_has(db: ScheduleDatabase) -> None:
    """Instructions are no tasks, and schedules are tried where they are."""
    module = Parser(context(), MACHINE).parse_module()
    kernel = next(
        op
        for op in module.ops
        if isinstance(op, FuncOp) and op.sym_name.data == "negative"
    )
    db.add(Record(task_key(kernel), "host", Machine.host(), LOADS))
    told: list[str] = []
    tune = ApplyTunedSchedulesPass(db=str(db.path), tell=told.append)
    passes = (tune, LowerTeToTirPass(), ApplySchedulesPass())
    Pipeline(passes, (Verifier(),)).apply(context(), module)
    assert told == []
    calls = [op for op in module.walk() if isinstance(op, CallOp)]
    assert [call.callee.string_value() for call in calls] == ["load_4"]


def test_text_of_schedules() -> None:
    """Names of kernels are no part of a schedule, and what is no schedule is told in one sentence."""
    one = parse_schedule(context(), SCHEDULE, "a")
    other = parse_schedule(context(), SCHEDULE, "b")
    assert one.kernel.string_value() == "a"
    assert str(one) != str(other)
    assert schedule_text(one) == schedule_text(other)
    with pytest.raises(
        IRError, match=r"expected one sched\.sequence, got sched\.sequence, sched"
    ):
        parse_schedule(context(), SCHEDULE + SCHEDULE.replace("@mine", "@two"), "a")
