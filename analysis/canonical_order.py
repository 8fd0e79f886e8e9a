"""An order of a graph's ops that follows from the graph, not from how it was listed."""

from xdsl.ir import Attribute, Block, Operation, SSAValue

from partita.analysis.structural_hash import Part, signature, text_digest


def canonical_order(block: Block) -> tuple[Operation, ...]:
    """Return the ops of a block so that any topological listing of them gives the same order.

    Ops that are further from the arguments come later. At equal distance they are
    ordered by a hash of all that leads to them, then by one of all that they lead to.
    Only ops that agree in both keep the order of the listing; they compute the same from
    the same values, and what uses them looks the same as well.
    Takes time linear in the number of operands, apart from sorting.
    """
    ops = tuple(block.ops)
    levels: dict[Operation, int] = {}
    above: dict[SSAValue, str] = {
        argument: f"argument {index}" for index, argument in enumerate(block.args)
    }
    texts = _Texts()
    sources: dict[Operation, str] = {}
    for op in ops:
        operands = _operands(op, block)
        levels[op] = 1 + max(
            (
                levels[owner]
                for value in operands
                if isinstance(owner := value.owner, Operation)
            ),
            default=-1,
        )
        source = text_digest(
            " ".join((texts.of(op), *(above[value] for value in operands)))
        )
        sources[op] = source
        for index, result in enumerate(op.results):
            above[result] = f"{source} {index}"
    below: dict[Operation, list[str]] = {op: [] for op in ops}
    targets: dict[Operation, str] = {}
    for op in reversed(ops):
        target = text_digest(" ".join(sorted(below[op])))
        targets[op] = target
        for position, value in enumerate(_operands(op, block)):
            if isinstance(owner := value.owner, Operation):
                below[owner].append(f"{sources[op]} {target} {position} {above[value]}")
    return tuple(
        sorted(ops, key=lambda each: (levels[each], sources[each], targets[each]))
    )


def _operands(op: Operation, block: Block) -> tuple[SSAValue, ...]:
    """Return the values of the block that an op, or one nested in it, uses."""
    if not op.regions:
        return tuple(op.operands)
    return tuple(
        operand
        for nested in op.walk()
        for operand in nested.operands
        if _is_of(operand, block)
    )


def _is_of(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return (owner.parent if isinstance(owner, Operation) else owner) is block


class _Texts:
    """Texts of signatures; an attribute that many ops share is printed once."""

    def __init__(self):
        self._printed: dict[Attribute, str] = {}

    def of(self, op: Operation) -> str:
        return " ".join(map(self._part, signature(op)))

    def _part(self, part: Part) -> str:
        if isinstance(part, tuple):
            return " ".join(map(self._part, part))
        if not isinstance(part, Attribute):
            return str(part)
        if part not in self._printed:
            self._printed[part] = str(part)
        return self._printed[part]
