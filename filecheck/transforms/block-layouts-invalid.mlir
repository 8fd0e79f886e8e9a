// RUN: partita-opt %s -p 'block-layouts{block=2}' --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected block of at least 4, got 2
func.func @main() {
  func.return
}
