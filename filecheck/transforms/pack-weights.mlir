// RUN: partita-opt %s -p pack-weights --split-input-file | filecheck %s
// RUN: partita-opt %s -p 'pack-weights{block=8}' --split-input-file | filecheck %s --check-prefix EIGHT

// Output channels become the last axis, in blocks; the weight is packed once for both users.
func.func @conv(%x : tensor<1x2x4x4xf32>) -> (tensor<1x32x4x4xf32>, tensor<1x32x4x4xf32>) {
  // CHECK:      func.func @conv
  // CHECK-NEXT:   %[[W:.*]] = relay.constant
  // CHECK-NEXT:   %[[P:.*]] = relay.layout_transform %[[W]] {partita.origin = "a", source = "OIHW", target = "OIHW16o"} : tensor<32x2x1x1xf32> -> tensor<2x2x1x1x16xf32>
  // CHECK-NEXT:   relay.conv2d %x, %[[P]] {partita.origin = "a", {{.*}}kernel_layout = "OIHW16o"}
  // CHECK-NEXT:   relay.conv2d %x, %[[P]] {{{.*}}kernel_layout = "OIHW16o"}
  // CHECK-NEXT:   func.return
  // EIGHT:        kernel_layout = "OIHW8o"
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<32x2x1x1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, partita.origin = "a"} : (tensor<1x2x4x4xf32>, tensor<32x2x1x1xf32>) -> tensor<1x32x4x4xf32>
  %1 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<32x2x1x1xf32>) -> tensor<1x32x4x4xf32>
  func.return %0, %1 : tensor<1x32x4x4xf32>, tensor<1x32x4x4xf32>
}

// -----

// The block is halved until it divides the output features.
func.func @dense(%x : tensor<3x2xf32>) -> tensor<3x12xf32> {
  // CHECK:      func.func @dense
  // CHECK:        relay.dense %x, %{{.*}} {weight_layout = "OI4o"} : (tensor<3x2xf32>, tensor<3x2x4xf32>)
  %w = relay.constant dense<1.0> : tensor<12x2xf32>
  %0 = relay.dense %x, %w : (tensor<3x2xf32>, tensor<12x2xf32>) -> tensor<3x12xf32>
  func.return %0 : tensor<3x12xf32>
}

// -----

// Groups, output channels that no block divides, weights that are arguments, and packed ones stay.
func.func @stays(%x : tensor<1x4x4x4xf32>, %v : tensor<16x4x1x1xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x10x4x4xf32>, tensor<1x16x4x4xf32>, tensor<1x8x4x4xf32>) {
  // CHECK:      func.func @stays
  // CHECK-NOT:    relay.layout_transform
  // CHECK:        func.return
  %g = relay.constant dense<1.0> : tensor<8x2x1x1xf32>
  %w = relay.constant dense<1.0> : tensor<10x4x1x1xf32>
  %p = relay.constant dense<1.0> : tensor<1x4x1x1x8xf32>
  %0 = relay.conv2d %x, %g {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x4x4xf32>, tensor<8x2x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x4x4xf32>, tensor<10x4x1x1xf32>) -> tensor<1x10x4x4xf32>
  %2 = relay.conv2d %x, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x4x4xf32>, tensor<16x4x1x1xf32>) -> tensor<1x16x4x4xf32>
  %3 = relay.conv2d %x, %p {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, kernel_layout = "OIHW8o"} : (tensor<1x4x4x4xf32>, tensor<1x4x1x1x8xf32>) -> tensor<1x8x4x4xf32>
  func.return %0, %1, %2, %3 : tensor<1x8x4x4xf32>, tensor<1x10x4x4xf32>, tensor<1x16x4x4xf32>, tensor<1x8x4x4xf32>
}
