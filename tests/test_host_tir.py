"""Loops that no rule of ours writes today, but that are legal: host code runs them as the interpreter does."""

import numpy as np
import pytest
from compiled import assemble, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from partita.analysis.verification import verify
from partita.driver import context
from partita.errors import CodegenError
from partita.interpreters import interpret
from partita.runtime import Machine
from partita.targets.host.kernel import emit_kernel
from partita.transforms.pipeline import Pipeline, Verifier
from partita.transforms.plan_memory import PlanMemoryPass
from partita.transforms.split_stages import SplitStagesPass

KERNELS = {
    # Guards that differ between lanes, with loads of every stride beside them.
    "guarded lanes": """
      tir.for %i = 0 to 3 {
        tir.for %j = 0 to 8 vectorized {
          tir.block "b" spatial (%a in 20) at [%i * 8 + %j] where [%i * -8 - %j + 19] {
            %0 = tir.load %x[%a] : memref<64xf32>
            %1 = tir.load %x[%a * 2] : memref<64xf32>
            %2 = tir.load %x[%a * 3] : memref<64xf32>
            %3 = tir.load %x[%a floordiv 8] : memref<64xf32>
            %4 = tir.load %x[%a * -1 + 63] : memref<64xf32>
            %5 = tir.load %x[(%a * 7) mod 20] : memref<64xf32>
            %6 = arith.addf %0, %1 : f32
            %7 = arith.addf %2, %3 : f32
            %8 = arith.addf %4, %5 : f32
            %9 = arith.mulf %6, %7 : f32
            %10 = arith.subf %9, %8 : f32
            tir.store %10, %y[%a * 2 + 1] : memref<64xf32>
          }
        }
      }""",
    # Guards that hold in no lane at the end: what all lanes share must not be read there.
    "no lane runs": """
      tir.for %i = 0 to 4 {
        tir.for %j = 0 to 4 vectorized {
          tir.block "b" spatial (%a in 8) at [%i * 4 + %j] where [%i * -4 - %j + 6] {
            %0 = tir.load %x[%a * 8] : memref<64xf32>
            %1 = tir.load %x[%a floordiv 4 * 60] : memref<64xf32>
            %2 = arith.addf %0, %1 : f32
            tir.store %2, %y[%a] : memref<64xf32>
          }
        }
      }""",
    # Reads outside, where the block may be switched off besides.
    "padding under a guard": """
      tir.for %i = 0 to 5 {
        tir.for %j = 0 to 16 vectorized {
          tir.block "b" spatial (%a in 64) at [%i * 16 + %j] where [%i * -16 - %j + 63] {
            %c = arith.constant 3.0 : f32
            %0 = tir.load %x[%a - 5] else %c : memref<64xf32>
            %1 = tir.load %x[%a * 2 - 7] else %0 : memref<64xf32>
            tir.store %1, %y[%a] : memref<64xf32>
          }
        }
      }""",
    # A scalar guard and a scalar read outside.
    "alone": """
      tir.for %i = 0 to 100 {
        tir.block "b" spatial (%a in 64) at [%i] where [%i * -1 + 63, %i - 3] {
          %c = arith.constant -1.0 : f32
          %0 = tir.load %x[%a * 2 - 9] else %c : memref<64xf32>
          tir.store %0, %y[%a] : memref<64xf32>
        }
      }""",
    # A reduction whose first value is written in lanes, some of them off.
    "guarded reduction": """
      tir.for %i = 0 to 2 {
        tir.for %k = 0 to 6 {
          tir.for %j = 0 to 8 vectorized {
            tir.block "b" spatial (%a in 16) reduce (%r in 6) at [%i * 8 + %j, %k] where [%i * -8 - %j + 10] {
              %0 = tir.load %x[%a + %r] : memref<64xf32>
              %1 = tir.load %y[%a] : memref<64xf32>
              %2 = arith.addf %0, %1 : f32
              tir.store %2, %y[%a] : memref<64xf32>
            } init (%a) {
              %c = arith.constant 0.5 : f32
              tir.store %c, %y[%a] : memref<64xf32>
            }
          }
        }
      }""",
    # Loops that do not start at 0, of every kind, lanes inside lanes.
    "bounds": """
      tir.for %i = 1 to 4 parallel {
        tir.for %j = 2 to 4 unrolled {
          tir.for %k = 1 to 3 vectorized {
            tir.for %l = 1 to 5 vectorized {
              tir.block "b" spatial (%a in 64) at [%i * 16 + %j * 8 + %k * 4 + %l - 29] {
                %0 = tir.load %x[%a] : memref<64xf32>
                tir.store %0, %y[%a] : memref<64xf32>
              }
            }
          }
        }
      }""",
    # Two reduction axes, with an init inside the loops.
    "two axes": """
      tir.for %i = 0 to 4 parallel {
        tir.for %k = 0 to 3 {
          tir.for %l = 0 to 5 {
            tir.block "b" spatial (%a in 4) reduce (%r in 3, %s in 5) at [%i, %k, %l] {
              %0 = tir.load %x[%a * 15 + %r * 5 + %s] : memref<64xf32>
              %1 = tir.load %y[%a] : memref<64xf32>
              %2 = arith.maximumf %0, %1 : f32
              tir.store %2, %y[%a] : memref<64xf32>
            } init (%a) {
              %c = arith.constant -9.0 : f32
              tir.store %c, %y[%a] : memref<64xf32>
            }
          }
        }
      }""",
    # Bools that are kept for a while, and an index that depends on data.
    "bools and data": """
      tir.for %i = 0 to 4 {
        %t = memref.alloc() : memref<16xi1, "local">
        tir.for %j = 0 to 16 vectorized {
          tir.block "b" spatial (%a in 64, %b in 16) at [%i * 16 + %j, %j] {
            %0 = tir.load %x[%a] : memref<64xf32>
            %c = arith.constant 0.0 : f32
            %1 = arith.cmpf ogt, %0, %c : f32
            tir.store %1, %t[%b] : memref<16xi1, "local">
          }
        }
        tir.for %j = 0 to 16 vectorized {
          tir.block "c" spatial (%a in 64, %b in 16) at [%i * 16 + %j, %j] {
            %0 = tir.load %x[%a] : memref<64xf32>
            %1 = tir.load %t[%b * -1 + 15] : memref<16xi1, "local">
            %2 = arith.extui %1 : i1 to i32
            %3 = arith.index_cast %2 : i32 to index
            %c = arith.constant 5.0 : f32
            %4 = tir.load %x[%3 * 70 - %a] else %c : memref<64xf32>
            %5 = arith.select %1, %0, %4 : f32
            tir.store %5, %y[%a] : memref<64xf32>
          }
        }
      }""",
    # A local buffer whose lanes run along its first axis.
    "turned": """
      tir.for %i = 0 to 4 parallel {
        %t = memref.alloc() : memref<4x4xf32, "local">
        tir.for %k = 0 to 4 {
          tir.for %j = 0 to 4 vectorized {
            tir.block "b" spatial (%a in 4, %b in 4, %c in 4) at [%i, %j, %k] {
              %0 = tir.load %x[%a * 16 + %b * 4 + %c] : memref<64xf32>
              tir.store %0, %t[%b, %c] : memref<4x4xf32, "local">
            }
          }
        }
        tir.for %j = 0 to 4 {
          tir.for %k = 0 to 4 {
            tir.block "c" spatial (%a in 4, %b in 4, %c in 4) at [%i, %j, %k] {
              %0 = tir.load %t[%c, %b] : memref<4x4xf32, "local">
              tir.store %0, %y[%a * 16 + %b * 4 + %c] : memref<64xf32>
            }
          }
        }
      }""",
    # A buffer that is too large for a stack, a copy, and a constant.
    "stages": """
      %c = tir.constant dense<[1.0, -2.0, 3.0, -4.0]> : tensor<4xf32> -> memref<4xf32>
      %t = memref.alloc() : memref<64x4096xf32>
      tir.for %i = 0 to 64 parallel {
        tir.for %j = 0 to 4096 {
          tir.block "b" spatial (%a in 64, %b in 4096) at [%i, %j] {
            %0 = tir.load %x[%a] : memref<64xf32>
            %1 = tir.load %c[%b mod 4] : memref<4xf32>
            %2 = arith.mulf %0, %1 : f32
            tir.store %2, %t[%a, %b] : memref<64x4096xf32>
          }
        }
      }
      tir.for %i = 0 to 64 parallel {
        tir.block "c" spatial (%a in 64) at [%i] {
          %0 = tir.load %t[%a * -1 + 63, 4091] : memref<64x4096xf32>
          tir.store %0, %y[%a] : memref<64xf32>
        }
      }""",
    # Reads that are asked for some iterations ahead, behind the end of the buffer too.
    "fetched": """
      tir.for %i = 0 to 8 {
        tir.for %j = 0 to 8 vectorized {
          tir.block "b" spatial (%a in 8, %b in 8) at [%i, %j] {
            %0 = tir.load %x[%a * 8 + %b] : memref<64xf32>
            %1 = tir.load %x[%a * 9] : memref<64xf32>
            %2 = tir.load %x[%b * 8 + %a] : memref<64xf32>
            %3 = arith.addf %0, %1 : f32
            %4 = arith.subf %3, %2 : f32
            tir.store %4, %y[%a * 8 + %b] : memref<64xf32>
          }
        }
      } attributes {prefetch = 4 : i64}""",
    "copy": '"memref.copy"(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()',
}


def module_of(body: str) -> ModuleOp:
    """Make an entry that fills `y` with zeros, then calls a kernel on `x` and `y`."""
    arguments = "%x : memref<64xf32>, %y : memref<64xf32>"
    call = "(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()"
    text = f"""
      func.func @main({arguments}) attributes {{partita.entry, partita.signature = (tensor<64xf32>) -> tensor<64xf32>}} {{
        func.call @zero{call}
        func.call @k{call}
        func.return
      }}
      func.func private @zero({arguments}) attributes {{partita.kernel}} {{
        tir.for %i = 0 to 64 {{
          tir.block "zero" spatial (%a in 64) at [%i] {{
            %c = arith.constant 0.0 : f32
            tir.store %c, %y[%a] : memref<64xf32>
          }}
        }}
        func.return
      }}
      func.func private @k({arguments}) attributes {{partita.kernel}} {{
        {body}
        func.return
      }}"""
    module = Parser(context(), text).parse_module()
    verify(module)
    return module


@pytest.mark.parametrize("name", KERNELS)
def test_loops(name: str) -> None:
    module = module_of(KERNELS[name])
    x = np.random.default_rng(0).uniform(-2, 2, 64).astype(np.float32)
    (expected,) = interpret(module, [x])
    Pipeline((SplitStagesPass(), PlanMemoryPass()), (Verifier(),)).apply(
        context(), module
    )
    artifact = assemble(module, Machine.host())
    for threads in (1, 2):
        (result,) = run(artifact, [x], threads)
        np.testing.assert_allclose(
            result.astype(np.float64), expected.astype(np.float64), rtol=1e-6, atol=1e-6
        )


REFUSED = {
    "expected local buffers of at most 262144 bytes, got 262400; run split-stages": """
      %t = memref.alloc() : memref<65600xf32>
      tir.for %i = 0 to 64 {
        tir.block "b" spatial (%a in 64) at [%i] {
          %0 = tir.load %x[%a] : memref<64xf32>
          tir.store %0, %t[%a] : memref<65600xf32>
        }
      }""",
    "expected loops, blocks and local buffers, got memref.copy": KERNELS["copy"],
    "expected weights to be arguments of a kernel": """
      %w = tir.constant #partita.weight<"00112233445566778899aabbccddeeff"> -> memref<64xf32>
      tir.for %i = 0 to 64 {
        tir.block "b" spatial (%a in 64) at [%i] {
          %0 = tir.load %w[%a] : memref<64xf32>
          tir.store %0, %y[%a] : memref<64xf32>
        }
      }""",
    "expected prefetch of at least 1, got 0 : i64": """
      tir.for %i = 0 to 64 {
        tir.block "b" spatial (%a in 64) at [%i] {
          %0 = tir.load %x[%a] : memref<64xf32>
          tir.store %0, %y[%a] : memref<64xf32>
        }
      } attributes {prefetch = 0 : i64}""",
    r"from conv_1\): no host code can be made for arith.addui_extended": """
      tir.for %i = 0 to 64 {
        tir.block "b" spatial (%a in 64) at [%i] {
          %0 = arith.constant 1 : i32
          %1, %2 = arith.addui_extended %0, %0 {partita.origin = "conv_1"} : i32, i1
        }
      }""",
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(message: str) -> None:
    function = module_of(REFUSED[message]).body.block.last_op
    assert isinstance(function, FuncOp)
    with pytest.raises(CodegenError, match=message):
        emit_kernel(function, "k")
