"""Loads and stores of host code: scalars, contiguous vectors, and the rest lane by lane."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr

from partita.dialects import tir
from partita.shapes import Shape
from partita.targets.host.emitter import (
    Emitter,
    Value,
    bytes_of,
    integer,
    llvm_type,
    memory_type,
    vector,
)
from partita.targets.host.indices import Address, Indices
from partita.targets.host.transposes import transpose


@dataclass(frozen=True)
class Buffer:
    """Memory with a shape, dense."""

    pointer: str

    type: str
    """The LLVM type of an element as it is computed with."""

    shape: Shape

    order: tuple[int, ...]
    """The axes as they lie in memory, outermost first."""

    @property
    def strides(self) -> Shape:
        """Elements from one index to the next, on each axis."""
        strides = [1] * len(self.shape)
        for inner, axis in enumerate(self.order, 1):
            strides[axis] = prod(self.shape[each] for each in self.order[inner:])
        return tuple(strides)

    @property
    def element(self) -> str:
        """The LLVM type of an element as it is kept."""
        return memory_type(self.type)

    @property
    def alignment(self) -> int:
        """Bytes that any element is aligned to."""
        return bytes_of(self.type)


def buffer_of(
    pointer: str, type: MemRefType[Attribute], order: tuple[int, ...] | None = None
) -> Buffer:
    """Return the buffer of this type at a pointer, the last axis innermost unless an order is given."""
    shape = type.get_shape()
    return Buffer(
        pointer,
        llvm_type(type.element_type),
        shape,
        tuple(range(len(shape))) if order is None else order,
    )


class Memory:
    """Emits accesses; an access that a mask switches off does not touch memory."""

    def __init__(self, emitter: Emitter, indices: Indices):
        self.emitter = emitter
        self.indices = indices
        self._ahead: tuple[AffineExpr, int] | None = None
        self._fetched: set[tuple[str, AffineExpr, int]] = set()

    @contextmanager
    def fetching(self, variable: AffineExpr, distance: int) -> Generator[None]:
        """Let reads inside fetch what they will read when a loop's variable is larger by a distance above 0.

        Reads of one place fetch once, and those beside vectors that all lanes share do not: a line of them lasts.
        """
        before = self._ahead, self._fetched
        if distance:
            self._ahead, self._fetched = (variable, distance), set()
        yield
        self._ahead, self._fetched = before

    def _fetch(self, buffer: Buffer, address: Address) -> None:
        """Ask for the cache line that a read will need some iterations later; it may lie outside the buffer."""
        if self._ahead is None or address.stride is None:
            return
        shared = address.stride == 0 and any(
            each.is_lane for each in self.indices.dimensions
        )
        place = buffer.pointer, address.varying, address.offset
        if shared or place in self._fetched:
            return
        self._fetched.add(place)
        variable, distance = self._ahead
        dims = [AffineExpr.dimension(i) for i in range(len(self.indices.dimensions))]
        later = [dim + distance if dim == variable else dim for dim in dims]
        varying = address.varying.replace_dims_and_symbols(later, ())
        if varying == address.varying.replace_dims_and_symbols(dims, ()):
            return
        there = Address(varying, address.offset, address.stride)
        pointer = self._pointer(buffer, there, inside=False)
        self.emitter.declarations.setdefault(
            "llvm.prefetch.p0", "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
        )
        self.emitter.line(
            f"call void @llvm.prefetch.p0(ptr {pointer}, i32 0, i32 3, i32 1)"
        )

    def load(
        self,
        buffer: Buffer,
        access: tir.LoadOp,
        mask: Value | None,
        otherwise: Value | None,
    ) -> Value:
        """Read the element at an access's indices, in as many lanes as they differ.

        `mask` says which lanes run. With `otherwise`, indices outside the buffer give it.
        """
        address = self._address(buffer, access)
        self._fetch(buffer, address)
        inside = None if otherwise is None else self._inside(access, buffer.shape)
        if inside is None:
            return self._load_inside(buffer, address, mask)
        assert otherwise is not None
        if address.stride == 0 and inside.lanes == 1:
            return self._load_guarded(buffer, address, inside, otherwise)
        both = inside if mask is None else self.emitter.binary("and", inside, mask)
        return self._load_masked(buffer, address, both, otherwise)

    def load_transposed(self, buffer: Buffer, access: tir.LoadOp) -> list[Value]:
        """Read from each lane's index on as many elements as there are lanes; return the first ones, then the next."""
        address = self._address(buffer, access)
        lanes = self._lanes(address)
        pointers = self._pointers(buffer, address, lanes, inside=True)
        rows = [self._load_one(buffer, pointer, lanes) for pointer in pointers]
        columns = transpose(self.emitter, rows)
        return [self._from_memory(each, buffer) for each in columns]

    def store(
        self,
        value: Value,
        buffer: Buffer,
        access: tir.StoreOp,
        mask: Value | None,
    ) -> None:
        """Write the element at an access's indices, in the lanes that run."""
        emitter = self.emitter
        address = self._address(buffer, access)
        value = self._to_memory(value, buffer)
        lanes = max(value.lanes, self._lanes(address))
        if lanes == 1:
            self._store_one(value, buffer, self._pointer(buffer, address))
            return
        value = emitter.splat(value, lanes)
        if address.stride == 1:
            pointer = self._pointer(buffer, address, inside=mask is None)
            if mask is None:
                emitter.line(f"store {value}, ptr {pointer}, align {buffer.alignment}")
            else:
                self._masked_store(value, buffer, pointer, mask)
            return
        for lane, pointer in enumerate(
            self._pointers(buffer, address, lanes, inside=mask is None)
        ):
            one = emitter.emit(f"extractelement {value}, i64 {lane}", value.type)
            if mask is None:
                self._store_one(one, buffer, pointer)
            else:
                runs = emitter.emit(f"extractelement {mask}, i64 {lane}", "i1")
                with emitter.when(runs, "lane"):
                    self._store_one(one, buffer, pointer)

    def _store_one(self, value: Value, buffer: Buffer, pointer: str) -> None:
        self.emitter.line(f"store {value}, ptr {pointer}, align {buffer.alignment}")

    def _load_one(self, buffer: Buffer, pointer: str, lanes: int = 1) -> Value:
        type = vector(buffer.element, lanes)
        return self.emitter.emit(
            f"load {type}, ptr {pointer}, align {buffer.alignment}",
            buffer.element,
            lanes,
        )

    def _load_inside(
        self, buffer: Buffer, address: Address, mask: Value | None
    ) -> Value:
        emitter, lanes = self.emitter, self._lanes(address)
        if address.stride == 0:
            loaded = self._load_one(buffer, self._shared_pointer(buffer, address, mask))
        elif mask is not None:
            zero = emitter.constant(0, buffer.type)
            return self._load_masked(buffer, address, mask, zero)
        elif address.stride == 1:
            loaded = self._load_one(buffer, self._pointer(buffer, address), lanes)
        elif address.stride == 2 and lanes > 1:
            loaded = self._load_even(buffer, address, lanes)
        else:
            loaded = Value("poison", buffer.element, lanes)
            for lane, pointer in enumerate(
                self._pointers(buffer, address, lanes, inside=True)
            ):
                one = self._load_one(buffer, pointer)
                loaded = emitter.emit(
                    f"insertelement {loaded}, {one}, i64 {lane}",
                    buffer.element,
                    lanes,
                )
        return self._from_memory(loaded, buffer)

    def _load_even(self, buffer: Buffer, address: Address, lanes: int) -> Value:
        """Read every second element, by two loads that stay between the first and the last."""
        low = self._pointer(buffer, address)
        high = self._step(buffer, low, lanes - 1)
        parts = [self._load_one(buffer, pointer, lanes) for pointer in (low, high)]
        picks = [
            2 * lane if 2 * lane < lanes else lanes + 2 * lane - (lanes - 1)
            for lane in range(lanes)
        ]
        pattern = ", ".join(f"i32 {pick}" for pick in picks)
        return self.emitter.emit(
            f"shufflevector {parts[0]}, {parts[1]}, <{lanes} x i32> <{pattern}>",
            buffer.element,
            lanes,
        )

    def _load_guarded(
        self, buffer: Buffer, address: Address, inside: Value, otherwise: Value
    ) -> Value:
        """Read one element, the buffer's first where the index is outside, and choose."""
        emitter = self.emitter
        position = emitter.binary(
            "add", self.indices.value(address.varying), integer(address.offset)
        )
        safe = emitter.select(inside, position, integer(0))
        pointer = self._element(buffer, buffer.pointer, safe)
        loaded = self._from_memory(self._load_one(buffer, pointer), buffer)
        return emitter.select(inside, loaded, otherwise)

    def _load_masked(
        self, buffer: Buffer, address: Address, mask: Value, otherwise: Value
    ) -> Value:
        """Read the lanes that a mask switches on; the others give `otherwise`."""
        emitter = self.emitter
        lanes = max(mask.lanes, self._lanes(address))
        mask = emitter.splat(mask, lanes)
        passed = emitter.splat(self._to_memory(otherwise, buffer), lanes)
        suffix = f"v{lanes}{_short(buffer.element)}"
        if address.stride == 1:
            name = f"llvm.masked.load.{suffix}.p0"
            first = self._pointer(buffer, address, inside=False)
            pointer = f"ptr align {buffer.alignment} {first}"
        else:
            name = f"llvm.masked.gather.{suffix}.v{lanes}p0"
            position = emitter.splat(self.indices.value(address.varying), lanes)
            position = emitter.binary("add", position, integer(address.offset))
            pointers = emitter.emit(
                f"getelementptr {buffer.element}, ptr {buffer.pointer}, {position}",
                "ptr",
                lanes,
            )
            pointer = f"<{lanes} x ptr> align {buffer.alignment} {pointers.text}"
        emitter.declarations.setdefault(
            name,
            f"declare {passed.vector_type} @{name}({pointer.split(' align')[0]}, "
            f"{mask.vector_type}, {passed.vector_type})",
        )
        loaded = emitter.emit(
            f"call {passed.vector_type} @{name}({pointer}, {mask}, {passed})",
            buffer.element,
            lanes,
        )
        return self._from_memory(loaded, buffer)

    def _masked_store(
        self, value: Value, buffer: Buffer, pointer: str, mask: Value
    ) -> None:
        name = f"llvm.masked.store.v{value.lanes}{_short(buffer.element)}.p0"
        self.emitter.declarations.setdefault(
            name,
            f"declare void @{name}({value.vector_type}, ptr, {mask.vector_type})",
        )
        self.emitter.line(
            f"call void @{name}({value}, ptr align {buffer.alignment} {pointer}, {mask})"
        )

    def _address(self, buffer: Buffer, access: tir.LoadOp | tir.StoreOp) -> Address:
        return self.indices.address(
            access.access.results, access.indices, buffer.strides
        )

    def _inside(self, access: tir.LoadOp, shape: Shape) -> Value | None:
        """Return whether indices are inside a shape; `None` if they are known to be."""
        emitter = self.emitter
        exprs = self.indices.compose(access.access.results, access.indices)
        inside: Value | None = None
        for expr, extent in zip(exprs, shape, strict=True):
            low, high = self.indices.range(expr)
            for known, predicate, bound in (
                (low >= 0, "icmp sge", 0),
                (high < extent, "icmp slt", extent),
            ):
                if known:
                    continue
                value = self.indices.value(expr)
                test = emitter.binary(predicate, value, integer(bound), "i1")
                inside = test if inside is None else emitter.binary("and", inside, test)
        return inside

    def _lanes(self, address: Address) -> int:
        lane = self.indices.lane(address.varying)
        return 1 if lane is None else self.indices.dimensions[lane].value.lanes

    def _pointer(self, buffer: Buffer, address: Address, inside: bool = True) -> str:
        """Return the position of lane 0, which is not `inside` if a mask may switch that lane off."""
        varying = address.varying
        if address.stride:
            varying = self.indices.without_lane(varying)
        # LLVM wants each step on the way to stay inside.
        low, high = self.indices.range(varying)
        inside = inside and low >= 0 and high <= prod(buffer.shape)
        value = self.indices.value(varying)
        pointer = buffer.pointer
        if value.text != "0":
            pointer = self._element(buffer, pointer, value, inside)
        return self._step(buffer, pointer, address.offset, inside)

    def _shared_pointer(
        self, buffer: Buffer, address: Address, mask: Value | None
    ) -> str:
        """Return the position that all lanes share; the buffer's first if none of them runs."""
        if mask is None:
            return self._pointer(buffer, address)
        emitter = self.emitter
        runs = emitter.any_lane(mask)
        position = emitter.binary(
            "add", self.indices.value(address.varying), integer(address.offset)
        )
        safe = emitter.select(runs, position, integer(0))
        return self._element(buffer, buffer.pointer, safe)

    def _step(
        self, buffer: Buffer, pointer: str, elements: int, inside: bool = True
    ) -> str:
        if not elements:
            return pointer
        return self._element(buffer, pointer, integer(elements), inside)

    def _element(
        self, buffer: Buffer, pointer: str, position: Value, inside: bool = True
    ) -> str:
        """Return the address of an element, counted from a pointer."""
        bounds = " inbounds" if inside else ""
        return self.emitter.emit(
            f"getelementptr{bounds} {buffer.element}, ptr {pointer}, {position}", "ptr"
        ).text

    def _pointers(
        self, buffer: Buffer, address: Address, lanes: int, inside: bool
    ) -> list[str]:
        """Return the position of each lane."""
        if address.stride is not None:
            first = self._pointer(buffer, address, inside)
            return [
                self._step(buffer, first, lane * address.stride, inside)
                for lane in range(lanes)
            ]
        emitter = self.emitter
        position = emitter.splat(self.indices.value(address.varying), lanes)
        pointers: list[str] = []
        for lane in range(lanes):
            one = emitter.emit(f"extractelement {position}, i64 {lane}", "i64")
            pointer = self._element(buffer, buffer.pointer, one, inside)
            pointers.append(self._step(buffer, pointer, address.offset, inside))
        return pointers

    def _from_memory(self, value: Value, buffer: Buffer) -> Value:
        if buffer.type != "i1":
            return value
        zero = self.emitter.constant(0, "i8")
        return self.emitter.binary("icmp ne", value, zero, "i1")

    def _to_memory(self, value: Value, buffer: Buffer) -> Value:
        if buffer.type != "i1":
            return value
        return self.emitter.convert("zext", value, "i8")


def _short(type: str) -> str:
    return {"half": "f16", "float": "f32", "double": "f64"}.get(type, type)
