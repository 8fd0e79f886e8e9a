"""What `partita-opt` shows of a running pipeline: IR after passes, and where time went."""

from collections.abc import Container, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from partita.transforms.pipeline import Observer


@dataclass(frozen=True)
class IRPrinter(Observer):
    """Print the module after some passes, under a comment that names the pass."""

    stream: IO[str]

    passes: Container[str] | None
    """Names of the passes to print after; all if `None`."""

    generic: bool = False

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        if self.passes is not None and each.name not in self.passes:
            return
        self.stream.write(f"// IR after {each.name}\n")
        Printer(self.stream, print_generic_format=self.generic).print_op(module)
        self.stream.write("\n\n")
        self.stream.flush()


@dataclass
class Stopwatch(Observer):
    """Note how long each pass, and what is timed beside passes, takes."""

    laps: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        self.laps.append((each.name, seconds))

    @contextmanager
    def lap(self, name: str) -> Generator[None]:
        """Time what runs inside."""
        start = perf_counter()
        try:
            yield
        finally:
            self.laps.append((name, perf_counter() - start))

    def table(self) -> str:
        """Return one line for each lap, in order, with its share of the whole."""
        total = sum(seconds for _, seconds in self.laps)
        rows = [("step", "seconds", "share")] + [
            (name, f"{seconds:.4f}", f"{seconds / total:.1%}" if total else "")
            for name, seconds in (*self.laps, ("total", total))
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            f"{name:<{widths[0]}}  {seconds:>{widths[1]}}  {share:>{widths[2]}}"
            for name, seconds, share in rows
        )
