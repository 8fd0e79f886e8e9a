"""Which weights IR refers to, and giving their content to handles that lack it."""

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from partita.dialects.partita import WeightAttr
from partita.weights import Array, Weight


def weights_of(op: Operation) -> tuple[Weight, ...]:
    """Return each weight that this op and those nested in it refer to, once, in order of first use.

    Where several handles name one weight, one that is loaded is returned.
    """
    found: dict[str, Weight] = {}
    for each in op.walk():
        for attribute in (*each.properties.values(), *each.attributes.values()):
            for handle in _handles(attribute):
                _note(handle.data, found)
    return tuple(found.values())


def _handles(attribute: Attribute) -> Iterator[WeightAttr]:
    """Yield the handles that an attribute is, or is a list of."""
    if isinstance(attribute, WeightAttr):
        yield attribute
    elif isa(attribute, ArrayAttr[WeightAttr]):
        yield from attribute


def _note(weight: Weight, found: dict[str, Weight]) -> None:
    known = found.get(weight.digest)
    if known is None or known.array is None:
        found[weight.digest] = weight


def attach_weights(op: Operation, arrays: Mapping[str, Array]) -> None:
    """Load the handles in this op and those nested in it from arrays by digest.

    A handle that is loaded stays; so does one whose digest is not among the arrays. The
    handles on one weight share one array, which is asked for once.
    """
    loaded: dict[str, WeightAttr] = {}
    for each in op.walk():
        _attach(each.properties, arrays, loaded)
        _attach(each.attributes, arrays, loaded)


def _attach(
    attributes: dict[str, Attribute],
    arrays: Mapping[str, Array],
    loaded: dict[str, WeightAttr],
) -> None:
    for name, attribute in attributes.items():
        if isinstance(attribute, WeightAttr):
            attributes[name] = _loaded(attribute, arrays, loaded)
        elif isa(attribute, ArrayAttr[WeightAttr]):
            attributes[name] = ArrayAttr(
                _loaded(each, arrays, loaded) for each in attribute
            )


def _loaded(
    handle: WeightAttr, arrays: Mapping[str, Array], loaded: dict[str, WeightAttr]
) -> WeightAttr:
    """Return a handle on the same weight, with its content if that is there."""
    digest = handle.data.digest
    if handle.data.array is not None:
        return handle
    if digest not in loaded:
        if digest not in arrays:
            return handle
        loaded[digest] = WeightAttr(Weight(digest, arrays[digest]))
    return loaded[digest]
