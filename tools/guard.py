"""Run a command so that every way it can end is one that a shell and a person expect."""

import os
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

FAILED = 1

INTERRUPTED = 130
"""What shells report for a process that Ctrl-C ended."""


def guarded(tool: str, action: Callable[[], None]) -> int:
    """Do something and return the exit code, after telling what failed, if anything did.

    What Python warns of is told in one line each. Nothing of the compiler is imported until it fails:
    running a model must start quickly.
    """
    try:
        with _warnings_of(tool):
            action()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone; keep the interpreter from flushing to it once more.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # xDSL's errors are not all of `Exception`.
        from partita.tools.failure import report

        report(tool, error)
        return FAILED
    return 0


@contextmanager
def _warnings_of(tool: str) -> Generator[None]:
    """Print warnings as a tool does, without the line of code that they come from."""

    def tell(
        message: Warning | str, category: type[Warning], *place: object, **more: object
    ) -> None:
        print(f"{tool}: warning: {message}", file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.showwarning = tell
        yield
