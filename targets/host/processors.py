"""Processors by LLVM's names: which there are, and which instructions each of them has."""

import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from partita.errors import OptionError, did_you_mean
from partita.runtime.llvm import binding
from partita.runtime.machine import Machine

GENERIC = "generic"
"""What LLVM calls the least processor of any architecture."""

FEATURES: Mapping[str, tuple[str, ...]] = {
    "x86_64": (
        *("sse3", "ssse3", "sse4.1", "sse4.2", "sse4a", "avx", "avx2", "f16c", "fma"),
        *("fma4", "xop", "tbm", "lwp", "popcnt", "lzcnt", "bmi", "bmi2", "adx"),
        *("movbe", "crc32", "aes", "pclmul", "vaes", "vpclmulqdq", "gfni"),
        *("sha", "sha512", "sm3", "sm4", "avx512f", "avx512bw", "avx512cd"),
        *("avx512dq", "avx512vl", "avx512ifma", "avx512vbmi", "avx512vbmi2"),
        *("avx512vnni", "avx512bitalg", "avx512vpopcntdq", "avx512bf16"),
        *("avx512fp16", "avx512vp2intersect", "avxvnni", "avxvnniint8"),
        *("avxvnniint16", "avxifma", "avxneconvert", "avx10.1", "avx10.2"),
        *("egpr", "ndd", "ccmp", "cf", "nf", "ppx", "push2pop2", "zu"),
        *("amx-tile", "amx-int8", "amx-bf16", "amx-fp16", "amx-complex"),
        *("movdiri", "movdir64b", "prfchw", "raoint", "cmpccxadd"),
    ),
    "aarch64": (
        *("crc", "aes", "sha2", "sha3", "sm4", "lse", "rdm", "dotprod"),
        *("fullfp16", "fp16fml", "bf16", "i8mm", "jsconv", "complxnum", "rcpc"),
        *("sve", "sve2", "sme", "sme2"),
    ),
}
"""By architecture, the features that not every processor of it has and that compilers use."""


def machine_named(triple: str | None = None, cpu: str | None = None) -> Machine:
    """Return a machine by LLVM's names: this one, as far as it is not named.

    Raises `OptionError` if LLVM here makes no code for the triple, or does not know the
    processor.
    """
    host = Machine.host()
    triple = triple or host.triple
    if triple == host.triple and cpu in (None, "native", host.cpu):
        return host
    llvm = _all_targets()
    try:
        llvm.Target.from_triple(triple)
    except RuntimeError:
        raise OptionError(
            f"no host code can be made for triple {triple}; expected one such as {host.triple}"
        ) from None
    cpu = cpu or GENERIC
    if cpu not in (known := _processors(triple)):
        raise OptionError(
            f"LLVM knows no processor {cpu} for triple {triple}{did_you_mean(cpu, known)}"
        )
    return Machine(triple, cpu, features_of(triple, cpu))


def feature_flags(machine: Machine) -> str:
    """Return what code may use and what it must not, as LLVM wants it.

    The name of a processor alone is not enough: a virtual machine may hide features that
    processors of the name have.
    """
    known = FEATURES.get(machine.architecture, ())
    hidden = (each for each in known if each not in machine.features)
    return ",".join(
        (
            *(f"+{each}" for each in sorted(machine.features)),
            *(f"-{each}" for each in hidden),
        )
    )


@cache
def features_of(triple: str, cpu: str) -> frozenset[str]:
    """Return those of `FEATURES` that every processor of a name has.

    LLVM does not list them, but it inlines a function only into one that may use the same
    features: so for each there is a function that uses it, and a caller for the processor.
    """
    llvm = _all_targets()
    names = FEATURES.get(Machine(triple, cpu, frozenset()).architecture, ())
    lines = [f'target triple = "{triple}"', "@place = external global i32"]
    for number, name in enumerate(names):
        lines.append(
            f'define internal void @f{number}() "target-cpu"="{cpu}" "target-features"="+{name}" {{\n'
            f"  store volatile i32 {number}, ptr @place\n  ret void\n}}\n"
            f'define void @caller{number}() "target-cpu"="{cpu}" {{\n'
            f"  call void @f{number}()\n  ret void\n}}"
        )
    module = llvm.parse_assembly("\n".join(lines))
    target = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    left = {function.name for function in module.functions}
    return frozenset(
        name for number, name in enumerate(names) if f"f{number}" not in left
    )


def _processors(triple: str) -> frozenset[str]:
    """Return the names of the processors of a triple, which LLVM tells a process on standard error only."""
    program = (
        "import sys, llvmlite.binding as llvm;"
        "llvm.initialize_all_targets(); llvm.initialize_all_asmprinters();"
        "llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu='help')"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, triple],
        capture_output=True,
        text=True,
        check=False,
    ).stderr
    listed = told.partition("Available CPUs")[2].partition("Available features")[0]
    return frozenset(re.findall(r"^\s+(\S+)\s+- ", listed, re.MULTILINE))


def _all_targets() -> Any:
    llvm = binding()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm
