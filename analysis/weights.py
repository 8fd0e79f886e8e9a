"""Which weights IR refers to, and giving their content to handles that lack it."""

from collections.abc import Mapping

from xdsl.ir import Attribute, Operation

from partita.dialects.partita import WeightAttr
from partita.weights import Array, Weight


def weights_of(op: Operation) -> tuple[Weight, ...]:
    """Return each weight that this op and those nested in it refer to, once, in order of first use.

    Where several handles name one weight, one that is loaded is returned.
    """
    found: dict[str, Weight] = {}
    for each in op.walk():
        for attribute in (*each.properties.values(), *each.attributes.values()):
            if not isinstance(attribute, WeightAttr):
                continue
            weight = attribute.data
            known = found.get(weight.digest)
            if known is None or known.array is None:
                found[weight.digest] = weight
    return tuple(found.values())


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
        if not isinstance(attribute, WeightAttr) or attribute.data.array is not None:
            continue
        digest = attribute.data.digest
        if digest not in loaded:
            if digest not in arrays:
                continue
            loaded[digest] = WeightAttr(Weight(digest, arrays[digest]))
        attributes[name] = loaded[digest]
