// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @nothing_to_find(%x : tensor<2x0xf32>) {
  // CHECK: expected data with elements along axis 1, got none
  %y = relay.argmax %x {axis = 1 : i64, keepdims = true, select_last_index = false} : tensor<2x0xf32> -> tensor<2x1xi64>
  func.return
}

// -----

func.func @softmax_axis(%x : tensor<2x3xf32>) {
  // CHECK: expected axis in [0, 2), got 2
  %y = relay.softmax %x {axis = 2 : i64} : tensor<2x3xf32>
  func.return
}
