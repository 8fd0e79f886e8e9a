// RUN: partita-opt %s -p merge-equal-ops --split-input-file | filecheck %s

// Equality propagates to users, and constants take part.
func.func @tree(%x : tensor<2xf32>) -> tensor<2xf32> {
  // CHECK:      func.func @tree
  // CHECK-NEXT:   %[[C:.*]] = relay.constant {partita.origin = "a, b"} dense<3.000000e+00> : tensor<2xf32>
  // CHECK-NEXT:   %[[P:.*]] = relay.power %x, %[[C]] {partita.origin = "c, d"}
  // CHECK-NEXT:   %[[Y:.*]] = relay.add %[[P]], %[[P]] {partita.origin = "e"}
  // CHECK-NEXT:   func.return %[[Y]]
  %0 = relay.constant {partita.origin = "a"} dense<3.0> : tensor<2xf32>
  %1 = relay.constant {partita.origin = "b"} dense<3.0> : tensor<2xf32>
  %2 = relay.power %x, %0 {partita.origin = "c"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = relay.power %x, %1 {partita.origin = "d"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = relay.add %2, %3 {partita.origin = "e"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %4 : tensor<2xf32>
}

// -----

// Handles are equal by digest, loaded or not.
func.func @weights() -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  // CHECK:      func.func @weights
  // CHECK-NEXT:   %[[W:.*]] = relay.constant #partita.weight<"00112233445566778899aabbccddeeff">
  // CHECK-NEXT:   func.return %[[W]], %[[W]]
  %0 = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<4x5xf32>
  %1 = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<4x5xf32>
  func.return %0, %1 : tensor<4x5xf32>, tensor<4x5xf32>
}

// -----

// Other attributes, operands and types count.
func.func @different(%x : tensor<6xf32>, %y : tensor<6xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  // CHECK:      func.func @different
  // CHECK-NEXT:   relay.reshape
  // CHECK-NEXT:   relay.reshape
  // CHECK-NEXT:   relay.subtract
  // CHECK-NEXT:   relay.subtract
  // CHECK-NEXT:   relay.subtract
  // CHECK-NEXT:   func.return
  %0 = relay.reshape %x {shape = array<i64: 2, 3>} : tensor<6xf32> -> tensor<2x3xf32>
  %1 = relay.reshape %x {shape = array<i64: 3, 2>} : tensor<6xf32> -> tensor<3x2xf32>
  %2 = relay.subtract %x, %y : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %3 = relay.subtract %y, %x : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %4 = relay.subtract %y, %x {note = "kept"} : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  func.return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<3x2xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
