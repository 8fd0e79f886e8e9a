// RUN: partita-opt %s -p lower-te-to-tir --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected te.compute, relay.constant or func.call, got relay.relu; run lower-relay-to-te first
func.func @graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// CHECK: expected static shapes, got tensor<?xf32>; run specialize-shapes first
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}
