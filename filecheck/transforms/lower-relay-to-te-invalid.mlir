// RUN: partita-opt %s -p lower-relay-to-te --verify-diagnostics | filecheck %s

// CHECK: expected static shapes, got tensor<?xf32>; run specialize-shapes first (from relu_1)
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.relu %x {partita.origin = "relu_1"} : tensor<?xf32>
  func.return %y : tensor<?xf32>
}
