// RUN: partita-opt %s -t 'asm{cpu="x86-64-v3" triple="x86_64-unknown-linux-gnu"}' | filecheck %s --check-prefix AVX
// RUN: partita-opt %s -t 'asm{cpu="x86-64-v4" triple="x86_64-unknown-linux-gnu"}' | filecheck %s --check-prefix AVX512
// RUN: partita-opt %s -t 'asm{triple="aarch64-unknown-linux-gnu"}' | filecheck %s --check-prefix NEON
// RUN: partita-opt %s -t asm | filecheck %s --check-prefix HERE

// Lanes become the registers that the processor has: two of 256 bits, one of 512, four of 128.
// AVX-LABEL:    add:
// AVX-COUNT-2:  vaddps {{.*}}%ymm
// AVX:          retq

// AVX512-LABEL: add:
// AVX512:       vaddps {{.*}}%zmm
// AVX512:       retq

// NEON-LABEL:   add:
// NEON-COUNT-4: fadd v{{[0-9]+}}.4s
// NEON:         ret

// Without options, the code is for this machine.
// HERE-LABEL:   add:
func.func private @add(%x : memref<16xf32>, %y : memref<16xf32>, %z : memref<16xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 16 vectorized {
    tir.block "add" spatial (%a in 16) at [%i] {
      %v = tir.load %x[%a] : memref<16xf32>
      %w = tir.load %y[%a] : memref<16xf32>
      %s = arith.addf %v, %w : f32
      tir.store %s, %z[%a] : memref<16xf32>
    }
  }
  func.return
}
