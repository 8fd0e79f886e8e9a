"""A model as a folder that anybody can build: C sources, a program that runs them on files, a Makefile, a README."""

import os
import shutil
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from partita.errors import CodegenError
from partita.runtime.tensors import content
from partita.shapes import shape_text
from partita.targets.c.compiler import FLAGS, STANDARD
from partita.targets.c.names import Names, identifier
from partita.targets.c.program import Program
from partita.targets.c.region import Parameter, Region
from partita.weights import Weight

NAME = "model"
"""What the function, its files and the program are called."""

RUNNER = ("main.c", "npy.c", "npy.h")
"""Files that are the same for every model."""

WEIGHT_FILE = "weights.bin"

ALIGNMENT = 64
"""Bytes to a multiple of which each weight stands in its file."""


def write_project(
    program: Program, directory: Path, cc: str = "cc", flags: str = ""
) -> None:
    """Write the folder of a program with one function, called `NAME`: all of it, or nothing.

    `flags` replace ours. Raises `CodegenError` if the folder holds something, or cannot be written.
    """
    (region,) = program.regions
    assert region.name == NAME
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise CodegenError(f"expected {directory} to be a new or empty folder")
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    except OSError as error:
        raise CodegenError(f"cannot write {directory}: {error.strerror}") from None
    try:
        for name, text in _texts(program, region, cc, flags):
            (partial / name).write_text(text)
        if region.weights:
            with (partial / WEIGHT_FILE).open("wb") as file:
                file.writelines(_weight_bytes(region.weights))
        partial.chmod(0o777 & ~_umask())
        partial.replace(directory)
    except OSError as error:
        raise CodegenError(f"cannot write {directory}: {error.strerror}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _texts(
    program: Program, region: Region, cc: str, flags: str
) -> Iterable[tuple[str, str]]:
    yield f"{NAME}.c", f'#include "{NAME}.h"\n\n{program.source}'
    yield f"{NAME}.h", _header(program)
    yield "signature.h", _signature(region)
    yield "Makefile", _makefile(cc, flags or " ".join(FLAGS))
    yield "README.md", _readme(region)
    runner = files("partita.targets.c") / "project-files"
    for name in RUNNER:
        yield name, (runner / name).read_text()


def _header(program: Program) -> str:
    return (
        f"#ifndef {NAME.upper()}_H\n#define {NAME.upper()}_H\n\n#include <stdint.h>\n\n"
        f"{program.declarations}\n\n#endif\n"
    )


def _makefile(cc: str, flags: str) -> str:
    return (
        f"CC = {cc}\nMACHINE =\nCFLAGS = {STANDARD} {flags} $(MACHINE)\nLDLIBS = -lm\n\n"
        f"{NAME}: main.o {NAME}.o npy.o\n\t$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)\n\n"
        f"main.o: {NAME}.h npy.h signature.h\n{NAME}.o: {NAME}.h\nnpy.o: npy.h\n\n"
        f"clean:\n\trm -f {NAME} main.o {NAME}.o npy.o\n\n.PHONY: clean\n"
    )


def type_code(dtype: str) -> str:
    """Return what `.npy` files call a dtype, little-endian."""
    return np.dtype(dtype).newbyteorder("<").str


def _signature(region: Region) -> str:
    offsets, size = weight_offsets(region.weights)
    file_names = output_files(region.outputs)
    lines = [
        "/* What main.c needs to know of the model. */",
        *(f"#define INPUTS {len(region.inputs)}",),
        *(f"#define OUTPUTS {len(region.outputs)}",),
        *(f"#define WEIGHTS {len(region.weights)}",),
        f"#define WEIGHT_BYTES {size}",
        "",
        *_tensors("input", region.inputs),
        *_tensors("output", region.outputs),
        *_array("const char *const output_files", map(_quoted, file_names)),
        *_array("const size_t weight_offsets", map(str, offsets)),
    ]
    return "\n".join(lines) + "\n"


def _tensors(kind: str, parameters: Sequence[Parameter]) -> Iterable[str]:
    for number, each in enumerate(parameters):
        extents = ", ".join(map(str, each.buffer.shape)) or "1"
        yield f"static const int64_t {kind}_shape_{number}[] = {{{extents}}};"
    rows = (
        f"{{{_quoted(each.label)}, {_quoted(type_code(each.dtype))}, {len(each.buffer.shape)}, "
        f"{kind}_shape_{number}, {each.buffer.count * np.dtype(each.dtype).itemsize}}}"
        for number, each in enumerate(parameters)
    )
    yield from _array(f"const struct tensor {kind}_tensors", rows, '{"", "", 0, 0, 0}')


def _array(start: str, rows: Iterable[str], nothing: str = "0") -> Iterable[str]:
    """Write an array, of one element that is nothing where there is none: C has no empty ones."""
    content = ",\n  ".join(rows) or nothing
    yield f"static {start}[] = {{\n  {content}\n}};"


def _quoted(text: str) -> str:
    """Write a string literal; bytes that are not plain are written in octal."""
    return '"' + "".join(_escaped(each) for each in text.encode()) + '"'


def _escaped(byte: int) -> str:
    plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if plain else f"\\{byte:03o}"


def output_files(outputs: Sequence[Parameter]) -> list[str]:
    """Return a file name for each output: its label as far as that can be one."""
    names = Names()
    return [
        f"{names.unique(each.label, f'output_{number}')}.npy"
        for number, each in enumerate(outputs)
    ]


def weight_offsets(weights: Sequence[Weight]) -> tuple[list[int], int]:
    """Return where each weight starts in the weights' file, and the size of that."""
    offsets: list[int] = []
    position = 0
    for each in weights:
        offsets.append(position)
        position += -(-each.content().nbytes // ALIGNMENT) * ALIGNMENT
    return offsets, position


def _weight_bytes(weights: Sequence[Weight]) -> Iterable[bytes | memoryview]:
    for each in weights:
        array = each.content()
        yield content(array.astype(array.dtype.newbyteorder("<"), copy=False))
        yield bytes(-array.nbytes % ALIGNMENT)


def _readme(region: Region) -> str:
    rows = [
        f"| {kind} | `{each.label}` | {each.dtype} | {shape_text(each.buffer.shape)} |"
        for kind, group in (("input", region.inputs), ("output", region.outputs))
        for each in group
    ]
    example = " ".join(
        f"'{each.label}={identifier(each.label, 'input')}.npy'"
        for each in region.inputs
    )
    weights = (
        f"\nWeights are in `{WEIGHT_FILE}`, which the program looks for beside itself; `--weights FILE` names\n"
        "another place. A caller of the function passes an array of pointers to them, in the order of the\n"
        "offsets in `signature.h`.\n"
        if region.weights
        else ""
    )
    return (
        "# A model as C\n\nC99, generated by Partita; it needs nothing but the C library with its `libm`.\n\n"
        "| | name | type | shape |\n|---|---|---|---|\n" + "\n".join(rows) + "\n\n"
        f"```sh\nmake\n./{NAME} {example}\n```\n\n"
        "`make MACHINE=-march=native` lets the compiler use all that this machine can do.\n\n"
        "An input is a `.npy` file, or a file of nothing but its elements, little-endian, the last axis\n"
        f"varying fastest. Outputs become `.npy` files; `--output FOLDER` says where.\n{weights}\n"
        f"To run it from a program, call one of the functions in `{NAME}.h`: `{region.name}` takes arrays, and\n"
        f"`{region.runner}` takes pointers to them in the order above. Arrays are dense, and of types as in the\n"
        "header: truth values are bytes of 0 or 1, half precision is kept as its bits. The memory that the\n"
        "function works in is static: calls must not overlap.\n\n"
        "| file | holds |\n|---|---|\n"
        f"| `{NAME}.c`, `{NAME}.h` | the model |\n"
        "| `main.c`, `signature.h` | the program |\n"
        "| `npy.c`, `npy.h` | arrays in files |\n"
    )
