"""Graphs divided between back ends: what goes where, and that results are those of the host alone."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_backend import Example, install
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

import partita
from partita.analysis import patterns
from partita.analysis.patterns import anything
from partita.dialects import relay
from partita.dialects.byoc import (
    CallOp,
    CompositeOp,
    external_modules,
)
from partita.driver import (
    GRAPH_PASSES,
    Insertion,
    context,
    prepare,
)
from partita.driver.compile import multiverse
from partita.errors import CodegenError, PassError
from partita.interpreters import interpret
from partita.runtime import Executable, ExternalStep, Machine
from partita.runtime.loaders import LOADERS
from partita.targets import make_backend
from partita.targets.backend import Backend, CompositePattern
from partita.targets.host import Host
from partita.targets.partition import AnnotateTargetPass, MergeCompositePass
from partita.transforms.options import spelled
from partita.transforms.pipeline import Observer, Pipeline, Verifier, parse_passes
from partita.weights import Array

HOST = Host(cache="none")


@pytest.fixture(autouse=True)
def backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be the back ends of tests."""
    install(monkeypatch)


def parse(text: str) -> ModuleOp:
    return Parser(context(), text.replace("T", "tensor<4xf32>")).parse_module()


def main(body: str, arguments: str = "%x : T", results: str = "T") -> str:
    return f"func.func @main({arguments}) -> ({results}) attributes {{partita.entry}} {{\n{body}\n}}\n"


def external(module: ModuleOp, target: str = "example", number: int = 0) -> FuncOp:
    """Return one of the functions of a target."""
    found = list(external_modules(module)[target].functions.values())[number]
    assert isinstance(found, FuncOp)
    return found


def calls(module: ModuleOp) -> list[CallOp]:
    return [each for each in module.walk() if isinstance(each, CallOp)]


def inner_names(function: FuncOp) -> list[str]:
    return [each.name.removeprefix("relay.") for each in function.body.block.ops]


def host_names(module: ModuleOp, name: str = "main") -> list[str]:
    for each in module.body.block.ops:
        if isinstance(each, FuncOp) and each.sym_name.data == name:
            return inner_names(each)
    raise AssertionError(f"no function @{name}")


X = np.array([-1.5, 0, 0.5, 2], np.float32)


def check(
    text: str,
    targets: Sequence[Backend | str] = ("example",),
    inputs: Sequence[Array] = (X,),
    keep_host_fallback: bool = False,
) -> Executable:
    """Check that what is compiled computes what the interpreter does; return it."""
    module = parse(text)
    expected = interpret(module, inputs)
    partitioned = partita.partition(module, targets)
    assert_close(interpret(partitioned, inputs), expected)
    exe = partita.compile(
        module, [*targets, HOST], threads=1, keep_host_fallback=keep_host_fallback
    )
    named = zip((each.name for each in exe.inputs), inputs, strict=True)
    assert_close(exe.run(dict(named)).values(), expected)
    return exe


def assert_close(got: Iterable[Any], expected: Iterable[Any]) -> None:
    for one, wanted in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-5)


def test_an_external_function_is_untouched_while_an_equal_host_one_is_simplified() -> (
    None
):
    body = """
      %w = relay.constant dense<1.0> : tensor<4x3x1x1xf32>
      %g = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
      %1 = relay.batch_norm %0, %g, %g, %g, %g {axis = 1 : i64, epsilon = 1.0e-05 : f64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
      %2 = relay.dropout %1 {rate = 0.5 : f64} : tensor<1x4x8x8xf32>
      %3 = relay.relu %2 : tensor<1x4x8x8xf32>
      func.return %3 : tensor<1x4x8x8xf32>
    }"""
    signature = "(%x : tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32>"
    module = parse(
        f"func.func @main{signature} attributes {{partita.entry}} {{\n{body}\n"
        f'byoc.module @example attributes {{target = "example"}} {{\nfunc.func @f{signature} {{{body}\n}}'
    )
    (outside,) = external_modules(module).values()
    before = str(outside)
    seen: list[str] = []

    class Watch(Observer):
        def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
            assert str(*external_modules(module).values()) == before, each.name
            seen.append(str(module).partition("byoc.module")[0])

    passes = (*GRAPH_PASSES, *HOST.pipeline(module, Machine.host()))
    Pipeline(passes, (Verifier(), Watch())).apply(context(), module)
    assert not any("batch_norm" in text or "dropout" in text for text in seen[1:])
    assert "tir.for" in str(module)


def test_unbound_parameters_are_inputs() -> None:
    text = main(
        "%0 = relay.add %x, %w : (T, T) -> T\nfunc.return %0 : T",
        '%x : T, %w : T {partita.param = "w"}',
    )
    module = partita.partition(parse(text), ["example"])
    assert len(external(module).function_type.inputs) == 2
    check(text, inputs=(X, X + 1))


def test_one_result_feeds_three_consumers() -> None:
    text = main(
        "%0 = relay.abs %x : T\n%1 = relay.erf %0 : T\n%2 = relay.sin %0 : T\n"
        "%3 = relay.cos %0 : T\nfunc.return %1, %2, %3 : T, T, T",
        results="T, T, T",
    )
    module = partita.partition(parse(text), ["example{ops=abs}"])
    (call,) = calls(module)
    assert len(call.results) == 1
    assert inner_names(external(module)) == ["abs", "func.return"]
    check(text, ["example{ops=abs}"])


def test_used_results_of_one_op() -> None:
    """Of three results, the two that are used elsewhere are results of the function."""
    text = main(
        "%0, %1, %2 = relay.split %x {sizes = array<i64: 1, 1, 2>, axis = 0 : i64} : (T) -> (tensor<1xf32>, tensor<1xf32>, tensor<2xf32>)\n"
        "%3 = relay.erf %2 : tensor<2xf32>\nfunc.return %0, %3 : tensor<1xf32>, tensor<2xf32>",
        results="tensor<1xf32>, tensor<2xf32>",
    )
    module = partita.partition(parse(text), ["example"])
    assert len(calls(module)[0].results) == 2
    check(text)


def test_constants_end_inside() -> None:
    text = main(
        "%s = relay.constant dense<0.5> : tensor<f32>\n%z = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : T\n"
        "%0 = relay.subtract %x, %z : (T, T) -> T\n%1 = relay.multiply %0, %s : (T, tensor<f32>) -> T\n"
        "%2 = relay.erf %z : T\n%3 = relay.maximum %1, %2 : (T, T) -> T\nfunc.return %3 : T"
    )
    targets = ["example{ops=subtract,multiply}"]
    module = partita.partition(parse(text), targets)
    assert sorted(inner_names(external(module))) == sorted(
        ["constant", "constant", "subtract", "multiply", "func.return"]
    )
    assert len(external(module).args) == 1
    # The host keeps what it uses itself, here already computed.
    assert host_names(module) == ["byoc.call", "constant", "maximum", "func.return"]
    check(text, targets)


def test_several_functions_have_unique_symbols() -> None:
    body = "{\n%0 = relay.add %x, %x : (T, T) -> T\n%1 = relay.log %0 : T\n%2 = relay.add %1, %1 : (T, T) -> T\nfunc.return %2 : T\n}\n"
    text = f"func.func @f(%x : T) -> T attributes {{partita.entry}} {body}func.func @g(%x : T) -> T {body}"
    module = partita.partition(parse(text), ["example"])
    names = list(external_modules(module)["example"].functions)
    assert names == ["f_0", "f_1", "g_0", "g_1"]
    assert host_names(module, "g") == ["byoc.call", "log", "byoc.call", "func.return"]
    check(text, inputs=(X + 2,))


class ThreeAdds(Example):
    """Runs three additions as one."""

    name = "example"

    def patterns(self) -> Sequence[CompositePattern]:
        add = patterns.op(relay.AddOp, anything(), anything())
        inner = patterns.op(relay.AddOp, anything(), add)
        three = patterns.op(relay.AddOp, inner, anything())
        return (CompositePattern("example.three", three),)


def test_a_pattern_of_three_adds_leaves_no_free_value() -> None:
    text = main(
        "%s = relay.subtract %x, %b : (T, T) -> T\n%p = relay.add %s, %b : (T, T) -> T\n"
        "%q = relay.add %s, %p : (T, T) -> T\n%r = relay.add %q, %p : (T, T) -> T\nfunc.return %r : T",
        "%x : T, %b : T",
    )
    module = parse(text)
    backend = ThreeAdds()
    Pipeline(
        (MergeCompositePass((spelled(backend),), (backend,)),), (Verifier(),)
    ).apply(context(), module)
    assert host_names(module) == ["subtract", "byoc.composite", "func.return"]
    (composite,) = (each for each in module.walk() if isinstance(each, CompositeOp))
    assert [each.name_hint for each in composite.inputs] == ["s", "b"]
    check(text, [backend], inputs=(X, X[::-1].copy()))


GIVEN = """
byoc.module @example attributes {target = "example"} {
  func.func @same(%x : T) -> T {
    func.return %x : T
  }
  func.func @constant() -> T {
    %c = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : T
    func.return %c : T
  }
  func.func @nested(%x : T) -> T {
    %0 = byoc.composite "outer" (%x) {
    ^bb0(%a : T):
      %1 = byoc.composite "inner" (%a) {
      ^bb0(%b : T):
        %2 = relay.negative %b : T
        byoc.yield %2 : T
      } : (T) -> T
      %3 = relay.add %1, %a : (T, T) -> T
      %4 = relay.subtract %3, %1 : (T, T) -> T
      byoc.yield %4 : T
    } : (T) -> T
    func.return %0 : T
  }
}
"""


@pytest.mark.parametrize("targets", [(), ("example",)])
def test_modules_that_are_divided_already(targets: Sequence[str]) -> None:
    """A function that only returns its input, one that returns a constant, and nested composites."""
    text = main(
        "%0 = byoc.call @example::@same(%x) : (T) -> T\n%1 = byoc.call @example::@constant() : () -> T\n"
        "%2 = byoc.call @example::@nested(%0) : (T) -> T\n%3 = relay.exp %2 : T\nfunc.return %0, %1, %2, %3 : T, T, T, T",
        results="T, T, T, T",
    )
    exe = check(text + GIVEN, targets)
    steps = [each for each in exe.artifact.plan.steps if isinstance(each, ExternalStep)]
    assert len(steps) == 3 + len(targets)
    assert exe.artifact.targets == ("host", "example")


def test_forty_results() -> None:
    lines = [
        f"%{i} = relay.add %x, %{i - 1 if i else 'x'} : (T, T) -> T" for i in range(40)
    ]
    lines += [f"%e{i} = relay.erf %{i} : T" for i in range(40)]
    names = ", ".join(f"%e{i}" for i in range(40))
    types = ", ".join(["T"] * 40)
    text = main("\n".join([*lines, f"func.return {names} : {types}"]), results=types)
    module = partita.partition(parse(text), ["example"])
    (call,) = calls(module)
    assert len(call.results) == 40
    check(text, keep_host_fallback=True)


@pytest.mark.parametrize("targets", [["example"], ["c"], ["onnxruntime"]])
def test_dropout_in_a_region(targets: list[str]) -> None:
    text = main(
        "%0 = relay.exp %x : T\n%1 = relay.dropout %0 {rate = 0.5 : f64} : T\n%2 = relay.negative %1 : T\nfunc.return %2 : T"
    )
    assert "dropout" in inner_names(
        external(partita.partition(parse(text), targets), targets[0])
    )
    check(text, targets)


@pytest.mark.parametrize("target", ["example", "c", "onnxruntime"])
def test_graphs_of_nothing(target: str) -> None:
    check(main("func.return %x : T"), [target])
    check(
        main(
            "%c = relay.constant dense<2.0> : T\nfunc.return %x, %c, %c : T, T, T",
            results="T, T, T",
        ),
        [target],
    )
    with pytest.raises(PassError, match="expected one entry function, got none"):
        partita.partition(parse("builtin.module {}"), [target])
    empty = parse("builtin.module {}")
    with_entry = parse(main("func.return %x : T"))
    passes = prepare(with_entry, [target])
    Pipeline(passes).apply(context(), empty)


@pytest.mark.parametrize("target", ["c", "onnxruntime"])
def test_asymmetric_padding(target: str) -> None:
    text = main(
        "%w = relay.constant dense<0.25> : tensor<2x1x3x3xf32>\n"
        "%0 = relay.conv2d %x, %w {strides = array<i64: 1, 2>, padding = array<i64: 0, 1, 2, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x5x6xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x5x3xf32>\n"
        "%1 = relay.max_pool2d %0 {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 1, 1, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x2x5x3xf32> -> tensor<1x2x5x3xf32>\n"
        "func.return %1 : tensor<1x2x5x3xf32>",
        "%x : tensor<1x1x5x6xf32>",
        "tensor<1x2x5x3xf32>",
    )
    x = np.random.default_rng(1).normal(size=(1, 1, 5, 6)).astype(np.float32)
    exe = check(text, [target], inputs=(x,))
    assert all(isinstance(each, ExternalStep) for each in exe.artifact.plan.steps)


def test_weights_are_stored_once_and_only_those_in_use(tmp_path: Path) -> None:
    """One constant of the host and of two targets is one weight; what was transformed away is none."""
    w = ", ".join(map(str, range(32)))
    text = main(
        f"%w = relay.constant dense<[{w}]> : tensor<32xf32>\n%v = relay.constant dense<1.5> : tensor<1x32xf32>\n"
        "%0 = relay.add %x, %w : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>\n"
        "%1 = relay.erf %0 : tensor<32xf32>\n"
        "%2 = relay.power %1, %w : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>\n"
        "%3 = relay.multiply %2, %w : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>\n"
        "%4 = relay.negative %w : tensor<32xf32>\n"
        "%5 = relay.subtract %3, %4 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>\n"
        "func.return %5 : tensor<32xf32>",
        "%x : tensor<32xf32>",
        "tensor<32xf32>",
    )
    x = np.linspace(0, 1, 32, dtype=np.float32)
    targets = ["example{ops=add}", "c{weights=arguments}"]
    exe = check(text, targets, inputs=(x,))
    artifact = exe.artifact
    arrays = list(artifact.weights.values())
    assert len(arrays) == 2
    for wanted in (np.arange(32), -np.arange(32)):
        assert any(np.array_equal(each, wanted) for each in arrays)
    exe.save(tmp_path / "m.partita")
    loaded = partita.load(tmp_path / "m.partita")
    assert loaded.artifact.plan == artifact.plan
    assert loaded.artifact.modules == artifact.modules


def test_fallback_runs_where_a_module_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code of the host has memory and weights of its own, and is only used where it must."""
    w = ", ".join(map(str, range(32)))
    text = main(
        f"%w = relay.constant dense<[{w}]> : tensor<32xf32>\n"
        "%0 = relay.softmax %x {axis = 0 : i64} : tensor<32xf32>\n"
        "%1 = relay.softmax %0 {axis = 0 : i64} : tensor<32xf32>\n"
        "%2 = relay.add %1, %w : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>\n"
        "%3 = relay.softmax %2 {axis = 0 : i64} : tensor<32xf32>\n"
        "func.return %3 : tensor<32xf32>",
        "%x : tensor<32xf32>",
        "tensor<32xf32>",
    )
    x = np.linspace(0, 1, 32, dtype=np.float32)
    for keep in (False, True):
        exe = check(text, ["c"], inputs=(x,), keep_host_fallback=keep)
        assert exe.fallbacks == ()
        (expected,) = exe.run({"x": x}).values()
        (step,) = exe.artifact.plan.steps
        assert bool(step.nested) == keep
        path = tmp_path / f"{keep}.partita"
        exe.save(path)
    monkeypatch.setitem(LOADERS, "c", "no_such_module:load")
    with pytest.raises(
        partita.PartitaError,
        match="cannot load external @main_0 of target c: No module named",
    ):
        partita.load(tmp_path / "False.partita")
    loaded = partita.load(tmp_path / "True.partita")
    assert len(loaded.fallbacks) == 1
    np.testing.assert_allclose(loaded.run({"x": x})["output0"], expected, rtol=1e-5)


@pytest.mark.parametrize(
    "text",
    ["", "add", "true", "7", "2d", 'a "b" \\c', "a,b c}", "x{y=z}", "line\nline\t"],
)
def test_text_of_targets_and_passes_is_read_again(text: str) -> None:
    """Also where a target with options is an option of a pass."""
    backend = Example((text, "exp"))
    assert make_backend(spelled(backend)) == backend
    (made,) = parse_passes(
        spelled(AnnotateTargetPass((spelled(backend),))), multiverse().all_passes
    )
    assert isinstance(made, AnnotateTargetPass)
    assert make_backend(*made.targets) == backend


def test_passes_are_in_order_and_others_can_be_inserted() -> None:
    text = main("%0 = relay.exp %x : T\nfunc.return %0 : T")
    insertions = [Insertion("annotate-target", "verify-dominance")]
    passes = [each.name for each in prepare(parse(text), ["c", HOST], insertions)]
    order = [
        *("annotate-target", "verify-dominance", "merge-composite", "merge-regions"),
        *("prune-regions", "partition-graph", "for-each-external", "codegen-externals"),
        *("simplify-inference",),
    ]
    start = passes.index("annotate-target")
    assert passes[start : start + len(order)] == order
    assert passes[-2:] == ["plan-memory", "collect-weights"]
    assert "annotate-target" not in [each.name for each in prepare(parse(text), [HOST])]


def test_text_of_ir_holds_no_binaries() -> None:
    """What was compiled in another process is not there any more, and that is said."""
    text = main("%0 = byoc.call @example::@main_0(%x) : (T) -> T\nfunc.return %0 : T")
    binary = 'byoc.binary @main_0 : (T) -> T {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [], options = "{}"}'
    with pytest.raises(CodegenError, match=r"files 0011.* are not in memory"):
        partita.compile(
            parse(
                f'{text}byoc.module @example attributes {{target = "example"}} {{\n{binary}\n}}'
            ),
            [HOST],
        )


def test_annotations_of_users_are_kept() -> None:
    """An op that was given away before goes there; one that was given to the host stays."""
    text = main(
        '%0 = relay.exp %x {byoc.target = "other"} : T\n%1 = relay.negative %0 {byoc.target = "other"} : T\n'
        '%2 = relay.exp %1 {byoc.target = "host"} : T\nfunc.return %2 : T'
    )
    module = partita.partition(parse(text), ["example", "other"])
    assert inner_names(external(module, "other")) == ["exp", "negative", "func.return"]
    assert host_names(module) == ["byoc.call", "exp", "func.return"]
    check(text, ["example", "other"])


def test_the_page_shows_what_passes_do() -> None:
    page = (Path(__file__).parent.parent / "docs" / "byoc.md").read_text()
    match = EXAMPLE.search(page)
    assert match is not None
    module = Parser(context(), match["before"]).parse_module()
    passes = parse_passes(match["pipeline"], multiverse().all_passes)
    Pipeline(passes, (Verifier(),)).apply(context(), module)
    expected = Parser(context(), match["after"]).parse_module()
    assert str(module) == str(expected)
    for each in prepare(parse(main("func.return %x : T")), ["c", HOST]):
        named = each.name in page or each.name in {
            host.name
            for host in (*GRAPH_PASSES, *HOST.pipeline(module, Machine.host()))
        }
        assert named, f"{each.name} is not in the drawing"


EXAMPLE = re.compile(
    r"Before:\n+```mlir\n(?P<before>.*?)```\s+"
    r"After `(?P<pipeline>[^`]+)`:\n+```mlir\n(?P<after>.*?)```",
    re.DOTALL,
)
