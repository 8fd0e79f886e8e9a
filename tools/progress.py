"""Tell people that wait what is going on: on standard error, and only after two seconds."""

import sys
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from partita.transforms.pipeline import Observer

PATIENCE = 2.0
"""Seconds in which nothing is shown."""

LINE_INTERVAL = 5.0
"""Seconds between lines where standard error is no terminal."""

FRAME_INTERVAL = 0.1


class ProgressDisplay(Observer):
    """Show which pass runs, and how many kernels are done, while its context is open.

    A terminal gets one line that moves and vanishes at the end; anything else a plain line now and then.
    """

    def __init__(self, what: str, *, quiet: bool = False):
        self._what = what
        self._done = 0
        self._of: int | None = None
        self._quiet = quiet
        self._start = monotonic()
        self._end = Event()
        self._thread = Thread(target=self._show, daemon=True)

    def before(self, each: ModulePass, module: ModuleOp) -> None:
        self._what, self._done, self._of = each.name, 0, None

    def inside(self, each: ModulePass, part: str) -> Observer:
        return self

    def tell(self, what: str, done: int, of: int) -> None:
        """Note what is being done, how much of it is done, and how much there is."""
        self._what, self._done, self._of = what, done, of

    def __enter__(self) -> "ProgressDisplay":
        if not self._quiet:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._end.set()
        if not self._quiet:
            self._thread.join()

    def _show(self) -> None:
        if self._end.wait(PATIENCE):
            return
        with suppress(OSError, ValueError):  # Standard error may be closed.
            if sys.stderr.isatty():
                self._animate()
            else:
                self._print()

    def _animate(self) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(20),
        )
        console = Console(file=sys.stderr)
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task(self._what, total=None)
            while not self._end.wait(FRAME_INTERVAL):
                progress.update(
                    task,
                    description=self._text(),
                    completed=self._done,
                    total=self._of,
                )

    def _print(self) -> None:
        while True:
            print(self._text(), file=sys.stderr, flush=True)
            if self._end.wait(LINE_INTERVAL):
                return

    def _text(self) -> str:
        part = "" if self._of is None else f" {self._done}/{self._of}"
        return f"{monotonic() - self._start:.0f} s: {self._what}{part}"
