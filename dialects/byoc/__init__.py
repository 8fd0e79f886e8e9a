"""Code of other targets: functions that the host calls and never looks into.

A graph is divided between back ends here. Until then, ops only carry attributes that say where they will run
(`TARGET`, `REGION`); then each target's part becomes functions of one `byoc.module`, which the pass runner takes out of
the module around every pass that is not declared target-aware. Code generation replaces the functions by binaries. A
call has value semantics on tensors, and after `lower-te-to-tir` gets buffers for its results as last arguments.

| file | ops |
|---|---|
| `annotations` | names of attributes, no ops |
| `module` | `byoc.module`: the external functions of one target |
| `call` | `byoc.call`: the call of one of them |
| `composite` | `byoc.composite`, `byoc.yield`: ops that a back end runs as one |
| `inlining` | copies of ops in the place of what stands for them, no ops |
| `binary` | `byoc.binary`: what code generation leaves of a function |
"""

from xdsl.ir import Dialect

from partita.dialects.byoc.annotations import HOST, HOST_CODE, REGION, REJECTED, TARGET
from partita.dialects.byoc.binary import BinaryOp, Files, FilesAttr
from partita.dialects.byoc.call import CallOp, buffer_signature
from partita.dialects.byoc.composite import CompositeOp, YieldOp
from partita.dialects.byoc.inlining import inline_composite, inline_function
from partita.dialects.byoc.module import (
    ORIGINALS,
    ByocModuleOp,
    external_modules,
    target_name,
)

Byoc = Dialect(
    "byoc", [ByocModuleOp, CallOp, CompositeOp, YieldOp, BinaryOp], [FilesAttr]
)

__all__ = [
    "HOST",
    "HOST_CODE",
    "ORIGINALS",
    "REGION",
    "REJECTED",
    "TARGET",
    "BinaryOp",
    "Byoc",
    "ByocModuleOp",
    "CallOp",
    "CompositeOp",
    "Files",
    "FilesAttr",
    "YieldOp",
    "buffer_signature",
    "external_modules",
    "inline_composite",
    "inline_function",
    "target_name",
]
