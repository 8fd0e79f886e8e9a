"""Whatever is wrong with a model is told in one sentence, before anything is built."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import external_data_helper, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from partita.errors import ModelError, OptionError, PartitaError
from partita.frontends.onnx import SHAPE_EXAMPLE, import_onnx
from partita.shapes import parse_shapes

HEADER = '<ir_version: 8, opset_import: ["" : 17]>'

SMALL = f"""{HEADER}
small (float[1,3,8,8] x) => (float[1,4,8,8] y)
<float[4,3,1,1] w = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}>
{{
  c = Conv (x, w)
  y = Relu (c)
}}"""


def small() -> onnx.ModelProto:
    return onnx.parser.parse_model(SMALL)


def message_of(model: onnx.ModelProto | bytes | Path | str) -> str:
    """Return the one line with which an import fails."""
    with pytest.raises(ModelError) as caught:
        import_onnx(model)
    text = str(caught.value)
    assert "\n" not in text
    assert not text.endswith(".")
    return text


def outcome(model: bytes) -> tuple[ModuleOp | None, str]:
    """Return the module, or the message with which an import fails."""
    try:
        return import_onnx(model), ""
    except ModelError as error:
        return None, str(error)


def text_message(text: str) -> str:
    return message_of(onnx.parser.parse_model(HEADER + text))


TEXTS = {
    "unsupported ops, all of them": (
        "g (float[2] x) => (float[] y) { [first] a, b = TopK (x, x) [second] c = com.acme.Blend (x) y = Unique (x) }",
        None,
    ),
    "a name that nothing defines": (
        "g (float[2] x) => (float[] y) <float[2] weight = {1, 2}> { [sum] y = Add (x, weights) }",
        "node sum (Add) reads weights, which is no input, no initializer, and no output of a node; did you mean weight?",
    ),
    "a cycle": (
        "g (float[2] x) => (float[] y) { [one] a = Add (x, c) [two] b = Relu (a) [three] c = Relu (b) y = Relu (c) }",
        "expected a graph without cycles, got one through 3 nodes: one, three, two",
    ),
    "a value that is defined twice": (
        "g (float[2] x) => (float[] y) { [one] y = Relu (x) [two] y = Abs (x) }",
        "value y is defined twice: by node one and by node two",
    ),
    "an input that is defined again": (
        "g (float[2] x) => (float[] y) { [one] x = Relu (x) y = Relu (x) }",
        "value x is defined twice: as an input or initializer, and by node one",
    ),
    "an output that nothing defines": (
        "g (float[2] x) => (float[] z) { y = Relu (x) }",
        "output z is no input, no initializer, and no output of a node",
    ),
    "an attribute of another type": (
        'g (float[2] x) => (float[] y) { [f] y = Flatten <axis = "one"> (x) }',
        "node f (Flatten): expected attribute axis of type int, got string",
    ),
    "an attribute that the op does not have": (
        "g (float[2] x) => (float[] y) { [f] y = Flatten <axes = 1> (x) }",
        "node f (Flatten): unknown attribute axes; did you mean axis?",
    ),
    "an attribute that is left out": (
        "g (float[2] x) => (float[] y) { [c] y = Cast (x) }",
        "node c (Cast): expected attribute to, got none",
    ),
    "too many inputs": (
        "g (float[2] x) => (float[] y) { [r] y = Relu (x, x) }",
        "node r (Relu): expected 1 inputs, got 2",
    ),
    "operands that do not fit": (
        "g (float[2] x, double[2] z) => (float[] y) { [a] y = Add (x, z) }",
        "node a (Add): expected lhs and rhs of one element type, got f32 and f64",
    ),
    "shapes that do not fit": (
        "g (float[1,3,8,8] x, float[4,2,3,3] w) => (float[] y) { [c] y = Conv (x, w) }",
        "node c (Conv): expected data with 2 channels, got 3",
    ),
    "a node without a name": (
        "g (float[2] x, float[3] z) => (float[] y) { a = Relu (x) y = Add (a, z) }",
        "node Add_1 (Add): expected shapes that broadcast, got 2 and 3",
    ),
    "a run-time value where a constant is needed": (
        "g (float[4] x, int64[2] s) => (float[] y) { [r] y = Reshape (x, s) }",
        "node r (Reshape): expected input 2 (shape) to be a constant, got a value known only at run time",
    ),
    "a dynamic dimension where a static one is needed": (
        "g (float[N,4] x) => (int64[] y) { [s] y = Shape (x) }",
        "node s (Shape): expected data of static shape, got ?x4; pass --shape x=?x4 with a number for each ?",
    ),
    "a shape of another number of elements": (
        "g (float[2,3] x) => (float[] y) <int64[2] s = {4, -1}> { [r] y = Reshape (x, s) }",
        "node r (Reshape): expected a shape of as many elements as data of shape 2x3 has, got 4x-1",
    ),
    "elements that we do not model": (
        "g (string[2] x) => (string[] y) { y = Identity (x) }",
        "input x: expected numeric or boolean elements, got string",
    ),
    "an input that is no tensor": (
        "g (seq(float[2]) x) => (float[] y) { y = Identity (x) }",
        "input x: expected a tensor, got sequence",
    ),
    "an input without a shape": (
        "g (float[] x) => (float[] y) { y = Relu (x) }",
        "input x has no shape; pass --shape x=…",
    ),
    "training": (
        "g (float[2] x) => (float[] y) <float r = {0.5}, bool t = {1}> { [d] y = Dropout (x, r, t) }",
        "node d (Dropout): training is not supported",
    ),
}


@pytest.mark.parametrize("what", TEXTS)
def test_message(what: str) -> None:
    text, expected = TEXTS[what]
    if expected is None:
        expected = (
            "not supported: node first (TopK of domain ai.onnx); "
            "node second (Blend of domain com.acme); node Unique_2 (Unique of domain ai.onnx); "
            "--target onnxruntime runs them"
        )
        text = '<ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]>' + text
        assert message_of(onnx.parser.parse_model(text)) == expected
    else:
        assert text_message(text) == expected


def _without_opset(model: onnx.ModelProto) -> None:
    model.ClearField("opset_import")


def _future_opset(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = 999


def _old_ir(model: onnx.ModelProto) -> None:
    model.ir_version = 2


def _twice(model: onnx.ModelProto) -> None:
    model.graph.initializer.append(model.graph.initializer[0])


def _short(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].float_data.pop()


def _short_raw(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].ClearField("float_data")
    model.graph.initializer[0].raw_data = b"\0" * 44


def _negative(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].dims[0] = -4


def _strings(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].CopyFrom(
        numpy_helper.from_array(np.array(["a"], object), "w")
    )


def _unknown_domain(model: onnx.ModelProto) -> None:
    model.graph.node[1].domain = "com.acme"


def _no_type(model: onnx.ModelProto) -> None:
    model.graph.input[0].ClearField("type")


def _graph_attribute(model: onnx.ModelProto) -> None:
    model.graph.node[0].attribute.append(helper.make_attribute("group", model.graph))


CHANGES: dict[Callable[[onnx.ModelProto], None], str] = {
    _without_opset: "model does not say which opsets it uses, or is truncated",
    _future_opset: f"the model uses opset 999, the newest known is {onnx.defs.onnx_opset_version()}; install a newer onnx package",
    _old_ir: "model has IR version 2, expected 3 or above; export it again with a newer version of ONNX",
    _twice: "expected initializers of distinct names, got w twice",
    _short: "initializer w: expected 12 elements of type float32, got data of another size",
    _short_raw: "initializer w: expected 12 elements of type float32, got data of another size",
    _negative: "initializer w: expected dimensions that are not negative, got -4x3x1x1",
    _strings: "initializer w: expected a numeric or boolean tensor, got string",
    _unknown_domain: "node Relu_1 (Relu): expected an opset for domain com.acme, got none",
    _no_type: "input x: expected a tensor, got no type",
    _graph_attribute: "node Conv_0 (Conv): expected attribute group of type int, got graph",
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__[1:])
def test_broken_model(change: Callable[[onnx.ModelProto], None]) -> None:
    model = small()
    change(model)
    assert message_of(model) == CHANGES[change]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "empty.onnx",
            b"",
            "{} is not an ONNX model, or is truncated: it has no graph",
        ),
        (
            "text.onnx",
            b"hello, world\n",
            "{} is not an ONNX model, or is truncated: its protobuf does not parse",
        ),
        (
            "foreign.onnx",
            b"\x7fELF" + bytes(range(256)),
            "{} is not an ONNX model, or is truncated: its protobuf does not parse",
        ),
        (
            "bad.onnxtxt",
            (HEADER + "g (float[2] x) => (float[2] y) { y = Relu (x }").encode(),
            "{} is not ONNX text: line 1, column 86: expected character ) not found",
        ),
        ("binary.onnxtxt", b"\xff\xfe", "{} is not UTF-8 text"),
    ],
)
def test_foreign_file(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert message_of(path) == expected.format(path)


def test_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "none.onnx"
    assert message_of(path) == f"cannot read {path}: No such file or directory"
    assert message_of(tmp_path) == f"cannot read {tmp_path}: Is a directory"


def test_truncation_anywhere() -> None:
    """A model cut short never imports as another model, and never fails otherwise than it says."""
    content = small().SerializeToString()
    whole = str(import_onnx(content))
    for length in range(len(content)):
        module, error = outcome(content[:length])
        assert "\n" not in error
        assert module is None or str(module) == whole


def test_flipped_bytes() -> None:
    """A model with wrong bytes is refused, or imports as the model that they make it; it never crashes."""
    rng = random.Random(0)
    content = bytearray(small().SerializeToString())
    for _ in range(2000):
        changed = bytearray(content)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        module, error = outcome(bytes(changed))
        assert "\n" not in error
        if module is not None:
            module.verify()


@pytest.fixture
def external(tmp_path: Path) -> Path:
    """Save a model whose weights are in a file beside it."""
    model = small()
    array = np.arange(12, dtype=np.float32).reshape(4, 3, 1, 1)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(array, "w"))
    path = tmp_path / "model.onnx"
    external_data_helper.convert_model_to_external_data(
        model, location="weights.bin", size_threshold=0
    )
    external_data_helper.write_external_data_tensors(model, str(tmp_path))
    path.write_bytes(model.SerializeToString())
    return path


def test_external_data(external: Path) -> None:
    module = import_onnx(external)
    expected = small()
    array = np.arange(12, dtype=np.float32).reshape(4, 3, 1, 1)
    expected.graph.initializer[0].CopyFrom(numpy_helper.from_array(array, "w"))
    assert str(module) == str(import_onnx(expected))


def test_external_data_is_missing(external: Path) -> None:
    data = external.with_name("weights.bin")
    data.unlink()
    assert message_of(external) == (
        f"initializer w: cannot read external data from {data}: No such file or directory"
    )


def test_external_data_is_truncated(external: Path) -> None:
    data = external.with_name("weights.bin")
    data.write_bytes(data.read_bytes()[:20])
    assert message_of(external) == (
        f"initializer w: expected 48 bytes in {data}, got 20; the file is truncated"
    )


def test_external_data_of_bytes(external: Path) -> None:
    assert message_of(external.read_bytes()) == (
        "initializer w is kept in the file 'weights.bin'; "
        "give the model as a path, so that the file can be found"
    )


def test_external_data_elsewhere(external: Path, tmp_path: Path) -> None:
    model = onnx.load_model_from_string(external.read_bytes())
    folder = tmp_path / "inner"
    folder.mkdir()
    shutil.copy(tmp_path / "weights.bin", tmp_path / "secret.bin")
    model.graph.initializer[0].external_data[0].value = "../secret.bin"
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    assert message_of(folder / "model.onnx") == (
        "initializer w: expected external data in the folder of the model, got '../secret.bin'"
    )


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (
            {"x": (1, 3)},
            "input x: expected a shape of the form ?x?x4, got 1x3",
        ),
        ({"x": (1, 3, 5)}, "input x: expected a shape of the form ?x?x4, got 1x3x5"),
        ({"N": (1, 2)}, "expected one extent for dimension N, got 1x2"),
        (
            {"input": (1,)},
            "expected an input or a symbolic dimension of the model (x, M, N), got input",
        ),
    ],
)
def test_shapes_that_do_not_fit(
    shapes: dict[str, tuple[int, ...]], expected: str
) -> None:
    model = onnx.parser.parse_model(
        HEADER + "g (float[N,M,4] x) => (float[] y) { y = Relu (x) }"
    )
    with pytest.raises(ModelError) as caught:
        import_onnx(model, shapes)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ({"N": 2}, "expected the shape of N as integers such as (1, 3), got 2"),
        (
            {"N": (2.5,)},
            "expected the shape of N as integers such as (1, 3), got (2.5,)",
        ),
        ({"N": (-1,)}, "expected extents of N from 0 to 140737488355328, got -1"),
        (
            {"x": (1, 2, 10**30)},
            "expected extents of x from 0 to 140737488355328, got 1" + "0" * 30,
        ),
    ],
)
def test_shapes_that_are_none(
    shapes: dict[str, tuple[int, ...]], expected: str
) -> None:
    model = onnx.parser.parse_model(
        HEADER + "g (float[N,M,4] x) => (float[] y) { y = Relu (x) }"
    )
    with pytest.raises(OptionError) as caught:
        import_onnx(model, shapes)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    "text", ["x", "=1", "x=1xa", "x=-1", "x=1x", "x=1,2", "x=\u00b2", "x=\u0663"]
)
def test_shape_text(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_shapes([text], SHAPE_EXAMPLE)
    assert str(caught.value) == (
        f"expected a shape such as x=1x3x224x224, or an extent such as N=1, got {text!r}"
    )


def test_shape_texts() -> None:
    texts = [" x=1x3 ", "N=4", "a=b=0", "s=", "t=scalar"]
    assert parse_shapes(texts, SHAPE_EXAMPLE) == {
        "x": (1, 3),
        "N": (4,),
        "a=b": (0,),
        "s": (),
        "t": (),
    }
    with pytest.raises(OptionError, match="expected one shape of N, got two"):
        parse_shapes(["N=1", "x=3", "N=1"], SHAPE_EXAMPLE)


def test_function_that_calls_itself() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        g (float[2] x) => (float[] y) { y = local.twice (x) }
        <domain: "local", opset_import: ["" : 17, "local" : 1]>
        twice (a) => (b) { c = local.twice (a) b = Relu (c) }"""
    )
    assert message_of(model) == (
        "expected functions that do not call themselves, got twice"
    )


def test_function_with_unsupported_op() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        g (float[2] x) => (float[] y) { [call] y = local.sort (x) }
        <domain: "local", opset_import: ["" : 17]> sort (a) => (b) { b = Unique (a) }"""
    )
    assert message_of(model) == (
        "not supported: node call (sort of domain local, defined by Unique); --target onnxruntime runs them"
    )


def test_every_error_is_ours() -> None:
    assert issubclass(ModelError, PartitaError)
