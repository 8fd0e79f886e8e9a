"""Replace loops by an instruction that does the same.

What an instruction does is the text of an intrinsic. A nest of loops is the same if its
loops have the same extents in the same order, those of one iteration aside, and the block
inside computes the same of the same elements: ops are compared one by one from what is
stored back to what is read, operands of commutative ops in either order, and each read or
write has to touch one tile of its buffer, with a place for it that only outer loops say.

Sources: S. Feng et al., "TensorIR: an abstraction for automatic tensorized program
optimization", ASPLOS 2023; Y. Ikarashi et al., "Exocompilation for productive programming
of hardware accelerators", PLDI 2022, for semantics as a procedure that is matched.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from partita.analysis.affine import (
    DIM,
    Atom,
    Sum,
    as_expr,
    dimensions_of,
    plus,
    total,
)
from partita.analysis.loop_nests import Access, loops_of
from partita.analysis.regions import Space
from partita.dialects.partita import ORIGIN, inherit_origins
from partita.dialects.tir import (
    BlockOp,
    CallOp,
    ForOp,
    LoadOp,
    StoreOp,
    buffer_type,
)
from partita.errors import did_you_mean
from partita.shapes import Shape
from partita.transforms.scheduling.indices import tidy
from partita.transforms.scheduling.partition import TENSORIZE
from partita.transforms.scheduling.state import (
    ScheduleError,
    State,
    name_of,
    only_child,
    require_serial,
)

COMMUTATIVE = (
    *(arith.AddiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp),
    *(arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp),
    *(arith.AddfOp, arith.MulfOp, arith.MaximumfOp, arith.MinimumfOp),
)
"""Ops whose operands may be matched in either order."""


def tensorize(state: State, loop: ForOp, name: str) -> None:
    """Replace a loop, in the end, by a call of an intrinsic; later steps must leave it what it is."""
    require_serial(loop)
    intrinsic = state.intrinsics.get(name)
    if intrinsic is None:
        raise ScheduleError(
            f"no intrinsic @{name}"
            + (
                did_you_mean(name, state.intrinsics)
                or "; there is "
                + (", ".join(f"@{each}" for each in state.intrinsics) or "none")
            )
        )
    _match(loop, intrinsic, state)
    loop.attributes[TENSORIZE] = SymbolRefAttr(name)


def tensorize_loops(state: State) -> None:
    """Replace the loops that are to be replaced."""
    for op in tuple(state.function.walk()):
        if TENSORIZE not in op.attributes:
            continue
        symbol = op.attributes[TENSORIZE]
        assert isinstance(symbol, SymbolRefAttr)
        intrinsic = state.intrinsics[symbol.root_reference.data]
        try:
            call = _call(_match(op, intrinsic), intrinsic)
        except ScheduleError as error:
            raise ScheduleError(str(error), op) from error
        parent = op.parent_block()
        assert parent is not None
        parent.insert_op_before(call, op)
        op.detach()
        op.erase()


def nest_of(op: Operation, where: str) -> tuple[tuple[ForOp, ...], BlockOp]:
    """Return loops from one op on, outermost first, and the block that they hold; `ScheduleError` if it is not one."""
    loops: list[ForOp] = []
    inside: Operation | None = op
    while isinstance(inside, ForOp):
        loops.append(inside)
        inside = only_child(inside)
    if not isinstance(inside, BlockOp):
        raise ScheduleError(f"expected loops around one block in {where}")
    return tuple(loops), inside


def intrinsic_nest(intrinsic: FuncOp) -> tuple[tuple[ForOp, ...], BlockOp]:
    """Return the loops and the block that an intrinsic consists of."""
    name = f"intrinsic @{intrinsic.sym_name.data}"
    if not intrinsic.body.blocks:
        raise ScheduleError(f"expected a body of {name}, got none")
    ops = [op for op in intrinsic.body.block.ops if not isinstance(op, ReturnOp)]
    if len(ops) != 1:
        raise ScheduleError(f"expected loops around one block in {name}")
    return nest_of(ops[0], name)


@dataclass(frozen=True)
class Tile:
    """The part of a buffer that an argument of an intrinsic stands for."""

    buffer: SSAValue

    begin: tuple[Sum, ...]
    """Where it begins, in terms of outer loops."""

    sizes: Shape


@dataclass
class Match:
    """A nest, an intrinsic's nest, and what of the one is what of the other."""

    block: BlockOp

    space: Space

    pattern_space: Space

    loops: Mapping[int, int]
    """The nest's loop that each loop of the pattern is, as dimensions of spaces; loops of one iteration are missing."""

    unpadded: bool
    """Whether what the block reads is inside, whatever its index says."""

    tiles: dict[SSAValue, Tile] = field(default_factory=dict[SSAValue, Tile])
    """For each argument."""

    compared: int = 0
    """How many ops were found to be the same."""

    def bodies(self, body: Block, pattern: Block) -> None:
        """Raise `ScheduleError` unless a body stores what the pattern's body stores, to the same element of a tile."""
        stores = [op for op in body.ops if isinstance(op, StoreOp)]
        expected = [op for op in pattern.ops if isinstance(op, StoreOp)]
        if len(stores) != 1 or len(expected) != 1:
            raise ScheduleError(
                f"expected one result of {name_of(self.block)} and of the intrinsic, "
                f"got {len(stores)} and {len(expected)}"
            )
        self.access(stores[0], expected[0])
        self.value(stores[0].value, expected[0].value)

    def value(self, value: SSAValue, pattern: SSAValue) -> None:
        """Raise `ScheduleError` unless a value is computed as one of the pattern."""
        op, expected = value.owner, pattern.owner
        if not isinstance(op, Operation) or not isinstance(expected, Operation):
            raise ScheduleError("expected values that do not depend on an index")
        if type(op) is not type(expected) or value.type != pattern.type:
            raise ScheduleError(
                f"expected {expected.name} of {pattern.type}, got {op.name} of {value.type}"
            )
        if isinstance(op, LoadOp) and isinstance(expected, LoadOp):
            self.access(op, expected)
            self.compared += 1
            return
        notes, others = dict(op.attributes), dict(expected.attributes)
        notes.pop(ORIGIN, None)
        others.pop(ORIGIN, None)
        if op.properties != expected.properties or notes != others:
            raise ScheduleError(f"expected {expected!s}, got {op!s}")
        self.compared += 1
        if isinstance(op, COMMUTATIVE):
            self._either_order(op, expected)
        else:
            self._operands(op.operands, expected.operands)

    def _operands(
        self, operands: Sequence[SSAValue], expected: Sequence[SSAValue]
    ) -> None:
        for one, other in zip(operands, expected, strict=True):
            self.value(one, other)

    def _either_order(self, op: Operation, expected: Operation) -> None:
        """Match operands in the order in which they are the same, or say where the better one differs."""
        start = self.tiles, self.compared
        self.tiles = dict(self.tiles)
        try:
            self._operands(op.operands, expected.operands)
        except ScheduleError as error:
            reached = self.compared
            self.tiles, self.compared = start
            try:
                self._operands(op.operands[::-1], expected.operands)
            except ScheduleError:
                if self.compared > reached:
                    raise
                raise error from None

    def access(self, access: Access, pattern: Access) -> None:
        """Raise `ScheduleError` unless a read or write touches a tile as one of the pattern does."""
        tile = self._tile(access, pattern)
        known = self.tiles.setdefault(pattern.buffer, tile)
        if known != tile:
            raise ScheduleError(
                f"expected one tile as argument {_number(pattern.buffer)}, got two"
            )

    def _tile(self, access: Access, pattern: Access) -> Tile:
        type, expected = buffer_type(access.buffer), buffer_type(pattern.buffer)
        number = _number(pattern.buffer)
        if (type.element_type, type.memory_space) != (
            expected.element_type,
            expected.memory_space,
        ):
            raise ScheduleError(f"expected {expected} as argument {number}, got {type}")
        if isinstance(access, LoadOp) and access.otherwise is not None:
            self._check_inside(access)
        shape = expected.get_shape()
        wanted = [
            (self._renamed(position), extent)
            for position, extent in zip(
                self.pattern_space.access(pattern), shape, strict=True
            )
            if extent > 1
        ]
        inner = set(self.loops.values())
        begin: list[Sum] = []
        sizes: list[int] = []
        for position in self.space.access(access):
            if position is None:
                raise ScheduleError(
                    f"{name_of(self.block)} reads at an index that depends on data"
                )
            size = 1
            if wanted and dimensions_of(position) & inner:
                tile, size = wanted.pop(0)
                position = plus(position, tile, -1)
            if dimensions_of(position) & inner:
                wanted.append((position, size))
                break
            begin.append(position)
            sizes.append(size)
        if wanted:
            raise ScheduleError(
                f"expected {name_of(self.block)} to touch a tile of "
                f"{'x'.join(map(str, shape))} as argument {number}, with each of its "
                "axes along one dimension of the buffer, in order"
            )
        return Tile(access.buffer, tuple(begin), tuple(sizes))

    def _renamed(self, position: Sum | None) -> Sum:
        """Return an index of the pattern in terms of the nest's loops."""
        if position is None or any(
            atom.kind != DIM or atom.number not in self.loops
            for atom, _ in position.terms
        ):
            raise ScheduleError(
                "expected an intrinsic whose indices are sums of its loops"
            )
        return total(
            position.constant,
            (
                (Atom(DIM, self.loops[atom.number]), factor)
                for atom, factor in position.terms
            ),
        )

    def _check_inside(self, load: LoadOp) -> None:
        shape = buffer_type(load.buffer).get_shape()
        for position, extent in zip(self.space.access(load), shape, strict=True):
            low, high = (-1, 0) if position is None else self.space.bounds(position)
            if not self.unpadded and (low < 0 or high >= extent):
                raise ScheduleError(
                    f"{name_of(self.block)} reads outside a buffer; split_reduction_by_padding first"
                )


def _number(argument: SSAValue) -> int:
    """Return the position of an intrinsic's argument."""
    assert isinstance(argument, BlockArgument)
    return argument.index


def _match(op: Operation, intrinsic: FuncOp, state: State | None = None) -> Match:
    """Return how a nest is the same as an intrinsic; `ScheduleError` says why it is not.

    With a state, steps are left that may shorten loops, drop guards and keep reads inside.
    """
    loops, block = nest_of(op, name_of(op))
    pattern_loops, pattern = intrinsic_nest(intrinsic)
    name = f"@{intrinsic.sym_name.data}"
    if state is None and block.guard_exprs:
        raise ScheduleError(
            f"{name_of(block)} does not run in all iterations; split evenly, or peel"
        )
    longer = [loop for loop in loops if loop.extent > 1]
    expected = [loop for loop in pattern_loops if loop.extent > 1]
    if [(each.lower, each.upper) for each in longer] != [
        (each.lower, each.upper) for each in expected
    ]:
        raise ScheduleError(
            f"expected loops {_extents(expected)} as {name} has, got {_extents(longer)}"
        )
    _check_init(block, pattern, loops, name)
    space, pattern_space = Space(), Space()
    dims = (space.position(each.variable) for each in longer)
    pattern_dims = (pattern_space.position(each.variable) for each in expected)
    match = Match(
        block,
        space,
        pattern_space,
        {
            theirs: ours
            for theirs, ours in zip(pattern_dims, dims, strict=True)
            if theirs is not None and ours is not None
        },
        state is not None and block in state.unpadded,
    )
    match.bodies(block.body.block, pattern.body.block)
    if pattern.init.blocks:
        match.bodies(block.init.block, pattern.init.block)
    for argument in intrinsic.body.block.args:
        if argument not in match.tiles:
            raise ScheduleError(
                f"expected argument {argument.index} of {name} to be used"
            )
    return match


def _extents(loops: Sequence[ForOp]) -> str:
    return "x".join(str(loop.extent) for loop in loops) or "of one iteration"


def _check_init(
    block: BlockOp, pattern: BlockOp, loops: Sequence[ForOp], name: str
) -> None:
    """Raise `ScheduleError` unless both blocks have an init, which runs in each call, or none has."""
    if not pattern.init.blocks:
        if block.init.blocks:
            raise ScheduleError(
                f"{name_of(block)} has an init, and {name} has none; decompose_reduction first"
            )
        return
    if not block.init.blocks:
        raise ScheduleError(f"{name} has an init, and {name_of(block)} has none")
    for loop in loops_of(block, block.binding_exprs[len(block.spatial_shape) :]):
        if loop not in loops and loop.extent > 1:
            raise ScheduleError(
                f"{name} has an init, and {name_of(loop)} around it carries the reduction"
            )


def _call(match: Match, intrinsic: FuncOp) -> CallOp:
    """Return the call of an intrinsic on the tiles that were found."""
    tiles = [match.tiles[argument] for argument in intrinsic.body.block.args]
    exprs = [as_expr(begin) for tile in tiles for begin in tile.begin]
    map, indices = tidy(exprs, match.space.values)
    call = CallOp(
        match.block.label.data,
        intrinsic.sym_name.data,
        [tile.buffer for tile in tiles],
        map,
        indices,
        [size for tile in tiles for size in tile.sizes],
    )
    inherit_origins(call, match.block)
    return call
