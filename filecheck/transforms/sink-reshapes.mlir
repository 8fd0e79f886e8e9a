// RUN: partita-opt %s -p sink-reshapes --split-input-file | filecheck %s

// Ops on one value that was reshaped are computed before, together.
func.func @together(%x : tensor<6x5xf32>) -> tensor<2x3x5xf32> {
  // CHECK:      func.func @together
  // CHECK-NEXT:   %[[T:.*]] = relay.tanh %x {partita.origin = "tanh_1"} : tensor<6x5xf32>
  // CHECK-NEXT:   %[[M:.*]] = relay.multiply %x, %[[T]]
  // CHECK-NEXT:   %[[Y:.*]] = relay.reshape %[[M]] {shape = array<i64: 2, 3, 5>}
  // CHECK-NEXT:   func.return %[[Y]]
  %0 = relay.reshape %x {shape = array<i64: 2, 3, 5>} : tensor<6x5xf32> -> tensor<2x3x5xf32>
  %1 = relay.tanh %0 {partita.origin = "tanh_1"} : tensor<2x3x5xf32>
  %2 = relay.multiply %0, %1 : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  func.return %2 : tensor<2x3x5xf32>
}

// -----

// A constant per channel follows the channels.
func.func @channels(%x : tensor<1x4x1x9xf32>) -> tensor<1x4x9xi1> {
  // CHECK:      func.func @channels
  // CHECK:        %[[C:.*]] = relay.reshape %{{.*}} {shape = array<i64: 1, 4, 1, 1>} : tensor<4x1xf32>
  // CHECK-NEXT:   %[[L:.*]] = relay.less %x, %[[C]]
  // CHECK-NEXT:   relay.reshape %[[L]] {shape = array<i64: 1, 4, 9>} : tensor<1x4x1x9xi1> -> tensor<1x4x9xi1>
  %c = relay.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %0 = relay.squeeze %x {axes = array<i64: 2>} : tensor<1x4x1x9xf32> -> tensor<1x4x9xf32>
  %1 = relay.less %0, %c : (tensor<1x4x9xf32>, tensor<4x1xf32>) -> tensor<1x4x9xi1>
  func.return %1 : tensor<1x4x9xi1>
}

// -----

// A reshape stays before an op that cares for it, and then for all ops.
func.func @shared(%x : tensor<6x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x1x5xf32>) {
  // CHECK:      func.func @shared
  // CHECK-NEXT:   %[[R:.*]] = relay.reshape %x
  // CHECK-NEXT:   relay.tanh %[[R]]
  // CHECK-NEXT:   relay.mean %[[R]]
  %0 = relay.reshape %x {shape = array<i64: 2, 3, 5>} : tensor<6x5xf32> -> tensor<2x3x5xf32>
  %1 = relay.tanh %0 : tensor<2x3x5xf32>
  %2 = relay.mean %0 {axes = array<i64: 1>, keepdims = true} : tensor<2x3x5xf32> -> tensor<2x1x5xf32>
  func.return %1, %2 : tensor<2x3x5xf32>, tensor<2x1x5xf32>
}

// -----

// Where a constant differs along a part of an axis, another operand is computed, or comes from another shape, all stays.
func.func @stays(%x : tensor<6x5xf32>, %y : tensor<2x3x5xf32>, %z : tensor<3x10xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<12x5xf32>) {
  // CHECK:      func.func @stays
  // CHECK:        relay.constant
  // CHECK:        %[[A:.*]] = relay.reshape %x
  // CHECK-NEXT:   relay.add %[[A]]
  // CHECK-NEXT:   %[[B:.*]] = relay.reshape %x
  // CHECK-NEXT:   relay.add %[[B]]
  // CHECK-NEXT:   %[[C:.*]] = relay.reshape %x
  // CHECK-NEXT:   %[[D:.*]] = relay.reshape %z
  // CHECK-NEXT:   relay.add %[[C]], %[[D]]
  // CHECK-NEXT:   %[[E:.*]] = relay.reshape %x
  // CHECK-NEXT:   relay.add %{{.*}}, %[[E]]
  %c = relay.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %k = relay.constant dense<1.0> : tensor<12x5xf32>
  %0 = relay.reshape %x {shape = array<i64: 2, 3, 5>} : tensor<6x5xf32> -> tensor<2x3x5xf32>
  %1 = relay.add %0, %c : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
  %2 = relay.reshape %x {shape = array<i64: 2, 3, 5>} : tensor<6x5xf32> -> tensor<2x3x5xf32>
  %3 = relay.add %2, %y : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %4 = relay.reshape %x {shape = array<i64: 2, 3, 5>} : tensor<6x5xf32> -> tensor<2x3x5xf32>
  %5 = relay.reshape %z {shape = array<i64: 2, 3, 5>} : tensor<3x10xf32> -> tensor<2x3x5xf32>
  %6 = relay.add %4, %5 : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %7 = relay.reshape %x {shape = array<i64: 6, 1, 5>} : tensor<6x5xf32> -> tensor<6x1x5xf32>
  %8 = relay.add %k, %7 : (tensor<12x5xf32>, tensor<6x1x5xf32>) -> tensor<6x12x5xf32>
  func.return %1, %3, %6, %k : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<12x5xf32>
}
