// RUN: partita-opt %s -p 'pad-channels{block=0}' --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected block of at least 1, got 0
func.func @main() {
  func.return
}
