// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Slide filters over an image of channels, `NCHW`.
func.func @conv2d(%x : tensor<1x16x8x8xf32>, %w : tensor<32x16x3x3xf32>) {
  // CHECK:      %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
  func.return
}

// Multiply rows by a transposed weight matrix.
func.func @dense(%x : tensor<1x4xf32>, %w : tensor<8x4xf32>) {
  // CHECK:      %y = relay.dense %x, %w : (tensor<1x4xf32>, tensor<8x4xf32>) -> tensor<1x8xf32>
  %y = relay.dense %x, %w : (tensor<1x4xf32>, tensor<8x4xf32>) -> tensor<1x8xf32>
  func.return
}

// Multiply matrices, or stacks of matrices that broadcast, as numpy's `matmul` does.
func.func @matmul(%a : tensor<5x2x3xf32>, %b : tensor<3x4xf32>) {
  // CHECK:      %y = relay.matmul %a, %b : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  %y = relay.matmul %a, %b : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  func.return
}

// Filters may have output channels in blocks, as the last axis.
func.func @blocked(%x : tensor<1x4x8x8xf32>, %w : tensor<2x4x3x3x16xf32>, %r : tensor<1x4xf32>, %v : tensor<2x4x16xf32>) {
  // CHECK:      %y = relay.conv2d %x, %w {strides = array<i64: 2, 1>, padding = array<i64: 0, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64, kernel_layout = "OIHW16o"} : (tensor<1x4x8x8xf32>, tensor<2x4x3x3x16xf32>) -> tensor<1x32x4x8xf32>
  %y = relay.conv2d %x, %w {strides = array<i64: 2, 1>, padding = array<i64: 0, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64, kernel_layout = "OIHW16o"} : (tensor<1x4x8x8xf32>, tensor<2x4x3x3x16xf32>) -> tensor<1x32x4x8xf32>
  // CHECK-NEXT: %z = relay.dense %r, %v {weight_layout = "OI16o"} : (tensor<1x4xf32>, tensor<2x4x16xf32>) -> tensor<1x32xf32>
  %z = relay.dense %r, %v {weight_layout = "OI16o"} : (tensor<1x4xf32>, tensor<2x4x16xf32>) -> tensor<1x32xf32>
  func.return
}

// Images may have channels in blocks, as the last axis; filters then have blocks of both kinds of channels.
func.func @blocked_images(%x : tensor<1x2x8x8x4xf32>, %w : tensor<3x2x3x3x4x8xf32>) {
  // CHECK:      %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64, data_layout = "NCHW4c", kernel_layout = "OIHW4i8o", result_layout = "NCHW8c"} : (tensor<1x2x8x8x4xf32>, tensor<3x2x3x3x4x8xf32>) -> tensor<1x3x8x8x8xf32>
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64, data_layout = "NCHW4c", kernel_layout = "OIHW4i8o", result_layout = "NCHW8c"} : (tensor<1x2x8x8x4xf32>, tensor<3x2x3x3x4x8xf32>) -> tensor<1x3x8x8x8xf32>
  func.return
}

// A vector on the left is a row, one on the right a column.
func.func @vectors(%a : tensor<3xf32>, %b : tensor<5x3x4xf32>, %c : tensor<4xf32>) {
  // CHECK:      %x = relay.matmul %a, %b : (tensor<3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
  %x = relay.matmul %a, %b : (tensor<3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
  // CHECK-NEXT: %y = relay.matmul %b, %c : (tensor<5x3x4xf32>, tensor<4xf32>) -> tensor<5x3xf32>
  %y = relay.matmul %b, %c : (tensor<5x3x4xf32>, tensor<4xf32>) -> tensor<5x3xf32>
  // CHECK-NEXT: %z = relay.matmul %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %z = relay.matmul %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  func.return
}

// A dynamic batch or image stays dynamic.
func.func @dynamic(%x : tensor<?x3x?x8xf32>, %w : tensor<4x3x3x3xf32>) {
  // CHECK:      %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x6xf32>
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x6xf32>
  func.return
}
