"""Which ops become one kernel: groups that grow along post-dominators, as patterns and limits allow.

The rules are Relay's (Chen et al., "TVM: An automated end-to-end optimizing compiler for
deep learning", OSDI 2018, section 3; Roesch et al., "Relay: A high-level compiler for
deep learning", 2019, section 4.4):

| a group that is … | is joined to the op where all its paths meet, if all steps on the way … |
|---|---|
| a complex reduction (convolution, pool) | are elementwise and none changes the index |
| elementwise or broadcasting | are injective at most, and the meeting op is so, a reduction, or in a complex group |
| injective | are injective at most, and the meeting op is so or a reduction |

in three rounds, in this order. Everything on the way joins too, so only the last op of a
group has results that others see. Where two complex reductions meet (a residual `add`),
the one further from the arguments gets what follows: the other's result is there already.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from partita.analysis.canonical_order import canonical_order
from partita.analysis.postdominators import post_dominators
from partita.dialects.relay import ConstantOp, FusionPattern, PadOp, RelayOp
from partita.shapes import DYNAMIC, shape_of


@dataclass(frozen=True)
class FusionLimits:
    """How large a group may grow; an op that exceeds a limit alone is a group nevertheless."""

    ops: int
    """Ops in a group."""

    arguments: int
    """Tensors that a group reads and writes, apart from splat constants."""


@dataclass(frozen=True)
class FusionGroup:
    """Ops that become one kernel."""

    operations: frozenset[Operation]
    """All of them; splat constants are not counted."""

    sink: Operation
    """The one that all others lead to."""

    @property
    def results(self) -> tuple[SSAValue, ...]:
        """Return what the group is for: the results of its sink that are used, all if none is."""
        return _used_results(self.sink)


def fusion_groups(block: Block, limits: FusionLimits) -> tuple[FusionGroup, ...]:
    """Divide the relay ops of a block, except constants, into groups; in the order of their sinks.

    The groups do not depend on the order in which the block lists its ops, as far as
    `canonical_order` does not.
    """
    graph = _Graph.of(block)
    groups = _Groups(graph, limits)
    order = [graph.index[op] for op in canonical_order(block)]
    for node in reversed(order):
        if graph.pattern[node] is FusionPattern.OUT_FUSABLE:
            while groups.join(node, _may_follow):
                node = graph.meeting[node]
    for node in order:
        if groups.of(node).pattern <= FusionPattern.BROADCAST:
            groups.join(node, _may_absorb_elementwise)
    for node in order:
        if groups.of(node).pattern is FusionPattern.INJECTIVE:
            groups.join(node, _may_absorb_injective)
    return tuple(groups.finished())


def is_splat(op: Operation) -> bool:
    """Say whether this is a constant of one repeated value, which kernels hold rather than read."""
    return isinstance(op, ConstantOp) and op.splat() is not None


def fusion_pattern(op: Operation) -> FusionPattern:
    """Return what fusion may do with an op.

    A pad is left alone: where it reads beside its tensor there is nothing to
    compute, so it cannot read through what makes the tensor.
    """
    if not isinstance(op, RelayOp) or isinstance(op, PadOp):
        return FusionPattern.OPAQUE
    return op.fusion()


def step_pattern(value: SSAValue, user: Operation) -> FusionPattern:
    """Return how a result of `user` depends on this one of its operands.

    An op that broadcasts is elementwise to an operand of the result's own shape.
    """
    pattern = fusion_pattern(user)
    if pattern is not FusionPattern.BROADCAST:
        return pattern
    shape = shape_of(value)
    kept = shape == shape_of(user.results[0]) and DYNAMIC not in shape
    return FusionPattern.ELEMENTWISE if kept else FusionPattern.BROADCAST


@dataclass(frozen=True)
class _Path:
    """What lies between a node and the node where its paths meet."""

    steps: FusionPattern
    """Worst step, but for those that enter the last node."""

    last_step: FusionPattern
    """Worst step that enters the last node."""

    between: FusionPattern
    """Worst pattern of a group on the way that is not the last node's."""

    last: FusionPattern
    """Pattern of the last node's group."""


def _may_follow(path: _Path) -> bool:
    """Say whether all of a path can be computed where a complex reduction stores its elements."""
    return (
        max(path.steps, path.last_step) is FusionPattern.ELEMENTWISE
        and max(path.between, path.last) <= FusionPattern.BROADCAST
    )


def _may_absorb_elementwise(path: _Path) -> bool:
    """Say whether the end of a path can compute elementwise ops where it reads their results."""
    if path.last is FusionPattern.OUT_FUSABLE:
        return max(path.steps, path.last_step, path.between) <= FusionPattern.BROADCAST
    return _may_absorb_injective(path)


def _may_absorb_injective(path: _Path) -> bool:
    """Say whether the end of a path can compute injective ops where it reads their results."""
    return (
        max(path.steps, path.between) <= FusionPattern.INJECTIVE
        and max(path.last_step, path.last) <= FusionPattern.REDUCTION
    )


@dataclass(frozen=True)
class _Graph:
    """The ops of a block by number, in the order in which they are listed."""

    ops: tuple[Operation, ...]
    index: dict[Operation, int]
    pattern: list[FusionPattern]

    users: list[dict[int, FusionPattern]]
    """For each op, the ops that use it and the worst step to each."""

    meeting: list[int]
    """For each op, the one where all paths from it meet; `len(ops)` if none is."""

    @staticmethod
    def of(block: Block) -> "_Graph":
        ops = tuple(block.ops)
        index = {op: number for number, op in enumerate(ops)}
        users = [
            {} if isinstance(op, ConstantOp) else _users(op, block, index) for op in ops
        ]
        return _Graph(
            ops,
            index,
            [fusion_pattern(op) for op in ops],
            users,
            post_dominators([tuple(each) for each in users]),
        )


def _users(
    op: Operation, block: Block, index: dict[Operation, int]
) -> dict[int, FusionPattern]:
    steps: dict[int, FusionPattern] = {}
    for result in op.results:
        for use in result.uses:
            user = block.find_ancestor_op_in_block(use.operation)
            assert user is not None
            step = (
                step_pattern(result, user)
                if user is use.operation
                else FusionPattern.OPAQUE
            )
            steps[index[user]] = max(
                steps.get(index[user], FusionPattern.ELEMENTWISE), step
            )
    return steps


@dataclass(eq=False)
class _Group:
    """Nodes that are joined; meaningful only while no other group has absorbed it."""

    pattern: FusionPattern
    """The hardest to fuse of its nodes' patterns."""

    sink: int
    """The node that all others lead to."""

    nodes: list[int]
    inputs: set[SSAValue]
    parent: "_Group | None" = field(default=None, repr=False)


class _Groups:
    """The groups of a graph: at first one for each node, then joined."""

    def __init__(self, graph: _Graph, limits: FusionLimits):
        self._graph = graph
        self._limits = limits
        self._groups = [
            _Group(pattern, node, [node], _inputs(op))
            for node, (op, pattern) in enumerate(
                zip(graph.ops, graph.pattern, strict=True)
            )
        ]

    def of(self, node: int) -> _Group:
        """Return the group that a node is in now."""
        group = root = self._groups[node]
        while root.parent is not None:
            root = root.parent
        while group.parent is not None:
            group.parent, group = root, group.parent
        root.parent = None
        return root

    def join(self, node: int, rule: Callable[[_Path], bool]) -> bool:
        """Join a node with all up to where its paths meet, if rule and limits allow; say whether they did."""
        end = self._graph.meeting[node]
        if end == len(self._groups):
            return False
        first, last = self.of(node), self.of(end)
        if first is last:
            return False
        explored = self._explore(node, end)
        if explored is None:
            return False
        path, groups = explored
        if not rule(path):
            return False
        members = {first, last, *groups}
        if sum(len(each.nodes) for each in members) > self._limits.ops:
            return False
        inputs = self._inputs_of(members)
        written = _used_results(self._graph.ops[last.sink])
        if len(inputs) + len(written) > self._limits.arguments:
            return False
        last.pattern = max(each.pattern for each in members)
        last.inputs = inputs
        for each in members - {last}:
            last.nodes.extend(each.nodes)
            each.parent = last
        return True

    def _explore(self, node: int, end: int) -> tuple[_Path, set[_Group]] | None:
        """Describe the paths from a node to where they meet; `None` if they can never be joined.

        Each node that is met would be one of the joined group, so the limit bounds the work.
        """
        steps = last_step = between = FusionPattern.ELEMENTWISE
        last = self.of(end)
        groups: set[_Group] = set()
        met, pending = {node}, [node]
        while pending:
            for user, step in self._graph.users[pending.pop()].items():
                if user == end:
                    last_step = max(last_step, step)
                    continue
                steps = max(steps, step)
                if steps > FusionPattern.INJECTIVE or len(met) >= self._limits.ops:
                    return None
                if user not in met:
                    met.add(user)
                    pending.append(user)
                    group = self.of(user)
                    groups.add(group)
                    if group is not last:
                        between = max(between, group.pattern)
        return _Path(steps, last_step, between, last.pattern), groups

    def _inputs_of(self, members: set[_Group]) -> set[SSAValue]:
        """Return what some groups read and none of them makes."""
        return {
            value
            for each in members
            for value in each.inputs
            if not isinstance(owner := value.owner, Operation)
            or self.of(self._graph.index[owner]) not in members
        }

    def finished(self) -> Iterator[FusionGroup]:
        """Yield the groups in the order of their sinks."""
        for node, op in enumerate(self._graph.ops):
            if not isinstance(op, RelayOp) or isinstance(op, ConstantOp):
                continue
            group = self.of(node)
            if group.sink == node:
                yield FusionGroup(
                    frozenset(self._graph.ops[each] for each in group.nodes), op
                )


def _inputs(op: Operation) -> set[SSAValue]:
    """Return the values that a kernel of this op reads."""
    return {
        value
        for value in op.operands
        if not (isinstance(owner := value.owner, Operation) and is_splat(owner))
    }


def _used_results(op: Operation) -> tuple[SSAValue, ...]:
    """Return the results that a kernel has whose last op is this one: the used ones, all if none is."""
    return tuple(each for each in op.results if each.uses) or tuple(op.results)
