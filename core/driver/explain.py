"""Explain where each op of a model runs, why not elsewhere, and what that costs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp as HostCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from partita.analysis.cost import macs, nbytes
from partita.analysis.placement import graphs
from partita.dialects.byoc import (
    REJECTED,
    ByocModuleOp,
    CallOp,
    CompositeOp,
    external_modules,
)
from partita.dialects.partita import origin_of
from partita.dialects.relay import CarriedOp, ConstantOp
from partita.driver.compile import Model, Shapes, partition
from partita.targets import Backend, Host
from partita.targets.registry import make_backends


@dataclass(frozen=True)
class OpPlacement:
    """Where an op runs, and why not elsewhere. Constants are no ops: they come with those that read them."""

    op: str
    """What it is: `relay.conv2d`; for an operator that relay does not model, `com.microsoft.Attention`."""

    origins: tuple[str, ...]
    """The nodes of the model that it came from."""

    target: str

    region: str | None
    """The external function that it is in; `None` on the host."""

    composite: str | None
    """The pattern of the target that it is part of."""

    macs: int
    """Multiply-accumulates."""

    rejections: Mapping[str, str]
    """By target, why it does not run there; a target that did not refuse it, or was not asked, is missing."""

    inputs: tuple[int, ...]
    """Numbers of the ops whose results it reads."""


@dataclass(frozen=True)
class RegionCost:
    """An external function: what it does, and what has to be brought to it and back."""

    name: str
    target: str
    ops: int

    macs: int
    """Multiply-accumulates."""

    bytes_in: int
    """Of its inputs; its weights are with it."""

    bytes_out: int
    """Of its results."""


@dataclass(frozen=True)
class Share:
    """How much of a model one target does."""

    target: str
    ops: int

    op_share: float
    """Of all ops, from 0 to 1; 0 if there are none."""

    macs: int

    mac_share: float
    """Of all multiply-accumulates, from 0 to 1; 0 if there are none."""


@dataclass(frozen=True)
class Explanation:
    """Where everything in a model runs. `dataclasses.asdict` makes it what JSON can hold."""

    targets: tuple[str, ...]
    """Those that were asked for, the first preferred, and the host, which takes the rest."""

    ops: tuple[OpPlacement, ...]
    """Those that make what others read before these."""

    regions: tuple[RegionCost, ...]
    """In the order in which they are called."""

    shares: tuple[Share, ...]
    """One for each target."""

    transfers: int
    """Tensors that a region or the host makes and another of them uses, once for each that uses it."""

    transfer_bytes: int


def explain(
    model: Model,
    targets: Sequence[Backend | str] = (),
    *,
    shapes: Shapes | None = None,
    entry: str | None = None,
) -> Explanation:
    """Say where each op of a model runs if it is compiled for these targets, why not elsewhere, and what that costs.

    The graph is the one that `partition` divides: as the model has it, but for constants that are
    computed, and for what targets do to the whole before. Arguments and errors are those of `compile`.
    """
    backends = make_backends(targets)
    module = partition(model, backends, shapes=shapes, entry=entry)
    return explain_partitioned(module, [each.name for each in backends])


def explain_partitioned(module: ModuleOp, targets: Sequence[str]) -> Explanation:
    """Explain a module on static shapes that is already divided between targets."""
    survey = _Survey(
        {name: _functions(each) for name, each in external_modules(module).items()}
    )
    for function in graphs(module):
        survey.visit(function.body.block, _Place(Host.name))
        survey.count_transfers(function.body.block)
    ops = tuple(survey.ops)
    names = (*(each for each in targets if each != Host.name), Host.name)
    return Explanation(
        names,
        ops,
        tuple(survey.regions),
        tuple(_shares(names, ops)),
        survey.transfers,
        survey.transfer_bytes,
    )


def _functions(module: ByocModuleOp) -> Mapping[str, FuncOp]:
    return {
        name: each
        for name, each in module.functions.items()
        if isinstance(each, FuncOp)
    }


def _shares(targets: Sequence[str], ops: Sequence[OpPlacement]) -> Iterator[Share]:
    all_macs = sum(each.macs for each in ops)
    for target in targets:
        own = [each for each in ops if each.target == target]
        own_macs = sum(each.macs for each in own)
        yield Share(
            target,
            len(own),
            len(own) / max(1, len(ops)),
            own_macs,
            own_macs / max(1, all_macs),
        )


@dataclass(frozen=True)
class _Place:
    """Where the ops of a block run."""

    target: str
    region: str | None = None
    composite: str | None = None


@dataclass
class _Survey:
    """What is found on the way through a module."""

    externals: Mapping[str, Mapping[str, FuncOp]]
    ops: list[OpPlacement] = field(default_factory=list[OpPlacement])
    regions: list[RegionCost] = field(default_factory=list[RegionCost])
    transfers: int = 0
    transfer_bytes: int = 0

    _makers: dict[SSAValue, int | None] = field(
        default_factory=dict[SSAValue, int | None]
    )
    """The number of the op that makes a value; `None` for what no op makes."""

    def visit(self, block: Block, place: _Place) -> None:
        """Note each op of a block, and follow those that hold or call others."""
        for op in block.ops:
            match op:
                case ConstantOp():
                    self._makers[op.result] = None
                case CompositeOp():
                    inner = _Place(place.target, place.region, op.label.data)
                    self._enter(op.body.block, op.operands, op.results, inner)
                case CallOp():
                    self._visit_region(op)
                case _ if op.results and not isinstance(op, HostCallOp):
                    self._note(op, place)
                case _:
                    pass

    def _note(self, op: Operation, place: _Place) -> None:
        makers = (self._makers.get(each) for each in op.operands)
        origin = origin_of(op)
        number = len(self.ops)
        self.ops.append(
            OpPlacement(
                _kind(op),
                () if origin is None else tuple(origin.split(", ")),
                place.target,
                place.region,
                place.composite,
                macs(op),
                {
                    target: reason
                    for target, reason in _rejections(op)
                    if target != place.target
                },
                tuple(sorted({each for each in makers if each is not None})),
            )
        )
        self._makers |= dict.fromkeys(op.results, number)

    def _visit_region(self, call: CallOp) -> None:
        function = self.externals[call.target][call.function]
        start = len(self.ops)
        place = _Place(call.target, call.function)
        self._enter(function.body.block, call.operands, call.results, place)
        ops = self.ops[start:]
        self.regions.append(
            RegionCost(
                call.function,
                call.target,
                len(ops),
                sum(each.macs for each in ops),
                sum(map(nbytes, set(call.operands))),
                sum(map(nbytes, call.results)),
            )
        )

    def _enter(
        self,
        block: Block,
        operands: Iterable[SSAValue],
        results: Iterable[SSAValue],
        place: _Place,
    ) -> None:
        """Visit a block that stands for an op; arguments are what its operands are, results what it ends with."""
        for argument, operand in zip(block.args, operands, strict=True):
            self._makers[argument] = self._makers.get(operand)
        self.visit(block, place)
        assert block.last_op is not None
        for result, value in zip(results, block.last_op.operands, strict=True):
            self._makers[result] = self._makers.get(value)

    def count_transfers(self, block: Block) -> None:
        """Count what goes to external functions of a block, and what comes from them to the host."""
        for call in block.ops:
            if not isinstance(call, CallOp):
                continue
            used = [
                result
                for result in call.results
                if any(not isinstance(use.operation, CallOp) for use in result.uses)
            ]
            for value in (*set(call.operands), *used):
                self.transfers += 1
                self.transfer_bytes += nbytes(value)


def _kind(op: Operation) -> str:
    if isinstance(op, CarriedOp):
        return ", ".join(op.operators)
    return op.name


def _rejections(op: Operation) -> Iterator[tuple[str, str]]:
    """Yield each target that refused an op, and why."""
    rejected = op.attributes.get(REJECTED)
    if isinstance(rejected, DictionaryAttr):
        for target, reason in rejected.data.items():
            assert isinstance(reason, StringAttr)
            yield target, reason.data
