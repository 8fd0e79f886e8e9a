"""What `partita.explain` says of a graph that is divided between targets, and of one that is not."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import partita
from partita.analysis.verification import verify
from partita.driver import compile_artifact, context
from partita.driver.explain import (
    Explanation,
    OpPlacement,
    RegionCost,
    Share,
    explain_partitioned,
)
from partita.errors import OptionError, PassError
from partita.runtime import ExternalStep

DIVIDED = """\
func.func @main(%x : tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) attributes {partita.entry} {
  %0 = relay.relu %x {byoc.rejected = {"a" = "no rule for relay.relu", "b" = "not here"}, partita.origin = "relu_1, relu_2"} : tensor<2x4xf32>
  %1, %2 = byoc.call @a::@main_0(%0, %0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>)
  %3 = byoc.call @b::@main_1(%1) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %4 = relay.add %3, %2 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  func.return %4, %2 : tensor<2x8xf32>, tensor<2x8xf32>
}
byoc.module @a attributes {target = "a{x=1}"} {
  func.func @main_0(%0 : tensor<2x4xf32>, %1 : tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
    %w = relay.constant dense<1.0> : tensor<8x4xf32>
    %2 = byoc.composite "a.dense_relu" (%0, %w) {
    ^bb0(%3 : tensor<2x4xf32>, %4 : tensor<8x4xf32>):
      %5 = relay.dense %3, %4 {byoc.rejected = {"a" = "not alone"}, partita.origin = "fc"} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
      %6 = relay.relu %5 : tensor<2x8xf32>
      byoc.yield %6 : tensor<2x8xf32>
    } : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
    %7 = relay.dense %1, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
    func.return %2, %7 : tensor<2x8xf32>, tensor<2x8xf32>
  }
}
byoc.module @b attributes {target = "b"} {
  func.func @main_1(%0 : tensor<2x8xf32>) -> tensor<2x8xf32> {
    %1 = relay.tanh %0 {byoc.rejected = {"a" = "no"}} : tensor<2x8xf32>
    func.return %1 : tensor<2x8xf32>
  }
}
"""


def parse(text: str) -> ModuleOp:
    module = Parser(context(), text).parse_module()
    verify(module)
    return module


def op(
    name: str,
    target: str,
    region: str | None = None,
    composite: str | None = None,
    *,
    origins: tuple[str, ...] = (),
    macs: int = 0,
    rejections: dict[str, str] | None = None,
    inputs: tuple[int, ...] = (),
) -> OpPlacement:
    return OpPlacement(
        f"relay.{name}",
        origins,
        target,
        region,
        composite,
        macs,
        rejections or {},
        inputs,
    )


def test_all_that_is_said() -> None:
    explanation = explain_partitioned(parse(DIVIDED), ["a", "b"])
    assert explanation.targets == ("a", "b", "host")
    assert explanation.ops == (
        op(
            "relu",
            "host",
            origins=("relu_1", "relu_2"),
            rejections={"a": "no rule for relay.relu", "b": "not here"},
        ),
        op(
            "dense",
            "a",
            "main_0",
            "a.dense_relu",
            origins=("fc",),
            macs=64,
            inputs=(0,),
        ),
        op("relu", "a", "main_0", "a.dense_relu", inputs=(1,)),
        op("dense", "a", "main_0", macs=64, inputs=(0,)),
        op("tanh", "b", "main_1", rejections={"a": "no"}, inputs=(2,)),
        op("add", "host", inputs=(3, 4)),
    )
    assert explanation.regions == (
        RegionCost("main_0", "a", 3, 128, 32, 128),
        RegionCost("main_1", "b", 1, 0, 64, 64),
    )
    assert explanation.shares == (
        Share("a", 3, 0.5, 128, 1.0),
        Share("b", 1, 1 / 6, 0, 0.0),
        Share("host", 2, 1 / 3, 0, 0.0),
    )
    # To @main_0 one tensor of 32 bytes; of 64 bytes one from it to @main_1, one to the host, and one from @main_1.
    assert (explanation.transfers, explanation.transfer_bytes) == (4, 32 + 3 * 64)


def test_it_is_json() -> None:
    explanation = explain_partitioned(parse(DIVIDED), ["a", "b"])
    read = json.loads(json.dumps(asdict(explanation)))
    assert read["ops"][0]["rejections"]["b"] == "not here"
    assert read["regions"][1]["bytes_in"] == 64


def test_the_page_shows_what_json_has() -> None:
    page = (Path(__file__).parent.parent / "docs" / "explain.md").read_text()
    text = page.partition("```json\n")[2].partition("```")[0]
    explanation = explain_partitioned(parse(CONVOLUTION), ["c"])
    assert json.loads(text) == json.loads(json.dumps(asdict(explanation)))


CONVOLUTION = """\
func.func @main(%x : tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf32> attributes {partita.entry} {
  %0 = byoc.call @c::@main_0(%x) : (tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf32>
  func.return %0 : tensor<1x64x112x112xf32>
}
byoc.module @c attributes {target = "c"} {
  func.func @main_0(%0 : tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf32> {
    %w = relay.constant dense<1.0> : tensor<64x3x7x7xf32>
    %1 = relay.conv2d %0, %w {partita.origin = "conv_1", strides = array<i64: 2, 2>, padding = array<i64: 3, 3, 3, 3>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
    func.return %1 : tensor<1x64x112x112xf32>
  }
}
"""


def test_targets_that_do_nothing_are_listed() -> None:
    explanation = explain_partitioned(parse(DIVIDED), ["c", "host", "a", "b"])
    assert explanation.targets == ("c", "a", "b", "host")
    assert explanation.shares[0] == Share("c", 0, 0.0, 0, 0.0)


MODULE = """\
func.func @f(%x : tensor<?x8xf32> {partita.name = "image"}, %w : tensor<4x8xf32>) -> tensor<?x4xf32> {
  %0 = relay.add %x, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = relay.dense %0, %w : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  func.return %1 : tensor<?x4xf32>
}
"""


def test_without_targets_everything_is_the_hosts() -> None:
    module = parse(MODULE)
    before = str(module)
    explanation = partita.explain(module, shapes={"image": (3, 8)})
    assert str(module) == before
    assert explanation == Explanation(
        ("host",),
        (op("add", "host"), op("dense", "host", macs=96, inputs=(0,))),
        (),
        (Share("host", 2, 1.0, 96, 1.0),),
        0,
        0,
    )
    assert partita.explain(module, ["host"], shapes={"image": (3, 8)}) == explanation


def test_operators_that_relay_does_not_model() -> None:
    attributes = "version = 1 : i64, inputs = array<i64: 0>, outputs = array<i64: 0>"
    text = f"""\
func.func @f(%x : tensor<4xf32>) -> tensor<4xf32> {{
  %0 = relay.onnx_node %x {{op_type = "Gelu", domain = "com.microsoft", {attributes}}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.onnx_node %0 {{op_type = "Celu", domain = "", {attributes}}} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}}
"""
    explanation = explain_partitioned(parse(text), [])
    assert [each.op for each in explanation.ops] == [
        "com.microsoft.Gelu",
        "ai.onnx.Celu",
    ]


def test_a_graph_of_nothing() -> None:
    text = "func.func @f(%x : tensor<4xf32>) -> tensor<4xf32> { func.return %x : tensor<4xf32> }"
    explanation = partita.explain(parse(text))
    assert explanation.ops == ()
    assert explanation.shares == (Share("host", 0, 0.0, 0, 0.0),)


def test_what_is_refused() -> None:
    with pytest.raises(PassError, match="expected static shapes, got image"):
        partita.explain(parse(MODULE))
    with pytest.raises(OptionError, match="unknown target hots"):
        partita.explain(parse(MODULE), ["hots"])
    with pytest.raises(PassError, match="expected entry function @g, got @f"):
        partita.explain(parse(MODULE), entry="g", shapes={"image": (3, 8)})


def test_it_is_what_compilation_does() -> None:
    """Regions are the external steps of an artifact, of the same ops."""
    model = Path(__file__).parent.parent / "examples" / "layer.onnxtxt"
    targets = ['onnxruntime{ops="relay.dense","relay.relu"}']
    explanation = partita.explain(model, targets, shapes={"N": (3,)})
    artifact = compile_artifact(model, targets, shapes={"N": (3,)})
    steps = [each for each in artifact.plan.steps if isinstance(each, ExternalStep)]
    assert len(steps) == len(explanation.regions) == 2
    for step, region in zip(steps, explanation.regions, strict=True):
        assert (step.function, step.target) == (region.name, region.target)
        origins = {
            origin
            for each in explanation.ops
            if each.region == region.name
            for origin in each.origins
        }
        assert set(step.origin.split(", ")) == origins
        assert sum(each.nbytes for each in step.input_specs) == region.bytes_in
        assert sum(each.nbytes for each in step.output_specs) == region.bytes_out
