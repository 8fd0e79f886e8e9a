// RUN: partita-opt %s -p canonicalize | filecheck %s

// Only the last of two reshapes counts, and it stands for both.
// CHECK-LABEL: @reshapes
func.func @reshapes(%x : tensor<2x6xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: [[Y:%\w+]] = relay.reshape %x {partita.origin = "a, b", shape = array<i64: 3, 4>} : tensor<2x6xf32> -> tensor<3x4xf32>
  // CHECK-NEXT: func.return [[Y]]
  %0 = relay.reshape %x {shape = array<i64: 12>, partita.origin = "a"} : tensor<2x6xf32> -> tensor<12xf32>
  %1 = relay.reshape %0 {shape = array<i64: 3, 4>, partita.origin = "b"} : tensor<12xf32> -> tensor<3x4xf32>
  func.return %1 : tensor<3x4xf32>
}

// Squeezes and new axes are reshapes to a reshape; one that comes back is nothing.
// CHECK-LABEL: @views
func.func @views(%x : tensor<2x6xf32>) -> tensor<2x6xf32> {
  // CHECK-NEXT: func.return %x
  %0 = relay.expand_dims %x {axes = array<i64: 0>} : tensor<2x6xf32> -> tensor<1x2x6xf32>
  %1 = relay.reshape %0 {shape = array<i64: 1, 12>} : tensor<1x2x6xf32> -> tensor<1x12xf32>
  %2 = relay.squeeze %1 {axes = array<i64: 0>} : tensor<1x12xf32> -> tensor<12xf32>
  %3 = relay.reshape %2 {shape = array<i64: 2, 6>} : tensor<12xf32> -> tensor<2x6xf32>
  func.return %3 : tensor<2x6xf32>
}

// Dynamic data may not be of the shape that it seems to be.
// CHECK-LABEL: @dynamic
func.func @dynamic(%x : tensor<?x?xf32>) -> tensor<?x?xf32> {
  // CHECK-NEXT: relay.reshape %x
  %0 = relay.reshape %x {shape = array<i64: -1>} : tensor<?x?xf32> -> tensor<?xf32>
  // CHECK-NEXT: relay.expand_dims
  %1 = relay.expand_dims %0 {axes = array<i64: 0>} : tensor<?xf32> -> tensor<1x?xf32>
  // CHECK-NEXT: relay.tile
  %2 = relay.tile %1 {repeats = array<i64: 2, 2>} : tensor<1x?xf32> -> tensor<2x?xf32>
  // CHECK-NEXT: relay.strided_slice
  %3 = relay.strided_slice %x {begin = array<i64: 1, 1>, sizes = array<i64: -1, -1>, strides = array<i64: 1, 1>} : tensor<?x?xf32> -> tensor<?x?xf32>
  // CHECK-NEXT: relay.concatenate
  %4 = relay.concatenate %2, %3 {axis = 0 : i64} : (tensor<2x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %4 : tensor<?x?xf32>
}

// Transposes compose, and one that changes nothing is nothing.
// CHECK-LABEL: @transposes
func.func @transposes(%x : tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: [[Y:%\w+]] = relay.transpose %x {axes = array<i64: 2, 1, 0>} : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
  // CHECK-NEXT: func.return [[Y]], %x
  %0 = relay.transpose %x {axes = array<i64: 1, 2, 0>} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %1 = relay.transpose %0 {axes = array<i64: 1, 0, 2>} : tensor<3x4x2xf32> -> tensor<4x3x2xf32>
  %2 = relay.transpose %0 {axes = array<i64: 2, 0, 1>} : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  func.return %1, %2 : tensor<4x3x2xf32>, tensor<2x3x4xf32>
}

// A transpose that moves only axes of extent 1 is a reshape.
// CHECK-LABEL: @transpose_of_ones
func.func @transpose_of_ones(%x : tensor<1x3x1x4xf32>) -> tensor<3x1x4x1xf32> {
  // CHECK-NEXT: relay.reshape %x {shape = array<i64: 3, 1, 4, 1>} : tensor<1x3x1x4xf32> -> tensor<3x1x4x1xf32>
  %0 = relay.transpose %x {axes = array<i64: 1, 0, 3, 2>} : tensor<1x3x1x4xf32> -> tensor<3x1x4x1xf32>
  func.return %0 : tensor<3x1x4x1xf32>
}

// Layouts compose, and a way there and back is nothing.
// CHECK-LABEL: @layouts
func.func @layouts(%x : tensor<1x32x8x8xf32>) -> (tensor<1x8x8x32xf32>, tensor<1x32x8x8xf32>) {
  // CHECK-NEXT: [[Y:%\w+]] = relay.layout_transform %x {source = "NCHW", target = "NHWC"} : tensor<1x32x8x8xf32> -> tensor<1x8x8x32xf32>
  // CHECK-NEXT: func.return [[Y]], %x
  %0 = relay.layout_transform %x {source = "NCHW", target = "NCHW16c"} : tensor<1x32x8x8xf32> -> tensor<1x2x8x8x16xf32>
  %1 = relay.layout_transform %0 {source = "NCHW16c", target = "NHWC"} : tensor<1x2x8x8x16xf32> -> tensor<1x8x8x32xf32>
  %2 = relay.layout_transform %0 {source = "NCHW16c", target = "NCHW"} : tensor<1x2x8x8x16xf32> -> tensor<1x32x8x8xf32>
  func.return %1, %2 : tensor<1x8x8x32xf32>, tensor<1x32x8x8xf32>
}

// What takes, repeats, adds or converts nothing is nothing.
// CHECK-LABEL: @identities
func.func @identities(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: func.return %x
  %0 = relay.broadcast_to %x {shape = array<i64: 2, 3>} : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = relay.tile %0 {repeats = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = relay.strided_slice %1 {begin = array<i64: 0, 0>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  %3 = relay.pad %2 {before = array<i64: 0, 0>, after = array<i64: 0, 0>, mode = "edge", value = 0.000000e+00 : f64} : tensor<2x3xf32> -> tensor<2x3xf32>
  %4 = relay.concatenate %3 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = relay.cast %4 {to = f32} : tensor<2x3xf32> -> tensor<2x3xf32>
  %6 = relay.squeeze %5 {axes = array<i64>} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return %6 : tensor<2x3xf32>
}

// A pad that shifts, a slice that reverses and a cast that rounds are not, whatever their types.
// CHECK-LABEL: @almost_identities
func.func @almost_identities(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: relay.strided_slice
  %0 = relay.strided_slice %x {begin = array<i64: 0, 2>, sizes = array<i64: 2, 3>, strides = array<i64: 1, -1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: relay.pad
  %1 = relay.pad %0 {before = array<i64: 0, 1>, after = array<i64: 0, -1>, mode = "constant", value = 0.000000e+00 : f64} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: relay.cast
  %2 = relay.cast %1 {to = f16} : tensor<2x3xf32> -> tensor<2x3xf16>
  // CHECK-NEXT: relay.cast
  %3 = relay.cast %2 {to = f32} : tensor<2x3xf16> -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// Two negations are none.
// CHECK-LABEL: @negations
func.func @negations(%x : tensor<3xf32>, %b : tensor<3xi1>, %i : tensor<3xui8>) -> (tensor<3xf32>, tensor<3xi1>, tensor<3xui8>) {
  // CHECK-NEXT: func.return %x, %b, %i
  %0 = relay.negative %x : tensor<3xf32>
  %1 = relay.negative %0 : tensor<3xf32>
  %2 = relay.logical_not %b : tensor<3xi1>
  %3 = relay.logical_not %2 : tensor<3xi1>
  %4 = relay.bitwise_not %i : tensor<3xui8>
  %5 = relay.bitwise_not %4 : tensor<3xui8>
  func.return %1, %3, %5 : tensor<3xf32>, tensor<3xi1>, tensor<3xui8>
}

// A second relu does nothing; clips take the tighter limits.
// CHECK-LABEL: @limits
func.func @limits(%x : tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: [[R:%\w+]] = relay.relu %x
  // CHECK-NEXT: [[C:%\w+]] = relay.clip [[R]] {minimum = 1.000000e+00 : f64, maximum = 6.000000e+00 : f64} : tensor<3xf32>
  // CHECK-NEXT: func.return [[C]]
  %0 = relay.relu %x : tensor<3xf32>
  %1 = relay.relu %0 : tensor<3xf32>
  %2 = relay.clip %1 {minimum = 1.000000e+00 : f64} : tensor<3xf32>
  %3 = relay.clip %2 {minimum = -1.000000e+00 : f64, maximum = 6.000000e+00 : f64} : tensor<3xf32>
  func.return %3 : tensor<3xf32>
}

// Ranges that do not overlap stay apart: the last clip has the last word.
// CHECK-LABEL: @disjoint_limits
func.func @disjoint_limits(%x : tensor<3xi32>) -> tensor<3xi32> {
  // CHECK-NEXT: relay.clip %x {maximum = 2 : i64}
  // CHECK-NEXT: relay.clip
  %0 = relay.clip %x {maximum = 2 : i64} : tensor<3xi32>
  %1 = relay.clip %0 {minimum = 5 : i64} : tensor<3xi32>
  func.return %1 : tensor<3xi32>
}

// Zeros of two signs are two limits.
// CHECK-LABEL: @signed_zeros
func.func @signed_zeros(%x : tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: relay.clip
  // CHECK-NEXT: relay.clip
  %0 = relay.clip %x {minimum = 0.000000e+00 : f64} : tensor<3xf32>
  %1 = relay.clip %0 {minimum = -0.000000e+00 : f64} : tensor<3xf32>
  func.return %1 : tensor<3xf32>
}

// One is neutral in products and quotients, zero in differences.
// CHECK-LABEL: @neutral
func.func @neutral(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: func.return %x
  %one = relay.constant dense<1.000000e+00> : tensor<f32>
  %zero = relay.constant dense<0.000000e+00> : tensor<3xf32>
  %0 = relay.multiply %x, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = relay.multiply %one, %0 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = relay.divide %1, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = relay.subtract %2, %zero : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// Zero is not neutral in sums, nor -0.0 in differences (they change -0.0), nor one that broadcasts.
// CHECK-LABEL: @not_neutral
func.func @not_neutral(%x : tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: relay.add
  // CHECK-NEXT: relay.subtract
  // CHECK-NEXT: relay.multiply
  // CHECK-NEXT: func.return
  %zero = relay.constant dense<0.000000e+00> : tensor<3xf32>
  %negative = relay.constant dense<-0.000000e+00> : tensor<3xf32>
  %ones = relay.constant dense<1.000000e+00> : tensor<2x3xf32>
  %0 = relay.add %x, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = relay.subtract %0, %negative : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = relay.multiply %1, %ones : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}
