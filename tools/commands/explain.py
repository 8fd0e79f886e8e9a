"""`partita explain`: show where each op of a model runs, and why."""

from pathlib import Path
from typing import Annotated

import typer

from partita.tools.commands.arguments import (
    LOOKING,
    Entry,
    ModelFile,
    Shapes,
    Targets,
    WeightsFile,
    finish,
)


def explain_command(
    model: ModelFile,
    target: Targets = None,
    shape: Shapes = None,
    entry: Entry = None,
    weights: WeightsFile = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print all that is known as JSON, and nothing else."
        ),
    ] = False,
    dot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the graph in Graphviz's language, a colour for each target. Needs the extra `viz`.",
            rich_help_panel=LOOKING,
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the graph, a colour for each target. Needs the extra `viz`.",
            rich_help_panel=LOOKING,
        ),
    ] = None,
) -> None:
    """Print where each op of a model runs, why not elsewhere, and what moves between targets."""

    def action() -> None:
        from partita.tools.explaining import ExplainRequest, explain_file

        explain_file(
            ExplainRequest(
                model,
                targets=target or (),
                shapes=shape or (),
                entry=entry,
                weights=weights,
                json=json,
                dot=dot,
                svg=svg,
            )
        )

    finish(action)
