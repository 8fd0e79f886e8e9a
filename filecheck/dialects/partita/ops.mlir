// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// CHECK-LABEL: @remainder
func.func @remainder(%x : f32, %y : f32) -> f32 {
  // CHECK-NEXT: %r = partita.remainder %x, %y : f32
  %r = partita.remainder %x, %y : f32
  func.return %r : f32
}
