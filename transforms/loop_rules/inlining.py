"""Which blocks are computed where they are read, and what their readers read instead."""

from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from partita.transforms.loop_rules.nest import Access, Nest, Stage, is_temporary


@dataclass(frozen=True)
class Inlined:
    """A kernel whose inlined blocks are thought away."""

    labels: tuple[str, ...]
    """The inlined blocks, in program order."""

    stages: tuple[Stage, ...]
    """The others, with what they read in the end."""

    costly: frozenset[str]
    """Labels of those that compute something costly, inlined or of their own."""


def inline(nest: Nest) -> Inlined:
    """Choose the blocks to inline.

    A block without reduction is inlined if nobody else wants its buffer, and if computing
    it where it is read costs no more than storing it: it is read about once, or it is
    cheap and its readers do not read an element again and again, as reductions do.
    """
    gone: dict[SSAValue, Stage] = {}
    kept: list[Stage] = []
    costly: set[str] = set()
    for stage in nest.stages:
        stage = replace(stage, loads=_resolve(stage.loads, gone))
        if stage.is_costly or any(
            gone[load.buffer].label in costly
            for load in nest_loads(nest, stage)
            if load.buffer in gone
        ):
            costly.add(stage.label)
        if _is_inlined(nest, stage, stage.label in costly):
            gone[stage.stores[0].buffer] = stage
        else:
            kept.append(stage)
    labels = {stage.label for stage in gone.values()}
    return Inlined(
        tuple(stage.label for stage in nest.stages if stage.label in labels),
        tuple(kept),
        frozenset(costly),
    )


def nest_loads(nest: Nest, stage: Stage) -> tuple[Access, ...]:
    """Return what a stage reads itself, before anything is inlined."""
    return next(each.loads for each in nest.stages if each.label == stage.label)


def _is_inlined(nest: Nest, stage: Stage, costly: bool) -> bool:
    if stage.reduction or len(stage.stores) != 1:
        return False
    buffer = stage.stores[0].buffer
    readers = nest.readers(stage)
    if not is_temporary(buffer) or not readers:
        return False
    reads = sum(
        reader.work
        for reader in readers
        for load in reader.loads
        if load.buffer is buffer
    )
    if any(
        load.exprs is None for r in readers for load in r.loads if load.buffer is buffer
    ):
        return False
    if reads <= stage.work:
        return not any(
            load.guarded and reader.reduction
            for load in stage.loads
            for reader in readers
        )
    return not costly and not any(reader.reduction for reader in readers)


def _resolve(
    loads: tuple[Access, ...], gone: dict[SSAValue, Stage]
) -> tuple[Access, ...]:
    """Replace reads of inlined blocks by what these read."""
    result: list[Access] = []
    for load in loads:
        producer = gone.get(load.buffer)
        if producer is None:
            result.append(load)
            continue
        exprs = load.exprs
        for each in producer.loads:
            if exprs is None or each.exprs is None:
                composed = None
            else:
                composed = tuple(
                    expr.replace_dims_and_symbols(exprs, ()) for expr in each.exprs
                )
            result.append(
                Access(
                    each.buffer, composed, load.guarded or each.guarded, load.extents
                )
            )
    return tuple(dict.fromkeys(result))
