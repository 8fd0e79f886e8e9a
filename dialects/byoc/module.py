"""The external functions of one target."""

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolNameConstraint
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from partita.dialects.byoc.binary import BinaryOp
from partita.dialects.partita import IsolatedFromHost

ORIGINALS = "originals"
"""The name of the `builtin.module` in a `byoc.module` that keeps functions as they were when they were made."""


@irdl_op_definition
class ByocModuleOp(IRDLOperation):
    """Hold the external functions of one target, each as a function or a binary.

    `target` says how it is compiled, as `--target` takes it. A nested `builtin.module @originals` may keep functions as
    the graph had them, for the host to fall back on.

    ```mlir
    byoc.module @c attributes {target = "c"} {
    ```
    """

    name = "byoc.module"

    irdl_options = (ParsePropInAttrDict(),)

    sym_name = prop_def(SymbolNameConstraint())

    target = prop_def(StringAttr)

    body = region_def("single_block")

    traits = traits_def(
        IsolatedFromAbove(),
        IsolatedFromHost(),
        NoTerminator(),
        SymbolOpInterface(),
        SymbolTable(),
    )

    def __init__(self, target: str, body: Region | None = None):
        super().__init__(
            properties={
                "sym_name": StringAttr(target_name(target)),
                "target": StringAttr(target),
            },
            regions=(Region(Block()) if body is None else body,),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_op_attributes(
            {"target": self.target, **self.attributes}, print_keyword=True
        )
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    @classmethod
    def parse(cls, parser: Parser) -> "ByocModuleOp":
        name = parser.parse_symbol_name()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        given = {} if attributes is None else dict(attributes.data)
        target = given.pop("target", None)
        if not isinstance(target, StringAttr):
            parser.raise_error('expected a byoc.module to have a target = "…"')
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        op = cls(target.data, body)
        op.properties["sym_name"] = name
        op.attributes |= given
        return op

    def verify_(self) -> None:
        expected = target_name(self.target.data)
        if self.sym_name.data != expected:
            raise VerifyException(
                f"expected byoc.module @{expected} for target {self.target.data}, got @{self.sym_name.data}"
            )
        for op in self.body.block.ops:
            match op:
                case FuncOp():
                    if op.is_declaration:
                        raise VerifyException(
                            f"expected external function @{op.sym_name.data} to have a body"
                        )
                case BinaryOp():
                    pass
                case ModuleOp() if _is_originals(op):
                    pass
                case _:
                    raise VerifyException(
                        f"expected functions, binaries and @{ORIGINALS} in byoc.module, got {op.name}"
                    )

    @property
    def functions(self) -> "dict[str, FuncOp | BinaryOp]":
        """The external functions by name, compiled or not."""
        return {
            op.sym_name.data: op
            for op in self.body.block.ops
            if isinstance(op, FuncOp | BinaryOp)
        }

    @property
    def originals(self) -> ModuleOp | None:
        """What keeps functions as they were, if anything does."""
        for op in self.body.block.ops:
            if isinstance(op, ModuleOp) and _is_originals(op):
                return op
        return None


def _is_originals(module: ModuleOp) -> bool:
    return module.sym_name is not None and module.sym_name.data == ORIGINALS


def target_name(target: str) -> str:
    """Return the name of a target that may have options, `c{weights=table}`."""
    return target.partition("{")[0]


def external_modules(module: ModuleOp) -> dict[str, ByocModuleOp]:
    """Return the modules of other targets by target name, in order."""
    return {
        op.sym_name.data: op
        for op in module.body.block.ops
        if isinstance(op, ByocModuleOp)
    }
