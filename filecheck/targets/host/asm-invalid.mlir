// RUN: partita-opt %s -t 'asm{cpu="x86-64-v9" triple="x86_64-unknown-linux-gnu"}' --verify-diagnostics | filecheck %s --check-prefix CPU
// RUN: partita-opt %s -t 'asm{triple="x68_64-linux-gnu"}' --verify-diagnostics | filecheck %s --check-prefix TRIPLE

// CPU:    LLVM knows no processor x86-64-v9 for triple x86_64-unknown-linux-gnu; did you mean x86-64-v4?
// TRIPLE: no host code can be made for triple x68_64-linux-gnu; expected one such as
func.func private @nothing(%x : memref<4xf32>) attributes {partita.kernel} {
  func.return
}
