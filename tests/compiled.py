"""Modules as host executables, without the graph passes that `partita.compile` runs before."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from partita.analysis.entry import entry_of
from partita.dialects.partita import KERNEL
from partita.driver import context
from partita.interpreters.scalar import Array
from partita.runtime import Artifact, Executable, Machine
from partita.targets.backend import CodegenContext
from partita.targets.host import Host
from partita.targets.host.plan import build_plan
from partita.targets.host.schedule_host import ScheduleHostPass
from partita.transforms.pipeline import Pipeline, Verifier

HOST = Host(cache="none")


def lower(module: ModuleOp, machine: Machine, scheduled: bool = True) -> None:
    """Run the host's passes on a module of `relay`, in place."""
    passes = tuple(
        each
        for each in HOST.pipeline(module, machine)
        if scheduled or not isinstance(each, ScheduleHostPass)
    )
    Pipeline(passes, (Verifier(),)).apply(context(), module)


def assemble(module: ModuleOp, machine: Machine) -> Artifact:
    """Make code of a lowered module."""
    kernels = [
        each
        for each in module.ops
        if isinstance(each, FuncOp) and KERNEL in each.attributes
    ]
    code = HOST.codegen(kernels, CodegenContext(machine))
    names = [kernel.sym_name.data for kernel in kernels]
    program = build_plan(entry_of(module), dict(zip(names, code, strict=True)))
    objects = {each.member: each.content for each in code}
    return Artifact(program.plan, machine, objects, program.weights)


def run(artifact: Artifact, inputs: Sequence[Array], threads: int = 1) -> list[Array]:
    """Run an artifact once, on inputs in order, and return the outputs in order."""
    executable = Executable(artifact, threads=threads)
    try:
        names = [each.name for each in executable.inputs]
        return list(executable.run(dict(zip(names, inputs, strict=True))).values())
    finally:
        executable.close()
