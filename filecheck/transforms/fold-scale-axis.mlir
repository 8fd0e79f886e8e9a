// RUN: partita-opt %s -p fold-scale-axis,dce --split-input-file | filecheck %s

// A factor per output channel scales the filters, whose contents need not be loaded.
func.func @outputs(%x : tensor<1x2x4x4xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK:      func.func @outputs
  // CHECK:        %[[W:.*]] = relay.constant #partita.weight
  // CHECK-NEXT:   %[[C:.*]] = relay.constant dense
  // CHECK-NEXT:   %[[C4:.*]] = relay.reshape %[[C]] {partita.origin = "conv_1, mul_1", shape = array<i64: 3, 1, 1, 1>}
  // CHECK-NEXT:   %[[V:.*]] = relay.multiply %[[W]], %[[C4]] {partita.origin = "conv_1, mul_1"}
  // CHECK-NEXT:   %[[Y:.*]] = relay.conv2d %x, %[[V]] {partita.origin = "conv_1, mul_1", strides
  // CHECK-NEXT:   func.return %[[Y]]
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<3x2x1x1xf32>
  %c = relay.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, partita.origin = "conv_1"} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  %1 = relay.multiply %0, %c {partita.origin = "mul_1"} : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  func.return %1 : tensor<1x3x4x4xf32>
}

// -----

// It passes a bias, which is scaled as well; another bias behind it is merged.
func.func @bias(%x : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK:      func.func @bias
  // CHECK:        %[[V:.*]] = relay.multiply %{{.*}}, %{{.*}} : (tensor<2x2x1x1xf32>, tensor<2x1x1x1xf32>)
  // CHECK-NEXT:   %[[Y:.*]] = relay.conv2d %x, %[[V]]
  // CHECK-NEXT:   %[[B:.*]] = relay.multiply %{{.*}}, %{{.*}} : (tensor<2x1x1xf32>, tensor<2x1x1xf32>)
  // CHECK-NEXT:   %[[D:.*]] = relay.add %[[B]], %{{.*}} : (tensor<2x1x1xf32>, tensor<1xf32>)
  // CHECK-NEXT:   %[[Z:.*]] = relay.add %[[Y]], %[[D]]
  // CHECK-NEXT:   func.return %[[Z]]
  %w = relay.constant dense<1.0> : tensor<2x2x1x1xf32>
  %b = relay.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %c = relay.constant dense<[[[3.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %d = relay.constant dense<5.0> : tensor<1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.add %0, %b : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = relay.multiply %1, %c : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = relay.add %2, %d : (tensor<1x2x4x4xf32>, tensor<1xf32>) -> tensor<1x2x4x4xf32>
  func.return %3 : tensor<1x2x4x4xf32>
}

// -----

// A factor per input channel is laid out by group.
func.func @inputs(%x : tensor<1x4x4x4xf32>) -> tensor<1x6x4x4xf32> {
  // CHECK:      func.func @inputs
  // CHECK:        %[[C:.*]] = relay.reshape %{{.*}} {shape = array<i64: 2, 1, 2, 1, 1>}
  // CHECK-NEXT:   %[[W:.*]] = relay.reshape %{{.*}} {shape = array<i64: 2, 3, 2, 1, 1>}
  // CHECK-NEXT:   %[[V:.*]] = relay.multiply %[[W]], %[[C]]
  // CHECK-NEXT:   %[[V4:.*]] = relay.reshape %[[V]] {shape = array<i64: 6, 2, 1, 1>}
  // CHECK-NEXT:   relay.conv2d %x, %[[V4]]
  %w = relay.constant dense<[[[[1.0]],[[2.0]]], [[[3.0]],[[4.0]]], [[[5.0]],[[6.0]]], [[[7.0]],[[8.0]]], [[[9.0]],[[10.0]]], [[[11.0]],[[12.0]]]]> : tensor<6x2x1x1xf32>
  %c = relay.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %0 = relay.multiply %x, %c : (tensor<1x4x4x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %1 = relay.conv2d %0, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x4x4xf32>, tensor<6x2x1x1xf32>) -> tensor<1x6x4x4xf32>
  func.return %1 : tensor<1x6x4x4xf32>
}

// -----

// Scalars, and both sides of a matmul by a constant.
func.func @matmul(%x : tensor<5x2x3xf32>) -> tensor<5x2x4xf32> {
  // CHECK:      func.func @matmul
  // CHECK:        %[[A:.*]] = relay.reshape %{{.*}} {shape = array<i64: 3, 1>}
  // CHECK-NEXT:   %[[V:.*]] = relay.multiply %{{.*}}, %[[A]] : (tensor<3x4xf32>, tensor<3x1xf32>)
  // CHECK:        %[[C:.*]] = relay.reshape %{{.*}} {shape = array<i64: 1, 1>}
  // CHECK-NEXT:   %[[U:.*]] = relay.multiply %[[V]], %[[C]] : (tensor<3x4xf32>, tensor<1x1xf32>)
  // CHECK-NEXT:   %[[Y:.*]] = relay.matmul %x, %[[U]]
  // CHECK-NEXT:   func.return %[[Y]]
  %w = relay.constant dense<1.0> : tensor<3x4xf32>
  %a = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.multiply %a, %x : (tensor<3xf32>, tensor<5x2x3xf32>) -> tensor<5x2x3xf32>
  %1 = relay.matmul %0, %w : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  %2 = relay.multiply %1, %c : (tensor<5x2x4xf32>, tensor<f32>) -> tensor<5x2x4xf32>
  func.return %2 : tensor<5x2x4xf32>
}

// -----

// Constants that follow one another merge; integers wrap, so theirs do, too.
func.func @chain(%x : tensor<2xi8>) -> tensor<2xi8> {
  // CHECK:      func.func @chain
  // CHECK:        %[[AB:.*]] = relay.add %{{.*}}, %{{.*}} : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  // CHECK-NEXT:   %[[Y:.*]] = relay.add %x, %[[AB]]
  // CHECK-NEXT:   func.return %[[Y]]
  %a = relay.constant dense<[100, 101]> : tensor<2xi8>
  %b = relay.constant dense<[102, 103]> : tensor<2xi8>
  %0 = relay.add %x, %a : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  %1 = relay.add %b, %0 : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  func.return %1 : tensor<2xi8>
}

// -----

// A scale behind a scale and a shift is one scale and one shift.
func.func @affine(%x : tensor<2xf32>) -> tensor<2xf32> {
  // CHECK:      func.func @affine
  // CHECK:        %[[S:.*]] = relay.multiply %{{.*}}, %{{.*}} {partita.origin = "a, b, c"}
  // CHECK-NEXT:   %[[M:.*]] = relay.multiply %x, %[[S]] {partita.origin = "a, b, c"}
  // CHECK-NEXT:   %[[T:.*]] = relay.multiply %{{.*}}, %{{.*}} {partita.origin = "a, b, c"}
  // CHECK-NEXT:   %[[Y:.*]] = relay.add %[[M]], %[[T]] {partita.origin = "a, b, c"}
  // CHECK-NEXT:   func.return %[[Y]]
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %d = relay.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = relay.multiply %x, %c {partita.origin = "a"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.add %0, %d {partita.origin = "b"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = relay.multiply %1, %d {partita.origin = "c"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}

// -----

// Each would make a constant larger than those there are.
func.func @growth(%x : tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK:      func.func @growth
  // CHECK:        %[[Y:.*]] = relay.add %x
  // CHECK-NEXT:   relay.add %[[Y]]
  %a = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = relay.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %0 = relay.add %x, %a : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = relay.add %0, %b : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  func.return %1 : tensor<4x3xf32>
}

// -----

// A result that is used elsewhere, factors along an image, weights that are an argument, and integers stay.
func.func @stays(%x : tensor<1x1x2x2xf32>, %v : tensor<1x1x1x1xf32>, %i : tensor<2x2xi32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<2x2xi32>) {
  // CHECK:         func.func @stays
  // CHECK-COUNT-4:   relay.multiply
  // CHECK-NEXT:      func.return
  %w = relay.constant dense<3.0> : tensor<1x1x1x1xf32>
  %c = relay.constant dense<2.0> : tensor<1x1x1xf32>
  %d = relay.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %1 = relay.multiply %0, %c : (tensor<1x1x2x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %2 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %3 = relay.multiply %2, %d : (tensor<1x1x2x2xf32>, tensor<2x2xf32>) -> tensor<1x1x2x2xf32>
  %4 = relay.conv2d %x, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %5 = relay.multiply %4, %c : (tensor<1x1x2x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %k = relay.constant dense<7> : tensor<2x2xi32>
  %6 = relay.dense %i, %k : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %7 = relay.multiply %6, %k : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  func.return %0, %1, %3, %5, %7 : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<2x2xi32>
}

// -----

// One repeated value is no weight to scale: the product of both would be a large one.
func.func @splat(%x : tensor<1x64xf32>) -> tensor<1x64xf32> {
  // CHECK:      func.func @splat
  // CHECK:        %[[Y:.*]] = relay.dense
  // CHECK-NEXT:   relay.multiply %[[Y]]
  %w = relay.constant dense<1.0> : tensor<64x64xf32>
  %c = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<64xf32>
  %0 = relay.dense %x, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %1 = relay.multiply %0, %c : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  func.return %1 : tensor<1x64xf32>
}
