"""How models become modules: what is an input, what a constant, in which order, under which names."""

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_cases.case import interpreted
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from partita.dialects.partita import ENTRY
from partita.dialects.relay import ConstantOp, RelayOp
from partita.errors import ModelError
from partita.frontends.onnx import import_onnx
from partita.frontends.onnx.importer import entry_name

HEADER = '<ir_version: 8, opset_import: ["" : 17]>'


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEADER + text)


def ops(module: ModuleOp) -> list[str]:
    return [
        op.name.removeprefix("relay.")
        for op in module.walk()
        if isinstance(op, RelayOp)
    ]


def entry(module: ModuleOp) -> FuncOp:
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    assert ENTRY in function.attributes
    return function


@pytest.mark.parametrize("ir_version", [3, 4, 8])
def test_initializers_are_no_inputs(ir_version: int) -> None:
    """IR 3 demands that initializers are inputs too, later ones allow it."""
    model = parse(
        "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }"
    )
    model.ir_version = ir_version
    assert len(model.graph.input) == 2
    function = entry(import_onnx(model))
    assert len(function.body.block.args) == 1


def test_initializer_is_one_constant() -> None:
    model = parse(
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Add (x, w) y = Mul (a, w) }"
    )
    assert ops(import_onnx(model)) == ["constant", "add", "multiply"]


def test_nodes_out_of_order() -> None:
    model = parse(
        "g (float[2] x) => (float[2] y) { y = Relu (a) a = Abs (b) b = Neg (x) }"
    )
    assert ops(import_onnx(model)) == ["negative", "abs", "relu"]


def test_outputs_that_no_node_makes() -> None:
    model = parse(
        "g (float[2] x) => (float[2] x, float[2] w) <float[2] w = {1, 2}> { }"
    )
    x = np.array([3, 4], np.float32)
    first, second = interpreted(model, {"x": x})
    assert np.array_equal(first, x)
    assert np.array_equal(second, np.array([1, 2], np.float32))


def test_output_given_twice() -> None:
    model = parse("g (float[2] x) => (float[2] y, float[2] y) { y = Relu (x) }")
    with pytest.raises(
        ModelError, match="expected outputs of distinct names, got y twice"
    ):
        import_onnx(model)


def test_output_that_is_not_supported() -> None:
    """It is an error only where it is used."""
    pool = "g (float[1,1,4,4] x) => ({}) {{ [pool] y, i = MaxPool <kernel_shape = [2, 2]> (x) }}"
    import_onnx(parse(pool.format("float[] y")))
    with pytest.raises(
        ModelError,
        match=r"output 2 of node pool \(MaxPool\) is not supported, and the model returns it",
    ):
        import_onnx(parse(pool.format("float[] y, int64[] i")))


def test_nested_functions_have_opsets_of_their_own() -> None:
    """Softmax without axis is along the last axis from opset 13 on, before it over all but the first."""
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17, "local" : 1]>
        g (float[2,3,4] x) => (float[2,3,4] y) { y = local.outer (x) }
        <domain: "local", opset_import: ["" : 17, "local" : 1]>
        outer (a) => (c) { b = local.inner (a) c = Softmax (b) }
        <domain: "local", opset_import: ["" : 11]>
        inner (a) => (b) { b = Softmax (a) }"""
    )
    assert ops(import_onnx(model)) == ["reshape", "softmax", "reshape", "softmax"]


def test_function_input_left_out() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17, "local" : 1]>
        g (float[4] x) => (float[4] y) <float one = {1}> { y = local.limit (x, , one) }
        <domain: "local", opset_import: ["" : 17]>
        limit (a, low, high) => (b) { b = Clip (a, low, high) }"""
    )
    text = str(import_onnx(model))
    assert "maximum = 1.000000e+00" in text
    assert "minimum" not in text


def test_symbolic_dimension() -> None:
    model = parse("g (float[N,3] x, float[N,1] z) => (float[N,3] y) { y = Add (x, z) }")
    assert "tensor<5x3xf32>" in str(import_onnx(model, {"N": (5,)}))
    assert "tensor<?x3xf32>" in str(import_onnx(model))


def test_dynamic_dimension_given_by_one_input() -> None:
    model = parse("g (float[N,3] x) => (float[N,3] y) { y = Relu (x) }")
    assert "tensor<7x3xf32>" in str(import_onnx(model, {"x": (7, 3)}))


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("", "main"),
        ("torch-jit.export 1", "torch_jit_export_1"),
        ("18", "_18"),
        ("é", "main"),
    ],
)
def test_entry_name(name: str, symbol: str) -> None:
    assert entry_name(name) == symbol


def test_weight_is_not_copied() -> None:
    """An array that a tensor's bytes hold is viewed, not copied."""
    array = np.arange(1000, dtype=np.float32)
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1000])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1000])],
        [numpy_helper.from_array(array, "w")],
    )
    module = import_onnx(helper.make_model(graph))
    (constant,) = (op for op in module.walk() if isinstance(op, ConstantOp))
    held = constant.array()
    assert not held.flags.writeable
    assert not held.flags.owndata
    assert np.array_equal(held, array)


def test_sparse_initializer() -> None:
    values = helper.make_tensor("w", TensorProto.FLOAT, [2], [5.0, 6.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [2], [1, 3])
    model = parse("g (float[2,2] x) => (float[2,2] y) { y = Add (x, w) }")
    model.graph.sparse_initializer.append(
        helper.make_sparse_tensor(values, indices, [2, 2])
    )
    (result,) = interpreted(model, {"x": np.zeros((2, 2), np.float32)})
    assert result.tolist() == [[0, 5], [0, 6]]


def test_deep_chain() -> None:
    """Depth costs no recursion."""
    count = 5000
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(count)]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info(f"v{count}", TensorProto.FLOAT, [4])],
    )
    assert len(ops(import_onnx(helper.make_model(graph)))) == count
    graph.node.reverse()
    assert len(ops(import_onnx(helper.make_model(graph)))) == count
