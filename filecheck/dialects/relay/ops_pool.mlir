// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Take the largest element of each window, NaN if there is one; padding never counts.
func.func @max_pool2d(%x : tensor<1x16x8x8xf32>) {
  // CHECK:      %y = relay.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x16x8x8xf32> -> tensor<1x16x4x4xf32>
  %y = relay.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x16x8x8xf32> -> tensor<1x16x4x4xf32>
  func.return
}

// Average the elements of each window.
func.func @avg_pool2d(%x : tensor<1x16x8x8xf32>) {
  // CHECK:      %y = relay.avg_pool2d %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, ceil_mode = false, count_include_pad = true} : tensor<1x16x8x8xf32> -> tensor<1x16x8x8xf32>
  %y = relay.avg_pool2d %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, ceil_mode = false, count_include_pad = true} : tensor<1x16x8x8xf32> -> tensor<1x16x8x8xf32>
  func.return
}

// A last window may hang over the end, but does not start beyond it.
func.func @ceil_mode(%x : tensor<1x1x6x7xf32>) {
  // CHECK:      %y = relay.max_pool2d %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = true} : tensor<1x1x6x7xf32> -> tensor<1x1x3x3xf32>
  %y = relay.max_pool2d %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = true} : tensor<1x1x6x7xf32> -> tensor<1x1x3x3xf32>
  // CHECK-NEXT: %z = relay.max_pool2d %x {kernel = array<i64: 1, 1>, strides = array<i64: 4, 4>, padding = array<i64: 0, 0, 1, 0>, dilation = array<i64: 1, 1>, ceil_mode = true} : tensor<1x1x6x7xf32> -> tensor<1x1x2x2xf32>
  %z = relay.max_pool2d %x {kernel = array<i64: 1, 1>, strides = array<i64: 4, 4>, padding = array<i64: 0, 0, 1, 0>, dilation = array<i64: 1, 1>, ceil_mode = true} : tensor<1x1x6x7xf32> -> tensor<1x1x2x2xf32>
  func.return
}

// Channels may be in blocks, as the last axis.
func.func @blocked(%x : tensor<1x2x8x8x4xf32>) {
  // CHECK:      %y = relay.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false, layout = "NCHW4c"} : tensor<1x2x8x8x4xf32> -> tensor<1x2x4x4x4xf32>
  %y = relay.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false, layout = "NCHW4c"} : tensor<1x2x8x8x4xf32> -> tensor<1x2x4x4x4xf32>
  func.return
}
