// RUN: partita-opt %s -p fold-padding --split-input-file | filecheck %s

// Zeros around an image become a convolution's own, on top of those that it has.
func.func @conv(%x : tensor<1x2x8x8xf32>, %w : tensor<4x2x3x3xf32>) -> tensor<1x4x13x11xf32> {
  // CHECK:      func.func @conv
  // CHECK-NEXT:   relay.conv2d %x, %w {partita.origin = "pad_1, conv_1", strides = array<i64: 1, 1>, padding = array<i64: 2, 2, 5, 3>, {{.*}}} : (tensor<1x2x8x8xf32>,
  // CHECK-NEXT:   func.return
  %0 = relay.pad %x {before = array<i64: 0, 0, 1, 2>, after = array<i64: 0, 0, 3, 1>, mode = "constant", value = 0.000000e+00 : f64, partita.origin = "pad_1"} : tensor<1x2x8x8xf32> -> tensor<1x2x12x11xf32>
  %1 = relay.conv2d %0, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 0, 2, 2>, dilation = array<i64: 1, 1>, groups = 1 : i64, partita.origin = "conv_1"} : (tensor<1x2x12x11xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x13x11xf32>
  func.return %1 : tensor<1x4x13x11xf32>
}

// -----

// An average that counts its padding counts this, too.
func.func @average(%x : tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> {
  // CHECK:      func.func @average
  // CHECK-NEXT:   relay.avg_pool2d %x {{{.*}}padding = array<i64: 1, 1, 1, 1>{{.*}}count_include_pad = true}
  %0 = relay.pad %x {before = array<i64: 0, 0, 1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "constant", value = 0.000000e+00 : f64} : tensor<1x2x8x8xf32> -> tensor<1x2x10x10xf32>
  %1 = relay.avg_pool2d %0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false, count_include_pad = false} : tensor<1x2x10x10xf32> -> tensor<1x2x8x8xf32>
  func.return %1 : tensor<1x2x8x8xf32>
}

// -----

// A maximum reads the least value outside an image, so only that moves.
func.func @maximum(%x : tensor<1x2x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) {
  // CHECK:      func.func @maximum
  // CHECK-NEXT:   relay.max_pool2d %x {{{.*}}padding = array<i64: 1, 1, 1, 1>
  // CHECK-NEXT:   %[[ZEROS:.*]] = relay.pad
  // CHECK-NEXT:   relay.max_pool2d %[[ZEROS]]
  %0 = relay.pad %x {before = array<i64: 0, 0, 1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "constant", value = 0xFFF0000000000000 : f64} : tensor<1x2x8x8xf32> -> tensor<1x2x10x10xf32>
  %1 = relay.max_pool2d %0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x2x10x10xf32> -> tensor<1x2x8x8xf32>
  %2 = relay.pad %x {before = array<i64: 0, 0, 1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "constant", value = 0.000000e+00 : f64} : tensor<1x2x8x8xf32> -> tensor<1x2x10x10xf32>
  %3 = relay.max_pool2d %2 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x2x10x10xf32> -> tensor<1x2x8x8xf32>
  func.return %1, %3 : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
}

// -----

// What others read stays padded for them.
func.func @shared(%x : tensor<1x1x4x4xf32>, %w : tensor<1x1x3x3xf32>) -> (tensor<1x1x6x6xf32>, tensor<1x1x4x4xf32>) {
  // CHECK:      func.func @shared
  // CHECK-NEXT:   %[[P:.*]] = relay.pad %x
  // CHECK-NEXT:   %[[Y:.*]] = relay.conv2d %x, %w {{{.*}}padding = array<i64: 1, 1, 1, 1>
  // CHECK-NEXT:   func.return %[[P]], %[[Y]]
  %0 = relay.pad %x {before = array<i64: 0, 0, 1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "constant", value = 0.000000e+00 : f64} : tensor<1x1x4x4xf32> -> tensor<1x1x6x6xf32>
  %1 = relay.conv2d %0, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  func.return %0, %1 : tensor<1x1x6x6xf32>, tensor<1x1x4x4xf32>
}

// -----

// Other values, other axes, cropping, other modes, and an average over the unpadded part only.
func.func @stays(%x : tensor<1x1x6x6xf32>, %w : tensor<1x1x3x3xf32>, %v : tensor<1x2x3x3xf32>) -> (tensor<1x1x6x6xf32>, tensor<1x1x6x6xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x6xf32>, tensor<1x1x6x6xf32>, tensor<1x1x8x8xf32>) {
  // CHECK:         func.func @stays
  // CHECK-COUNT-6:   relay.pad
  // CHECK-NOT:       padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups
  // CHECK:           func.return
  %0 = relay.pad %x {before = array<i64: 0, 0, 1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "constant", value = 1.000000e+00 : f64} : tensor<1x1x6x6xf32> -> tensor<1x1x8x8xf32>
  %1 = relay.conv2d %0, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32>
  %2 = relay.pad %x {before = array<i64: 0, 0, 1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "constant", value = -0.000000e+00 : f64} : tensor<1x1x6x6xf32> -> tensor<1x1x8x8xf32>
  %3 = relay.conv2d %2, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32>
  %4 = relay.pad %x {before = array<i64: 0, 1, 0, 0>, after = array<i64: 0, 0, 0, 0>, mode = "constant", value = 0.000000e+00 : f64} : tensor<1x1x6x6xf32> -> tensor<1x2x6x6xf32>
  %5 = relay.conv2d %4, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<1x2x3x3xf32>) -> tensor<1x1x4x4xf32>
  %6 = relay.pad %x {before = array<i64: 0, 0, -1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "constant", value = 0.000000e+00 : f64} : tensor<1x1x6x6xf32> -> tensor<1x1x6x8xf32>
  %7 = relay.conv2d %6, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x6x8xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x6xf32>
  %8 = relay.pad %x {before = array<i64: 0, 0, 1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "reflect", value = 0.000000e+00 : f64} : tensor<1x1x6x6xf32> -> tensor<1x1x8x8xf32>
  %9 = relay.conv2d %8, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32>
  %10 = relay.pad %x {before = array<i64: 0, 0, 1, 1>, after = array<i64: 0, 0, 1, 1>, mode = "constant", value = 0.000000e+00 : f64} : tensor<1x1x6x6xf32> -> tensor<1x1x8x8xf32>
  %11 = relay.avg_pool2d %10 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, ceil_mode = false, count_include_pad = false} : tensor<1x1x8x8xf32> -> tensor<1x1x8x8xf32>
  func.return %1, %3, %5, %7, %9, %11 : tensor<1x1x6x6xf32>, tensor<1x1x6x6xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x6xf32>, tensor<1x1x6x6xf32>, tensor<1x1x8x8xf32>
}
