"""Processors by name: what they can do, and code that keeps to it."""

import pytest

from partita.errors import ArtifactError, OptionError
from partita.runtime import Machine
from partita.targets.host.native import Compiler
from partita.targets.host.processors import FEATURES, feature_flags, machine_named
from partita.transforms.loop_rules.tiles import Registers

X86 = "x86_64-unknown-linux-gnu"
ARM = "aarch64-unknown-linux-gnu"

ADD = """
define void @add(ptr %x) {
  %v = load <16 x float>, ptr %x
  %w = fadd <16 x float> %v, %v
  store <16 x float> %w, ptr %x
  ret void
}
attributes #0 = { "prefer-vector-width"="512" }
""".replace("(ptr %x) {", "(ptr %x) #0 {")


@pytest.mark.parametrize(
    ("triple", "cpu", "bits", "register"),
    [
        (X86, "x86-64", 128, "xmm"),
        (X86, "nehalem", 128, "xmm"),
        (X86, "x86-64-v3", 256, "ymm"),
        (X86, "znver2", 256, "ymm"),
        (X86, "skylake-avx512", 512, "zmm"),
        (X86, "znver5", 512, "zmm"),
        (ARM, "cortex-a72", 128, ".4s"),
    ],
)
def test_registers_are_those_of_the_processor(
    triple: str, cpu: str, bits: int, register: str
) -> None:
    machine = machine_named(triple, cpu)
    assert Registers.of(machine).bits == bits
    text = Compiler(machine).assemble(ADD)
    wider = {"xmm": ("ymm", "zmm"), "ymm": ("zmm",)}.get(register, ())
    assert register in text
    assert not any(each in text for each in wider)


def test_a_level_includes_the_one_before() -> None:
    levels = [
        machine_named(X86, f"x86-64{level}").features
        for level in ("", "-v2", "-v3", "-v4")
    ]
    assert levels[0] == frozenset()
    assert "popcnt" in levels[1]
    assert levels[1] < levels[2] < levels[3]


def test_hidden_features_are_not_used() -> None:
    """A virtual machine may hide AVX-512 of a processor that has it."""
    named = machine_named(X86, "skylake-avx512")
    hidden = frozenset(each for each in named.features if "avx512" not in each)
    text = Compiler(Machine(X86, named.cpu, hidden)).assemble(ADD)
    assert "ymm" in text
    assert "zmm" not in text


def test_flags_say_yes_or_no_to_every_feature() -> None:
    flags = feature_flags(machine_named(X86, "haswell")).split(",")
    assert sorted(each[1:] for each in flags) == sorted(FEATURES["x86_64"])
    assert {"+avx2", "-avx512f"} <= set(flags)


def test_code_for_more_than_this_cpu_has_is_refused() -> None:
    haswell, nehalem = machine_named(X86, "haswell"), machine_named(X86, "nehalem")
    nehalem.check(haswell)
    with pytest.raises(ArtifactError, match=r"compiled for avx, avx2, .* and \d+ more"):
        haswell.check(nehalem)


def test_this_machine() -> None:
    host = Machine.host()
    assert machine_named() == machine_named(cpu="native") == host
    assert machine_named(host.triple, host.cpu) == host


def test_unknown_names() -> None:
    with pytest.raises(OptionError, match="no host code can be made for triple vax"):
        machine_named("vax")
    with pytest.raises(
        OptionError, match=r"no processor haswel for .*; did you mean haswell"
    ):
        machine_named(X86, "haswel")
