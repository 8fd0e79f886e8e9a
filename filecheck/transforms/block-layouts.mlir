// RUN: partita-opt %s -p 'block-layouts{block=8},dce' --split-input-file | filecheck %s

// A convolution begins it, with plain data where channels are few; ops on elements, pools and convolutions go on; only
// what nobody else can read is rearranged. Weights are rearranged as constants.
func.func @chain(%x : tensor<1x3x8x8xf32>) -> tensor<1x16x4x4xf32> {
  // CHECK:      func.func @chain
  // CHECK:        %[[V:.*]] = relay.layout_transform %{{.*}} {source = "OIHW", target = "OIHW8o"} : tensor<8x3x1x1xf32> -> tensor<1x3x1x1x8xf32>
  // CHECK-NEXT:   %[[A:.*]] = relay.conv2d %x, %[[V]] {{{.*}}result_layout = "NCHW8c"} : {{.*}} -> tensor<1x1x8x8x8xf32>
  // CHECK-NEXT:   %[[R:.*]] = relay.relu %[[A]] : tensor<1x1x8x8x8xf32>
  // CHECK-NEXT:   %[[P:.*]] = relay.max_pool2d %[[R]] {{{.*}}layout = "NCHW8c"} : tensor<1x1x8x8x8xf32> -> tensor<1x1x4x4x8xf32>
  // CHECK-NEXT:   %[[U:.*]] = relay.layout_transform %{{.*}} {source = "OIHW", target = "OIHW8i8o"} : tensor<16x8x1x1xf32> -> tensor<2x1x1x1x8x8xf32>
  // CHECK-NEXT:   %[[B:.*]] = relay.conv2d %[[P]], %[[U]] {{{.*}}data_layout = "NCHW8c", kernel_layout = "OIHW8i8o", result_layout = "NCHW8c"} : {{.*}} -> tensor<1x2x4x4x8xf32>
  // CHECK-NEXT:   %[[Y:.*]] = relay.layout_transform %[[B]] {source = "NCHW8c", target = "NCHW"} : tensor<1x2x4x4x8xf32> -> tensor<1x16x4x4xf32>
  // CHECK-NEXT:   func.return %[[Y]]
  %v = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<8x3x1x1xf32>
  %w = relay.constant #partita.weight<"ffeeddccbbaa99887766554433221100"> : tensor<16x8x1x1xf32>
  %0 = relay.conv2d %x, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x8x8xf32>
  %1 = relay.relu %0 : tensor<1x8x8x8xf32>
  %2 = relay.max_pool2d %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x8x8x8xf32> -> tensor<1x8x4x4xf32>
  %3 = relay.conv2d %2, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x4x4xf32>
  func.return %3 : tensor<1x16x4x4xf32>
}

// -----

// What is by channel, and the other input of a concatenation, follows; what is the same for all channels gets an axis.
func.func @operands(%x : tensor<1x8x4x4xf32>, %b : tensor<8x1x1xf32>, %m : tensor<4x4xf32>, %s : tensor<f32>) -> tensor<1x16x2x2xf32> {
  // CHECK:      func.func @operands
  // CHECK:        %[[X:.*]] = relay.layout_transform %x {source = "NCHW", target = "NCHW8c"}
  // CHECK:        %[[A:.*]] = relay.conv2d %[[X]]
  // CHECK-NEXT:   %[[R:.*]] = relay.reshape %b {shape = array<i64: 1, 8, 1, 1>}
  // CHECK-NEXT:   %[[B:.*]] = relay.layout_transform %[[R]] {source = "NCHW", target = "NCHW8c"} : tensor<1x8x1x1xf32> -> tensor<1x1x1x1x8xf32>
  // CHECK-NEXT:   %[[C:.*]] = relay.add %[[A]], %[[B]]
  // CHECK-NEXT:   %[[M:.*]] = relay.reshape %m {shape = array<i64: 4, 4, 1>}
  // CHECK-NEXT:   %[[D:.*]] = relay.multiply %[[C]], %[[M]] : (tensor<1x1x4x4x8xf32>, tensor<4x4x1xf32>)
  // CHECK-NEXT:   %[[E:.*]] = relay.multiply %s, %[[D]] : (tensor<f32>, tensor<1x1x4x4x8xf32>)
  // CHECK-NEXT:   %[[F:.*]] = relay.concatenate %[[E]], %[[X]] {axis = 1 : i64} : {{.*}} -> tensor<1x2x4x4x8xf32>
  // CHECK-NEXT:   relay.avg_pool2d %[[F]] {{{.*}}layout = "NCHW8c"}
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<8x8x1x1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = relay.add %0, %b : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %2 = relay.multiply %1, %m : (tensor<1x8x4x4xf32>, tensor<4x4xf32>) -> tensor<1x8x4x4xf32>
  %3 = relay.multiply %s, %2 : (tensor<f32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %4 = relay.concatenate %3, %x {axis = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x16x4x4xf32>
  %5 = relay.avg_pool2d %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false, count_include_pad = false} : tensor<1x16x4x4xf32> -> tensor<1x16x2x2xf32>
  func.return %5 : tensor<1x16x2x2xf32>
}

// -----

// Depthwise convolutions, paddings of rows and columns, and reductions over them follow a blocked image.
func.func @follow(%x : tensor<1x8x4x4xf32>) -> tensor<1x8xf32> {
  // CHECK:      func.func @follow
  // CHECK:        relay.conv2d %{{.*}} {{{.*}}groups = 8 : i64, data_layout = "NCHW8c", kernel_layout = "OIHW8o", result_layout = "NCHW8c"} : (tensor<1x1x4x4x8xf32>, tensor<1x1x3x3x8xf32>) -> tensor<1x1x2x2x8xf32>
  // CHECK-NEXT:   relay.pad %{{.*}} {before = array<i64: 0, 0, 1, 0, 0>, after = array<i64: 0, 0, 0, 1, 0>, {{.*}}} : tensor<1x1x2x2x8xf32> -> tensor<1x1x3x3x8xf32>
  // CHECK-NEXT:   %[[S:.*]] = relay.sum %{{.*}} {axes = array<i64: 2, 3>, keepdims = true} : tensor<1x1x3x3x8xf32> -> tensor<1x1x1x1x8xf32>
  // CHECK-NEXT:   %[[P:.*]] = relay.layout_transform %[[S]] {source = "NCHW8c", target = "NCHW"}
  // CHECK-NEXT:   relay.reshape %[[P]] {shape = array<i64: 1, 8>}
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<8x8x1x1xf32>
  %d = relay.constant #partita.weight<"ffeeddccbbaa99887766554433221100"> : tensor<8x1x3x3xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = relay.conv2d %0, %d {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 8 : i64} : (tensor<1x8x4x4xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x2x2xf32>
  %2 = relay.pad %1 {before = array<i64: 0, 0, 1, 0>, after = array<i64: 0, 0, 0, 1>, mode = "constant", value = 0.0 : f64} : tensor<1x8x2x2xf32> -> tensor<1x8x3x3xf32>
  %3 = relay.sum %2 {axes = array<i64: 2, 3>, keepdims = false} : tensor<1x8x3x3xf32> -> tensor<1x8xf32>
  func.return %3 : tensor<1x8xf32>
}

// -----

// Where half a block does not divide the channels, weights are no constants, or groups are not made of blocks, nothing
// changes; nor does a depthwise convolution begin it.
func.func @stays(%x : tensor<1x8x4x4xf32>, %v : tensor<8x8x1x1xf32>) -> (tensor<1x6x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) {
  // CHECK:      func.func @stays
  // CHECK-NOT:    relay.layout_transform
  // CHECK:        func.return
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<6x8x1x1xf32>
  %g = relay.constant #partita.weight<"11112233445566778899aabbccddeeff"> : tensor<8x2x1x1xf32>
  %d = relay.constant #partita.weight<"ffeeddccbbaa99887766554433221100"> : tensor<8x1x1x1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<6x8x1x1xf32>) -> tensor<1x6x4x4xf32>
  %1 = relay.conv2d %x, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %2 = relay.conv2d %x, %g {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x8x4x4xf32>, tensor<8x2x1x1xf32>) -> tensor<1x8x4x4xf32>
  %3 = relay.conv2d %x, %d {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 8 : i64} : (tensor<1x8x4x4xf32>, tensor<8x1x1x1xf32>) -> tensor<1x8x4x4xf32>
  func.return %0, %1, %2, %3 : tensor<1x6x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
}
