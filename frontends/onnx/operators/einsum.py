"""Products of tensors written as equations, `ij,jk->ik`: one matrix product per operand that is joined."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from string import ascii_letters

import numpy as np
from xdsl.ir import SSAValue

from partita.dialects.relay import (
    ExpandDimsOp,
    MatmulOp,
    MultiplyOp,
    ReshapeOp,
    SumOp,
    TransposeOp,
)
from partita.frontends.onnx.builder import constant
from partita.frontends.onnx.node import Node, table
from partita.shapes import dtype_of, element_of, shape_of

Term = tuple[SSAValue, str]
"""A value and the label of each of its axes, all different."""


def einsum(node: Node) -> SSAValue:
    text = node.text("equation", "").replace(" ", "")
    values = node.all()
    for value in values:
        node.static(value, "inputs")
    inputs, output = _labels(node, text, [len(shape_of(value)) for value in values])
    _check_extents(node, values, inputs)
    terms = [
        _diagonal(node, value, labels)
        for value, labels in zip(values, inputs, strict=True)
    ]
    first, *others = terms
    for index, other in enumerate(others):
        later = {axis for _, labels in others[index + 1 :] for axis in labels}
        first = _product(node, first, other, {*output, *later})
    value, labels = _summed(node, first, set(output))
    if set(labels) != set(output):
        node.fail(f"expected output axes that inputs have, got {text!r}")
    return _transposed(node, (value, labels), output)


def _labels(node: Node, text: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the labels of each input and of the output, the ellipsis spelt out in letters that are free."""
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if not re.fullmatch(r"[A-Za-z.,]*(->[A-Za-z.]*)?", text) or len(inputs) != len(
        ranks
    ):
        node.fail(f"expected an equation of {len(ranks)} terms, got {text!r}")
    free = [letter for letter in ascii_letters if letter not in text]
    hidden = max(
        (
            rank - len(term.replace("...", ""))
            for term, rank in zip(inputs, ranks, strict=True)
            if "..." in term
        ),
        default=0,
    )
    batch = "".join(free[: max(hidden, 0)])
    if not arrow:
        counts = Counter(left.replace(".", "").replace(",", ""))
        once = sorted(letter for letter, count in counts.items() if count == 1)
        right = ("..." if "..." in left else "") + "".join(once)
    spelt: list[str] = []
    for term, rank in zip(inputs, ranks, strict=True):
        own = rank - len(term.replace("...", ""))
        spelt.append(term.replace("...", batch[len(batch) - own :] if own > 0 else ""))
        if len(spelt[-1]) != rank:
            node.fail(f"expected a term of {rank} axes, got {term!r} in {text!r}")
    return spelt, right.replace("...", batch)


def _check_extents(
    node: Node, values: Iterable[SSAValue], inputs: Iterable[str]
) -> None:
    extents: dict[str, int] = {}
    for value, labels in zip(values, inputs, strict=True):
        for label, extent in zip(labels, shape_of(value), strict=True):
            if extents.setdefault(label, extent) != extent:
                node.fail(
                    f"expected axes {label} of equal extent, got {extents[label]} and {extent}"
                )


def _diagonal(node: Node, value: SSAValue, labels: str) -> Term:
    """Make labels distinct: mask what is off the diagonal, and sum one of the two axes away."""
    while len(set(labels)) < len(labels):
        label = next(label for label in labels if labels.count(label) > 1)
        first = labels.index(label)
        second = labels.index(label, first + 1)
        shape = shape_of(value)
        mask = np.eye(shape[first], dtype=dtype_of(element_of(value)))
        mask = mask.reshape(
            [
                extent if axis in (first, second) else 1
                for axis, extent in enumerate(shape)
            ]
        )
        kept = node.emit(MultiplyOp(value, constant(mask)))
        value = node.emit(SumOp(kept, (second,), False))
        labels = labels[:second] + labels[second + 1 :]
    return value, labels


def _summed(node: Node, term: Term, keep: set[str]) -> Term:
    """Sum away the axes that nobody needs."""
    value, labels = term
    axes = tuple(axis for axis, label in enumerate(labels) if label not in keep)
    if not axes:
        return term
    summed = node.emit(SumOp(value, axes, False))
    return summed, "".join(label for label in labels if label in keep)


def _product(node: Node, lhs: Term, rhs: Term, keep: set[str]) -> Term:
    """Multiply two terms, and sum over what they share and nobody needs."""
    lhs = _summed(node, lhs, keep | set(rhs[1]))
    rhs = _summed(node, rhs, keep | set(lhs[1]))
    shared = [label for label in lhs[1] if label in rhs[1]]
    batch = "".join(label for label in shared if label in keep)
    inner = "".join(label for label in shared if label not in keep)
    rows = "".join(label for label in lhs[1] if label not in shared)
    columns = "".join(label for label in rhs[1] if label not in shared)
    extents = {
        label: extent
        for value, labels in (lhs, rhs)
        for label, extent in zip(labels, shape_of(value), strict=True)
    }

    def sizes(labels: str) -> list[int]:
        return [extents[label] for label in labels]

    if not inner:
        left = _transposed(node, lhs, batch + rows)
        right = _transposed(node, rhs, batch + columns)
        if rows and columns:
            places = range(len(batch + rows), len(batch + rows + columns))
            left = node.emit(ExpandDimsOp(left, axes=places))
            places = range(len(batch), len(batch + rows))
            right = node.emit(ExpandDimsOp(right, axes=places))
        elif rows:
            places = range(len(batch), len(batch + rows))
            right = node.emit(ExpandDimsOp(right, axes=places))
        elif columns:
            places = range(len(batch), len(batch + columns))
            left = node.emit(ExpandDimsOp(left, axes=places))
        return node.emit(MultiplyOp(left, right)), batch + rows + columns
    left = _transposed(node, lhs, batch + rows + inner)
    right = _transposed(node, rhs, batch + inner + columns)
    shape = (*sizes(batch), prod(sizes(rows)), prod(sizes(inner)))
    left = node.emit(ReshapeOp(left, shape=shape))
    shape = (*sizes(batch), prod(sizes(inner)), prod(sizes(columns)))
    right = node.emit(ReshapeOp(right, shape=shape))
    made = node.emit(MatmulOp(left, right))
    labels = batch + rows + columns
    return node.emit(ReshapeOp(made, shape=sizes(labels))), labels


def _transposed(node: Node, term: Term, labels: str) -> SSAValue:
    value, own = term
    if own == labels:
        return value
    return node.emit(TransposeOp(value, axes=[own.index(label) for label in labels]))


EINSUM = table({"Einsum": einsum})
