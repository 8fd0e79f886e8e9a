"""`partita db`: look into schedule databases, and move schedules between them."""

from pathlib import Path
from typing import Annotated

import typer

from partita.tools.commands.arguments import HostCpu, HostTriple, finish

app = typer.Typer(
    help="Look into schedule databases, and move schedules between them.",
    no_args_is_help=True,
)

DatabaseFile = Annotated[
    Path, typer.Argument(metavar="DB", help="A schedule database.")
]

WrittenDatabase = Annotated[
    Path,
    typer.Argument(
        metavar="DB", help="A schedule database; it is made if there is none."
    ),
]


@app.command("list")
def list_command(
    db: DatabaseFile,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Print the schedules of the task with this key in full."
        ),
    ] = None,
) -> None:
    """Print what a database holds: a line for each schedule of each task."""

    def action() -> None:
        from partita.tools.schedules import list_schedules

        list_schedules(db, task)

    finish(action)


@app.command("add")
def add_command(
    db: WrittenDatabase,
    schedule: Annotated[
        Path,
        typer.Argument(metavar="SCHEDULE.mlir", help="One `sched.sequence`."),
    ],
    task: Annotated[
        str,
        typer.Option(
            metavar="KEY",
            help="The key of the task that it is for, as `partita tasks` prints it.",
        ),
    ],
    target: Annotated[
        str,
        typer.Option(metavar="NAME{OPTION=VALUE}", help="The back end that it is for."),
    ] = "host",
    any_machine: Annotated[
        bool,
        typer.Option(
            "--any-machine",
            help="Use it on whatever machine, not only on one like this.",
        ),
    ] = False,
    host_cpu: HostCpu = None,
    host_triple: HostTriple = None,
) -> None:
    """Add a schedule that you wrote; it is used until there is one that was measured."""

    def action() -> None:
        from partita.targets.host.processors import machine_named
        from partita.tools.schedules import add_schedule

        machine = None if any_machine else machine_named(host_triple, host_cpu)
        add_schedule(db, schedule, task, target, machine)

    finish(action)


@app.command("merge")
def merge_command(
    db: WrittenDatabase,
    others: Annotated[
        list[Path], typer.Argument(metavar="OTHER", help="Other databases.")
    ],
) -> None:
    """Add what other databases hold; what is there already is not added twice."""

    def action() -> None:
        from partita.tools.schedules import merge_databases

        merge_databases(db, others)

    finish(action)


@app.command("export")
def export_command(
    db: DatabaseFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.jsonl",
            help="Where to write; to standard output by default.",
        ),
    ] = None,
) -> None:
    """Write all records as JSON, one a line."""

    def action() -> None:
        from partita.tools.schedules import export_records

        export_records(db, output)

    finish(action)


@app.command("import")
def import_command(
    db: WrittenDatabase,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE.jsonl", help="What `partita db export` wrote."),
    ],
) -> None:
    """Add records from lines of JSON, all or none."""

    def action() -> None:
        from partita.tools.schedules import import_records

        import_records(db, file)

    finish(action)
