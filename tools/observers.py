"""What tools show of a running pipeline: IR after passes, and where time went."""

from collections.abc import Container, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from partita.analysis.weights import weights_of
from partita.tools.tables import table
from partita.transforms.pipeline import Observer
from partita.weights import Weight, write_weights


@dataclass(frozen=True)
class IRPrinter(Observer):
    """Print the module after some passes, under a comment that names the pass."""

    stream: IO[str]

    passes: Container[str] | None
    """Names of the passes to print after; all if `None`."""

    generic: bool = False

    part: str = ""
    """The part of a module that is printed; all of it if empty."""

    def inside(self, each: ModulePass, part: str) -> Observer:
        return replace(self, part=part)

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        if self.passes is not None and each.name not in self.passes:
            return
        of = f", {self.part}" if self.part else ""
        self.stream.write(f"// IR after {each.name}{of}\n")
        Printer(self.stream, print_generic_format=self.generic).print_op(module)
        self.stream.write("\n\n")
        self.stream.flush()


class IRWriter(Observer):
    """Write the module to a folder: before the first pass, and after each, in files numbered as they run.

    After passes that another runs on a part of the module, only that part is written, under the name of both.

    The weights that any of them refers to are written beside them, in one file, when the context ends.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._written = 0
        self._weights: dict[str, Weight] = {}

    def __enter__(self) -> "IRWriter":
        self._folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        loaded = [each for each in self._weights.values() if each.array is not None]
        if loaded:
            write_weights(self._folder / "weights.safetensors", loaded)

    def before(self, each: ModulePass, module: ModuleOp) -> None:
        if not self._written:
            self.write("import", module)

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        self.write(each.name, module)

    def inside(self, each: ModulePass, part: str) -> Observer:
        return _PartWriter(self, each.name)

    def write(self, name: str, module: ModuleOp) -> None:
        """Write a module to the next file."""
        path = self._folder / f"{self._written:02}-{name}.mlir"
        path.write_text(str(module) + "\n", encoding="utf-8")
        self._written += 1
        for each in weights_of(module):
            self._weights.setdefault(each.digest, each)


@dataclass(frozen=True)
class _PartWriter(Observer):
    """Write what passes leave that another runs."""

    writer: IRWriter
    outer: str

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        self.writer.write(f"{self.outer}-{each.name}", module)


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

    @contextmanager
    def rest(self, name: str) -> Generator[None]:
        """Time what runs inside, without the laps that are noted meanwhile."""
        start, noted = perf_counter(), len(self.laps)
        try:
            yield
        finally:
            known = sum(seconds for _, seconds in self.laps[noted:])
            self.laps.append((name, perf_counter() - start - known))

    def table(self) -> str:
        """Return one line for each lap, in order, with its share of the whole."""
        total = sum(seconds for _, seconds in self.laps)
        return table(
            [("step", "seconds", "share")]
            + [
                (name, f"{seconds:.4f}", f"{seconds / total:.1%}" if total else "")
                for name, seconds in (*self.laps, ("total", total))
            ]
        )
