"""Compile SqueezeNet, show one of its kernels at every level, run it, and compare.

The network is one that the `onnx` package ships, for images of 224 by 224. Its weights there are constants, which
would hide mistakes; here they are random.
"""

import re
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from math import prod
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from rich.console import Console
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.passes import ModulePass

import partita
from partita.dialects.partita import KERNEL
from partita.dialects.relay import Conv2dOp, RelayOp
from partita.dialects.sched import SequenceOp
from partita.runtime import Machine
from partita.shapes import shape_of
from partita.targets.host.kernel import emit_kernel
from partita.targets.host.native import Compiler
from partita.transforms.pipeline import Observer

Array = NDArray[Any]

Run = Callable[[dict[str, Array]], Array]

SEED = 1

LINES = 14
"""How much is shown of a text."""

COLUMNS, MOST_COLUMNS = 110, 150
"""How wide excerpts are: in a file, and in a terminal that is wider."""

DIGEST = re.compile(r"(?<=weight<\")([0-9a-f]{6})[0-9a-f]+")
"""What is cut off the names of weights."""

RUNS = 20

TOLERANCE = 1e-4
"""Largest difference from the reference, as a part of the output's range."""


def squeezenet() -> onnx.ModelProto:
    """Load the network up to its softmax, with random weights in place of the nodes that make constant ones."""
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    model = onnx.load_model_from_string((folder / "light_squeezenet.onnx").read_bytes())
    graph = model.graph
    given = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    shapes = {name: array.shape for name, array in given.items()}
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            shapes[node.output[0]] = tuple(given[node.input[0]].tolist())
            del shapes[node.input[0]]
    nodes = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    graph.output[0].name = nodes.pop().input[0]
    inputs = [each for each in graph.input if each.name not in given]
    for field in ("node", "input", "initializer"):
        graph.ClearField(field)
    graph.node.extend(nodes)
    graph.input.extend(inputs)
    rng = np.random.default_rng(SEED)
    for name, shape in shapes.items():
        scale = np.sqrt(2 / max(1, np.prod(shape[1:])))
        array = (scale * rng.standard_normal(shape)).astype(np.float32)
        graph.initializer.append(numpy_helper.from_array(array, name))
    return model


class Levels(Observer):
    """Keep what passes leave of the graph, and of its smallest convolution."""

    def __init__(self) -> None:
        self.graphs: dict[str, str] = {}
        """Text of the whole module, after the pass of that name."""

        self.counts: dict[str, int] = {}
        """How many relay ops it has."""

        self.calls: Counter[str] = Counter()
        """How often each kernel is called."""

        self.kernel = ""
        """The convolution."""

        self.texts: dict[str, str] = {}
        """The text of that kernel, or of its schedule, after the pass of that name; its code as `llvm` and `asm`."""

    def before(self, each: ModulePass, module: ModuleOp) -> None:
        if not self.graphs:
            self.keep_graph("import", module)

    def after(self, each: ModulePass, module: ModuleOp, seconds: float) -> None:
        if each.name == "fuse-ops":
            self.calls.update(
                op.callee.string_value()
                for op in module.walk()
                if isinstance(op, CallOp)
            )
            self.kernel = smallest_convolution(module)
        if not self.kernel:
            self.keep_graph("graph passes", module)
            return
        for op in module.body.block.ops:
            match op:
                case SequenceOp() if op.kernel.string_value() == self.kernel:
                    self.texts[each.name] = str(op)
                case FuncOp() if op.sym_name.data == self.kernel:
                    self.texts.setdefault(each.name, str(op))
                    if each.name == "plan-memory":
                        code = emit_kernel(op, self.kernel)
                        self.texts["llvm"] = code.functions
                        self.texts["asm"] = Compiler(Machine.host()).assemble(code.text)
                case _:
                    pass

    def keep_graph(self, name: str, module: ModuleOp) -> None:
        self.graphs[name] = str(module)
        self.counts[name] = sum(isinstance(op, RelayOp) for op in module.walk())


def smallest_convolution(module: ModuleOp) -> str:
    """Return the kernel of a convolution with the fewest results."""
    sizes = {
        kernel.sym_name.data: prod(shape_of(op.result))
        for kernel in module.body.block.ops
        if isinstance(kernel, FuncOp) and KERNEL in kernel.attributes
        for op in kernel.walk()
        if isinstance(op, Conv2dOp)
    }
    return min(sizes, key=lambda name: sizes[name])


class Page:
    """Print headings and excerpts as wide as the terminal is."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, soft_wrap=True)
        terminal = self.console.is_terminal
        self.width = min(self.console.width, MOST_COLUMNS) if terminal else COLUMNS

    def heading(self, text: str) -> None:
        self.console.print(f"\n[bold cyan]{text}[/]")

    def line(self, text: str) -> None:
        self.console.print(text, markup=False)

    def excerpt(self, text: str, lines: int = LINES, around: str = "") -> None:
        """Print the first lines of a text, or those around the first that holds some text."""
        every = DIGEST.sub(r"\1…", text.rstrip()).splitlines()
        found = (number for number, line in enumerate(every) if around in line)
        first = max(0, next(found, 0) - lines // 3) if around else 0
        shown = every[first : first + lines]
        if first:
            self.console.print("  …", style="dim")
        for line in shown:
            line = line.expandtabs(4)
            cut = line if len(line) <= self.width - 2 else line[: self.width - 3] + "…"
            self.console.print(f"  {cut}", markup=False, style="dim")
        if first + lines < len(every):
            left = len(every) - first - lines
            self.console.print(f"  … {left} lines more", style="dim")


def show_levels(page: Page, levels: Levels) -> None:
    """Print the graph, and the kernel at each level."""
    counts = levels.counts
    page.heading(f"relay: the graph as imported, {counts['import']} ops")
    page.excerpt(levels.graphs["import"], 8)
    page.heading(f"relay: after the graph passes, {counts['graph passes']} ops")
    page.excerpt(levels.graphs["graph passes"], 8)
    page.heading(
        f"fuse-ops: {levels.calls.total()} calls of {len(levels.calls)} kernels"
    )
    for name, count in levels.calls.most_common(5):
        page.line(f"  {count} x {name}")
    page.heading(f"relay: one of them, @{levels.kernel}")
    page.excerpt(levels.texts["fuse-ops"])
    for name, title, around in (
        ("lower-relay-to-te", "te: what each element is", ""),
        ("lower-te-to-tir", "tir: loops over buffers, as plain as can be", ""),
        ("schedule-host", "sched: what is to be done with the loops", ""),
        ("apply-schedules", "tir: the loops after that", "tir.for %r0"),
        ("llvm", "LLVM text", "fmul"),
        ("asm", f"assembly for {Machine.host().cpu}", "fmadd"),
    ):
        page.heading(title)
        page.excerpt(levels.texts[name], 24 if "tir" in title else LINES, around)


def show_run(page: Page, model: onnx.ModelProto, exe: partita.Executable) -> None:
    """Run the network, from a file, and compare with onnxruntime or else with what the onnx package computes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "squeezenet.partita"
        exe.save(path)
        size = path.stat().st_size
        loaded = partita.load(path)
        page.heading("the artifact")
        artifact = loaded.artifact
        weights = sum(each.nbytes for each in artifact.weights.values())
        code = sum(map(len, artifact.objects.values()))
        page.line(
            f"  {size / 1e6:.1f} MB, of which {weights / 1e6:.1f} MB weights and {code / 1e3:.0f} kB code; "
            f"a run needs {artifact.plan.arena / 1e6:.1f} MB"
        )
        (spec,) = loaded.inputs
        rng = np.random.default_rng(SEED)
        inputs = {spec.name: rng.standard_normal(spec.shape).astype(spec.numpy)}
        outputs = loaded.run(inputs)
        page.heading("a run")
        latency = timed(lambda: loaded.run(inputs))
        page.line(f"  partita: {latency:.1f} ms on {loaded.threads} threads")
        name, run = reference(model, loaded.threads)
        expected = run(inputs)
        if name == "onnxruntime":
            page.line(f"  onnxruntime: {timed(lambda: run(inputs)):.1f} ms")
        (output,) = outputs.values()
        error = np.abs(output - expected).max() / np.ptp(expected)
        page.line(
            f"  largest difference from {name}: {error:.1e} of the output's range"
        )
        if error > TOLERANCE:
            raise SystemExit("the results differ")


def reference(model: onnx.ModelProto, threads: int) -> tuple[str, Run]:
    """Return who computes what is right, and how."""
    if find_spec("onnxruntime") is None:
        evaluator: Any = ReferenceEvaluator(model)
        return "onnx.reference", lambda inputs: evaluator.run(None, inputs)[0]
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    providers = ["CPUExecutionProvider"]
    session = ort.InferenceSession(model.SerializeToString(), options, providers)
    return "onnxruntime", lambda inputs: session.run(None, inputs)[0]


def timed(action: Callable[[], object]) -> float:
    """Return the median of some runs, in milliseconds."""
    seconds: list[float] = []
    for _ in range(RUNS):
        start = perf_counter()
        action()
        seconds.append(perf_counter() - start)
    return 1e3 * median(seconds)


def main() -> None:
    page = Page()
    model = squeezenet()
    parameters = sum(prod(each.dims) for each in model.graph.initializer)
    page.heading("SqueezeNet, as the onnx package ships it, with random weights")
    page.line(
        f"  {len(model.graph.node)} nodes, {parameters / 1e6:.2f} million weights"
    )
    levels = Levels()
    start = perf_counter()
    exe = partita.compile(model, observers=[levels])
    seconds = perf_counter() - start
    show_levels(page, levels)
    show_run(page, model, exe)
    page.line(f"  compiled in {seconds:.1f} s (object code is cached: again is faster)")


if __name__ == "__main__":
    main()
