// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @data_rank(%x : tensor<3x8x8xf32>, %w : tensor<4x3x3x3xf32>) {
  // CHECK: expected data of rank 4, got 3
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @weight_rank(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3xf32>) {
  // CHECK: expected weight of rank 4, got 3
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @blocked_rank(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>) {
  // CHECK: expected weight of rank 5, got 4
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, kernel_layout = "OIHW16o"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @layout(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>) {
  // CHECK: expected kernel_layout OIHW, OIHW<n>o or OIHW<n>i<n>o, got HWIO
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, kernel_layout = "HWIO"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @block(%x : tensor<1x3x8x8xf32>, %w : tensor<1x3x3x3x8xf32>) {
  // CHECK: expected weight with last dimension 16, got 8
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, kernel_layout = "OIHW16o"} : (tensor<1x3x8x8xf32>, tensor<1x3x3x3x8xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @element_types(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf64>) {
  // CHECK: expected data and weight of one numeric element type, got f32 and f64
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf64>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @groups(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>) {
  // CHECK: expected groups to divide output channels 4, got 3
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 3 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @channels(%x : tensor<1x3x8x8xf32>, %w : tensor<4x2x3x3xf32>) {
  // CHECK: expected data with 2 channels, got 3
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @strides_length(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>) {
  // CHECK: expected strides of 2 values, got 1
  %y = relay.conv2d %x, %w {strides = array<i64: 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @dilation_value(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>) {
  // CHECK: expected dilation of at least 1, got 0
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 0, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @window(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>) {
  // CHECK: expected windows no larger than padded data, got 9 on 8
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 4, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @dense_rank(%x : tensor<4xf32>, %w : tensor<8x4xf32>) {
  // CHECK: expected data of rank 2 and weight of rank 2, got 1 and 2
  %y = relay.dense %x, %w : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<1x8xf32>
  func.return
}

// -----

func.func @dense_block(%x : tensor<1x4xf32>, %w : tensor<1x4x8xf32>) {
  // CHECK: expected weight with last dimension 16, got 8
  %y = relay.dense %x, %w {weight_layout = "OI16o"} : (tensor<1x4xf32>, tensor<1x4x8xf32>) -> tensor<1x8xf32>
  func.return
}

// -----

func.func @dense_inner(%x : tensor<1x3xf32>, %w : tensor<8x4xf32>) {
  // CHECK: expected data and weight with equal second dimensions, got 3 and 4
  %y = relay.dense %x, %w : (tensor<1x3xf32>, tensor<8x4xf32>) -> tensor<1x8xf32>
  func.return
}

// -----

func.func @matmul_rank(%a : tensor<f32>, %b : tensor<3x4xf32>) {
  // CHECK: expected lhs and rhs of rank 1 or more, got 0 and 2
  %y = relay.matmul %a, %b : (tensor<f32>, tensor<3x4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @matmul_inner(%a : tensor<2x3xf32>, %b : tensor<4x5xf32>) {
  // CHECK: expected lhs and rhs with equal inner dimensions, got 3 and 4
  %y = relay.matmul %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  func.return
}

// -----

func.func @pool_rank(%x : tensor<3x8x8xf32>) {
  // CHECK: expected data of rank 4, got 3
  %y = relay.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<3x8x8xf32> -> tensor<1x3x7x7xf32>
  func.return
}

// -----

func.func @pool_kernel(%x : tensor<1x3x8x8xf32>) {
  // CHECK: expected kernel of 2 positive values, got 2
  %y = relay.max_pool2d %x {kernel = array<i64: 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x3x8x8xf32> -> tensor<1x3x7x7xf32>
  func.return
}

// -----

func.func @conv_data_layout(%x : tensor<1x3x8x8xf32>, %w : tensor<4x3x3x3xf32>) {
  // CHECK: expected data_layout NCHW or NCHW<n>c, got NHWC
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, data_layout = "NHWC"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_data_rank(%x : tensor<1x4x8x8xf32>, %w : tensor<4x4x3x3xf32>) {
  // CHECK: expected data of rank 5, got 4
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, data_layout = "NCHW4c"} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_kernel_block(%x : tensor<1x1x8x8x4xf32>, %w : tensor<1x1x3x3x2x4xf32>) {
  // CHECK: expected weight with dimension 4 4, got 2
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x8x8x4xf32>, tensor<1x1x3x3x2x4xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_result_layout(%x : tensor<1x3x8x8xf32>, %w : tensor<6x3x3x3xf32>) {
  // CHECK: result: expected extent divisible by block 4 along axis C, got 6
  %y = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, result_layout = "NCHW4c"} : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return
}

// -----

func.func @pool_layout(%x : tensor<1x1x8x8x4xf32>) {
  // CHECK: expected data of rank 4, got 5
  %y = relay.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x1x8x8x4xf32> -> tensor<1x1x7x7x4xf32>
  func.return
}
