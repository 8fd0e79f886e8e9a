// RUN: partita-opt %s -p 'pad-channels{block=8},dce' --split-input-file | filecheck %s

// Filters, and what is added by channel, get zeros at the end; a scalar stays. The channel too many goes after the pool.
func.func @pool(%x : tensor<1x4x6x6xf32>) -> tensor<1x15x1x1xf32> {
  // CHECK:      func.func @pool
  // CHECK:        %[[W:.*]] = relay.pad %{{.*}} {partita.origin = "classes", before = array<i64: 0, 0, 0, 0>, after = array<i64: 1, 0, 0, 0>, {{.*}}} : tensor<15x4x1x1xf32> -> tensor<16x4x1x1xf32>
  // CHECK-NEXT:   %[[Y:.*]] = relay.conv2d %x, %[[W]] {partita.origin = "classes", {{.*}} -> tensor<1x16x6x6xf32>
  // CHECK-NEXT:   %[[B:.*]] = relay.pad %{{.*}} : tensor<1x15x1x1xf32> -> tensor<1x16x1x1xf32>
  // CHECK-NEXT:   %[[A:.*]] = relay.add %[[B]], %[[Y]]
  // CHECK-NEXT:   %[[M:.*]] = relay.multiply %[[A]], %{{.*}} : (tensor<1x16x6x6xf32>, tensor<f32>)
  // CHECK-NEXT:   %[[P:.*]] = relay.avg_pool2d %[[M]] {{.*}} -> tensor<1x16x1x1xf32>
  // CHECK-NEXT:   %[[S:.*]] = relay.strided_slice %[[P]] {begin = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 15, 1, 1>
  // CHECK-NEXT:   func.return %[[S]]
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<15x4x1x1xf32>
  %b = relay.constant #partita.weight<"11112233445566778899aabbccddeeff"> : tensor<1x15x1x1xf32>
  %s = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, partita.origin = "classes"} : (tensor<1x4x6x6xf32>, tensor<15x4x1x1xf32>) -> tensor<1x15x6x6xf32>
  %1 = relay.add %b, %0 : (tensor<1x15x1x1xf32>, tensor<1x15x6x6xf32>) -> tensor<1x15x6x6xf32>
  %2 = relay.multiply %1, %s : (tensor<1x15x6x6xf32>, tensor<f32>) -> tensor<1x15x6x6xf32>
  %3 = relay.avg_pool2d %2 {kernel = array<i64: 6, 6>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false, count_include_pad = false} : tensor<1x15x6x6xf32> -> tensor<1x15x1x1xf32>
  func.return %3 : tensor<1x15x1x1xf32>
}

// -----

// One channel more than whole blocks would be many too many; what is whole needs none.
func.func @counts(%x : tensor<1x4x6x6xf32>) -> (tensor<1x9xf32>, tensor<1x16xf32>) {
  // CHECK:      func.func @counts
  // CHECK-NOT:    relay.pad
  // CHECK:        func.return
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<9x4x1x1xf32>
  %v = relay.constant #partita.weight<"11112233445566778899aabbccddeeff"> : tensor<16x4x1x1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<9x4x1x1xf32>) -> tensor<1x9x6x6xf32>
  %1 = relay.mean %0 {axes = array<i64: 2, 3>, keepdims = false} : tensor<1x9x6x6xf32> -> tensor<1x9xf32>
  %2 = relay.conv2d %x, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<16x4x1x1xf32>) -> tensor<1x16x6x6xf32>
  %3 = relay.mean %2 {axes = array<i64: 2, 3>, keepdims = false} : tensor<1x16x6x6xf32> -> tensor<1x16xf32>
  func.return %1, %3 : tensor<1x9xf32>, tensor<1x16xf32>
}

// -----

// Where whole images are read by others, channels meet (softmax), or an operand is no constant, nothing changes.
func.func @read(%x : tensor<1x4x6x6xf32>, %y : tensor<1x15x6x6xf32>) -> (tensor<1x15x6x6xf32>, tensor<1x15x6x6xf32>, tensor<1x15xf32>) {
  // CHECK:      func.func @read
  // CHECK-NOT:    relay.pad
  // CHECK:        func.return
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<15x4x1x1xf32>
  %v = relay.constant #partita.weight<"11112233445566778899aabbccddeeff"> : tensor<15x4x1x1xf32>
  %u = relay.constant #partita.weight<"22112233445566778899aabbccddeeff"> : tensor<15x4x1x1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<15x4x1x1xf32>) -> tensor<1x15x6x6xf32>
  %1 = relay.conv2d %x, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<15x4x1x1xf32>) -> tensor<1x15x6x6xf32>
  %2 = relay.softmax %1 {axis = 1 : i64} : tensor<1x15x6x6xf32>
  %3 = relay.conv2d %x, %u {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<15x4x1x1xf32>) -> tensor<1x15x6x6xf32>
  %4 = relay.add %3, %y : (tensor<1x15x6x6xf32>, tensor<1x15x6x6xf32>) -> tensor<1x15x6x6xf32>
  %5 = relay.mean %4 {axes = array<i64: 2, 3>, keepdims = false} : tensor<1x15x6x6xf32> -> tensor<1x15xf32>
  func.return %0, %2, %5 : tensor<1x15x6x6xf32>, tensor<1x15x6x6xf32>, tensor<1x15xf32>
}
