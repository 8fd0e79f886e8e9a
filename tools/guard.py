"""Run a command so that every way it can end is one that a shell and a person expect."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

FAILED = 1

INTERRUPTED = 130
"""What shells report for a process that Ctrl-C ended."""


def guarded(tool: str, action: Callable[[], None]) -> int:
    """Do something and return the exit code, after telling what failed, if anything did.

    Nothing of the compiler is imported until it fails: running a model must start quickly.
    """
    try:
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
