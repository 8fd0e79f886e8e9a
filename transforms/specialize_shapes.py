"""Fix dynamic dimensions of a model's inputs."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AnyTensorType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from partita.analysis.diagnostics import fail
from partita.analysis.entry import entry_of
from partita.dialects.relay import RelayOp
from partita.errors import OptionError
from partita.interpreters.module import argument_names
from partita.shapes import (
    DYNAMIC,
    Shape,
    parse_shapes,
    shape_of,
    tensor_of,
    tensor_type,
)


@dataclass(frozen=True)
class SpecializeShapesPass(ModulePass):
    """Give the entry's arguments static shapes, and every op the result types that follow.

    An artifact has static shapes; a model often has not. Several shapes are separated
    by semicolons. Dimensions that are static already must be given as they are, and
    all must be static in the end: arguments that are not are named in the error. Functions
    other than the entry stay as they are.

    Before:

    ```mlir
    func.func @main(%x : tensor<?x3xf32> {partita.name = "image"}) -> tensor<?x3xf32> attributes {partita.entry} {
      %0 = relay.relu %x : tensor<?x3xf32>
      func.return %0 : tensor<?x3xf32>
    }
    ```

    After `specialize-shapes{shapes="image=2x3"}`:

    ```mlir
    func.func @main(%x : tensor<2x3xf32> {partita.name = "image"}) -> tensor<2x3xf32> attributes {partita.entry} {
      %0 = relay.relu %x : tensor<2x3xf32>
      func.return %0 : tensor<2x3xf32>
    }
    ```
    """

    name = "specialize-shapes"

    shapes: tuple[str, ...] = ()
    """`argument=1x3x224x224`, by the name that users call it; one string may hold several, after semicolons."""

    entry: str | None = None
    """The entry function, where the module does not settle it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = entry_of(op, self.entry)
        if function.is_declaration:
            name = function.sym_name.data
            fail(function, f"expected a body of @{name}, got a declaration")
        shapes = self._shapes(function)
        set_shapes = False
        for argument, name in zip(function.args, argument_names(function), strict=True):
            if name in shapes:
                set_shapes |= _set_shape(function, argument, name, shapes[name])
        _check_static_arguments(function)
        if set_shapes:
            infer_types(function)

    def _shapes(self, function: FuncOp) -> dict[str, Shape]:
        """Read the option; every name in it is an argument's."""
        names = argument_names(function)
        texts = filter(str.strip, ";".join(self.shapes).split(";"))
        try:
            shapes = parse_shapes(texts, "x=1x3x224x224")
        except OptionError as error:
            fail(function, str(error))
        for name in shapes:
            if name not in names:
                fail(
                    function,
                    f"expected shapes of arguments {', '.join(names)}, got one of {name}",
                )
        return shapes


def infer_types(function: FuncOp) -> None:
    """Re-infer result types in one walk, and the function's from what it returns."""
    for block in function.body.blocks:
        for op in block.ops:
            if isinstance(op, RelayOp):
                _infer_types(op)
            elif not isinstance(op, ReturnOp) and any(
                _is_dynamic(result) for result in op.results
            ):
                fail(op, f"expected relay ops, got {op.name} with dynamic results")
    function.update_function_type()


def _infer_types(op: RelayOp) -> None:
    try:
        op.update_result_types()
    except VerifyException as error:
        fail(op, f"{op.name} does not fit the given shapes: {error}")
    for result in op.results:
        if _is_dynamic(result):
            fail(op, f"expected {op.name} of a static shape, got {result.type}")


def _set_shape(function: FuncOp, argument: SSAValue, name: str, shape: Shape) -> bool:
    """Change an argument's type; say whether it changed."""
    if not isa(argument.type, AnyTensorType):
        fail(function, f"expected tensor argument {name}, got {argument.type}")
    present = shape_of(argument)
    if len(present) != len(shape) or any(
        extent not in (DYNAMIC, given)
        for extent, given in zip(present, shape, strict=True)
    ):
        fail(
            function,
            f"expected a shape of {name} that fits {argument.type}, got {_text(shape)}",
        )
    if present == shape:
        return False
    new_type = tensor_of(shape, tensor_type(argument).element_type)
    Rewriter.replace_value_with_new_type(argument, new_type)
    return True


def _check_static_arguments(function: FuncOp) -> None:
    left = [
        f"{name} of type {argument.type}"
        for argument, name in zip(function.args, argument_names(function), strict=True)
        if _is_dynamic(argument)
    ]
    if left:
        fail(
            function,
            f"expected static shapes, got {', '.join(left)}; set shapes",
        )


def _is_dynamic(value: SSAValue) -> bool:
    return isa(value.type, AnyTensorType) and DYNAMIC in value.type.get_shape()


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"
