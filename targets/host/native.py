"""Object code: what LLVM makes of a kernel's text, for a processor, kept on disk by content."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from platformdirs import user_cache_path

from partita.errors import CodegenError
from partita.runtime.llvm import binding
from partita.runtime.machine import Machine
from partita.targets.host.processors import feature_flags

SPEED_LEVEL = 3
"""How hard LLVM tries; schedules leave it little to do."""


@dataclass(frozen=True)
class Compiler:
    """LLVM, set up for a machine."""

    machine: Machine

    @cached_property
    def features(self) -> str:
        """The features that code may use and those that it must not, as LLVM wants them."""
        return feature_flags(self.machine)

    @cached_property
    def _target(self) -> Any:
        llvm: Any = binding()
        return llvm.Target.from_triple(self.machine.triple).create_target_machine(
            cpu=self.machine.cpu,
            features=self.features,
            opt=SPEED_LEVEL,
            reloc="pic",
            codemodel="default",
        )

    def optimize(self, text: str) -> Any:
        """Return the optimized LLVM module of a text; `CodegenError` if the text is wrong."""
        llvm: Any = binding()
        try:
            module = llvm.parse_assembly(
                f'target triple = "{self.machine.triple}"\n{text}'
            )
            module.verify()
        except RuntimeError as error:
            raise CodegenError(f"LLVM refuses the text of a kernel: {error}") from None
        module.data_layout = str(self._target.target_data)
        options = llvm.create_pipeline_tuning_options(speed_level=SPEED_LEVEL)
        options.loop_vectorization = True
        options.slp_vectorization = True
        builder = llvm.create_pass_builder(self._target, options)
        builder.getModulePassManager().run(module, builder)
        return module

    def compile(self, text: str) -> bytes:
        """Return the object code of a text."""
        return self._target.emit_object(self.optimize(text))

    def assemble(self, text: str) -> str:
        """Return the assembly of a text."""
        return self._target.emit_assembly(self.optimize(text))


@dataclass(frozen=True)
class ObjectCache:
    """Object code on disk, under a hash of what it is made from. Losing it costs time only."""

    folder: Path

    @staticmethod
    def default() -> "ObjectCache":
        """Return the user's cache."""
        return ObjectCache(user_cache_path("partita") / "objects")

    def compile(self, compiler: Compiler, text: str) -> bytes:
        """Return object code, made only if it is not in the cache."""
        path = self.folder / f"{_key(compiler, text)}.o"
        try:
            code = path.read_bytes()
            if len(code) > DIGEST and _digest(code[DIGEST:]) == code[:DIGEST]:
                return code[DIGEST:]
        except OSError:
            pass
        code = compiler.compile(text)
        self._keep(path, _digest(code) + code)
        return code

    def _keep(self, path: Path, content: bytes) -> None:
        """Write a file whole or not at all; a cache that cannot be written is not used."""
        name = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self.folder, delete=False) as file:
                name = Path(file.name)
                file.write(content)
            name.replace(path)
        except OSError:
            if name is not None:
                name.unlink(missing_ok=True)


DIGEST = 16
"""Bytes of the digest that an object file in the cache starts with: a torn file is made again."""


def _digest(code: bytes) -> bytes:
    return blake2b(code, digest_size=DIGEST).digest()


def _key(compiler: Compiler, text: str) -> str:
    """Return the hash of what an object is made from: text, machine and LLVM."""
    state = blake2b(digest_size=16)
    for part in (
        compiler.machine.triple,
        compiler.machine.cpu,
        compiler.features,
        version("llvmlite"),
        f"O{SPEED_LEVEL}",
        text,
    ):
        state.update(part.encode() + b"\0")
    return state.hexdigest()
