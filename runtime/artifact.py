"""`model.partita`: a compiled model as one file, and as an object in memory.

The file is a zip archive of stored members, so that weights can be memory-mapped where they lie:

    manifest.json        format version, signature, targets, machine, and the size and digest of every other member
    plan.json            what a run does
    host/*.o             object code
    modules/<target>/…   what other targets emitted
    weights.safetensors  each weight once, named by its digest, at an aligned address
    graph.mlir           the graph that was compiled, for people

A reader trusts nothing: version, machine, member names, sizes and digests are checked, in this order, before any
member is parsed further, and nothing is executed. The manifest is guarded by the archive's own checksum. The digest of
`weights.safetensors` is that of its header, whose names are the digests of the weights: their content is hashed once.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from os import PathLike, cpu_count
from pathlib import Path
from typing import BinaryIO

from partita.errors import ArtifactError
from partita.runtime.archive import Member, read_archive, write_archive
from partita.runtime.external import KINDS, ExternalStep
from partita.runtime.files import replacing
from partita.runtime.json_reader import Node
from partita.runtime.machine import Machine
from partita.runtime.plan import KernelStep, Plan, Step
from partita.runtime.tensors import Array, decode, digest, encode, header_size

VERSION = 1
"""The format version; a reader accepts no other."""

MANIFEST, PLAN, WEIGHTS, GRAPH = (
    "manifest.json",
    "plan.json",
    "weights.safetensors",
    "graph.mlir",
)

MEMBER = re.compile(
    r"manifest\.json|plan\.json|weights\.safetensors|graph\.mlir"
    r"|host/[\w.+-]*\w\.o|modules(/[\w+-][\w.+-]*){2,}",
    re.ASCII,
)
"""The names that members may have."""

LARGEST_MANIFEST = 1 << 26


@dataclass(frozen=True)
class Artifact:
    """Everything that a run needs, and what is worth knowing about it."""

    plan: Plan
    machine: Machine
    """The machine that the objects were compiled for."""

    objects: Mapping[str, bytes]
    """Object code by member name, `host/….o`."""

    weights: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """The plan's weights by digest."""

    entry: str = "main"
    """The name of the function that was compiled."""

    targets: tuple[str, ...] = ("host",)
    graph: str = ""
    modules: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """What other targets emitted, by member name, `modules/<target>/…`."""

    @cached_property
    def folders(self) -> Mapping[str, Mapping[str, bytes]]:
        """The files of `modules`, by the folder that they are in and then their names in it."""
        folders: dict[str, dict[str, bytes]] = {}
        for member, content in self.modules.items():
            folder, _, name = member.rpartition("/")
            folders.setdefault(f"{folder}/", {})[name] = content
        return folders

    def check(self) -> None:
        """Raise `ArtifactError` for a plan that refers to what the artifact does not hold."""
        self.plan.check()
        for name in self.plan.weights:
            if name not in self.weights:
                raise ArtifactError(f"the plan needs weight {name}, which is missing")
        for step in self.plan.all_steps():
            if isinstance(step, KernelStep) and step.object not in self.objects:
                raise ArtifactError(f"the plan needs {step.object}, which is missing")
            for extent in step.extents:
                if extent.buffer.space != "weight":
                    continue
                name = self.plan.weights[extent.buffer.position]
                if extent.nbytes > self.weights[name].nbytes:
                    verb = "uses" if isinstance(step, ExternalStep) else "copies"
                    raise ArtifactError(
                        f"the plan {verb} {extent.nbytes} bytes of weight {name}, which has {self.weights[name].nbytes}"
                    )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the file, or leave nothing behind and raise `ArtifactError`."""
        self.check()
        path = Path(path)
        try:
            with replacing(path) as stream:
                self._write_members(stream)
        except OSError as error:
            reason = error.strerror or error
            raise ArtifactError(f"cannot write artifact {path}: {reason}") from None

    def _write_members(self, stream: BinaryIO) -> None:
        members = {PLAN: self.plan.text().encode(), GRAPH: self.graph.encode()}
        members |= {**self.objects, **self.modules}
        for name in members:
            if not MEMBER.fullmatch(name):
                raise ArtifactError(f"{name!r} is no name that a member can have")
        used = {name: self.weights[name] for name in self.plan.weights}
        header, contents = encode(used)
        sizes = {name: len(data) for name, data in members.items()}
        sizes[WEIGHTS] = len(header) + sum(each.nbytes for each in used.values())
        digests = {name: _digest(data) for name, data in members.items()}
        digests[WEIGHTS] = _digest(header)
        manifest = {
            "format": "partita",
            "version": VERSION,
            "entry": {
                "name": self.entry,
                "inputs": [each.json() for each in self.plan.inputs],
                "outputs": [each.json() for each in self.plan.outputs],
            },
            "targets": list(self.targets),
            "triple": self.machine.triple,
            "cpu": self.machine.cpu,
            "features": sorted(self.machine.features),
            "members": {
                name: {"bytes": sizes[name], "digest": digests[name]} for name in sizes
            },
        }
        members = {MANIFEST: json.dumps(manifest, indent=1).encode(), **members}
        aligned = Member(WEIGHTS, sizes[WEIGHTS], chain((header,), contents))
        write_archive(
            stream,
            (
                *(Member(name, len(data), (data,)) for name, data in members.items()),
                aligned,
            ),
        )

    @staticmethod
    def read(
        path: str | PathLike[str],
        *,
        machine: Machine | None = None,
        kinds: Iterable[type[Step]] = KINDS,
    ) -> "Artifact":
        """Read and check a file; weights stay on disk, memory-mapped, until they are used.

        Give the `machine` that has to run it, and the `kinds` of steps that are known.
        """
        path = Path(path)
        try:
            return _read(read_archive(path, summed=MANIFEST), machine, kinds)
        except ArtifactError as error:
            raise ArtifactError(f"{path}: {error}") from None


def _read(
    members: Mapping[str, memoryview],
    machine: Machine | None,
    kinds: Iterable[type[Step]],
) -> Artifact:
    """Check the members of an archive and make an artifact of them."""
    for name in members:
        if not MEMBER.fullmatch(name):
            raise ArtifactError(f"{name!r} is no name that a member can have")
    if MANIFEST not in members:
        raise ArtifactError("not a partita artifact")
    if len(members[MANIFEST]) > LARGEST_MANIFEST:
        raise ArtifactError("manifest.json is too large")
    manifest = Node.parse(bytes(members[MANIFEST]), MANIFEST)
    if "format" not in manifest or manifest["format"].value != "partita":
        raise ArtifactError("not a partita artifact")
    version = manifest["version"].integer()
    if version != VERSION:
        raise ArtifactError(
            f"expected format version {VERSION}, got {version}; compile the model again"
        )
    made_for = Machine(
        manifest["triple"].string(),
        manifest["cpu"].string(),
        frozenset(manifest["features"].each(Node.string)),
    )
    if machine is not None:
        made_for.check(machine)
    _check_members(members, manifest["members"].fields())
    weights = decode(members[WEIGHTS], WEIGHTS)
    _check_weights(weights)
    plan = Plan.parse(bytes(members[PLAN]), PLAN, kinds)
    signature = manifest["entry"]
    if any(
        [each.json() for each in tensors] != signature[key].value
        for key, tensors in (("inputs", plan.inputs), ("outputs", plan.outputs))
    ):
        raise ArtifactError("manifest.json and plan.json disagree on the signature")
    artifact = Artifact(
        plan=plan,
        machine=made_for,
        objects=_folder(members, "host/"),
        weights=weights,
        entry=signature["name"].string(),
        targets=manifest["targets"].each(Node.string),
        graph=str(members[GRAPH], "utf-8", "replace"),
        modules=_folder(members, "modules/"),
    )
    artifact.check()
    return artifact


def _folder(members: Mapping[str, memoryview], prefix: str) -> dict[str, bytes]:
    return {
        name: bytes(data) for name, data in members.items() if name.startswith(prefix)
    }


def _digest(data: bytes | memoryview) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _check_members(members: Mapping[str, memoryview], listed: dict[str, Node]) -> None:
    """Compare what is there with what the manifest lists: names, then sizes, then digests."""
    present = members.keys() - {MANIFEST}
    for name in sorted({PLAN, WEIGHTS, GRAPH, *listed} - present):
        raise ArtifactError(f"{name!r} is missing")
    for name in sorted(present - listed.keys()):
        raise ArtifactError(f"{name!r} is not listed in manifest.json")
    for name, node in listed.items():
        if len(members[name]) != node["bytes"].integer():
            raise ArtifactError(f"{name!r} has a wrong size; the file is damaged")
    for name, node in listed.items():
        guarded = members[name]
        if name == WEIGHTS:
            guarded = guarded[: header_size(guarded, WEIGHTS)]
        if _digest(guarded) != node["digest"].string():
            raise ArtifactError(f"{name!r} has a wrong digest; the file is damaged")


def _check_weights(weights: Mapping[str, Array]) -> None:
    """Compare every weight with its name, the large ones on several threads."""

    def check(name: str) -> None:
        if digest(weights[name]) != name:
            raise ArtifactError(
                f"weight {name} has a wrong digest; the file is damaged"
            )

    if sum(each.nbytes for each in weights.values()) < 1 << 24:
        for name in weights:
            check(name)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(4, cpu_count() or 1)) as pool:
        for _ in pool.map(check, weights):
            pass
