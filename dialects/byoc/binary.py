"""What code generation leaves of a function."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
)
from xdsl.ir import Data
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    prop_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from partita.dialects.partita import HEX_DIGITS, WeightAttr
from partita.errors import CodegenError


@dataclass(frozen=True)
class Files:
    """A handle on files: equal to another if their names and contents are."""

    digest: str

    contents: Mapping[str, bytes] | None = field(
        default=None, compare=False, repr=False
    )
    """By name; `None` where IR was read as text."""

    @staticmethod
    def of(contents: Mapping[str, bytes]) -> "Files":
        state = blake2b(digest_size=HEX_DIGITS // 2)
        for name in sorted(contents):
            state.update(f"{len(name)} {name} {len(contents[name])} ".encode())
            state.update(contents[name])
        return Files(state.hexdigest(), contents)

    def content(self) -> Mapping[str, bytes]:
        """Return the files; raise `CodegenError` if they are not there."""
        if self.contents is None:
            raise CodegenError(
                f"files {self.digest} are not in memory: text of IR does not hold them"
            )
        return self.contents


@irdl_attr_definition
class FilesAttr(Data[Files]):
    """Files that are known by their digest, and whose content IR does not hold.

    ```mlir
    #byoc.files<"00112233445566778899aabbccddeeff">
    ```
    """

    name = "byoc.files"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Files:
        with parser.in_angle_brackets():
            digest = parser.parse_str_literal("the digest of files")
        if len(digest) != HEX_DIGITS or not set(digest) <= set("0123456789abcdef"):
            parser.raise_error(
                f"expected a digest of {HEX_DIGITS} hexadecimal digits, got {digest!r}"
            )
        return Files(digest)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.digest)


@irdl_op_definition
class BinaryOp(IRDLOperation):
    """Stand for a compiled function: its type, its files, the weights that it reads, and JSON for its loader.

    ```mlir
    byoc.binary @main_0 : (tensor<4xf32>) -> tensor<4xf32> {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [], options = "{}"}
    ```
    """

    name = "byoc.binary"

    irdl_options = (ParsePropInAttrDict(),)

    sym_name = prop_def(SymbolNameConstraint())

    function_type = prop_def(FunctionType)

    files = prop_def(FilesAttr)

    weights = prop_def(ArrayAttr[WeightAttr])

    options = prop_def(StringAttr)

    traits = traits_def(SymbolOpInterface())

    assembly_format = "$sym_name `:` $function_type attr-dict"

    def __init__(
        self,
        sym_name: str,
        function_type: FunctionType,
        files: Files,
        weights: Sequence[WeightAttr],
        options: Mapping[str, object],
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(sym_name),
                "function_type": function_type,
                "files": FilesAttr(files),
                "weights": ArrayAttr(weights),
                "options": StringAttr(json.dumps(options, sort_keys=True)),
            }
        )

    def verify_(self) -> None:
        home = self.parent_op()
        if home is not None and home.name != "byoc.module":
            raise VerifyException("expected byoc.binary directly in a byoc.module")
        try:
            options: object = json.loads(self.options.data)
        except ValueError:
            options = None
        if not isinstance(options, dict):
            raise VerifyException(
                f"expected options as the text of a JSON object, got {self.options.data!r}"
            )
