"""What is scheduled, in a form that is the same wherever it comes from: the key by which schedules are found.

Two functions are one task if a schedule of the one fits the other: names, content of constants, numbering, and the
order in which ops are listed do not count. Schedules refer to blocks by label, so a task has labels of its own:
`map_0`, `reduce_1`, numbered in the order in which operands lead to them.
"""

from collections.abc import Iterator, Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from partita.analysis.structural_hash import Dataflow, Key, dataflow, signature
from partita.dialects import relay, te
from partita.dialects.byoc import REJECTED, TARGET
from partita.dialects.partita import ORIGIN

NOTES = frozenset((ORIGIN, REJECTED, TARGET))
"""Attributes that tell people and passes about an op, and nothing of what it computes."""

LABEL = "label"


def task_key(function: FuncOp) -> str:
    """Return the key of what a function of pure ops computes: 32 hexadecimal digits, the same in every process.

    It says nothing of names, of what constants hold, of where ops came from, nor of the order of
    ops and arguments, and nothing of arguments and ops that results do not depend on.
    """
    return _flow(function).digest()


def canonical_function(function: FuncOp, name: str) -> FuncOp:
    """Return a function of this name with the same key, whose text depends on little else.

    Arguments and ops stand in the order in which operands lead to them, blocks have the labels of
    the task, values the names of theirs, and nothing is said of origins. What is left of the function
    that is given, which stays as it is, is the content of its constants.
    """
    flow = _flow(function)
    block = Block(arg_types=[each.type for each in flow.arguments])
    values: dict[SSAValue, SSAValue] = dict(
        zip(flow.arguments, block.args, strict=True)
    )
    for op in flow.operations:
        clone = op.clone(values, clone_name_hints=False)
        for each in clone.walk():
            for note in NOTES & each.attributes.keys():
                del each.attributes[note]
            if isinstance(each, te.ComputeOp):
                _name_axes(each)
        block.add_op(clone)
    block.add_op(ReturnOp(*(values[each] for each in flow.results)))
    results = [each.type for each in flow.results]
    canonical = FuncOp(name, (tuple(block.arg_types), results), Region(block))
    take_labels(canonical)
    return canonical


def take_labels(function: FuncOp) -> None:
    """Give the computes of a function the labels by which schedules of its task know them."""
    labels = dict(_labels(function))
    for compute, label in labels.items():
        compute.properties[LABEL] = StringAttr(label)


def _flow(function: FuncOp) -> Dataflow:
    """Return the dataflow of a function whose one block holds pure ops, as far as it is a matter of the task."""
    block = function.body.block
    assert block.last_op is not None
    return dataflow(
        tuple(block.last_op.operands),
        lambda op: op.parent is block,
        describe=_description,
    )


def _description(op: Operation) -> Key:
    match op:
        case arith.ConstantOp() | relay.ConstantOp():
            return (op.name, *op.result_types)
        case te.ComputeOp():
            return signature(op, NOTES | {LABEL})
        case _:
            return signature(op, NOTES)


def _labels(function: FuncOp) -> Iterator[tuple[te.ComputeOp, str]]:
    """Yield each compute, those that results do not depend on last, and its label."""
    ordered = dict.fromkeys((*_flow(function).operations, *function.body.block.ops))
    computes = [each for each in ordered if isinstance(each, te.ComputeOp)]
    for number, compute in enumerate(computes):
        kind = "reduce" if compute.reduction_shape else "map"
        yield compute, f"{kind}_{number}"


def _name_axes(compute: te.ComputeOp) -> None:
    named: Mapping[str, tuple[SSAValue, ...]] = {
        "i": compute.axes,
        "r": compute.reduction_axes,
    }
    for letter, axes in named.items():
        for number, axis in enumerate(axes):
            axis.name_hint = f"{letter}{number}"
