// RUN: partita-opt %s -p matmul-to-dense --split-input-file | filecheck %s

// A matrix is transposed once, for all products with it.
func.func @twice(%x : tensor<2x3xf32>, %y : tensor<5x3xf32>) -> (tensor<2x4xf32>, tensor<5x4xf32>) {
  // CHECK:      func.func @twice
  // CHECK-NEXT:   %[[W:.*]] = relay.constant
  // CHECK-NEXT:   %[[T:.*]] = relay.transpose %[[W]] {partita.origin = "a", axes = array<i64: 1, 0>}
  // CHECK-NEXT:   relay.dense %x, %[[T]] {partita.origin = "a"}
  // CHECK-NEXT:   relay.dense %y, %[[T]] {partita.origin = "b"}
  // CHECK-NEXT:   func.return
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<3x4xf32>
  %0 = relay.matmul %x, %w {partita.origin = "a"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = relay.matmul %y, %w {partita.origin = "b"} : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  func.return %0, %1 : tensor<2x4xf32>, tensor<5x4xf32>
}

// -----

// Stacks of rows, and a single one.
func.func @rows(%x : tensor<7x2x3xf32>, %y : tensor<3xf32>) -> (tensor<7x2x4xf32>, tensor<4xf32>) {
  // CHECK:      func.func @rows
  // CHECK:        %[[X:.*]] = relay.reshape %x {shape = array<i64: 14, 3>}
  // CHECK-NEXT:   %[[D:.*]] = relay.dense %[[X]]
  // CHECK-NEXT:   relay.reshape %[[D]] {shape = array<i64: 7, 2, 4>}
  // CHECK-NEXT:   %[[Y:.*]] = relay.reshape %y {shape = array<i64: 1, 3>}
  // CHECK-NEXT:   %[[E:.*]] = relay.dense %[[Y]]
  // CHECK-NEXT:   relay.reshape %[[E]] {shape = array<i64: 4>}
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<3x4xf32>
  %0 = relay.matmul %x, %w : (tensor<7x2x3xf32>, tensor<3x4xf32>) -> tensor<7x2x4xf32>
  %1 = relay.matmul %y, %w : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<7x2x4xf32>, tensor<4xf32>
}

// -----

// Computed matrices, stacks of constant ones, columns and dynamic stacks of rows stay.
func.func @stays(%x : tensor<2x2x3xf32>, %a : tensor<3x4xf32>, %d : tensor<?x2x3xf32>) -> (tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2xf32>, tensor<?x2x4xf32>) {
  // CHECK:         func.func @stays
  // CHECK-COUNT-4:   relay.matmul
  // CHECK-NEXT:      func.return
  %w = relay.constant dense<1.0> : tensor<2x3x4xf32>
  %v = relay.constant dense<1.0> : tensor<3xf32>
  %u = relay.constant dense<1.0> : tensor<3x4xf32>
  %0 = relay.matmul %x, %a : (tensor<2x2x3xf32>, tensor<3x4xf32>) -> tensor<2x2x4xf32>
  %1 = relay.matmul %x, %w : (tensor<2x2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  %2 = relay.matmul %x, %v : (tensor<2x2x3xf32>, tensor<3xf32>) -> tensor<2x2xf32>
  %3 = relay.matmul %d, %u : (tensor<?x2x3xf32>, tensor<3x4xf32>) -> tensor<?x2x4xf32>
  func.return %0, %1, %2, %3 : tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2xf32>, tensor<?x2x4xf32>
}
